//! An explicit-state model checker: explores every interleaving of a small system.
//!
//! A [`System`] defines the steps of a state and their successors. [`explore`] visits every reachable state
//! by breadth-first search, so that its counterexamples to state properties are shortest runs; then it
//! analyses whole runs: which process can starve under which fairness, the number of bypasses, the number of
//! messages. [`Messages`] is the system of an algorithm: its nodes, the channels between them, and the number
//! of requests of each node. The explored code is the code that ships. [`SharedMemory`] is the system of a
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

pub use explore::{Exploration, Runs, Search, SearchLimits, explore};
pub use messages::{Act, Delivery, FaultBudget, Messages, Setting, Watches};
pub use progress::ProgressNeeds;
pub use property::{Property, SchedulerFairness, Violation};
pub use shared::{
    Access, Barriers, MemoryModel, MemorySetting, ProcessView, RegisterModel, SharedAct, SharedMemory,
    SharedView,
};
pub use store::Visited;
pub use system::{Step, StepsKnown, System};
pub use waiting::Overtaking;
pub use walk::{Walked, Walks, walk};
