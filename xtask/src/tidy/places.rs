//! Where things live in this repository: which file is an algorithm's, and which is a driver's.

use super::exceptions::{self, Exception};
use super::source::SourceFile;

/// The list of algorithms.
pub const LIST: &str = "crates/algorithms/src/register.rs";

/// The crates that run algorithms without knowing them.
const DRIVERS: [&str; 3] = ["crates/simulator/src/", "crates/checker/src/", "crates/node/src/"];

/// A file beside the algorithms: `message/raymond.rs` is in the shelf `message` and has the stem `raymond`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlgorithmPage<'a> {
    /// `message`, `shared` or `specimens`.
    pub shelf: &'a str,
    /// The file's name without its ending, which is the module's.
    pub stem: &'a str,
}

/// The place of a file that should hold an algorithm, unless it says that it holds none.
pub fn page(path: &str) -> Option<AlgorithmPage<'_>> {
    let inside = path.strip_prefix("crates/algorithms/src/")?;
    let (shelf, name) = inside.split_once('/')?;
    let stem = name.strip_suffix(".rs")?;
    let is_page = matches!(shelf, "message" | "shared" | "specimens") && stem != "mod" && !stem.contains('/');
    is_page.then_some(AlgorithmPage { shelf, stem })
}

/// The same for a file that does not say so.
pub fn algorithm(source: &SourceFile) -> Option<AlgorithmPage<'_>> {
    page(&source.path).filter(|_| exceptions::of(source, Exception::NotAnAlgorithm).is_empty())
}

/// Whether a correct algorithm, or what belongs to one, is in this file.
pub fn is_correct(path: &str) -> bool {
    let shelves = ["crates/algorithms/src/message/", "crates/algorithms/src/shared/"];
    shelves.iter().any(|shelf| path.starts_with(shelf))
}

/// Whether this file belongs to a driver and is more than a test.
pub fn is_driver(path: &str) -> bool {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    DRIVERS.iter().any(|driver| path.starts_with(driver)) && !is_test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_file_on_a_shelf() {
        let found = page("crates/algorithms/src/message/raymond.rs");
        assert_eq!(found, Some(AlgorithmPage { shelf: "message", stem: "raymond" }));
        for other in ["message/mod.rs", "register.rs", "message/raymond/proof.rs", "quorums/grid.rs"] {
            assert_eq!(page(&format!("crates/algorithms/src/{other}")), None);
        }
    }

    #[test]
    fn a_file_can_say_that_it_is_no_algorithm() {
        let path = "crates/algorithms/src/message/tree.rs";
        assert!(algorithm(&SourceFile::new(path, "//! Trees.\n")).is_some());
        let support = "//! Trees.\n// tidy: not an algorithm, because Raymond's stands on it.\n";
        assert!(algorithm(&SourceFile::new(path, support)).is_none());
    }

    #[test]
    fn a_drivers_tests_are_no_driver() {
        assert!(is_driver("crates/simulator/src/engine.rs"));
        assert!(!is_driver("crates/simulator/src/engine/tests.rs"));
        assert!(!is_driver("crates/simulator/tests/runs.rs"));
    }
}
