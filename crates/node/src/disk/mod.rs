//! What a node must not forget, as a file of numbered writes.
//!
//! Most writes append a few records; now and then the whole file is replaced by a shorter one that says the same. A write that was
//! not finished when the machine stopped leaves a torn end, which is cut off at the next start: nothing that depended on it
//! has left the node. Damage anywhere else is refused ([`frames`]). A disk that lost synced writes, or was replaced by an earlier
//! copy of itself, cannot find that out alone: its peers remember how far it had come ([`Identity::remembers`]).

mod file;
pub mod frames;
mod identity;
mod making;
mod memory;
mod record;
mod remembered;
#[cfg(test)]
mod tests;

use std::io;

use serde::Serialize;

pub use self::file::FileDisk;
pub use self::identity::{Boot, Founders, Identity};
pub(crate) use self::making::genesis;
pub use self::making::{LEAP, Recovery, blank, found, recover, restore};
pub use self::memory::MemoryDisk;
pub(crate) use self::record::{Journal, Record};
pub use self::remembered::DiskContents;

/// A place that keeps what was written to it. Each method returns when what it did will survive a loss of power.
pub trait Disk {
    /// All that is there.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&mut self) -> io::Result<Vec<u8>>;

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// If they cannot be written; then it is unknown how many of them are on the disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Puts bytes in the place of all that is there: after a crash one finds either the old or the new.
    ///
    /// # Errors
    /// If they cannot be written.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Carries out a write of a node.
    ///
    /// # Errors
    /// If it cannot be.
    fn write(&mut self, write: &Write) -> io::Result<()> {
        match write {
            Write::Append(bytes) => self.append(bytes),
            Write::Replace(bytes) => self.replace(bytes),
        }
    }
}

/// What a node asks of its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Write {
    /// Add these bytes at the end.
    Append(Vec<u8>),
    /// Put these bytes in the place of all that is there.
    Replace(Vec<u8>),
}

impl Write {
    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        let (Write::Append(bytes) | Write::Replace(bytes)) = self;
        bytes.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
