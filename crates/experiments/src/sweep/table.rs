//! Files of rows that are read and written from beginning to end, in any format.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;

use super::appended::{RowReader, Shape};
use super::columns::{Column, Value};
use super::files::{aside, cannot};
use super::format::Format;
use super::rows::Lines;

/// A file to be written: there only when all of it is.
pub(super) struct Table {
    path: PathBuf,
    sink: Option<Box<dyn Sink>>,
}

/// Where rows go.
pub(super) trait Sink {
    fn push(&mut self, row: Vec<Value>) -> io::Result<()>;
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Table {
    /// # Errors
    /// If it cannot be written.
    pub(super) fn create(path: &Path, format: Format, columns: &[Column]) -> Result<Self, Refusal> {
        format.check()?;
        let refuse = |error: io::Error| cannot("write", path, &error);
        let file = File::create(aside(path)).map_err(refuse)?;
        let sink = sink(file, format, columns).map_err(refuse)?;
        Ok(Self { path: path.to_owned(), sink: Some(sink) })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn push(&mut self, row: Vec<Value>) -> Result<(), Refusal> {
        let pushed = self.sink.as_mut().map_or(Ok(()), |sink| sink.push(row));
        pushed.map_err(|error| cannot("write", &self.path, &error))
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn finish(mut self) -> Result<(), Refusal> {
        let finished = self.sink.take().map_or(Ok(()), Sink::finish);
        let moved = finished.and_then(|()| fs::rename(aside(&self.path), &self.path));
        moved.map_err(|error| cannot("write", &self.path, &error))
    }
}

/// Leaves nothing behind that is not whole.
impl Drop for Table {
    fn drop(&mut self) {
        let _ = fs::remove_file(aside(&self.path));
    }
}

fn sink(file: File, format: Format, columns: &[Column]) -> io::Result<Box<dyn Sink>> {
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => Ok(Box::new(super::parquet::Writer::new(file, columns)?)),
        _ => Ok(Box::new(LineSink::new(file, format.lines(), columns)?)),
    }
}

/// Rows as lines.
struct LineSink {
    file: BufWriter<File>,
    lines: Lines,
    columns: Vec<Column>,
}

impl LineSink {
    fn new(file: File, lines: Lines, columns: &[Column]) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        file.write_all(lines.header(columns).as_bytes())?;
        Ok(Self { file, lines, columns: columns.to_vec() })
    }
}

impl Sink for LineSink {
    fn push(&mut self, row: Vec<Value>) -> io::Result<()> {
        self.file.write_all(self.lines.line(&self.columns, &row).as_bytes())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

/// The rows of a file, one after the other.
pub(super) type Rows<'a> = Box<dyn FnMut() -> Result<Option<Vec<Value>>, Refusal> + 'a>;

/// Reads the rows of a complete sweep.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn rows<'a>(path: &Path, format: Format, shape: Shape<'a>) -> Result<Rows<'a>, Refusal> {
    format.check()?;
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::rows(path, shape),
        _ => {
            let mut reader = RowReader::open(path, shape)?;
            Ok(Box::new(move || reader.next()))
        }
    }
}
