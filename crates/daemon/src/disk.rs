//! The disk's thread: it performs the node's writes in order, and reports when each is done.
//!
//! A write that fails, as on a full disk, is tried again for as long as the daemon lives. Until it succeeds the node is not told
//! that it was written, and so neither votes nor decides; a leader in that state falls silent and another takes its place. An
//! append that failed may have left a part of its bytes, so it is repeated as a replacement of the whole file: what was
//! whole before, and these bytes.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use doorway_client::backoff::Backoff;
use doorway_core::Refusal;
use doorway_node::disk::{Disk, DiskContents, FileDisk, Write, blank};
use rustix::fs::{Access, access};

use crate::Config;
use crate::driver::NodeEvent;
use crate::driver::warnings::own_set_back;
use crate::identity::{new_disk, new_nonce};
use crate::shared::DaemonState;

/// The pauses between two attempts.
const PAUSES: Backoff = Backoff::between(Duration::from_millis(50), Duration::from_secs(2));

/// How long a process that was killed just now may still hold a data folder, and how often one looks.
const DYING: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(20)];

/// Opens the data folder of a node, and reads it; one that is not there is made.
///
/// # Errors
/// If it cannot be used, or another process keeps using it.
pub(crate) fn open(config: &Config) -> Result<(FileDisk, Vec<u8>), Refusal> {
    let until = Instant::now() + DYING[0];
    let open = || FileDisk::open(&config.data, || blank(new_disk(), new_nonce()));
    let opened = patiently(open, || {
        thread::sleep(DYING[1]);
        Instant::now() < until
    });
    let read = opened.and_then(|mut disk| disk.read().map(|bytes| (disk, bytes)));
    read.map_err(|error| cannot_use(config, &error))
}

/// Opens a data folder that another process may be about to release, with retries up to a timeout.
fn patiently<T>(
    mut open: impl FnMut() -> io::Result<T>,
    mut may_wait: impl FnMut() -> bool,
) -> io::Result<T> {
    loop {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && may_wait() => {}
            outcome => return outcome,
        }
    }
}

/// Looks whether a node can have its data folder, and changes nothing. Whether another process uses it is not asked.
///
/// # Errors
/// If it is not a folder, cannot be created or written to, or its file cannot be read.
pub(crate) fn check(config: &Config) -> Result<(), Refusal> {
    check_folder(&config.data).map_err(|error| cannot_use(config, &error))?;
    match std::fs::read(config.data.join(FileDisk::NAME)) {
        Ok(bytes) => read(config, &bytes).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => config.check_founders(),
        Err(error) => Err(cannot_use(config, &error)),
    }
}

/// What an operator should know about the disk of a node that is not running.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskCheck {
    /// If the disk was set back, so that the node would start but take no part: a sentence that says so and what to do.
    pub set_back: Option<String>,
    /// The last write is unfinished: the next start cuts off this many bytes.
    pub torn_bytes: usize,
}

/// Reads the disk of a node and changes nothing. A disk that does not exist yet is in order.
pub(crate) fn examine(config: &Config) -> Result<DiskCheck, Refusal> {
    match std::fs::read(config.data.join(FileDisk::NAME)) {
        Ok(bytes) => {
            let memory = read(config, &bytes)?;
            let set_back = memory.identity.set_back.map(|_| own_set_back());
            Ok(DiskCheck { set_back, torn_bytes: bytes.len() - memory.whole })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DiskCheck::default()),
        Err(error) => Err(cannot_use(config, &error)),
    }
}

/// Reads what a node has kept.
///
/// # Errors
/// If it is damaged, with the file that it is in.
pub(crate) fn read(config: &Config, bytes: &[u8]) -> Result<DiskContents, Refusal> {
    let memory = DiskContents::read(bytes).map_err(|refusal| {
        let path = config.data.join(FileDisk::NAME);
        config.refuse("data", &format_args!("{} cannot be used: {refusal}", path.display()))
    })?;
    if memory.is_blank() {
        config.check_founders()?;
    }
    Ok(memory)
}

/// Looks at a folder, or at the one that it would be made in.
fn check_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match (path.metadata(), path.parent()) {
        (Ok(found), _) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        (Ok(_), _) => Ok(access(path, Access::WRITE_OK | Access::EXEC_OK)?),
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => check_folder(parent),
        (Err(error), _) => Err(error),
    }
}

pub(crate) fn cannot_use(config: &Config, error: &io::Error) -> Refusal {
    config.refuse("data", &format_args!("the data folder {} cannot be used: {error}", config.data.display()))
}

/// Writes until the node's thread ends. The first `whole` bytes on the disk are intact.
pub(crate) fn run(shared: &Arc<DaemonState>, mut disk: impl Disk, whole: usize, writes: &Receiver<Write>) {
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
        shared.tell(NodeEvent::Written(write));
    }
}

/// Tries again until it succeeds, or the daemon ends.
fn insist(shared: &DaemonState, disk: &mut impl Disk, whole: usize, write: &Write, first: io::Error) -> bool {
    shared.is_disk_failing.store(true, Ordering::Relaxed);
    let (mut pauses, mut error) = (PAUSES, first);
    loop {
        tracing::error!(%error, "cannot write to the disk of this node: it does not vote until a write succeeds");
        thread::sleep(pauses.next());
        if shared.is_ending.load(Ordering::Relaxed) {
            return false;
        }
        match repair(disk, whole, write) {
            Ok(()) => {
                shared.is_disk_failing.store(false, Ordering::Relaxed);
                tracing::info!("the disk of this node can be written to again");
                return true;
            }
            Err(next) => error = next,
        }
    }
}

/// Has the same effect as the write, whatever an earlier attempt left behind.
fn repair(disk: &mut impl Disk, whole: usize, write: &Write) -> io::Result<()> {
    match write {
        Write::Replace(bytes) => disk.replace(bytes),
        Write::Append(bytes) => {
            let mut all = disk.read()?;
            if all.len() < whole {
                return Err(io::Error::other("it holds less than was written to it"));
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
    fn a_data_folder_in_use_is_waited_for_up_to_a_limit() {
        let folder = std::env::temp_dir().join(format!("doorway-dying-{}", std::process::id()));
        let open = || FileDisk::open(&folder, || blank(new_disk(), new_nonce()));
        let mut holder = Some(open().expect("a new folder"));
        let kept = patiently(open, || false).expect_err("it is held, and nobody may wait");
        assert!(kept.to_string().contains("another process"), "{kept}");
        let mut refused = 0;
        let opened = patiently(open, || {
            refused += 1;
            if refused == 3 {
                holder = None;
            }
            true
        });
        assert!(opened.is_ok() && refused == 3, "{refused}");
        std::fs::remove_dir_all(&folder).expect("it is ours");
        let foreign = patiently(|| Err::<(), _>(io::ErrorKind::PermissionDenied.into()), || true);
        assert!(foreign.is_err(), "waiting helps nothing else");
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
