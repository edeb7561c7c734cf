//! The files that people name: read whole and within a limit, written whole or not at all.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use doorway_catalog::examples;
use doorway_core::{Choice, Options, Refusal};

/// A larger file is refused: nobody writes such a quorum system by hand.
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

/// A file to be written: checked before the work begins, there only when all of it is.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    aside: PathBuf,
}

impl Destination {
    /// # Errors
    /// If there is no such folder, or something else than a file in its place.
    pub(crate) fn new(path: &Path) -> Result<Self, Refusal> {
        // Through links, so that what they point to is replaced and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let refuse =
            |reason: &str| Err(Refusal::new(format!("{} cannot be written: {reason}", path.display())));
        if path.exists() && !path.is_file() {
            return refuse("it is not a plain file");
        }
        let folder = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => return refuse("it is not the name of a file"),
        };
        let Some(name) = path.file_name() else { return refuse("it is not the name of a file") };
        if !folder.is_dir() {
            return refuse("there is no such folder");
        }
        let aside = folder.join(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
        Ok(Self { path, aside })
    }

    /// Writes the file beside its place and then moves it there.
    ///
    /// # Errors
    /// If it cannot be written; then nothing is left behind.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Refusal> {
        let written = self.write_aside(content).and_then(|()| fs::rename(&self.aside, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&self.aside);
            Refusal::new(format!("{} cannot be written: {error}", self.path.display()))
        })
    }

    fn write_aside(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&self.aside)?);
        content(&mut file)?;
        file.flush()
    }
}
