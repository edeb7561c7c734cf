//! Nodes with a broken rule exist in `chaos` alone: the daemon and programs that embed a lock run `LockNode<Sound>`.

use super::Finding;
use super::source::{SourceFile, line_of, words};

/// Where rules are implemented: those that are all kept, and those of which a test breaks one.
const IMPLEMENTED: [&str; 2] = ["crates/node/src/rules.rs", "crates/chaos/src/rules.rs"];

/// Looks for other implementations of `Rules`, tests included.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let others = sources.iter().filter(|source| !IMPLEMENTED.contains(&source.path.as_str()));
    others.filter_map(implementation).collect()
}

fn implementation(source: &SourceFile) -> Option<Finding> {
    let code = source.code();
    let is_one = |at: usize| words(&code[at..]).map(|(_, word)| word).nth(1) == Some("for");
    let (at, _) = words(&code).find(|&(at, word)| word == "Rules" && is_one(at))?;
    let sentence = "A lock node keeps every rule: only `chaos` implements `Rules` for one that breaks some.";
    Some(Finding::new(&source.path, line_of(&code, at), sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&[SourceFile::new(path, text)]).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn only_chaos_breaks_rules() {
        let flawed = "//! It.\nimpl doorway_node::Rules for Lax {}\n";
        for path in ["crates/daemon/src/lib.rs", "crates/doorway/tests/together.rs"] {
            assert_eq!(found(path, flawed), [2], "{path}");
        }
        assert!(IMPLEMENTED.iter().all(|path| found(path, flawed).is_empty()));
        assert!(
            found("crates/node/src/lease.rs", "impl<R: Rules> LockNode<R> {} // impl Rules for X").is_empty()
        );
    }
}
