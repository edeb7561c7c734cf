//! `cargo xtask tidy`: what a machine can check of the style. Reading is done in `files`; every check is a pure
//! function from paths and texts to findings.

mod addresses;
mod drivers;
mod exceptions;
mod files;
mod layers;
mod lengths;
mod list;
mod manifests;
mod names;
mod places;
mod rules;
mod sound;
mod source;
mod speakers;
mod specimens;
mod systems;
mod types;
mod weight;

use std::fmt;

use crate::cargo::root;
use crate::stop::ChoreError;
use files::File;
use source::SourceFile;

/// What `--help` prints.
pub const HELP: &str = "\
Checks what a machine can of the style, prints each finding as `path:line: sentence`, and exits 1 if there is one.

  cargo xtask tidy

Two lines of a Rust file grant an exception, each with its reason:
  // tidy: allow length, because …       in or above a long function; elsewhere, for the whole file
  // tidy: not an algorithm, because …   in a file beside the algorithms that is none";

/// Something to mend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    sentence: String,
}

impl Finding {
    fn new(path: &str, line: usize, sentence: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, sentence: sentence.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.sentence)
    }
}

/// Checks the files of this repository.
pub fn run(words: &[String]) -> Result<(), ChoreError> {
    if let Some(word) = words.first() {
        return Err(ChoreError::Usage(format!("`cargo xtask tidy` takes no arguments, and got {word}.")));
    }
    let files = files::read_all(&root())?;
    let mut findings = findings(&files);
    for budget in &weight::BUDGETS {
        findings.extend(budget.check(&budget.tree(&root())?));
    }
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, nothing to mend", files.len());
            systems::check_target()
        }
        many => Err(ChoreError::Failed(format!("tidy: {} files, {many} to mend.", files.len()))),
    }
}

/// All that is to mend, in the order of files and lines.
fn findings(files: &[File]) -> Vec<Finding> {
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let sources: Vec<SourceFile> = rust.map(|file| SourceFile::new(&file.path, &file.text)).collect();
    let mut found: Vec<Finding> = Vec::new();
    for source in &sources {
        found.extend(names::header(source));
        found.extend(exceptions::check(source));
        found.extend(specimens::check(source));
        found.extend(lengths::check(source));
    }
    found.extend(names::check(files));
    found.extend(list::check(&sources));
    found.extend(drivers::check(&sources));
    found.extend(speakers::check(&sources));
    found.extend(manifests::check(files));
    found.extend(layers::check(files, &sources));
    found.extend(systems::check(&sources));
    found.extend(sound::check(&sources));
    found.extend(types::check(&sources));
    found.extend(rules::check(files, &sources));
    found.extend(files.iter().flat_map(addresses::check));
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_is_asked() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("Cargo.toml", "[workspace]\n"),
            file("crates/core/src/util.rs", "use x;\n// tidy: please\n"),
            file("crates/algorithms/src/message/raymond.rs", "//! E3\nfn f() {\n}\n"),
            file(
                "crates/simulator/src/lib.rs",
                "//! It.\nuse raymond;\nuse std::os::fd;\npub enum Told {}\n",
            ),
            file("crates/node/src/lease.rs", "//! It.\n// R99: unheard of\n"),
            file("crates/daemon/src/lib.rs", "//! It.\nimpl Rules for Lax {}\n"),
            file("crates/cli/src/lib.rs", "//! It.\nuse doorway_protocol::DaemonMsg;\npub struct Told;\n"),
            file("crates/experiments/Cargo.toml", "[dependencies]\ndoorway-algorithms.workspace = true\n"),
            file("crates/trace/src/lib.rs", &("//! It.\n".repeat(501) + "// ht" + "tp://a.example\n")),
        ];
        let found = findings(&files);
        let says = |words: &str| found.iter().any(|finding| finding.sentence.contains(words));
        for words in [
            "//!",
            "not a name",
            "`// tidy:`",
            "specimen",
            "list of algorithms",
            "driver",
            "manifest",
            "by name",
            "speaks the protocol",
            "lines",
            "address",
            "particular system",
            "no rule",
            "keeps every rule",
            "name of its own",
        ] {
            assert!(says(words), "nothing was said about {words}: {found:#?}");
        }
        assert!(found.is_sorted());
    }

    #[test]
    fn a_finding_is_shown_as_an_editor_reads_it() {
        assert_eq!(Finding::new("a/b.rs", 7, "Mend it.").to_string(), "a/b.rs:7: Mend it.");
    }
}
