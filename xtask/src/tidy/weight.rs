//! What a program gets that adds the lock: how many packages, and nothing of the laboratory.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use super::Finding;
use crate::stop::Stop;

/// The crate that people add.
const CRATE: &str = "doorway";

/// It and all that it needs are fewer packages than this.
const FEWER_THAN: usize = 90;

/// The laboratory, which no lock needs.
const LABORATORY: [&str; 6] = [
    "doorway-bank",
    "doorway-simulator",
    "doorway-checker",
    "doorway-catalog",
    "doorway-lab",
    "doorway-studio",
];

/// The tree of what the crate needs, a package a line, as cargo prints it.
pub fn tree(root: &Path) -> Result<String, Stop> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["tree", "--package", CRATE, "--edges", "normal", "--prefix", "none", "--locked"];
    let output = Command::new(cargo).args(words).current_dir(root).output();
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(Stop::Failed(format!("`cargo {}` failed: {}", words.join(" "), why.trim())))
        }
        Err(error) => {
            Err(Stop::Failed(format!("`cargo {}` could not be started: {error}.", words.join(" "))))
        }
    }
}

/// Counts the packages of a tree, each of them once, and looks for those of the laboratory.
pub fn check(tree: &str) -> Vec<Finding> {
    let mut packages: BTreeSet<(&str, &str)> = BTreeSet::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        packages.extend(words.next().zip(words.next()));
    }
    let count = packages.len();
    let mut sentences = Vec::new();
    if count >= FEWER_THAN {
        sentences.push(format!(
            "A program that adds {CRATE} gets {count} packages; the limit is below {FEWER_THAN}."
        ));
    }
    let unneeded = packages.iter().filter(|(name, _)| LABORATORY.contains(name));
    sentences.extend(
        unneeded.map(|(name, _)| format!("A program that adds {CRATE} gets {name}, which no lock needs.")),
    );
    sentences.into_iter().map(|sentence| Finding::new("crates/doorway/Cargo.toml", 1, sentence)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(count: usize) -> String {
        let line = |number| format!("p{number} v0.1.0 (proc-macro)\np{number} v0.1.0 (proc-macro) (*)\n");
        (0..count).map(line).collect::<String>() + "\n"
    }

    #[test]
    fn packages_are_counted_once_and_versions_each() {
        assert_eq!(check(&tree(89)), []);
        let found = check(&tree(90));
        assert!(found[0].sentence.contains("90 packages"), "{found:?}");
        assert_eq!(check(&(tree(89) + "p1 v0.2.0")).len(), 1);
    }

    #[test]
    fn a_lock_that_pulls_in_the_laboratory_is_reported() {
        let found = check("doorway v0.1.0 (crates/doorway)\ndoorway-checker v0.1.0 (crates/checker)\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].sentence.contains("doorway-checker"), "{found:?}");
    }
}
