//! The choices for algorithms that have a flag of their own.

use doorway_core::Options;

use super::{Definition, SettingKind};

/// The heading of these flags in help.
const PART: &str = "Choices for the algorithm";

const CHOICE: Definition =
    Definition { value: "KIND|file:PATH", kind: SettingKind::Word, part: PART, ..Definition::PLAIN };

/// The choices for algorithms that are flags in every verb that runs one. `--set NAME=VALUE` gives any other; the catalog says
/// which algorithm has which.
pub const CHOICES: [Definition; 4] = [
    Definition {
        name: "quorum",
        doc: "Quorum system, for the algorithms that have one: a kind of `doorway quorum` or file:PATH",
        ..CHOICE
    },
    Definition {
        name: "structure",
        doc: "Information structure (whom a node asks and informs), as `doorway explain sanders` tells",
        ..CHOICE
    },
    Definition {
        name: "tree",
        doc: "Tree of neighbours, as `doorway explain raymond` tells",
        value: "KIND|elected|file:PATH",
        ..CHOICE
    },
    Definition {
        name: "arbitration",
        doc: "Which requester gets the token next, as `doorway explain singhal` tells",
        value: "KIND",
        ..CHOICE
    },
];

/// Whether the parameter of this name has a flag of its own.
#[must_use]
pub fn is_flag(name: &str) -> bool {
    CHOICES.iter().any(|choice| choice.name == name)
}

/// The words of the command line that make these choices.
pub fn choice_words(options: &Options) -> impl Iterator<Item = String> {
    options.iter().flat_map(|(name, choice)| match is_flag(name) {
        true => [format!("--{name}"), choice.word.clone()],
        false => ["--set".to_owned(), format!("{name}={}", choice.word)],
    })
}
