//! Why a holder must stop, and why a request is not served.

use std::borrow::Cow;

use doorway_core::Ticks;
use serde::{Deserialize, Serialize};

use crate::{MILLISECOND, MOST_NAMES};

/// Why a holder has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// The node has not heard from a majority of the voters for too long.
    Lease,
    /// The other nodes left this one out of their view.
    LeftOut,
    /// Its maximum hold time is over.
    MaxHold,
    /// The node is leaving its cluster.
    Leaving,
    /// Two nodes reported to be inside: neither may continue.
    Conflict,
    /// The disk of the node was set back to an earlier copy of itself.
    SetBack,
    /// An operator broke the lock.
    Broken,
    /// Its client gave no sign of life within its time-to-live.
    Silent,
}

impl Loss {
    /// The reason as the end of a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Loss::Lease => "this node has not heard from a majority of the voters for too long",
            Loss::LeftOut => "the other nodes left this one out of their view",
            Loss::MaxHold => "its maximum hold time is over",
            Loss::Leaving => "this node is leaving its cluster",
            Loss::Conflict => "two nodes reported holding it",
            Loss::SetBack => "the disk of this node was set back to an earlier copy of itself",
            Loss::Broken => "an operator broke the lock",
            Loss::Silent => "its holder gave no sign of life within its time-to-live",
        }
    }
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// Its patience ended before its sections were free.
    TimedOut,
    /// Its client cancelled it.
    Cancelled,
    /// Its client already holds one of the sections, or waits for it.
    Reentrant,
    /// It names no section, one section twice, or too many.
    BadNames,
    /// Another request of this client has the same number.
    BadNumber,
    /// The node has reached its limit of requests, waiting or inside, or of sections in use.
    TooMany,
    /// The clients of its user have reached the limit of requests or of sections for one user.
    Quota,
    /// The node is leaving its cluster.
    Leaving,
    /// The disk of the node was set back to an earlier copy of itself.
    SetBack,
    /// Its time-to-live leaves too little time for signs of life to arrive: see `Timing::shortest_ttl` of the node.
    ShortTtl {
        /// The shortest time-to-live that the node accepts.
        shortest: Ticks,
    },
}

impl Reason {
    /// The reason as the end of a sentence.
    #[must_use]
    pub fn sentence(self) -> Cow<'static, str> {
        let fixed = match self {
            Reason::TimedOut => "timed out waiting for the lock",
            Reason::Cancelled => "the request was cancelled",
            Reason::Reentrant => "this client already holds it or waits for it, and locks are not reentrant",
            Reason::BadNames => {
                return Cow::Owned(format!("a request must name 1 to {MOST_NAMES} sections, each only once"));
            }
            Reason::BadNumber => "the request number is already in use",
            Reason::TooMany => "this node has reached its limit of requests or of sections in use",
            Reason::Quota => {
                "this user's programs have reached the per-user limit of requests, or of sections in use or not yet forgotten, at this node"
            }
            Reason::Leaving => "this node is leaving its cluster",
            Reason::SetBack => {
                "the disk of this node was set back to an earlier copy of itself (`doorway status` says what to do)"
            }
            Reason::ShortTtl { shortest } => {
                return Cow::Owned(format!(
                    "its time-to-live must be at least {} ms: a sign of life is due every third of it, and it and its answer may each be late by the cluster's margin",
                    shortest.0.div_ceil(MILLISECOND.0)
                ));
            }
        };
        Cow::Borrowed(fixed)
    }
}
