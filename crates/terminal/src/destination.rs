//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;

/// A file to be written: checked before the work begins, there only when all of it is.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    aside: PathBuf,
}

impl Destination {
    /// Checks that a file can be written there.
    ///
    /// # Errors
    /// If there is no such folder, or something else than a file in its place.
    pub fn new(path: &Path) -> Result<Self, Refusal> {
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
    pub fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Refusal> {
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
