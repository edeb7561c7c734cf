//! Every algorithm's file is in the one list.

use super::Finding;
use super::places::{self, AlgorithmPage, LIST};
use super::source::{SourceFile, words};

/// Looks for `raymond::entry` in the list, for each algorithm's file.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let list = sources.iter().find(|source| source.path == LIST).map(SourceFile::code);
    let list = list.unwrap_or_default();
    let missing =
        sources.iter().filter(|source| places::algorithm(source).is_some_and(|page| !is_listed(&list, page)));
    missing.map(|source| Finding::new(&source.path, 1, sentence(&source.path))).collect()
}

fn sentence(path: &str) -> String {
    let stem = places::page(path).map_or("", |page| page.stem);
    format!(
        "The list of algorithms does not have it: add `{stem}::entry()` to {LIST}, or say `// tidy: not an algorithm, because …`."
    )
}

/// Whether the list takes an entry, or entries, from this module.
fn is_listed(list: &str, page: AlgorithmPage<'_>) -> bool {
    words(list).any(|(at, word)| {
        word == page.stem && leads_to_entry(&list[at + word.len()..]) && is_on_shelf(&list[..at], page.shelf)
    })
}

fn leads_to_entry(rest: &str) -> bool {
    let Some(rest) = rest.trim_start().strip_prefix("::") else { return false };
    let next = words(rest).next();
    next.is_some_and(|(_, word)| word.contains("entry") || word.contains("entries"))
}

/// A path that names a shelf must name the right one: a specimen may have the name of what it spoils.
fn is_on_shelf(before: &str, shelf: &str) -> bool {
    let Some(before) = before.trim_end().strip_suffix("::") else { return true };
    let named = words(before).last().map_or("", |(_, word)| word);
    named == shelf || !["message", "shared", "specimens"].contains(&named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str, path: &str) -> usize {
        let path = format!("crates/algorithms/src/{path}");
        check(&[SourceFile::new(LIST, list), SourceFile::new(&path, "//! It.\n")]).len()
    }

    #[test]
    fn an_entry_can_be_taken_in_several_ways() {
        for list in [
            "to.algorithm(message::raymond::entry())",
            "to.algorithm(raymond::entry(1))",
            "to.algorithm(crate::message::raymond\n    ::tree_entry())",
            "raymond::entries(to)",
        ] {
            assert_eq!(found(list, "message/raymond.rs"), 0, "{list}");
        }
    }

    #[test]
    fn an_algorithm_without_an_entry_is_reported() {
        for list in [
            "",
            "to.algorithm(message::lamport::entry())",
            "use message::raymond;",
            "// raymond::entry()",
            "old_raymond::entry()",
            "specimens::raymond::entry()",
        ] {
            assert_eq!(found(list, "message/raymond.rs"), 1, "{list}");
        }
    }

    #[test]
    fn what_is_no_algorithm_needs_no_entry() {
        assert_eq!(found("", "message/mod.rs"), 0);
        assert_eq!(found("", "message/raymond/proof.rs"), 0);
        let support = "//! It.\n// tidy: not an algorithm, because two of them share it.\n";
        assert!(check(&[SourceFile::new("crates/algorithms/src/message/tree.rs", support)]).is_empty());
    }
}
