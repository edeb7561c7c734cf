//! The textbook: every mutual-exclusion algorithm of the classical literature, one file each, and their catalog.
//!
//! Each file of [`message`] reads like the paper's page: citation, idea, claims, state, messages, and one handler per
//! event. What an algorithm tells about itself ([`doorway_core::Explain`]) and its place in the catalog stand below it.
//! [`shared`] has the algorithms for processes that share memory: the textbook's lines, one access in each. [`specimens`] are
//! wrong on purpose.
//!
//! ```
//! use doorway_core::Catalog;
//!
//! let catalog = doorway_algorithms::catalog();
//! let about = catalog.about("ricart-agrawala").expect("it is in the catalog");
//! assert_eq!(about.messages, "2(N−1)");
//! assert!(about.page().starts_with("Ricart and Agrawala's algorithm."));
//! ```

mod catalog;
pub mod lemmas;
pub mod message;
pub mod shared;
pub mod specimens;
pub mod structures;
pub mod trees;

pub use catalog::catalog;
