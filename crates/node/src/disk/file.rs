//! A disk that is a folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::Disk;

/// A data folder: one file of records. Only one process at a time can have it.
#[derive(Debug)]
pub struct FileDisk {
    folder: PathBuf,
    log: File,
    /// Held as long as this lives.
    _lock: File,
}

impl FileDisk {
    /// What it is called in its folder.
    pub const NAME: &str = "node.log";

    /// Opens a data folder, which is made if it is not there; a new one begins with what `first` says.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process has it.
    pub fn open(folder: &Path, first: impl FnOnce() -> Vec<u8>) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"))?;
        // R26: one process for each folder
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another process uses this data folder: stop it first",
            ),
            TryLockError::Error(error) => error,
        })?;
        let path = folder.join(Self::NAME);
        if !path.exists() {
            Self::put(folder, &first())?;
        }
        let log = Self::open_log(&path)?;
        Ok(Self { folder: folder.to_owned(), log, _lock: lock })
    }

    fn open_log(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).append(true).open(path)
    }

    /// Writes aside, syncs, renames, syncs the folder.
    fn put(folder: &Path, bytes: &[u8]) -> io::Result<()> {
        let aside = folder.join("node.log.new");
        let mut file = File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, folder.join(Self::NAME))?;
        File::open(folder)?.sync_all()
    }
}

impl Disk for FileDisk {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.log.seek(SeekFrom::Start(0))?;
        self.log.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.log.write_all(bytes)?;
        self.log.sync_data()
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        Self::put(&self.folder, bytes)?;
        self.log = Self::open_log(&self.folder.join(Self::NAME))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_serves_one_process_at_a_time() {
        let folder = std::env::temp_dir().join(format!("doorway-disk-{}", std::process::id()));
        let open = || FileDisk::open(&folder, || b"first".to_vec());
        let mut disk = open().expect("a new folder");
        assert!(open().expect_err("it is in use").to_string().contains("another process"));
        disk.append(b" second").expect("room");
        assert_eq!(disk.read().expect("readable"), b"first second");
        disk.replace(b"third").expect("room");
        disk.append(b"!").expect("room");
        drop(disk);
        assert_eq!(open().expect("it is free again").read().expect("readable"), b"third!");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
