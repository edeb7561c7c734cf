//! Algorithms are instantiated in `catalog` alone: nothing above it is generic over them, or even sees their types.
//!
//! Simulator, checker and node are generic, so whoever names an algorithm's type compiles them anew for it. Crates that stand on
//! the catalog would do so in the command and in every test program; that once made two thirds of the time of all tests.

use super::Finding;
use super::files::File;
use super::manifests::{Dependency, dependencies, member_of};
use super::source::{Source, item_end, line_of, tests_in, words};
use crate::toml::pairs;

/// The crate with all algorithms.
const TEXTBOOK: &str = "doorway-algorithms";

/// The crate in which they meet their drivers.
const CATALOG: &str = "doorway-catalog";

/// The members that may depend on the textbook: the catalog, and the lock, which makes recipes of it.
const MAY_INSTANTIATE: [&str; 2] = ["catalog", "doorway"];

/// What one needs to be generic over algorithms or programs, or to run one by its type.
const TYPES: [&str; 9] =
    ["Algorithm", "Entry", "Explain", "Factory", "Hints", "Plan", "Program", "ProgramEntry", "Registrar"];

/// Checks manifests and sources.
pub fn check(files: &[File], sources: &[Source]) -> Vec<Finding> {
    let manifests = files.iter().filter_map(|file| Some((file, member_of(&file.path)?)));
    let mut found = Vec::new();
    for (file, member) in manifests {
        let pairs = pairs(&file.text);
        let dependencies = dependencies(&pairs);
        let needs = |name: &str| dependencies.iter().any(|dependency| dependency.is_normal(name));
        let is_above = needs(CATALOG);
        found.extend(textbook(file, member, is_above, &dependencies));
        if is_above {
            let folder = format!("crates/{member}/src/");
            let its = sources.iter().filter(|source| source.path.starts_with(&folder));
            found.extend(its.flat_map(types));
        }
    }
    found
}

/// Who may depend on the textbook. Tests below the catalog may; those above have the catalog.
fn textbook(file: &File, member: &str, is_above: bool, all: &[Dependency<'_>]) -> Option<Finding> {
    if MAY_INSTANTIATE.contains(&member) {
        return None;
    }
    let is_wrong = |one: &&Dependency<'_>| one.name == TEXTBOOK && (is_above || one.is_normal(TEXTBOOK));
    all.iter().find(is_wrong).map(|dependency| {
        let sentence =
            format!("`{member}` takes algorithms from `{CATALOG}`, by name, and not from `{TEXTBOOK}`.");
        Finding::new(&file.path, dependency.line, sentence)
    })
}

/// Every place outside of tests that takes one of the types from the core.
fn types(source: &Source) -> Vec<Finding> {
    let code = source.code();
    let tests = tests_in(&code);
    let mut found = Vec::new();
    for (at, _) in words(&code).filter(|(_, word)| *word == "doorway_core") {
        if tests.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let is_use = code[..at].trim_end().ends_with("use");
        let end = if is_use { item_end(&code, at) } else { at + path_length(&code[at..]) };
        let path = &code[at..end];
        let taken = words(path).map(|(_, word)| word).find(|word| TYPES.contains(word));
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

/// How far a path goes that is written where it is used: `doorway_core::shared::Program`.
fn path_length(code: &str) -> usize {
    code.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(code.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn manifest(member: &str, table: &str, dependency: &str) -> Vec<Finding> {
        let above = "[dependencies]\ndoorway-catalog.workspace = true\n";
        let above = if ["lab", "cli"].contains(&member) { above } else { "" };
        let text = format!("{above}[{table}]\n{dependency}.workspace = true\n");
        check(&[file(&format!("crates/{member}/Cargo.toml"), &text)], &[])
    }

    #[test]
    fn only_the_catalog_and_the_lock_depend_on_the_textbook() {
        for member in ["catalog", "doorway"] {
            assert!(manifest(member, "dependencies", TEXTBOOK).is_empty(), "{member}");
        }
        for member in ["lab", "cli", "simulator", "daemon"] {
            assert_eq!(manifest(member, "dependencies", TEXTBOOK).len(), 1, "{member}");
        }
        assert!(manifest("simulator", "dev-dependencies", TEXTBOOK).is_empty(), "a driver's tests may");
        assert_eq!(manifest("cli", "dev-dependencies", TEXTBOOK).len(), 1, "who has the catalog need not");
        assert!(manifest("cli", "dev-dependencies", "doorway").is_empty());
    }

    fn source(manifest: &str, path: &str, text: &str) -> Vec<usize> {
        let files = [file("crates/lab/Cargo.toml", manifest)];
        check(&files, &[Source::new(path, text)]).into_iter().map(|finding| finding.line).collect()
    }

    const ABOVE: &str = "[dependencies]\ndoorway-catalog.workspace = true\n";

    #[test]
    fn nothing_above_the_catalog_is_generic_over_algorithms() {
        for bad in [
            "use doorway_core::Explain;",
            "use doorway_core::{\n    About, Factory,\n};",
            "use doorway_core::shared::{AboutProgram, Program};",
            "use doorway_core::*;",
            "fn run(algorithm: impl doorway_core::Algorithm) {}",
        ] {
            assert_eq!(source(ABOVE, "crates/lab/src/a.rs", &format!("//! A.\n{bad}\n")), [2], "{bad}");
        }
    }

    #[test]
    fn other_types_tests_and_crates_below_are_fine() {
        for good in [
            "use doorway_core::{About, Options};\nenum Verb { Explain, Program }",
            "// use doorway_core::Explain;",
            "fn f(about: &doorway_core::About) -> Entry {}",
            "#[cfg(test)]\nmod tests { use doorway_core::Entry; }",
        ] {
            assert!(source(ABOVE, "crates/lab/src/a.rs", good).is_empty(), "{good}");
        }
        let generic = "use doorway_core::Explain;";
        assert!(source(ABOVE, "crates/lab/tests/a.rs", generic).is_empty());
        assert!(source("", "crates/lab/src/a.rs", generic).is_empty());
    }
}
