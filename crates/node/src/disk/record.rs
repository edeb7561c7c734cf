//! Records, and the numbers of the writes that bring them to the disk.

use serde::{Deserialize, Serialize};

use super::identity::{Boot, Founders};
use super::{Write, frames};
use crate::consensus::{BallotEntry, LogSnapshot, Position};
use crate::{DiskId, DiskState, Epoch, Nonce};

/// One thing that a node must not forget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// The disk was made, and drew its share of the epoch of a cluster that it may found.
    Made { disk: DiskId, share: Nonce },
    /// The node was started for the so-manieth time.
    Boot { number: u64, nonce: Nonce },
    /// All starts so far, where the file was replaced.
    Boots(Vec<Boot>),
    /// The disks of all founders: this node will found a cluster with these and no others.
    Founders(Founders),
    /// The cluster that the disk belongs to.
    Epoch(Epoch),
    /// A peer knows a later state of this disk: the disk was set back and no longer takes part.
    SetBack(DiskState),
    /// The term of the consensus, and the node's vote in it.
    Vote { term: u64, voted_for: Option<DiskId> },
    /// All that was decided up to a position of the log.
    Snapshot(Box<LogSnapshot>),
    /// The entries of the log after a position; earlier entries there are void.
    Entries { after: Position, entries: Vec<BallotEntry> },
}

/// Numbers the writes of one disk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Journal {
    /// How many writes were made.
    issued: u64,
    /// How many of them are synced.
    synced: u64,
}

impl Journal {
    /// Continues after this many writes.
    pub(crate) fn new(synced: u64) -> Self {
        Self { issued: synced, synced }
    }

    /// How many writes the disk has ever synced.
    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    /// How many writes were ever made.
    pub(crate) fn issued(&self) -> u64 {
        self.issued
    }

    /// A write that adds records.
    pub(crate) fn append(&mut self, records: &[Record]) -> Write {
        Write::Append(frames::frame(self.next(), records))
    }

    /// A write that puts records in the place of all others.
    pub(crate) fn replace(&mut self, records: &[Record]) -> Write {
        Write::Replace(frames::file_of(self.next(), records))
    }

    fn next(&mut self) -> u64 {
        self.issued += 1;
        self.issued - 1
    }

    /// A write is synced.
    pub(crate) fn finish(&mut self, write: &Write) {
        // R27: synced writes
        self.synced = frames::synced_with(write).unwrap_or_default().max(self.synced);
    }
}
