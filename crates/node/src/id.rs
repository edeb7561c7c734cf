//! Identities of disks, lives, clients and requests, across restarts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A data folder, by the random number that was drawn when it was made. It is also the voter's number in the consensus: a
/// node that has lost its disk is a new voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DiskId(pub u64);

/// A random number that a node draws at each start. Two copies of one disk that are both started have different ones, although
/// they count their starts alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonce(#[serde(with = "wide")] pub u128);

/// One cluster from its founding on: a random number that every node of it knows. A recovery begins a new epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(#[serde(with = "wide")] pub u128);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0 >> 96)
    }
}

/// How far a disk has come: its newest start, and how many writes it has ever synced. A node tells its own with every message
/// that others rely on; a peer keeps the newest that it heard of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DiskState {
    /// How often a node was started from the disk.
    pub boot: u64,
    /// What it drew at that start.
    pub nonce: Nonce,
    /// How many writes the disk has ever synced.
    pub synced: u64,
}

impl DiskState {
    /// Whether both are of one start of the node.
    #[must_use]
    pub fn is_same_start(&self, other: &DiskState) -> bool {
        (self.boot, self.nonce) == (other.boot, other.nonce)
    }
}

/// One life of a node: it ends with the process, and also when the node finds itself left out of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Incarnation {
    /// Whose life it is.
    pub disk: DiskId,
    /// How often the node was started from this disk.
    pub boot: u64,
    /// How often it found itself left out since.
    pub tenure: u64,
    /// What it drew at that start.
    pub nonce: Nonce,
}

impl Incarnation {
    /// The start that it began with; how much the disk had synced is not part of it.
    #[must_use]
    pub fn start(&self) -> DiskState {
        DiskState { boot: self.boot, nonce: self.nonce, synced: 0 }
    }

    /// Which life of its disk it is: a later one is larger.
    #[must_use]
    pub fn life(&self) -> (u64, u64) {
        (self.boot, self.tenure)
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}.{}", self.disk.0 & 0xffff, self.boot, self.tenure)
    }
}

/// Numbers of 128 bits: as hexadecimal text where people read it, as JSON has no such numbers, and as two halves elsewhere.
mod wide {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{number:032x}"))
        } else {
            ((number >> 64) as u64, *number as u64).serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            u128::from_str_radix(&text, 16).map_err(D::Error::custom)
        } else {
            let (high, low) = <(u64, u64)>::deserialize(deserializer)?;
            Ok(u128::from(high) << 64 | u128::from(low))
        }
    }
}

/// A client of a node: one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u64);

/// What a client asked for, by a number that its node's driver gives and never gives again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);
