//! Explores every interleaving of a small system.
//!
//! A [`System`] says which steps are possible in a state and what comes of them; [`explore`] visits every state that can be
//! reached, breadth first, so that what it finds wrong it finds by a shortest run. [`Messages`] is the system of an
//! algorithm of the catalog: its nodes, the channels between them, and so many requests of each. The code that is explored is
//! the code that ships.
//!
//! A state is a word, a short list of numbers. [`Messages`] numbers the states of single nodes and the messages in flight as
//! it meets them, so that a step is looked up by two numbers, and the algorithm's own code runs once for each different
//! local step.

mod explore;
mod intern;
mod messages;
mod property;
mod store;
mod system;

pub use explore::{Exploration, Limits, explore};
pub use messages::{Act, Messages, Requests, Watches};
pub use property::{Property, Violation};
pub use system::{Step, System};
