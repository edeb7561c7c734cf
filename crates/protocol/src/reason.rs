//! Why a holder must stop, and why a request is not served.

use std::borrow::Cow;

use doorway_core::Ticks;
use serde::{Deserialize, Serialize};

use crate::{MILLISECOND, MOST_NAMES};

/// Why somebody inside has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// The node has not heard from a majority of the voters for too long.
    Lease,
    /// The other nodes have gone on without this one.
    LeftOut,
    /// It has stayed as long as it said that it would.
    MaxHold,
    /// The node is leaving its cluster.
    Leaving,
    /// Two nodes said that they were inside: nobody may go on.
    Conflict,
    /// The disk of the node was set back to an earlier copy of itself.
    SetBack,
    /// An operator has broken the section.
    Broken,
    /// Its client gave no sign of life for as long as its time-to-live.
    Silent,
}

impl Loss {
    /// The reason as the end of a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Loss::Lease => "this node has not heard from a majority of the voters for too long",
            Loss::LeftOut => "the other nodes have gone on without this one",
            Loss::MaxHold => "it was held for as long as was asked for",
            Loss::Leaving => "this node is leaving its cluster",
            Loss::Conflict => "two nodes reported to be inside",
            Loss::SetBack => "the disk of this node was set back to an earlier copy of itself",
            Loss::Broken => "somebody has broken the lock",
            Loss::Silent => "its holder gave no sign of life for as long as its time-to-live",
        }
    }
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// It waited as long as it said that it would.
    TimedOut,
    /// Its client did not want to wait any longer.
    Cancelled,
    /// Its client holds one of the sections already, or waits for it.
    Reentrant,
    /// It names no section, or one twice, or more than a request may name.
    BadNames,
    /// A request of that number exists already.
    BadNumber,
    /// More requests wait, or are inside, than a node can keep, or more sections are in use.
    TooMany,
    /// The clients of its user have as many requests, or name as many sections, as one user may.
    Quota,
    /// The node is leaving its cluster.
    Leaving,
    /// The disk of the node was set back to an earlier copy of itself.
    SetBack,
    /// Its time-to-live is too short for signs of life to arrive in time: see `Timing::shortest_ttl` of the node.
    ShortTtl {
        /// The shortest that the node takes.
        shortest: Ticks,
    },
}

impl Reason {
    /// The reason as the end of a sentence.
    #[must_use]
    pub fn sentence(self) -> Cow<'static, str> {
        let fixed = match self {
            Reason::TimedOut => "it was not free in time",
            Reason::Cancelled => "the request was withdrawn",
            Reason::Reentrant => {
                "this client holds it already or waits for it, and a section cannot be entered twice"
            }
            Reason::BadNames => {
                return Cow::Owned(format!("a request names 1 to {MOST_NAMES} sections, each of them once"));
            }
            Reason::BadNumber => "there is a request of that number already",
            Reason::TooMany => "this node has as many requests, or sections in use, as it can keep",
            Reason::Quota => {
                "the programs of this user have as many requests, or sections in use or not forgotten yet, as this node lets one user have"
            }
            Reason::Leaving => "this node is leaving its cluster",
            Reason::SetBack => {
                "the disk of this node was set back to an earlier copy of itself (`doorway status` says what to do)"
            }
            Reason::ShortTtl { shortest } => {
                return Cow::Owned(format!(
                    "its time-to-live must be at least {} ms: a sign of life every third of it, and its answer, may each be late by the cluster's margin",
                    shortest.0.div_ceil(MILLISECOND.0)
                ));
            }
        };
        Cow::Borrowed(fixed)
    }
}
