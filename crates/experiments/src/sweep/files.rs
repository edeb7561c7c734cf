//! The folder of a sweep: rows, `manifest.json`, and `log.jsonl` with when it was worked on and what was typed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use doorway_core::Refusal;
use serde_json::json;

use super::grid::Fingerprint;

/// When the folder was worked on. The sweep at work locks it.
const LOG: &str = "log.jsonl";

/// What cannot be done with a file, as a sentence.
pub(super) fn cannot(what: &str, path: &Path, error: &io::Error) -> Refusal {
    let done = match what {
        "read" => "read",
        _ => "written",
    };
    Refusal::new(format!("{} cannot be {done}: {error}", path.display()))
}

/// Writes a file beside its place and moves it there.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let aside = aside(path);
    let mut file = File::create(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&aside, path)
}

/// A number for the bytes of a file, to detect a change.
///
/// # Errors
/// If it cannot be read.
pub(super) fn checksum(path: &Path) -> Result<String, Refusal> {
    let refuse = |error: io::Error| cannot("read", path, &error);
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(refuse)?);
    let mut sum = Fingerprint::default();
    loop {
        let bytes = reader.fill_buf().map_err(refuse)?;
        if bytes.is_empty() {
            return Ok(sum.to_string());
        }
        sum = sum.with(bytes);
        let read = bytes.len();
        reader.consume(read);
    }
}

/// Where a file is made before it is moved to its place.
pub(super) fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.part"))
}

/// Whether a folder is not there, or has nothing in it but what an interrupted command has left.
///
/// # Errors
/// If one cannot look.
pub(super) fn is_free(folder: &Path) -> Result<bool, Refusal> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(cannot("read", folder, &error)),
    };
    for entry in entries {
        let name = entry.map_err(|error| cannot("read", folder, &error))?.file_name();
        let name = name.to_string_lossy();
        let is_left = name == LOG
            || (name.starts_with(".manifest.") || name.starts_with(".runs")) && name.ends_with(".part");
        if !is_left {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The log of a folder. While it is open, no other sweep may work there.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Makes the folder if need be, and locks it.
    ///
    /// # Errors
    /// If it cannot be written, or another sweep is at work in it.
    pub(super) fn open(folder: &Path) -> Result<Self, Refusal> {
        let path = folder.join(LOG);
        let refuse = |error: io::Error| cannot("write", &path, &error);
        fs::create_dir_all(folder).map_err(|error| cannot("write", folder, &error))?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(refuse)?;
        match file.try_lock() {
            // A file system that knows no locks is no reason to refuse.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => Err(Refusal::new(format!(
                "another sweep is at work in {}: wait for its end, or take another folder",
                folder.display()
            ))),
        }
    }

    /// Notes what happened and when.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn note(&mut self, event: &str, rows: u64, typed: &str) -> Result<(), Refusal> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let line = json!({"unix_seconds": now, "event": event, "rows": rows, "typed": typed});
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| cannot("write", &self.path, &error))
    }
}
