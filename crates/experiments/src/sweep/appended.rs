//! A file of rows to which more are appended: after an interruption at any byte it goes on after its last whole row.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use doorway_core::Refusal;

use super::columns::{Column, Value};
use super::files::cannot;
use super::rows::Lines;
use super::shard::Shard;
use super::tally::{Counter, RowTally};

/// How rows look and which of them belong here.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) columns: &'a [Column],
    pub(super) lines: Lines,
    pub(super) shard: Shard,
    /// How many rows there are in the end.
    pub(super) runs: u64,
    /// What is wrong with a row that should be of the run with this number.
    pub(super) foreign: &'a dyn Fn(u64, &[Value]) -> Option<String>,
}

impl Shape<'_> {
    /// # Errors
    /// If a row is not the one that follows the `before` rows.
    pub(super) fn check(&self, before: u64, row: &[Value]) -> Result<(), String> {
        if before >= self.runs {
            return Err("there are more rows than the sweep has".to_owned());
        }
        let wanted = self.shard.point(before);
        if row.first() != Some(&Value::Integer(wanted)) {
            return Err(format!("the row of run {wanted} should be here"));
        }
        (self.foreign)(wanted, row).map_or(Ok(()), Err)
    }
}

/// The file, open for more.
pub(super) struct Appended {
    file: File,
    path: PathBuf,
    /// Lines that are not in the file yet.
    waiting: String,
    written_at: Instant,
    /// The rows so far.
    pub(super) tally: RowTally,
}

impl Appended {
    /// Bytes that are written together at most.
    const BATCH: usize = 1 << 16;
    /// The most work that a power failure may cost.
    const LATEST: Duration = Duration::from_millis(250);

    /// Opens the file and drops what is not a whole row at its end.
    ///
    /// # Errors
    /// If it cannot be read or written, or holds anything but the first rows of the sweep.
    pub(super) fn open(path: &Path, shape: Shape<'_>) -> Result<Self, Refusal> {
        let refuse = |error: io::Error| cannot("write", path, &error);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(refuse)?;
        let mut rows = RowReader::over(&file, path, shape);
        let has_header = rows.header()?;
        let mut tally = RowTally::default();
        let counter = Counter::new(shape.columns);
        while let Some(row) = rows.next()? {
            counter.count(&row, &mut tally);
        }
        let whole = rows.whole_bytes;
        drop(rows);
        file.set_len(whole).map_err(refuse)?;
        file.seek(SeekFrom::End(0)).map_err(refuse)?;
        let waiting = if has_header { String::new() } else { shape.lines.header(shape.columns) };
        Ok(Self { file, path: path.to_owned(), waiting, written_at: Instant::now(), tally })
    }

    /// Appends a row, which may wait a little.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn push(&mut self, line: &str, tally: &RowTally) -> Result<(), Refusal> {
        self.waiting.push_str(line);
        self.tally.add(tally);
        if self.waiting.len() >= Self::BATCH { self.write() } else { self.write_if_late() }
    }

    /// Writes what waits if it has waited long enough.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write_if_late(&mut self) -> Result<(), Refusal> {
        if self.written_at.elapsed() < Self::LATEST { Ok(()) } else { self.write() }
    }

    /// Writes all that waits.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn finish(&mut self) -> Result<(), Refusal> {
        self.write()
    }

    fn write(&mut self) -> Result<(), Refusal> {
        self.file.write_all(self.waiting.as_bytes()).map_err(|error| cannot("write", &self.path, &error))?;
        self.waiting.clear();
        self.written_at = Instant::now();
        Ok(())
    }
}

/// Reads rows and sees to it that they are those of the shard, in order.
pub(super) struct RowReader<'a, R> {
    reader: BufReader<R>,
    path: PathBuf,
    shape: Shape<'a>,
    line: Vec<u8>,
    line_number: u64,
    rows: u64,
    /// The bytes up to the end of the last whole row.
    whole_bytes: u64,
}

impl<'a> RowReader<'a, File> {
    /// Reads a file from its header on.
    ///
    /// # Errors
    /// If it cannot be read, or has another header.
    pub(super) fn open(path: &Path, shape: Shape<'a>) -> Result<Self, Refusal> {
        let file = File::open(path).map_err(|error| cannot("read", path, &error))?;
        let mut reader = Self::over(file, path, shape);
        reader.header()?;
        Ok(reader)
    }
}

impl<'a, R: io::Read> RowReader<'a, R> {
    fn over(file: R, path: &Path, shape: Shape<'a>) -> Self {
        let reader = BufReader::with_capacity(1 << 16, file);
        Self {
            reader,
            path: path.to_owned(),
            shape,
            line: Vec::new(),
            line_number: 0,
            rows: 0,
            whole_bytes: 0,
        }
    }

    /// Reads the header; false if it is not whole.
    fn header(&mut self) -> Result<bool, Refusal> {
        let header = self.shape.lines.header(self.shape.columns);
        if header.is_empty() {
            return Ok(true);
        }
        if !self.next_line()? {
            return Ok(false);
        }
        if self.line != header.as_bytes() {
            return Err(self.blame("it is not the header of this sweep"));
        }
        self.whole_bytes = self.line.len() as u64;
        Ok(true)
    }

    /// The next whole row.
    ///
    /// # Errors
    /// If it cannot be read, or is not the row that comes here.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Value>>, Refusal> {
        if !self.next_line()? {
            return Ok(None);
        }
        let text = std::str::from_utf8(&self.line).map_err(|_| self.blame("it is not a text"))?;
        let row = self.shape.lines.read(self.shape.columns, text.trim_end_matches('\n'));
        let row = row.map_err(|refusal| self.blame(&refusal.to_string()))?;
        self.shape.check(self.rows, &row).map_err(|sentence| self.blame(&sentence))?;
        self.rows += 1;
        self.whole_bytes += self.line.len() as u64;
        Ok(Some(row))
    }

    /// Reads a line; false if there is no whole one left.
    fn next_line(&mut self) -> Result<bool, Refusal> {
        self.line.clear();
        self.line_number += 1;
        let read = self.reader.read_until(b'\n', &mut self.line);
        read.map_err(|error| cannot("read", &self.path, &error))?;
        Ok(self.line.last() == Some(&b'\n'))
    }

    fn blame(&self, sentence: &str) -> Refusal {
        Refusal::new(format!("{}, line {}: {sentence}", self.path.display(), self.line_number))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::columns::all;
    use doorway_catalog::Catalog;

    use super::*;

    /// A folder of this test, removed at its end.
    struct Place(PathBuf);

    impl Place {
        fn new(test: &str) -> Self {
            let place = std::env::temp_dir().join(format!("doorway-{test}-{}", std::process::id()));
            fs::create_dir_all(&place).expect("a folder for the test");
            Self(place)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn row(columns: &[Column], point: u64) -> Vec<Value> {
        let mut row = vec![Value::Missing; columns.len()];
        row[0] = Value::Integer(point);
        row[1] = Value::text("a name, with \"quotes\"");
        row
    }

    #[test]
    fn a_file_cut_at_any_byte_keeps_its_whole_rows() {
        let place = Place::new("cut");
        let path = place.0.join("rows");
        // A few columns are enough, and make short lines.
        let columns = &all(&Catalog::textbook())[..6];
        let shard: Shard = "2/3".parse().expect("a shard");
        for lines in [Lines::Csv, Lines::Json] {
            let shape = Shape { columns, lines, shard, runs: 4, foreign: &|_, _| None };
            let header = lines.header(columns);
            let rows: Vec<String> =
                (0..4).map(|at| lines.line(columns, &row(columns, shard.point(at)))).collect();
            let whole = format!("{header}{}", rows.concat());
            for length in 0..=whole.len() {
                let _ = fs::remove_file(&path);
                fs::write(&path, &whole.as_bytes()[..length]).expect("rows");
                let ends: Vec<usize> =
                    (1..=4).map(|kept| header.len() + rows[..kept].concat().len()).collect();
                let kept = ends.iter().filter(|&&end| end <= length).count();
                let mut appended = Appended::open(&path, shape).expect("the first rows");
                assert_eq!(appended.tally.rows, kept as u64, "cut at {length}");
                for line in &rows[kept..] {
                    appended.push(line, &RowTally { rows: 1, ..RowTally::default() }).expect("a row");
                }
                appended.finish().expect("all rows");
                assert_eq!(fs::read_to_string(&path).expect("rows"), whole, "cut at {length}");
            }
        }
    }
}
