//! `doorway completions`: what a shell needs to complete the command.

use clap_complete::Shell;
use doorway_catalog::Catalog;
use doorway_core::Refusal;

use crate::Answer;
use crate::typed::Typed;

/// Print completions for a shell
///
/// Prints a script that teaches a shell to complete the verbs and their options; in bash and zsh, which complete values
/// as well, also the names of the algorithms.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway completions bash > ~/.local/share/bash-completion/completions/doorway
  doorway completions zsh > ~/.zfunc/_doorway
  doorway completions fish > ~/.config/fish/completions/doorway.fish")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let mut script = Vec::new();
    let mut command = crate::described(catalog, typed);
    clap_complete::generate(arguments.shell, &mut command, &typed.program, &mut script);
    Ok(Answer::holds(String::from_utf8_lossy(&script).into_owned()))
}
