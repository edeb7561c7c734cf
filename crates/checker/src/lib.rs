//! An explicit-state model checker: explores every interleaving of a small system.
//!
//! A [`System`] defines the steps of a state and their successors. [`explore`] visits every reachable state
//! by breadth-first search, so that its counterexamples to state properties are shortest runs; then it
//! analyses whole runs: which process can starve under which fairness, the number of bypasses, the number of
//! messages. [`Messages`] is the system of an algorithm: its nodes, the channels between them, and the number
//! of requests of each node. The explored code is the code that ships. [`Shared`] is the system of a
//! shared-memory program: its processes, and atomic, regular or safe registers with immediate or buffered
//! stores.
//!
//! A state is a word: a short list of numbers. [`Messages`] interns the states of single nodes and the
//! messages in flight, so that a step is a table lookup by two numbers, and the algorithm's own code runs
//! once for each distinct local step.

mod cancellation;
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
