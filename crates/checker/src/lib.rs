//! Explores every interleaving of a small system.
//!
//! A [`System`] says which steps are possible in a state and what comes of them; [`explore`] visits every state that can be
//! reached, breadth first, so that what it finds wrong in a state it finds by a shortest run; then it asks about whole runs: who can
//! wait for ever, under which fairness, how often one is overtaken, how many messages a run takes. [`Messages`] is the system of
//! an algorithm: its nodes, the channels between them, and so many requests of each. The code that is explored
//! is the code that ships. [`Shared`] is the same for a program over shared memory: its processes, and registers that are atomic or
//! not, with stores that reach memory at once or later.
//!
//! A state is a word, a short list of numbers. [`Messages`] numbers the states of single nodes and the messages in flight as
//! it meets them, so that a step is looked up by two numbers, and the algorithm's own code runs once for each different
//! local step.

mod brake;
mod components;
pub mod counts;
mod explore;
mod graph;
mod intern;
mod messages;
mod order;
mod progress;
mod property;
mod shared;
mod store;
mod system;
mod waiting;
mod walk;

pub use explore::{Exploration, Limits, Runs, Search, explore};
pub use messages::{Act, Delivery, Faults, Messages, Setting, Watches};
pub use progress::Progress;
pub use property::{Fairness, Property, Violation};
pub use shared::{
    Access, Barriers, MemoryModel, MemorySetting, ProcessView, RegisterModel, Shared, SharedAct, SharedView,
};
pub use store::Visited;
pub use system::{Known, Step, System};
pub use waiting::Waiting;
pub use walk::{Walked, Walks, walk};
