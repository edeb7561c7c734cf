//! What a user's build pulls in with a package of ours: how many packages, and none without a use.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use super::Finding;
use crate::stop::ChoreError;

/// What a package may need.
pub struct PackageLimit {
    /// The package.
    package: &'static str,
    /// The folder of its manifest under `crates`.
    folder: &'static str,
    /// It and all that it needs are fewer packages than this.
    fewer_than: usize,
    /// What it must not need.
    without: &'static [&'static str],
}

/// The laboratory, which no lock needs.
const LABORATORY: [&str; 9] = [
    "doorway-bank",
    "doorway-simulator",
    "doorway-checker",
    "doorway-catalog",
    "doorway-chaos",
    "doorway-experiments",
    "doorway-picture",
    "doorway-terminal",
    "doorway-studio",
];

/// A program that embeds a lock does without the laboratory, one that talks to a daemon without consensus, and the command without
/// the locks that ours are measured beside.
pub const BUDGETS: [PackageLimit; 3] = [
    PackageLimit { package: "doorway", folder: "doorway", fewer_than: 90, without: &LABORATORY },
    PackageLimit {
        package: "doorway-client",
        folder: "client",
        fewer_than: 25,
        without: &["noraft", "doorway-node", "tokio"],
    },
    PackageLimit {
        package: "doorway-cli",
        folder: "cli",
        fewer_than: 250,
        without: &["spin", "mcslock", "parking_lot", "core_affinity"],
    },
];

impl PackageLimit {
    /// The tree of what the package needs, a package a line, as cargo prints it.
    pub fn tree(&self, root: &Path) -> Result<String, ChoreError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["tree", "--package", self.package, "--edges", "normal", "--prefix", "none", "--locked"];
        let output = Command::new(cargo).args(words).current_dir(root).output();
        match output {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr);
                Err(ChoreError::Failed(format!("`cargo {}` failed: {}", words.join(" "), why.trim())))
            }
            Err(error) => {
                Err(ChoreError::Failed(format!("`cargo {}` could not be started: {error}.", words.join(" "))))
            }
        }
    }

    /// Counts the packages of a tree, each of them once, and looks for those that must not be there.
    pub fn check(&self, tree: &str) -> Vec<Finding> {
        let mut packages: BTreeSet<(&str, &str)> = BTreeSet::new();
        for line in tree.lines() {
            let mut words = line.split_whitespace();
            packages.extend(words.next().zip(words.next()));
        }
        let Self { package, fewer_than, .. } = self;
        let count = packages.len();
        let mut sentences = Vec::new();
        if count >= *fewer_than {
            sentences.push(format!("{package} needs {count} packages; the limit is below {fewer_than}."));
        }
        let unneeded = packages.iter().filter(|(name, _)| self.without.contains(name));
        sentences.extend(unneeded.map(|(name, _)| format!("{package} must not need {name}.")));
        let manifest = format!("crates/{}/Cargo.toml", self.folder);
        sentences.into_iter().map(|sentence| Finding::new(&manifest, 1, sentence)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tree: &str) -> Vec<Finding> {
        BUDGETS[0].check(tree)
    }

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
    fn what_a_package_must_not_need_is_reported() {
        let found = check("doorway v0.1.0 (crates/doorway)\ndoorway-checker v0.1.0 (crates/checker)\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].sentence.contains("doorway-checker"), "{found:?}");
        let client = BUDGETS[1].check("doorway-client v0.1.0\nnoraft v0.7.1\n");
        assert_eq!(client[0].sentence, "doorway-client must not need noraft.");
    }
}
