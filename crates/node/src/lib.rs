//! The lock node of Doorway as one pure state machine.
//!
//! A [`LockNode`] is told what happens (a client's command, a message, a timer, a finished write) and answers with what to
//! send, what to tell its clients and what to write down. It has no socket, no clock and no disk of its own: it is a
//! [`doorway_core::Machine`], so the simulator runs whole clusters of it through crashes and partitions from a seed, and a
//! real process runs the very same code.
//!
//! The textbook's algorithms stop at the first crash. Here each runs in a *view*: a number and the list of the lives that
//! take part. Views are decided by a consensus among the voters, which is asked only when the membership changes. A node acts only
//! while it holds a *lease*, acknowledged by a majority of the voters; so a node that is left out of a view stops by itself. When a
//! view changes every member stops in the old one, tells all others where it is inside, and with all reports in, each section
//! starts afresh in the new view: at once if a client is inside, else after the leases of the nodes that were left out.
//!
//! | module | what it does |
//! |---|---|
//! | [`node`] | the whole: from an input to its effects |
//! | `sections` | clients, their queues, the algorithm of each section, forgetting |
//! | `lease`, `voter` | for how long a node may act, and who says so |
//! | `leader`, `wishes` | who is left out, who is taken in, who votes |
//! | `damping` | nodes that keep failing, and how long they are kept out |
//! | `consensus` | the log of views, on disk and agreed |
//! | `delivery` | messages within a view: once and in order |
//! | [`wire`] | messages as bytes, with limits |
//! | [`disk`] | what must not be forgotten |

mod command;
mod consensus;
mod damping;
mod delivery;
pub mod disk;
mod flaw;
mod id;
mod leader;
mod lease;
mod message;
pub mod node;
mod recipe;
mod recipes;
mod rules;
mod sections;
pub mod timing;
mod view;
mod voter;
pub mod wire;
mod wishes;

pub use command::{Command, LockCommand, Notice};
pub use consensus::{Ballot, BallotEntry, Body, Electorate, LogSnapshot, Position};
pub use damping::{Damping, KeptOut};
pub use doorway_protocol::{BreakTarget, Loss, Reason, Revocation};
pub use flaw::Flaw;
pub use id::{ClientId, DiskId, DiskState, Epoch, Incarnation, Nonce, RequestId};
pub use message::{
    Ack, Founding, Greeting, Heartbeat, Hello, IdleSection, Idleness, MemberReport, Msg, Parcel, ReportPart,
    Welcome,
};
pub use node::{LockNode, Setup, Stranger};
pub use recipe::{Blueprint, Participant, Recipe, StepOutput, full_name};
pub use recipes::Recipes;
pub use rules::{Rules, Sound};
pub use sections::{Counters, HolderSummary, MOST_REQUESTS, SectionSummary, WaiterSummary};
pub use timing::Timing;
pub use view::{View, Voters};
