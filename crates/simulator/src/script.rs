//! Scripts: a textbook example as a file, one action per line.
//!
//! ```text
//! # Two nodes ask at once; the older request goes first.
//! algorithm ricart-agrawala
//! nodes 2
//!
//! clock 1 = 41
//! request 1
//! request 2
//! deliver 2->1 REQUEST
//! deliver 1->2 REQUEST
//! deliver 1->2 REPLY
//! expect inside 2
//! release 2
//! ```
//!
//! Heading, before the first action: `algorithm NAME`, `nodes N`, `channels fifo|any|causal`, `start-inside
//! NODE`, `quorum`, `structure`, `tree` and `arbitration` with the same values as on the command line, `set
//! NAME VALUE` for any other parameter. A path in `file:PATH` is relative to the script.
//!
//! Actions: `request NODE`, `release NODE`, `deliver MESSAGE`, `deliver all`, `lose MESSAGE`, `duplicate
//! MESSAGE`, `crash NODE`, `report CRASHED to NODE` (the oracle tells a node of a crash), `clock NODE = COUNT`, `tell FROM->TO` (an application tells another, outside the
//! algorithm, all that its node knows). Each action takes one tick.
//!
//! A message is `FROM->TO [KIND] [#WHICH]`, of those in flight on this channel. `deliver 1->2 REPLY #2` is
//! the second REPLY in the order of sending, `deliver 1->2 #2` the second message of any kind; without a
//! number it is the first. A `#` followed by a blank, or on any other line, starts a comment.
//!
//! `loop`, once in a script, says that the run repeats from here on for ever, as a run does in which a node
//! starves. It takes no tick and changes nothing. The part after it, at least one action, is played once; use
//! `expect` to check that it ends in the state in which it began. A run with a loop never stalls.
//!
//! Expectations: `expect inside NODE…|nobody`, `expect waiting NODE…|nobody` (these and no others), `expect
//! deadlock NODE…` (nothing is in flight, no node is inside, and exactly these wait), `expect cycle NODE…`
//! (they wait for each other in this order), `expect entries NODE…` (the entries so far, in order), `expect
//! messages COUNT`, `expect in-flight COUNT`, `expect state NODE FIELD = VALUE` (a field of
//! [`doorway_core::Explain::fields`]), `expect violation`, `expect out-of-order COUNT` (the number of entries
//! ahead of a waiting request that had happened before theirs), `expect lamport NODE = COUNT…` (the Lamport times
//! of the node's last events, as many as are given) and `expect vector NODE = COUNT…` (the vector time of its last
//! event: see [`doorway_trace::clocks`]).

mod choices;
mod parse;
mod run;
mod times;

use std::fmt;
use std::num::NonZeroUsize;

use doorway_core::{Channels, NodeId};

use crate::outcome::Outcome;

/// A parsed script.
#[derive(Clone, Debug)]
pub struct Script {
    /// The system that it is for.
    pub heading: Heading,
    actions: Vec<(usize, Action)>,
}

/// The system that a script is for, as far as specified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The algorithm.
    pub algorithm: Option<String>,
    /// The number of nodes.
    pub nodes: Option<usize>,
    /// The order of the channels.
    pub channels: Option<Channels>,
    /// The node that starts inside.
    pub start_inside: Option<NodeId>,
    /// The algorithm's options, as on the command line.
    pub options: Vec<(String, String)>,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Request(NodeId),
    Release(NodeId),
    Deliver(Pick),
    DeliverAll,
    Lose(Pick),
    Duplicate(Pick),
    Crash(NodeId),
    Report { crashed: NodeId, to: NodeId },
    Clock(NodeId, u64),
    Tell(NodeId, NodeId),
    Loop,
    Expect(Expectation),
}

impl Action {
    /// The nodes that act in it.
    fn nodes(&self) -> Vec<NodeId> {
        match self {
            Action::Request(node) | Action::Release(node) | Action::Crash(node) | Action::Clock(node, _) => {
                vec![*node]
            }
            Action::Deliver(pick) | Action::Lose(pick) | Action::Duplicate(pick) => vec![pick.from, pick.to],
            Action::Tell(from, to) | Action::Report { crashed: from, to } => vec![*from, *to],
            Action::Expect(
                Expectation::State { node, .. }
                | Expectation::Lamport { node, .. }
                | Expectation::Vector { node, .. },
            ) => vec![*node],
            Action::DeliverAll | Action::Loop | Action::Expect(_) => Vec::new(),
        }
    }
}

/// Names a message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pick {
    from: NodeId,
    to: NodeId,
    kind: Option<String>,
    /// Its number among the matching messages, in the order of sending, from 1.
    which: NonZeroUsize,
}

/// The result of playing a script as far as possible.
#[derive(Clone, Debug)]
pub struct Played {
    /// The outcome.
    pub outcome: Outcome,
    /// The possible next actions.
    pub choices: Vec<NextAction>,
    /// The error that stopped it, if any.
    pub trouble: Option<ScriptError>,
}

impl Played {
    /// The outcome of a script that was played to its end.
    ///
    /// # Errors
    /// If an action was impossible, or an expectation was not met.
    pub fn whole(self) -> Result<Outcome, ScriptError> {
        self.trouble.map_or(Ok(self.outcome), Err)
    }
}

/// A possible next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAction {
    /// The line of a script that does it: `deliver 2->1 REQUEST`.
    pub line: String,
    /// What it does, in a few words: `REQUEST from 2 reaches 1`.
    pub says: String,
    /// The node that takes the step.
    pub node: NodeId,
    /// The message that it delivers.
    pub message: Option<InFlight>,
}

/// A message that could arrive next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The sender.
    pub from: NodeId,
    /// Its kind.
    pub kind: &'static str,
    /// The event in which it was sent, if the run is recorded.
    pub sent: Option<u64>,
}

/// An expectation of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expectation {
    Inside(Vec<NodeId>),
    Waiting(Vec<NodeId>),
    Deadlock(Vec<NodeId>),
    Cycle(Vec<NodeId>),
    Entries(Vec<NodeId>),
    Messages(u64),
    InFlight(u64),
    State { node: NodeId, field: String, value: String },
    OutOfOrder(u64),
    Lamport { node: NodeId, counts: Vec<u64> },
    Vector { node: NodeId, counts: Vec<u64> },
    Violation,
}

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// A line that cannot be parsed or executed.
    Impossible {
        /// The line, counted from 1; 0 for an error without a line.
        line: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// An expectation that is not met.
    Unmet {
        /// The line, counted from 1.
        line: usize,
        /// The expected and the actual value.
        what: String,
    },
}

impl ScriptError {
    /// Whether the script was valid and only an expectation failed.
    #[must_use]
    pub fn is_unmet(&self) -> bool {
        matches!(self, ScriptError::Unmet { .. })
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Impossible { line: 0, what } => f.write_str(what),
            ScriptError::Impossible { line, what } | ScriptError::Unmet { line, what } => {
                write!(f, "line {line} of the script: {what}")
            }
        }
    }
}

impl std::error::Error for ScriptError {}
