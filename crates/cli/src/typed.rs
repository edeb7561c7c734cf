//! What was typed, for verbs that tell people what to type next: under the name of the program that they started.

use std::ffi::OsString;
use std::path::Path;

use clap::ArgMatches;
use clap::builder::{Resettable, StyledStr};
use clap::parser::ValueSource;

/// The name of the program in all that is written down; another one takes its place if a program has extended the
/// catalog.
pub(crate) const USUAL_NAME: &str = "doorway";

/// The words that were typed, and what is known of them.
pub(crate) struct Typed {
    /// The name of the program: that of its file.
    pub(crate) program: String,
    /// All words, the program's included.
    pub(crate) words: Vec<OsString>,
    /// The options of the verb that were given, by their names in the definitions; all others have their defaults.
    options: Vec<String>,
}

impl Typed {
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>) -> Self {
        let words: Vec<OsString> = words.into_iter().collect();
        let file = words.first().and_then(|word| Path::new(word).file_name());
        let name = file.map_or_else(|| USUAL_NAME.into(), |name| name.to_string_lossy());
        let program = name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(&name).to_owned();
        Self { program, words, options: Vec::new() }
    }

    pub(crate) fn note_options(&mut self, matches: &ArgMatches) {
        let Some((_, verb)) = matches.subcommand() else { return };
        // The options of a verb are also a group, which goes by the name of their type.
        let is_given =
            |id: &str| id != "Arguments" && verb.value_source(id) == Some(ValueSource::CommandLine);
        self.options =
            verb.ids().map(clap::Id::as_str).filter(|id| is_given(id)).map(str::to_owned).collect();
    }

    /// Whether this option of the verb was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }

    /// An option of the verb that was given and is not one of these.
    pub(crate) fn other_than(&self, options: &[&str]) -> Option<&str> {
        self.options.iter().map(String::as_str).find(|given| !options.contains(given))
    }

    /// Definitions whose help has the name of this program in place of the usual one.
    pub(crate) fn renamed(&self, command: clap::Command) -> clap::Command {
        if self.program == USUAL_NAME {
            return command;
        }
        const VERSION: &str = concat!("with doorway ", env!("CARGO_PKG_VERSION"));
        self.with_own_name(command).name(self.program.clone()).version(VERSION)
    }

    fn with_own_name(&self, command: clap::Command) -> clap::Command {
        let told = |text: Option<&StyledStr>| {
            let text = text.map(|text| text.to_string().replace(USUAL_NAME, &self.program));
            Resettable::from(text.map(StyledStr::from))
        };
        let after_help = told(command.get_after_help());
        let command = command.after_help(after_help).mut_args(|argument| {
            let (help, long_help) = (told(argument.get_help()), told(argument.get_long_help()));
            argument.help(help).long_help(long_help)
        });
        command.mut_subcommands(|verb| self.with_own_name(verb))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_as_its_file() {
        let program = |words: &[&str]| Typed::new(words.iter().map(OsString::from)).program;
        assert_eq!(program(&["/bin/own-algorithm", "explain"]), "own-algorithm");
        assert_eq!(program(&["doorway"]), "doorway");
        assert_eq!(program(&[""]), "doorway");
        assert_eq!(program(&[]), "doorway");
    }
}
