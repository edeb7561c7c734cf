//! Algorithms are instantiated in `catalog` alone: nothing above it is generic over them, or even sees their types.
//!
//! Simulator, checker and node are generic, so a crate that names an algorithm's type compiles them anew for it. Crates that stand
//! on the catalog would do so in the command and in every test program; that once made two thirds of the time of all tests.

use std::collections::BTreeSet;

use super::Finding;
use super::files::File;
use super::manifests::{Dependency, dependencies, member_of};
use super::source::{SourceFile, line_of, tests_in, words};
use crate::manifest::{KeyValue, pairs};

/// The crate with all algorithms.
const TEXTBOOK: &str = "doorway-algorithms";

/// The crate in which they meet their drivers.
const CATALOG: &str = "doorway-catalog";

/// The members that may depend on the textbook: the catalog, and the lock, which makes recipes of it.
const MAY_INSTANTIATE: [&str; 2] = ["catalog", "doorway"];

/// What one needs to be generic over algorithms or programs, or to run one by its type.
const TYPES: [&str; 11] = [
    "Algorithm",
    "Entry",
    "Explain",
    "Factory",
    "Hints",
    "Plan",
    "Process",
    "Program",
    "ProgramEntry",
    "Registrar",
    "Team",
];

/// Checks manifests and sources.
pub fn check(files: &[File], sources: &[SourceFile]) -> Vec<Finding> {
    let read = |file: &File| (pairs(&file.text), file.path.clone());
    let manifests: Vec<(Vec<KeyValue>, String)> =
        files.iter().filter(|file| member_of(&file.path).is_some()).map(read).collect();
    let members: Vec<Member<'_>> = manifests
        .iter()
        .filter_map(|(pairs, path)| Some(Member { path, name: member_of(path)?, needs: dependencies(pairs) }))
        .collect();
    let above = above(&members);
    let mut found = Vec::new();
    for member in &members {
        let is_above = above.contains(member.name);
        found.extend(textbook(member, is_above));
        let folder = format!("crates/{}/src/", member.name);
        let its = sources.iter().filter(|source| source.path.starts_with(&folder));
        if is_above {
            found.extend(its.flat_map(types));
        } else if member.name == MAY_INSTANTIATE[0] {
            found.extend(its.flat_map(unit_tests));
        }
    }
    found
}

/// A crate under `crates` and what it depends on.
struct Member<'a> {
    path: &'a str,
    name: &'a str,
    needs: Vec<Dependency<'a>>,
}

/// The members that stand on the catalog, directly or through each other.
fn above<'a>(members: &[Member<'a>]) -> BTreeSet<&'a str> {
    let mut above: BTreeSet<&str> = BTreeSet::new();
    loop {
        let stands = |member: &&Member<'a>| {
            let is_above = |package: &str| above.iter().any(|name| package == format!("doorway-{name}"));
            let mut needs = member.needs.iter().filter(|one| one.is_normal(one.name));
            needs.any(|one| one.name == CATALOG || is_above(one.name))
        };
        let found: BTreeSet<&str> = members.iter().filter(stands).map(|member| member.name).collect();
        if found == above {
            return above;
        }
        above = found;
    }
}

/// Which members may depend on the textbook. Tests below the catalog may; those above have the catalog.
fn textbook(member: &Member<'_>, is_above: bool) -> Option<Finding> {
    let Member { path, name, needs } = member;
    if MAY_INSTANTIATE.contains(name) {
        return None;
    }
    let is_wrong = |one: &&Dependency<'_>| one.name == TEXTBOOK && (is_above || one.is_normal(TEXTBOOK));
    needs.iter().find(is_wrong).map(|dependency| {
        let sentence =
            format!("`{name}` takes algorithms from `{CATALOG}`, by name, and not from `{TEXTBOOK}`.");
        Finding::new(path, dependency.line, sentence)
    })
}

/// The catalog's library has no unit tests: they would compile it a second time, so its manifest turns them off.
fn unit_tests(source: &SourceFile) -> Option<Finding> {
    let code = source.code();
    let range = tests_in(&code).into_iter().next()?;
    let sentence = "It would never run: the catalog's tests are in crates/catalog/tests/suite.";
    Some(Finding::new(&source.path, line_of(&code, range.start), sentence))
}

/// Every place outside of tests that takes one of the types from the core.
fn types(source: &SourceFile) -> Vec<Finding> {
    let code = source.code();
    let tests = tests_in(&code);
    let mut found = Vec::new();
    for (at, _) in words(&code).filter(|(_, word)| *word == "doorway_core") {
        if tests.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let path = &code[at..at + path_length(&code[at..])];
        let taken = words(path).map(|(_, word)| word).find(|word| TYPES.contains(word) || *word == "as");
        let taken = taken.or_else(|| path.contains('*').then_some("*"));
        found.extend(taken.map(|name| {
            let sentence = format!(
                "`{name}` is for those who run an algorithm by its type; above `{CATALOG}` that is done by name, through a `Subject`."
            );
            Finding::new(&source.path, line_of(&code, at), sentence)
        }));
    }
    found
}

/// How far a path goes, with all that it takes in braces and the name that it is given: `doorway_core::{Explain, Hints as H}`.
fn path_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' if depth > 0 || code[..at].ends_with("::") => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | ':' | '*') => {}
            ' ' if code[at..].starts_with(" as ") || code[..at].ends_with(" as") => {}
            _ => return at,
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn manifest(member: &str, table: &str, dependency: &str) -> Vec<Finding> {
        let above = "dependencies.doorway-catalog.workspace = true\n";
        let above = if ["experiments", "cli"].contains(&member) { above } else { "" };
        let text = format!("{above}{table}.{dependency}.workspace = true\n");
        check(&[file(&format!("crates/{member}/Cargo.toml"), &text)], &[])
    }

    #[test]
    fn only_the_catalog_and_the_lock_depend_on_the_textbook() {
        for member in ["catalog", "doorway"] {
            assert!(manifest(member, "dependencies", TEXTBOOK).is_empty(), "{member}");
        }
        for member in ["experiments", "cli", "simulator", "daemon"] {
            assert_eq!(manifest(member, "dependencies", TEXTBOOK).len(), 1, "{member}");
        }
        assert!(manifest("simulator", "dev-dependencies", TEXTBOOK).is_empty(), "a driver's tests may");
        assert_eq!(manifest("cli", "dev-dependencies", TEXTBOOK).len(), 1, "who has the catalog need not");
        assert!(manifest("cli", "dev-dependencies", "doorway").is_empty());
    }

    fn source(manifest: &str, path: &str, text: &str) -> Vec<usize> {
        let files = [file("crates/experiments/Cargo.toml", manifest)];
        check(&files, &[SourceFile::new(path, text)]).into_iter().map(|finding| finding.line).collect()
    }

    const ABOVE: &str = "[dependencies]\ndoorway-catalog.workspace = true\n";

    #[test]
    fn nothing_above_the_catalog_is_generic_over_algorithms() {
        for bad in [
            "use doorway_core::Explain;",
            "use doorway_core::{\n    About, Factory,\n};",
            "use doorway_core::shared::{AboutProgram, Program};",
            "use doorway_core::*;",
            "use ::doorway_core::{About, Explain};",
            "use {doorway_core::{self, shared::Team}, std::fmt};",
            "use doorway_core as c;",
            "extern crate doorway_core as c;",
            "pub use doorway_core::Entry as E;",
            "fn run(algorithm: impl doorway_core::Algorithm) {}",
        ] {
            assert_eq!(
                source(ABOVE, "crates/experiments/src/a.rs", &format!("//! A.\n{bad}\n")),
                [2],
                "{bad}"
            );
        }
    }

    #[test]
    fn a_crate_that_stands_on_one_above_is_above() {
        let files = [
            file("crates/experiments/Cargo.toml", ABOVE),
            file("crates/papers/Cargo.toml", "[dependencies]\ndoorway-experiments.workspace = true\n"),
            file("crates/tools/Cargo.toml", "[dev-dependencies]\ndoorway-experiments.workspace = true\n"),
        ];
        let found = |path: &str| check(&files, &[SourceFile::new(path, "use doorway_core::Hints;")]).len();
        assert_eq!(found("crates/papers/src/lib.rs"), 1);
        assert_eq!(found("crates/tools/src/lib.rs"), 0);
    }

    #[test]
    fn a_unit_test_in_the_catalog_would_never_run() {
        let files = [file("crates/catalog/Cargo.toml", "[package]\n")];
        let text = "//! It.\nfn f() {}\n#[cfg(test)]\nmod tests {}\n";
        let found = |path: &str| check(&files, &[SourceFile::new(path, text)]).len();
        assert_eq!((found("crates/catalog/src/list.rs"), found("crates/catalog/tests/list.rs")), (1, 0));
    }

    #[test]
    fn other_types_tests_and_crates_below_are_fine() {
        for good in [
            "use doorway_core::{About, Options};\nenum Verb { Explain, Program }",
            "// use doorway_core::Explain;",
            "fn f(about: &doorway_core::About) -> Entry {}",
            "#[cfg(test)]\nmod tests { use doorway_core::Entry; }",
        ] {
            assert!(source(ABOVE, "crates/experiments/src/a.rs", good).is_empty(), "{good}");
        }
        let generic = "use doorway_core::Explain;";
        assert!(source(ABOVE, "crates/experiments/tests/a.rs", generic).is_empty());
        assert!(source("", "crates/experiments/src/a.rs", generic).is_empty());
    }
}
