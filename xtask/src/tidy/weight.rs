//! How many packages somebody gets who adds the lock to a program.

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

/// Counts the packages of a tree, each of them once.
pub fn check(tree: &str) -> Option<Finding> {
    let mut packages: BTreeSet<(&str, &str)> = BTreeSet::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        packages.extend(words.next().zip(words.next()));
    }
    let count = packages.len();
    (count >= FEWER_THAN).then(|| {
        let sentence =
            format!("Whoever adds {CRATE} gets {count} packages; it should be fewer than {FEWER_THAN}.");
        Finding::new("crates/doorway/Cargo.toml", 1, sentence)
    })
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
        assert_eq!(check(&tree(89)), None);
        let found = check(&tree(90)).expect("that is too many");
        assert!(found.sentence.contains("90 packages"));
        assert!(check(&(tree(89) + "p1 v0.2.0")).is_some());
    }
}
