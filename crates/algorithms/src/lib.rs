//! The textbook: every mutual-exclusion algorithm of the classical literature, one file each, and the one list of them.
//!
//! Each file of [`message`] reads like the paper's page: citation, idea, claims, state, messages, and one handler per
//! event. Its appendix, `NAME/proof.rs`, says what the algorithm tells about itself ([`doorway_core::Explain`]) and
//! what the checker may rely on ([`doorway_core::Hints`]).
//! [`shared`] has the algorithms for processes that share memory: the textbook's lines, one access in each. [`specimens`] are
//! wrong on purpose.
//!
//! [`register`] hands all of them to a registrar, which lists or runs them:
//!
//! ```
//! use doorway_core::shared::{Program, ProgramEntry};
//! use doorway_core::{About, Entry, Explain, Hints, Registrar};
//!
//! #[derive(Default)]
//! struct Abouts(Vec<About>);
//!
//! impl Registrar for Abouts {
//!     fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
//!         self.0.push(entry.about);
//!     }
//!     fn program<P: Program>(&mut self, _: ProgramEntry<P>) {}
//! }
//!
//! let mut abouts = Abouts::default();
//! doorway_algorithms::register(&mut abouts);
//! let about = abouts.0.iter().find(|about| about.name == "ricart-agrawala").expect("it is listed");
//! assert_eq!(about.messages.formula, "2(N−1)");
//! assert!(about.page().starts_with("Ricart and Agrawala's algorithm."));
//! ```

pub mod lemmas;
pub mod message;
mod register;
pub mod shared;
pub mod specimens;
pub mod structures;
pub mod trees;

pub use register::register;
