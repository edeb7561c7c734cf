//! A file that refuses writes with an old fence.
//!
//! A lock alone cannot stop a late writer: it may have been paused between the check of its guard and the write.
//! The resource itself has to check. Beside the file `NAME` this one keeps `NAME.fence`, in which the highest fence is written
//! down, and synced, before anything of its holder reaches the file: see [`crate::mark`].

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use doorway_core::Fence;

use crate::mark::{self, FenceError, Synced};

/// A file that refuses writes with an old fence.
///
/// It belongs to one section: give it the fences of that section only. A holder may write as often as it likes; once
/// a holder with a higher fence has written, lower fences are refused, for ever and in every process.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("doorway-fenced-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use doorway::{Fence, FencedFile, FencedFileError};
///
/// let file = FencedFile::open(folder.join("balance"))?;
/// file.write(Fence(7), b"100")?;
/// file.write(Fence(9), b"80")?;
/// let late = file.write(Fence(7), b"90");
/// assert!(matches!(late, Err(FencedFileError::Stale { yours: Fence(7), seen: Fence(9) })));
/// assert_eq!(file.read()?, b"80");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Limits
/// - All writers must use this type, on the same local file system: its promise rests on `flock`, on renaming
///   and on syncing, which network file systems keep only in part.
/// - If `NAME.fence` is deleted or replaced by an old copy, the promise is void.
/// - A writer that is stopped in the middle of a write keeps the others waiting until it continues or is killed; they wait and
///   nothing is written twice.
/// - Every call blocks on the disk. In asynchronous code use a thread for them.
#[derive(Debug)]
pub struct FencedFile {
    path: PathBuf,
    synced: Mutex<Synced>,
}

impl FencedFile {
    /// Opens a file that need not exist yet. Its folder must.
    ///
    /// # Errors
    /// If its mark cannot be read or made.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FencedFileError> {
        let file = Self { path: path.as_ref().to_owned(), synced: Mutex::new(None) };
        OpenOptions::new().write(true).create(true).truncate(false).open(file.mark())?;
        mark::begin(&file.turn()?).map_err(|stop| file.refused(Fence(0), stop))?;
        // Also if the mark existed: the process that made it may have failed before this sync.
        file.sync_folder()?;
        Ok(file)
    }

    /// Replaces the content of the file, as a whole or not at all. After a disk error the file may have the old or the new content,
    /// and the write may be repeated.
    ///
    /// # Errors
    /// [`FencedFileError::Stale`] if a higher fence has been seen.
    pub fn write(&self, fence: Fence, bytes: &[u8]) -> Result<(), FencedFileError> {
        let turn = self.turn()?;
        self.pass(&turn, fence)?;
        let aside = beside(&self.path, ".new");
        let mut file = File::create(&aside)?;
        if let Ok(old) = fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, &self.path)?;
        self.sync_folder()
    }

    /// Appends to the file. After a loss of power or a disk error, a part or all of the bytes may be there: if they are
    /// appended again, the file may have them twice.
    ///
    /// # Errors
    /// [`FencedFileError::Stale`] if a higher fence has been seen.
    pub fn append(&self, fence: Fence, bytes: &[u8]) -> Result<(), FencedFileError> {
        let turn = self.turn()?;
        self.pass(&turn, fence)?;
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // Also if the file existed: the process that made it may have failed before this sync.
        self.sync_folder()
    }

    /// Refuses lower fences from now on, and writes nothing. A read-modify-write begins with
    /// this call.
    ///
    /// # Errors
    /// [`FencedFileError::Stale`] if a higher fence has been seen.
    pub fn claim(&self, fence: Fence) -> Result<(), FencedFileError> {
        let turn = self.turn()?;
        self.pass(&turn, fence)
    }

    /// The content of the file; empty if there is none yet.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, FencedFileError> {
        let _turn = self.turn()?;
        match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => Ok(read?),
        }
    }

    /// The highest fence that was seen; zero if none was.
    ///
    /// # Errors
    /// If the mark cannot be read, or is damaged.
    pub fn seen(&self) -> Result<Fence, FencedFileError> {
        let turn = self.turn()?;
        mark::highest(&turn).map_err(|stop| self.refused(Fence(0), stop))
    }

    /// Waits for exclusive access.
    fn turn(&self) -> Result<File, FencedFileError> {
        // `flock` belongs to the open file, so each turn opens it anew: then threads exclude each other too.
        // A missing mark is not created here: the fences that it had seen are lost.
        let file = OpenOptions::new().read(true).write(true).open(self.mark())?;
        file.lock()?;
        Ok(file)
    }

    /// Lets the fence pass if it is not old, and remembers it.
    fn pass(&self, turn: &File, fence: Fence) -> Result<(), FencedFileError> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        mark::pass(turn, fence, &mut synced).map_err(|stop| self.refused(fence, stop))
    }

    fn refused(&self, yours: Fence, stop: FenceError) -> FencedFileError {
        match stop {
            FenceError::Stale(seen) => FencedFileError::Stale { yours, seen },
            FenceError::Damaged => FencedFileError::Damaged(self.mark()),
            FenceError::Io(error) => error.into(),
        }
    }

    fn mark(&self) -> PathBuf {
        beside(&self.path, ".fence")
    }

    fn sync_folder(&self) -> Result<(), FencedFileError> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?)
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Why a fenced file was not written or read.
#[derive(Debug)]
pub enum FencedFileError {
    /// A later holder has written before: the holder of this fence has lost its lock.
    Stale {
        /// The fence that is too old.
        yours: Fence,
        /// The highest that was seen.
        seen: Fence,
    },
    /// The mark of the highest fence is damaged: no fence can pass.
    Damaged(PathBuf),
    /// The system reports an error.
    Io(io::Error),
}

impl fmt::Display for FencedFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FencedFileError::Stale { yours, seen } => {
                write!(
                    f,
                    "fence {yours} is too old: the file has seen {seen}, so the lock was lost meanwhile"
                )
            }
            FencedFileError::Damaged(path) => {
                let path = path.display();
                write!(f, "{path} is damaged, so no fence can be checked: restore it from a copy")
            }
            FencedFileError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FencedFileError {}

impl From<io::Error> for FencedFileError {
    fn from(error: io::Error) -> Self {
        FencedFileError::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::PLACE;

    /// A folder of its own for a test, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("doorway-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }

        fn file(&self) -> FencedFile {
            FencedFile::open(self.0.join("it")).expect("it opens")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn stale(result: Result<(), FencedFileError>) -> (u64, u64) {
        match result {
            Err(FencedFileError::Stale { yours, seen }) => (yours.0, seen.0),
            other => panic!("it is not refused: {other:?}"),
        }
    }

    #[test]
    fn old_fences_are_refused_by_every_opening_of_the_file() {
        let folder = Folder::new("fenced");
        let (file, other) = (folder.file(), folder.file());
        assert_eq!(file.seen().expect("a mark"), Fence(0));
        file.write(Fence(5), b"five").expect("it is new");
        file.append(Fence(5), b", again").expect("it is not old");
        other.append(Fence(8), b", eight").expect("it is new");
        assert_eq!(stale(file.write(Fence(5), b"late")), (5, 8));
        assert_eq!(stale(file.append(Fence(7), b"late")), (7, 8));
        assert_eq!(folder.file().read().expect("it is there"), b"five, again, eight");
        other.claim(Fence(u64::MAX >> 1)).expect("it is new");
        assert_eq!(stale(other.write(Fence(8), b"late")), (8, u64::MAX >> 1));
        assert_eq!(folder.file().seen().expect("a mark"), Fence(u64::MAX >> 1));
    }

    #[test]
    fn a_torn_mark_still_refuses_old_fences() {
        let folder = Folder::new("torn");
        folder.file().claim(Fence(41)).expect("it is new");
        folder.file().claim(Fence(42)).expect("it is new");
        let path = folder.0.join("it.fence");
        let before = fs::read(&path).expect("a mark");
        folder.file().claim(Fence(1_234)).expect("it is new");
        let after = fs::read(&path).expect("a mark");
        for torn in 0..=before.len() {
            fs::write(&path, [&after[..torn], &before[torn..]].concat()).expect("a mark");
            let file = folder.file();
            let seen = file.seen().expect("one place is whole");
            assert!(seen == Fence(42) || seen == Fence(1_234), "{seen} after {torn} bytes");
            assert!(file.claim(Fence(41)).is_err());
            assert!(file.claim(Fence(1_235)).is_ok());
        }
    }

    #[test]
    fn a_damaged_mark_passes_no_fence() {
        let folder = Folder::new("damaged");
        let path = folder.0.join("it.fence");
        fs::write(&path, b"0000000").expect("a mark");
        assert_eq!(folder.file().seen().expect("a mark"), Fence(0));
        fs::write(&path, [0; 2 * PLACE]).expect("a mark");
        assert_eq!(folder.file().seen().expect("a mark"), Fence(0));
        fs::write(&path, [b'x'; 2 * PLACE]).expect("a mark");
        let error = folder.file().write(Fence(9), b"").expect_err("nobody knows what was seen");
        assert!(
            error
                .to_string()
                .ends_with("it.fence is damaged, so no fence can be checked: restore it from a copy")
        );
    }

    #[test]
    fn of_writers_at_once_none_comes_after_a_higher_fence() {
        let folder = Folder::new("race");
        folder.file();
        let write = |fence: u64| {
            let line = format!("{fence}\n");
            match folder.file().append(Fence(fence), line.as_bytes()) {
                Ok(()) | Err(FencedFileError::Stale { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        };
        std::thread::scope(|scope| {
            for part in 0..4 {
                scope.spawn(move || (1..25).for_each(|round| write(4 * round + part)));
            }
        });
        let text = String::from_utf8(folder.file().read().expect("it is there")).expect("digits");
        let fences: Vec<u64> = text.lines().map(|line| line.parse().expect("a fence")).collect();
        assert!(fences.is_sorted() && fences.last() == Some(&99), "{fences:?}");
    }
}
