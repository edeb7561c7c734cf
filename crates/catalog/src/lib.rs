//! The catalog: where every algorithm meets every driver, once.
//!
//! Simulator, checker and lock node are generic over the algorithm, so that their inner loops are monomorphic. Here, and nowhere
//! above, they are instantiated: a [`Catalog`] forgets the type of each algorithm behind the object-safe trait [`Subject`], and
//! that of each program over shared memory behind [`ProgramSubject`]. A run costs one virtual call, and whatever builds on this
//! crate is ordinary code that is compiled once.
//!
//! ```
//! use doorway_catalog::Catalog;
//! use doorway_core::Options;
//! use doorway_simulator::Settings;
//!
//! let catalog = Catalog::textbook();
//! let subject = catalog.subject("ricart-agrawala", &Options::none())?;
//! let settings = Settings { nodes: 16, entries: 100, ..Settings::default() };
//! let outcome = subject.simulate(&settings)?;
//! assert_eq!(outcome.measures.traffic.messages, 100 * 2 * 15);
//! # Ok::<(), doorway_core::Refusal>(())
//! ```
//!
//! A program that adds an algorithm of its own compiles that one only: `Catalog::textbook().with(my_algorithm::entry())`.
//!
//! A [`Trial`] is one run as a person would type it, [`mod@settings`] define what can be typed, [`states`] are what nodes knew in a
//! recorded run, and [`examples`] the scripts that ship.

mod catalog;
mod described;
pub mod examples;
pub mod invariants;
pub mod lemmas;
mod program;
pub mod settings;
pub mod states;
pub mod structures;
mod subject;
mod trial;

pub use catalog::{Catalog, Listed, ListedProgram};
pub use described::{described, parameters, specimen};
pub use program::ProgramSubject;
pub use subject::{Has, Subject};
pub use trial::{Trial, warning};
