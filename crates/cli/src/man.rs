//! `doorway man`: the manual pages.

use std::fs;
use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_core::Refusal;

use crate::Answer;
use crate::typed::Typed;

/// Write the manual pages
///
/// Writes a manual page for the command and one for each verb into a folder, made from the same definitions as --help.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway man ~/.local/share/man/man1
  doorway man pages && man ./pages/doorway-simulate.1")]
pub(crate) struct Arguments {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let folder = &arguments.folder;
    let command = crate::described(catalog, typed);
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    let (name, program) = (folder.display(), &typed.program);
    match written {
        Ok(()) => Ok(Answer::holds(format!("The pages are in {name}: try `man {name}/{program}.1`.\n"))),
        Err(error) => Err(Refusal::new(format!("the pages cannot be written to {name}: {error}"))),
    }
}
