//! The disk's thread: it writes what the node asks for, in order, and says when it is done.
//!
//! A write that fails, as on a full disk, is tried again for as long as the daemon lives. Until it succeeds the node is not told
//! that it was written, and so neither votes nor decides; a leader in that state falls silent and another takes its place. An
//! append that failed may have left a part of its bytes, so it is repeated as a replacement of the whole file: what was
//! whole before, and these bytes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use doorway_node::disk::{Disk, Write};

use crate::driver::Event;
use crate::shared::Shared;

/// The shortest and the longest time between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Writes until nobody asks any more. Of what is on the disk already, so many bytes are whole.
pub(crate) fn run(shared: &Arc<Shared>, mut disk: impl Disk, whole: usize, writes: &Receiver<Write>) {
    let mut whole = whole;
    while let Ok(write) = writes.recv() {
        let written = match disk.write(&write) {
            Ok(()) => true,
            Err(error) => insist(shared, &mut disk, whole, &write, error),
        };
        if !written {
            return;
        }
        whole = match &write {
            Write::Append(bytes) => whole + bytes.len(),
            Write::Replace(bytes) => bytes.len(),
        };
        shared.tell(Event::Written(write));
    }
}

/// Tries again until it succeeds, or the daemon ends.
fn insist(shared: &Shared, disk: &mut impl Disk, whole: usize, write: &Write, first: io::Error) -> bool {
    shared.is_disk_failing.store(true, Ordering::Relaxed);
    let (mut pause, mut error) = (PAUSES[0], first);
    loop {
        tracing::error!(%error, "the disk of this node takes nothing: it goes on without voting until it does");
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES[1]);
        if shared.is_ending.load(Ordering::Relaxed) {
            return false;
        }
        match repair(disk, whole, write) {
            Ok(()) => {
                shared.is_disk_failing.store(false, Ordering::Relaxed);
                tracing::info!("the disk of this node takes what is written again");
                return true;
            }
            Err(next) => error = next,
        }
    }
}

/// Does the same as the write, whatever an earlier attempt has left.
fn repair(disk: &mut impl Disk, whole: usize, write: &Write) -> io::Result<()> {
    match write {
        Write::Replace(bytes) => disk.replace(bytes),
        Write::Append(bytes) => {
            let mut all = disk.read()?;
            if all.len() < whole {
                return Err(io::Error::other("there is less on it than was written"));
            }
            all.truncate(whole);
            all.extend_from_slice(bytes);
            disk.replace(&all)
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_node::disk::MemoryDisk;

    use super::*;

    /// A disk that takes only a part of an append, so often.
    struct Full(MemoryDisk, usize);

    impl Disk for Full {
        fn read(&mut self) -> io::Result<Vec<u8>> {
            self.0.read()
        }

        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            let part = if self.1 > 0 { &bytes[..bytes.len() / 2] } else { bytes };
            self.0.append(part)?;
            self.fail()
        }

        fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.fail()?;
            self.0.replace(bytes)
        }
    }

    impl Full {
        fn fail(&mut self) -> io::Result<()> {
            if self.1 == 0 {
                return Ok(());
            }
            self.1 -= 1;
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn a_part_of_an_append_that_failed_is_never_kept() {
        let mut disk = Full(MemoryDisk::new(b"whole".to_vec()), 2);
        let write = Write::Append(b"more".to_vec());
        assert!(disk.write(&write).is_err());
        assert_eq!(disk.0.bytes(), b"wholemo");
        assert!(repair(&mut disk, 5, &write).is_err());
        repair(&mut disk, 5, &write).expect("there is room again");
        assert_eq!(disk.0.bytes(), b"wholemore");
    }
}
