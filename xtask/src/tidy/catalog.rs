//! Every algorithm's file is in the catalog.

use super::Finding;
use super::places::{self, CATALOG, Page};
use super::source::{Source, words};

/// Looks for `raymond::entry` in the catalog, for each algorithm's file.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let catalog = sources.iter().find(|source| source.path == CATALOG).map(Source::code);
    let catalog = catalog.unwrap_or_default();
    let missing = sources
        .iter()
        .filter(|source| places::algorithm(source).is_some_and(|page| !is_listed(&catalog, page)));
    missing.map(|source| Finding::new(&source.path, 1, sentence(&source.path))).collect()
}

fn sentence(path: &str) -> String {
    let stem = places::page(path).map_or("", |page| page.stem);
    format!(
        "The catalog does not list it: add `{stem}::entry()` to {CATALOG}, or say `// tidy: not an algorithm, because …`."
    )
}

/// Whether the catalog takes an entry, or entries, from this module.
fn is_listed(catalog: &str, page: Page<'_>) -> bool {
    words(catalog).any(|(at, word)| {
        word == page.stem
            && leads_to_entry(&catalog[at + word.len()..])
            && is_on_shelf(&catalog[..at], page.shelf)
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

    fn found(catalog: &str, path: &str) -> usize {
        let path = format!("crates/algorithms/src/{path}");
        check(&[Source::new(CATALOG, catalog), Source::new(&path, "//! It.\n")]).len()
    }

    #[test]
    fn an_entry_can_be_taken_in_several_ways() {
        for catalog in [
            "Empty.with(message::raymond::entry())",
            "Empty.with(raymond::entry(1))",
            "Empty.with(crate::message::raymond\n    ::tree_entry())",
            "raymond::entries(Empty)",
        ] {
            assert_eq!(found(catalog, "message/raymond.rs"), 0, "{catalog}");
        }
    }

    #[test]
    fn an_algorithm_without_an_entry_is_reported() {
        for catalog in [
            "",
            "Empty.with(message::lamport::entry())",
            "use message::raymond;",
            "// raymond::entry()",
            "old_raymond::entry()",
            "specimens::raymond::entry()",
        ] {
            assert_eq!(found(catalog, "message/raymond.rs"), 1, "{catalog}");
        }
    }

    #[test]
    fn what_is_no_algorithm_needs_no_entry() {
        assert_eq!(found("", "message/mod.rs"), 0);
        let support = "//! It.\n// tidy: not an algorithm, because two of them share it.\n";
        assert!(check(&[Source::new("crates/algorithms/src/message/tree.rs", support)]).is_empty());
    }
}
