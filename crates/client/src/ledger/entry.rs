//! One request of a client, and how far it has come.

use std::sync::Arc;
use std::time::Duration;

use doorway_core::{SectionName, Ticks};
use doorway_protocol::{ClientMsg, Reason};

use crate::clock;
use crate::error::Error;
use crate::lock_cell::LockCell;

/// A request for sections.
#[derive(Clone, Debug)]
pub struct LockRequest {
    /// The sections: all of them or none.
    pub names: Vec<SectionName>,
    /// How long it waits; for ever if there is no limit.
    pub patience: Option<Duration>,
    /// The longest time that it may hold them.
    pub max_hold: Option<Duration>,
    /// The longest time that it may hold them without a sign of life.
    pub ttl: Option<Duration>,
    /// Whether to tell it that another client waits.
    pub tell_if_wanted: bool,
    /// Whether to ask another daemon if the connection is lost before this one has answered.
    pub persists: bool,
}

/// A request in the ledger.
pub(super) struct Entry {
    pub(super) cell: Arc<LockCell>,
    pub(super) request: LockRequest,
    pub(super) stage: Stage,
}

/// The stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waiting since then.
    Waiting(Ticks),
    /// Inside until then, unless a renewal moves the deadline.
    Inside(Ticks),
    /// Inside until then, and its owner has begun to stop: no signs of life, and no renewal moves its deadline.
    Expiring(Ticks),
    /// The connection to the daemon that granted it is lost: no more messages about it come or go. It is inside until then, or, with `None`,
    /// must stop. Its connection stays open until its owner has left.
    Orphaned(Option<Ticks>),
    /// It must stop: the daemon told it to, or its deadline has passed. It keeps its sections until its owner leaves, because only the owner
    /// knows that the program has stopped, or until the daemon frees them.
    Stopping,
}

impl Entry {
    /// When it times out.
    pub(super) fn due(&self, grace: Duration) -> Option<Ticks> {
        match self.stage {
            Stage::Waiting(since) => {
                self.request.patience.map(|span| later(since, span.saturating_add(grace)))
            }
            Stage::Inside(until) | Stage::Expiring(until) => Some(until),
            Stage::Orphaned(until) => until,
            Stage::Stopping => None,
        }
    }

    /// The request as a message, with the patience that is left, if it still waits.
    pub(super) fn ask(&self, number: u32, now: Ticks) -> Option<ClientMsg> {
        let Stage::Waiting(since) = self.stage else { return None };
        let waited = clock::span(Ticks(now.0.saturating_sub(since.0)));
        let LockRequest { names, patience, max_hold, ttl, tell_if_wanted, persists: _ } = &self.request;
        Some(ClientMsg::Lock {
            number,
            names: names.clone(),
            patience: patience.map(|span| clock::ticks(span.saturating_sub(waited))),
            max_hold: max_hold.map(clock::ticks),
            ttl: ttl.map(clock::ticks),
            tell_if_wanted: *tell_if_wanted,
        })
    }

    pub(super) fn refused(&self, why: Reason) -> Error {
        Error::Refused { names: self.request.names.clone(), why }
    }
}

/// `span` after `moment`, or the last moment there is.
pub(crate) fn later(moment: Ticks, span: Duration) -> Ticks {
    Ticks(moment.0.saturating_add(clock::ticks(span).0))
}
