//! A public type has a name of its own: the same name in two crates is one thing or a trap for the reader.

use std::collections::BTreeMap;

use super::Finding;
use super::source::{SourceFile, line_of, words};

/// Names that several crates share, each with its reason.
const SHARED: [(&str, &str); 6] = [
    ("Msg", "every machine calls its messages so: algorithms, the bank, the lock node"),
    ("Bakery", "`algorithms` explores the algorithm that `locks` runs on atomics"),
    ("BlackWhiteBakery", "`algorithms` explores the algorithm that `locks` runs on atomics"),
    ("LamportFast", "`algorithms` explores the algorithm that `locks` runs on atomics"),
    ("Peterson", "`algorithms` explores the algorithm that `locks` runs on atomics"),
    ("Tournament", "`algorithms` explores the algorithm that `locks` runs on atomics"),
];

/// Where a public type is declared.
struct Declaration<'a> {
    package: &'a str,
    path: &'a str,
    line: usize,
}

/// Finds public types whose name another crate declares as well.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let mut declared: BTreeMap<String, Vec<Declaration<'_>>> = BTreeMap::new();
    for source in sources {
        for (name, declaration) in declarations(source) {
            declared.entry(name).or_default().push(declaration);
        }
    }
    declared.iter().flat_map(|(name, places)| repeated(name, places)).collect()
}

/// Every declaration in another crate than the first.
fn repeated(name: &str, places: &[Declaration<'_>]) -> Vec<Finding> {
    let first = &places[0];
    let is_shared = SHARED.iter().any(|(shared, _)| *shared == name);
    let others = places.iter().filter(|place| !is_shared && place.package != first.package);
    let sentence = format!(
        "`{name}` is a public type of `{}` as well ({}:{}): give this one a name of its own, or list it in xtask/src/tidy/types.rs with a reason.",
        first.package, first.path, first.line
    );
    others.map(|place| Finding::new(place.path, place.line, sentence.clone())).collect()
}

/// The types that a file of a crate declares as `pub`. A type that is `pub(crate)` never meets another crate's.
fn declarations(source: &SourceFile) -> Vec<(String, Declaration<'_>)> {
    let Some(package) = package(&source.path) else { return Vec::new() };
    let code = source.code();
    let all: Vec<(usize, &str)> = words(&code).collect();
    let types = all.windows(3).filter(|words| {
        let [(at, visibility), (next, keyword), _] = words else { return false };
        let is_open = *visibility == "pub" && code[at + "pub".len()..*next].trim().is_empty();
        is_open && ["struct", "enum", "trait", "type", "union"].contains(keyword)
    });
    let declared = types.map(|words| {
        let (at, name) = words[2];
        (name.to_owned(), Declaration { package, path: &source.path, line: line_of(&code, at) })
    });
    declared.collect()
}

/// The crate of a file below `src`.
fn package(path: &str) -> Option<&str> {
    let (package, rest) = path.strip_prefix("crates/").unwrap_or(path).split_once('/')?;
    rest.starts_with("src/").then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let sources: Vec<SourceFile> = files.iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        check(&sources).into_iter().map(|finding| (finding.path, finding.line)).collect()
    }

    const CORE: (&str, &str) = ("crates/core/src/lib.rs", "//! It.\npub struct Plan;\n");

    #[test]
    fn one_name_in_two_crates_is_found_in_the_second() {
        for text in ["//! It.\n\npub enum Plan {}\n", "//! It.\n\npub   trait Plan: Copy {}\n"] {
            assert_eq!(found(&[CORE, ("xtask/src/plan.rs", text)]), [("xtask/src/plan.rs".to_owned(), 3)]);
        }
    }

    #[test]
    fn one_name_twice_in_a_crate_is_fine() {
        assert!(found(&[CORE, ("crates/core/src/other.rs", "pub struct Plan;\n")]).is_empty());
    }

    #[test]
    fn private_types_tests_and_prose_do_not_count() {
        for text in [
            "pub(crate) struct Plan;",
            "struct Plan;",
            "// pub struct Plan;",
            "const A: &str = \"pub struct Plan\";",
        ] {
            assert!(found(&[CORE, ("crates/node/src/lib.rs", text)]).is_empty(), "{text}");
        }
        assert!(found(&[CORE, ("crates/node/tests/plan.rs", "pub struct Plan;")]).is_empty());
    }

    #[test]
    fn listed_names_are_shared_for_a_reason() {
        let message = |path| (path, "pub enum Msg {}\n");
        assert!(found(&[message("crates/node/src/a.rs"), message("crates/bank/src/b.rs")]).is_empty());
        assert!(SHARED.iter().all(|(_, reason)| reason.len() > 20));
    }
}
