//! The files that people name: read whole and within a limit.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use doorway_catalog::examples;
use doorway_core::{Choice, Options, Refusal};

/// The largest file that is read: no quorum system written by hand is larger.
const LARGEST_BYTES: u64 = 16 << 20;

/// The text of a file.
///
/// # Errors
/// If it cannot be read, is too large, or is no text.
pub(crate) fn read(path: &Path) -> Result<String, Refusal> {
    let refuse = |reason: &dyn Display| Refusal::new(format!("{} {reason}", path.display()));
    let cannot = |error: io::Error| refuse(&format_args!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(refuse(&format_args!(
            "is larger than {} MiB, the most that is read",
            LARGEST_BYTES >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|_| refuse(&"is not a text: it must be UTF-8"))
}

/// What was chosen, with the text of the file if it is `file:PATH`, where a relative path begins at `folder`, or
/// `example:NAME`.
///
/// # Errors
/// If no file is named, it cannot be read, or is none of those that ship.
pub(crate) fn choice(word: &str, folder: &Path) -> Result<Choice, Refusal> {
    if word == "file:" {
        return Err(Refusal::new("file: needs the name of a file behind it, as in file:mine.quorums"));
    }
    let file = match word.strip_prefix(examples::PREFIX) {
        Some(name) => Some(examples::file(name)?.to_owned()),
        None => named(word, folder).map(|path| read(&path)).transpose()?,
    };
    Ok(Choice { word: word.to_owned(), file })
}

/// All that was chosen, by name; relative paths begin here.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn choices<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Options, Refusal> {
    let mut options = Options::none();
    for (name, word) in words {
        options.set(name, choice(word, Path::new(""))?);
    }
    Ok(options)
}

/// The file that `file:PATH` names.
pub(crate) fn named(word: &str, folder: &Path) -> Option<PathBuf> {
    word.strip_prefix("file:").map(|path| folder.join(path))
}
