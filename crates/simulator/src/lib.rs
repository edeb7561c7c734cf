//! Runs algorithms in virtual time: deterministic, with faults, workloads and metrics. A run is a seed.
//!
//! [`simulate`] runs an algorithm under [`Settings`] and returns an [`Outcome`]; a [`Script`] runs it step by
//! step. Both use one [`Engine`], which steps any [`doorway_core::Machine`].
//!
//! **The order of events.** Time is a whole number of ticks. Within a tick, first nodes crash, then
//! applications act in the order of their nodes' numbers, then messages arrive in the order of sending. If a
//! message makes an application act in the same tick, it acts before the next message arrives. So the same
//! settings give the same run on every machine.
//!
//! ```
//! use doorway_algorithms::message::ricart_agrawala;
//! use doorway_core::Options;
//! use doorway_simulator::{Settings, simulate};
//!
//! let settings = Settings { nodes: 4, entries: 100, ..Settings::default() };
//! let factory = ricart_agrawala::entry().factory(&Options::none())?;
//! let outcome = simulate(&factory, &settings)?;
//! assert_eq!(outcome.report("ricart-agrawala", 4, 1).messages_per_entry, Some(6.0));
//! # Ok::<(), doorway_core::Refusal>(())
//! ```

mod agenda;
mod application;
mod election;
mod engine;
mod faults;
mod intervention;
mod limits;
mod measures;
mod network;
mod nodes;
mod oracle;
mod outcome;
pub mod parallel;
mod random;
mod report;
mod script;
mod settings;
pub mod shell;
mod simulation;
mod size;
mod stall;
mod traffic;
mod watch;

pub use election::{Election, elect, elect_tree, elected};
pub use engine::{Engine, Happened, LocalClock};
pub use faults::{Crash, Faults, Partition, Probability};
pub use intervention::{Change, Intervention};
pub use limits::RunLimits;
pub use measures::{Measures, Samples};
pub use network::Wire;
pub use outcome::{Outcome, Repetition};
pub use random::Random;
pub use report::{LoadSpread, Report, Retransmission, RunFairness, Summary, SyncDelay};
pub use script::{Heading, InFlight, NextAction, Played, Script, ScriptError};
pub use settings::{Latency, Load, Settings, Span};
pub use simulation::simulate;
pub use stall::{Stall, WaitingNode};
pub use traffic::Traffic;
pub use watch::{SafetyMonitor, WrongEntry};
