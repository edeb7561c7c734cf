//! A sweep in a folder: makes the runs that are not there yet, and appends their rows in the order of the grid.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use doorway_catalog::{Catalog, Trial};
use doorway_core::Refusal;
use doorway_simulator::Report;
use doorway_simulator::parallel::{JobEvent, in_order};

use super::appended::{Appended, RowReader, Shape};
use super::columns::{self, Column, RequestedRun, Value};
use super::files::{self, Log, cannot};
use super::format::Format;
use super::manifest::Manifest;
use super::points::Points;
use super::shard::Shard;
use super::table::Table;
use super::tally::{Counter, RowTally};

/// What is swept, and how.
pub struct Sweep<'a> {
    /// Where the algorithms are.
    pub catalog: &'a Catalog,
    /// The grid.
    pub points: &'a Points,
    /// The part of it that is for this machine.
    pub shard: Shard,
    /// How rows are written.
    pub format: Format,
    /// How many threads share the runs. The files are the same.
    pub threads: usize,
    /// The most runs to make now; a later command makes the rest.
    pub at_most: Option<u64>,
    /// The name of the command, for the manifest.
    pub program: &'a str,
    /// What was typed, for the log.
    pub typed: &'a str,
}

/// What came of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Rows that were there before.
    pub found: u64,
    /// Runs that were made now.
    pub made: u64,
    /// Rows that are there when it is complete.
    pub runs: u64,
    /// All rows that are there.
    pub tally: RowTally,
    /// The file that they are in.
    pub file: PathBuf,
}

impl Swept {
    /// Whether all rows are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.tally.rows == self.runs
    }
}

impl Sweep<'_> {
    /// Makes the runs that are missing in a folder. `watch` is told how many rows there are, at least ten times a second.
    ///
    /// # Errors
    /// If the folder holds anything but an earlier part of this sweep; then nothing in it is changed. If a file cannot be
    /// written; then the same sweep can go on later.
    pub fn run(&self, folder: &Path, watch: impl FnMut(u64)) -> Result<Swept, Refusal> {
        self.format.check()?;
        let columns = columns::all(self.catalog);
        let manifest = Manifest::new(self.points, &columns, self.shard, self.format, self.program);
        is_ours(folder, &manifest)?;
        let mut log = Log::open(folder)?;
        let before = is_ours(folder, &manifest)?;
        let file = folder.join(self.format.file());
        if let Some(before) = before.as_ref().filter(|_| self.is_whole(&file))
            && let Some(tally) = before.tally
        {
            before.check(&file, &files::checksum(&file)?)?;
            let _ = fs::remove_file(folder.join(self.format.working_file()));
            return Ok(Swept { found: tally.rows, made: 0, runs: manifest.runs, tally, file });
        }
        if before.is_none() {
            manifest.write(folder)?;
        }
        let foreign = |index: u64, row: &[Value]| self.points.foreign(self.catalog, &columns, index, row);
        let (lines, shard, runs) = (self.format.lines(), self.shard, manifest.runs);
        let shape = Shape { columns: &columns, lines, shard, runs, foreign: &foreign };
        let working = folder.join(self.format.working_file());
        let mut rows = Appended::open(&working, shape)?;
        let found = rows.tally.rows;
        let is_new = before.as_ref().is_none_or(|before| before.rows != found) || found < manifest.runs;
        if is_new {
            log.note("began", found, self.typed)?;
        }
        self.make(&columns, &mut rows, manifest.runs, watch)?;
        rows.finish()?;
        let tally = rows.tally;
        drop(rows);
        if tally.rows == runs && working != file {
            to_table(&working, &file, self.format, shape)?;
        }
        let checksum = (tally.rows == runs).then(|| files::checksum(&file)).transpose()?;
        if let Some((before, checksum)) = before.as_ref().zip(checksum.as_ref()) {
            before.check(&file, checksum)?;
        }
        if is_new {
            manifest.at(tally, checksum).write(folder)?;
            log.note("ended", tally.rows, self.typed)?;
        }
        if tally.rows == runs && working != file {
            // Only now, so that no run is lost if the power fails in between.
            fs::remove_file(&working).map_err(|error| cannot("write", &working, &error))?;
        }
        Ok(Swept { found, made: tally.rows - found, runs, tally, file })
    }

    /// Whether a file that is written only when all rows are there is there.
    fn is_whole(&self, file: &Path) -> bool {
        self.format.working_file() != self.format.file() && file.is_file()
    }

    fn make(
        &self,
        columns: &[Column],
        rows: &mut Appended,
        runs: u64,
        mut watch: impl FnMut(u64),
    ) -> Result<(), Refusal> {
        let found = rows.tally.rows;
        let end = self.at_most.map_or(runs, |most| found.saturating_add(most).min(runs));
        let counter = Counter::new(columns);
        let lines = self.format.lines();
        let job = |row: u64| {
            let row = self.row(columns, self.shard.point(row));
            let mut tally = RowTally::default();
            counter.count(&row, &mut tally);
            (lines.line(columns, &row), tally)
        };
        in_order(found..end, self.threads, job, |step| {
            match step {
                JobEvent::Done(_, (line, tally)) => rows.push(&line, &tally)?,
                JobEvent::Waiting(_) => rows.write_if_late()?,
            }
            watch(rows.tally.rows);
            Ok(())
        })
    }

    fn row(&self, columns: &[Column], index: u64) -> Vec<Value> {
        let (trial, latency) = self.points.trial_and_latency(index);
        let asked = RequestedRun::new(index, &trial, latency, self.catalog);
        columns::row(columns, &asked, &self.report(&trial))
    }

    /// Makes one run. Whatever goes wrong with it is told in its row and does not end the sweep.
    fn report(&self, trial: &Trial) -> Result<Report, Refusal> {
        let run = || trial.run(self.catalog).map(|outcome| trial.report(&outcome));
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said =
                said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why");
            Err(Refusal::new(format!("the run panicked: {said}")))
        })
    }
}

/// The manifest of an earlier part of the same sweep, if there is one.
///
/// # Errors
/// If there is anything else in the folder.
fn is_ours(folder: &Path, manifest: &Manifest) -> Result<Option<Manifest>, Refusal> {
    let at = folder.display();
    let Some(before) = Manifest::read(folder)? else {
        if files::is_free(folder)? {
            return Ok(None);
        }
        return Err(Refusal::new(format!("{at} is not empty and holds no sweep: take another folder")));
    };
    if let Some(difference) = manifest.difference(&before) {
        return Err(Refusal::new(format!(
            "{at} holds another sweep, with {} {} and not {}: take another folder",
            difference.what, difference.there, difference.here
        )));
    }
    if manifest.shard != before.shard {
        return Err(Refusal::new(format!(
            "{at} holds shard {} of this sweep and not {}: take another folder",
            before.shard, manifest.shard
        )));
    }
    Ok(Some(before))
}

/// Makes a table of the lines.
fn to_table(lines: &Path, file: &Path, format: Format, shape: Shape<'_>) -> Result<(), Refusal> {
    let mut reader = RowReader::open(lines, shape)?;
    let mut table = Table::create(file, format, shape.columns)?;
    while let Some(row) = reader.next()? {
        table.push(row)?;
    }
    table.finish()
}
