//! Who somebody is, across restarts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A data folder, by the random number that was drawn when it was made. It is also the voter's number in the consensus: a
/// node that has lost its disk is a new voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DiskId(pub u64);

/// One life of a node: it ends with the process, and also when the node finds itself left out of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Incarnation {
    /// Whose life it is.
    pub disk: DiskId,
    /// How often the node was started from this disk.
    pub boot: u64,
    /// How often it found itself left out since.
    pub tenure: u64,
}

impl Incarnation {
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

/// A client of a node: one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u64);

/// What a client asked for, by a number that its node's driver gives and never gives again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);
