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
//! Heading, before the first action: `algorithm NAME`, `nodes N`, `channels fifo|any|causal`, `start-inside NODE`,
//! `quorum`, `structure`, `tree` and `arbitration` with what one would type on the command line, `set NAME VALUE` for
//! any other parameter. A path in `file:PATH` is relative to the script.
//!
//! Actions: `request NODE`, `release NODE`, `deliver MESSAGE`, `deliver all`, `lose MESSAGE`, `duplicate MESSAGE`, `crash
//! NODE`, `clock NODE = COUNT`, `tell FROM->TO` (an application tells another one of all that its node knows, on a channel of
//! their own). Each action takes one tick.
//!
//! A message is `FROM->TO [KIND] [#WHICH]`, of those in flight on this channel. `deliver 1->2 REPLY #2` is the second REPLY in
//! the order in which they were sent, `deliver 1->2 #2` the second message of any kind; without a number the first is
//! meant. A `#` with a blank behind it, or on any other line, begins a comment.
//!
//! `loop`, once in a script, says that from here on the run repeats itself for ever, as a run does in which somebody starves.
//! It takes no tick and changes nothing. What comes after it, at least one action, is played once; nobody checks that it ends
//! as it began, which `expect` is for. A run with a loop never stalls: it goes on for ever.
//!
//! Expectations: `expect inside NODE…|nobody`, `expect waiting NODE…|nobody` (these and no others), `expect deadlock
//! NODE…` (nothing is in flight, nobody is inside, and just these wait), `expect cycle NODE…` (they wait for each other
//! in this order), `expect entries NODE…` (who entered so far, in order), `expect messages COUNT`, `expect in-flight
//! COUNT`, `expect state NODE FIELD = VALUE` (a field of [`doorway_core::Explain::fields`]), `expect violation`, `expect
//! out-of-order COUNT` (so many entries came before one whose request had happened before).

mod choices;
mod parse;
mod run;

use std::fmt;
use std::num::NonZeroUsize;

use doorway_core::{Channels, NodeId};

use crate::outcome::Outcome;

/// A script, read and ready to run.
#[derive(Clone, Debug)]
pub struct Script {
    /// What it says about the system that it is for.
    pub heading: Heading,
    actions: Vec<(usize, Action)>,
}

/// The system that a script is for, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The algorithm.
    pub algorithm: Option<String>,
    /// How many nodes.
    pub nodes: Option<usize>,
    /// The order of the channels.
    pub channels: Option<Channels>,
    /// Who is inside at the start.
    pub start_inside: Option<NodeId>,
    /// What is chosen for the algorithm, as one would type it.
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
            Action::Tell(from, to) => vec![*from, *to],
            Action::Expect(Expectation::State { node, .. }) => vec![*node],
            Action::DeliverAll | Action::Loop | Action::Expect(_) => Vec::new(),
        }
    }
}

/// Which message is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pick {
    from: NodeId,
    to: NodeId,
    kind: Option<String>,
    /// Which of those that it could be, in the order of sending, counted from 1.
    which: NonZeroUsize,
}

/// A script as far as it could be played.
#[derive(Clone, Debug)]
pub struct Played {
    /// What it came to.
    pub outcome: Outcome,
    /// What could be done next.
    pub choices: Vec<Choice>,
    /// Why it was not played to its end.
    pub trouble: Option<ScriptError>,
}

impl Played {
    /// What a script came to that was played to its end.
    ///
    /// # Errors
    /// If a line asked for something impossible, or expected what is not so.
    pub fn whole(self) -> Result<Outcome, ScriptError> {
        self.trouble.map_or(Ok(self.outcome), Err)
    }
}

/// Something that could be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The line of a script that does it: `deliver 2->1 REQUEST`.
    pub line: String,
    /// What it does, in a few words: `REQUEST from 2 reaches 1`.
    pub says: String,
    /// Whose step it is.
    pub node: NodeId,
    /// Which message it is about.
    pub message: Option<InFlight>,
}

/// A message that could arrive next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Who sent it.
    pub from: NodeId,
    /// Its kind.
    pub kind: &'static str,
    /// The event in which it was sent, where events are recorded.
    pub sent: Option<u64>,
}

/// What a script expects to be so.
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
    Violation,
}

/// Why a script could not be read or did not come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// A line that says nothing known, or that cannot be done.
    Impossible {
        /// The line, counted from 1; 0 if it is not about a line.
        line: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// What a line expects is not so.
    Unmet {
        /// The line, counted from 1.
        line: usize,
        /// What is expected, and what is.
        what: String,
    },
}

impl ScriptError {
    /// Whether the script was sound and only its expectation did not come true.
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
