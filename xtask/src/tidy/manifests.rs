//! What the manifests promise: one list of dependencies, lints for all, and a core that stands on nothing but serde.

use std::collections::BTreeMap;

use super::Finding;
use super::files::File;
use toml::Value;

use crate::manifest::{KeyValue, pairs};

/// The member that has unsafe code, as locks must. It states the lints itself: those of the workspace forbid it.
const WITH_UNSAFE_CODE: &str = "crates/locks/Cargo.toml";

/// The members that stand below others or apart from them, each with those of ours that it may need outside of tests.
const LOWER: [(&str, &[&str]); 7] = [
    ("crates/algorithms/Cargo.toml", &["doorway-core", "doorway-quorums"]),
    ("crates/simulator/Cargo.toml", &["doorway-core", "doorway-trace"]),
    ("crates/checker/Cargo.toml", &["doorway-core"]),
    ("crates/node/Cargo.toml", &["doorway-core", "doorway-protocol"]),
    ("crates/protocol/Cargo.toml", &["doorway-core"]),
    ("crates/locks/Cargo.toml", &[]),
    ("xtask/Cargo.toml", &[]),
];

const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifests of the workspace and its members; what is elsewhere is a stranger's.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in files {
        let pairs = pairs(&file.text);
        match file.path.as_str() {
            "Cargo.toml" => found.extend(root(&pairs)),
            path if is_member(path) => found.extend(member(path, &pairs)),
            _ => {}
        }
        if file.path == "crates/core/Cargo.toml" {
            found.extend(core(&file.path, &pairs));
        }
        found.extend(lower(&file.path, &pairs));
    }
    found
}

fn is_member(path: &str) -> bool {
    path == "xtask/Cargo.toml" || member_of(path).is_some()
}

/// The member under `crates` whose manifest this is.
pub fn member_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!name.contains('/')).then_some(name)
}

fn root(pairs: &[KeyValue]) -> Vec<Finding> {
    let find = |path: &str| pairs.iter().find(|pair| pair.is_at(path));
    let mut found = Vec::new();
    let default = find("workspace.default-members");
    if default.is_none_or(|pair| pair.value != Value::from(vec!["crates/cli"])) {
        let line = default.map_or(1, |pair| pair.line);
        let sentence = "The manifest of the workspace says `default-members = [\"crates/cli\"]`.";
        found.push(Finding::new("Cargo.toml", line, sentence));
    }
    for lint in ["unsafe_code", "missing_docs"] {
        if find(&format!("workspace.lints.rust.{lint}")).is_none() {
            let sentence = format!("The manifest of the workspace sets {lint} in [workspace.lints.rust].");
            found.push(Finding::new("Cargo.toml", 1, sentence));
        }
    }
    found
}

fn member(path: &str, pairs: &[KeyValue]) -> Vec<Finding> {
    let mut found: Vec<Finding> = lints(path, pairs).into_iter().collect();
    for dependency in dependencies(pairs).into_iter().filter(|dependency| !dependency.inherits) {
        let name = dependency.name;
        let sentence = format!(
            "`{name}` is taken as `{name}.workspace = true`, with its version in [workspace.dependencies]."
        );
        found.push(Finding::new(path, dependency.line, sentence));
    }
    found
}

fn lints(path: &str, pairs: &[KeyValue]) -> Option<Finding> {
    let says = |path: &str, value: Value| pairs.iter().any(|pair| pair.is_at(path) && pair.value == value);
    let (is_said, sentence) = if path == WITH_UNSAFE_CODE {
        let is_said =
            says("lints.rust.unsafe_code", "deny".into()) && says("lints.rust.missing_docs", "warn".into());
        (
            is_said,
            "The manifest denies unsafe code, so that a file has to ask for it, and warns of missing docs.",
        )
    } else {
        let sentence = "The manifest inherits the lints: `[lints]`, `workspace = true`.";
        (says("lints.workspace", true.into()), sentence)
    };
    (!is_said).then(|| Finding::new(path, 1, sentence))
}

fn core(path: &str, pairs: &[KeyValue]) -> Vec<Finding> {
    let is_wrong = |dependency: &Dependency<'_>| match dependency.table {
        [table] if table == "dev-dependencies" => false,
        [table] if table == "dependencies" => dependency.name != "serde",
        _ => true,
    };
    let wrong = dependencies(pairs).into_iter().filter(is_wrong);
    let sentence = |name| format!("The core depends on serde and nothing else, so not on `{name}`.");
    wrong.map(|dependency| Finding::new(path, dependency.line, sentence(dependency.name))).collect()
}

/// Dependencies of a lower member on one of ours that it must not know.
fn lower(path: &str, pairs: &[KeyValue]) -> Vec<Finding> {
    let Some((_, may_need)) = LOWER.iter().find(|(lower, _)| *lower == path) else { return Vec::new() };
    let is_ours = |name: &str| name == "doorway" || name.starts_with("doorway-");
    let is_wrong =
        |one: &Dependency<'_>| is_ours(one.name) && one.is_normal(one.name) && !may_need.contains(&one.name);
    let wrong = dependencies(pairs).into_iter().filter(is_wrong);
    let sentence =
        |name| format!("It must not depend on `{name}`: ARCHITECTURE.md says which crate knows which.");
    wrong.map(|one| Finding::new(path, one.line, sentence(one.name))).collect()
}

/// One dependency, on any number of lines.
pub struct Dependency<'a> {
    /// The path of its table: `dependencies`, or `target`, `cfg(unix)`, `dependencies`.
    table: &'a [String],
    /// Its name.
    pub name: &'a str,
    /// The first line about it.
    pub line: usize,
    /// Whether it is taken from the list of the workspace.
    inherits: bool,
}

impl Dependency<'_> {
    /// Whether it is this package, and more than for tests.
    pub fn is_normal(&self, name: &str) -> bool {
        self.name == name && self.table.last().is_some_and(|table| table != "dev-dependencies")
    }
}

/// All dependencies of a manifest.
pub fn dependencies(pairs: &[KeyValue]) -> Vec<Dependency<'_>> {
    let mut found: BTreeMap<(&[String], &str), Dependency<'_>> = BTreeMap::new();
    for pair in pairs {
        // `dependencies.serde.workspace` is a table, a name and what is said of it.
        let Some(at) = pair.path.iter().position(|key| TABLES.contains(&key.as_str())) else { continue };
        let (table, rest) = pair.path.split_at(at + 1);
        let [name, said @ ..] = rest else { continue };
        let inherits = said.first().is_some_and(|key| key == "workspace") && pair.value == Value::from(true);
        let new = Dependency { table, name, line: pair.line, inherits: false };
        let known = found.entry((table, name)).or_insert(new);
        known.line = known.line.min(pair.line);
        known.inherits |= inherits;
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).into_iter().map(|finding| finding.line).collect()
    }

    const LINTS: &str = "[lints]\nworkspace = true\n";

    #[test]
    fn the_workspace_has_its_default_and_its_lints() {
        let lints = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"warn\"\n";
        let good = format!("[workspace]\ndefault-members = [\n  \"crates/cli\",\n]\n{lints}");
        assert!(found("Cargo.toml", &good).is_empty());
        assert_eq!(found("Cargo.toml", &format!("[workspace]\ndefault-members = [\"xtask\"]\n{lints}")), [2]);
        assert_eq!(found("Cargo.toml", "[workspace]\ndefault-members = [\"crates/cli\"]\n"), [1, 1]);
    }

    #[test]
    fn a_member_inherits_the_lints() {
        assert!(found("xtask/Cargo.toml", LINTS).is_empty());
        assert!(found("crates/cli/Cargo.toml", "lints.workspace = true\n").is_empty());
        assert_eq!(found("crates/cli/Cargo.toml", "[package]\nname = \"a\"\n"), [1]);
    }

    #[test]
    fn the_locks_deny_unsafe_code_for_themselves() {
        let lints = "[lints.rust]\nunsafe_code = \"deny\"\nmissing_docs = \"warn\"\n";
        assert!(found(WITH_UNSAFE_CODE, lints).is_empty());
        assert_eq!(found(WITH_UNSAFE_CODE, &lints.replace("deny", "allow")), [1]);
        assert_eq!(found("crates/cli/Cargo.toml", lints), [1]);
    }

    #[test]
    fn a_member_takes_dependencies_from_the_one_list() {
        for good in [
            "[dependencies]\nserde.workspace = true\n",
            "[dev-dependencies]\nserde = { workspace = true, features = [\"rc\"] }\n",
            "[dependencies.serde]\nworkspace = true\noptional = true\n",
            "[dependencies]\nserde.workspace = true\nserde.optional = true\n",
        ] {
            assert!(found("crates/cli/Cargo.toml", &format!("{LINTS}{good}")).is_empty(), "{good}");
        }
        for bad in [
            "[dependencies]\nserde = \"1\"\n",
            "[dev-dependencies]\nserde = { version = \"1\" }\n",
            "[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n",
            "[dependencies.serde]\nversion = \"1\"\n",
        ] {
            assert_eq!(found("crates/cli/Cargo.toml", &format!("{LINTS}{bad}")), [4], "{bad}");
        }
    }

    #[test]
    fn the_core_stands_on_serde_alone() {
        let path = "crates/core/Cargo.toml";
        let good = "[dependencies]\nserde.workspace = true\n[dev-dependencies]\nproptest.workspace = true\n";
        assert!(found(path, &format!("{LINTS}{good}")).is_empty());
        for table in ["dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"] {
            assert_eq!(found(path, &format!("{LINTS}[{table}]\nrand.workspace = true\n")), [4], "{table}");
        }
        assert_eq!(found(path, &format!("{LINTS}[build-dependencies]\nserde.workspace = true\n")), [4]);
    }

    #[test]
    fn a_crate_outside_the_workspace_is_its_own_master() {
        assert!(found("examples/own-algorithm/Cargo.toml", "[dependencies]\nserde = \"1\"\n").is_empty());
    }

    #[test]
    fn drivers_and_algorithms_do_not_know_each_other() {
        let needs = |path: &str, table: &str, name: &str| {
            found(path, &format!("{LINTS}[{table}]\n{name}.workspace = true\n"))
        };
        for (path, name) in [
            ("crates/algorithms/Cargo.toml", "doorway-simulator"),
            ("crates/simulator/Cargo.toml", "doorway-checker"),
            ("crates/protocol/Cargo.toml", "doorway-node"),
            ("xtask/Cargo.toml", "doorway"),
        ] {
            assert_eq!(needs(path, "dependencies", name), [4], "{path}");
            assert!(needs(path, "dev-dependencies", name).is_empty(), "{path}: tests may");
            assert!(needs(path, "dependencies", "serde").is_empty(), "{path}");
        }
        assert!(needs("crates/simulator/Cargo.toml", "dependencies", "doorway-trace").is_empty());
    }
}
