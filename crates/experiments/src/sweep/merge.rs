//! Joins the shards of one sweep: rows and manifest are then, byte by byte, those of a sweep that was never divided.

use std::fs;
use std::path::{Path, PathBuf};

use doorway_catalog::Catalog;
use doorway_core::Refusal;

use super::appended::Shape;
use super::columns::{self, Column, Value};
use super::files::{self, Log};
use super::format::Format;
use super::manifest::{Manifest, shape};
use super::run::Swept;
use super::shard::Shard;
use super::table::{self, Rows, Table};
use super::tally::{Counter, RowTally};

/// A shard that is complete.
struct Part<'a> {
    folder: &'a Path,
    manifest: Manifest,
    shard: Shard,
}

/// Joins the shards in these folders, in any order, in another folder, which must be empty or not there. `watch` is told now and
/// then how many rows are written, and of how many.
///
/// # Errors
/// If they are not all shards of one sweep, each once and complete, with the difference; or if a file cannot be read or written.
/// Then nothing is left behind.
pub fn merge(
    catalog: &Catalog,
    folders: &[PathBuf],
    out: &Path,
    typed: &str,
    watch: impl FnMut(u64, u64),
) -> Result<Swept, Refusal> {
    let columns = columns::all(catalog);
    let parts = parts(folders, &columns)?;
    let whole = whole(&parts[0].manifest);
    let format = Format::of_file(&whole.file)
        .ok_or_else(|| Refusal::new(format!("{} is no file of a sweep", whole.file)))?;
    format.check()?;
    if !files::is_free(out)? {
        return Err(Refusal::new(format!("{} is not empty: take another folder", out.display())));
    }
    let was_there = out.exists();
    let points = whole.points(catalog)?;
    let foreign = |index: u64, row: &[Value]| points.foreign(catalog, &columns, index, row);
    let shape = Shape {
        columns: &columns,
        lines: format.lines(),
        shard: Shard::WHOLE,
        runs: whole.runs,
        foreign: &foreign,
    };
    let merged = write(&parts, whole, format, shape, out, typed, watch);
    if merged.is_err() && !was_there {
        let _ = fs::remove_dir_all(out);
    }
    merged
}

/// The shards in the order of their numbers.
fn parts<'a>(folders: &'a [PathBuf], columns: &[Column]) -> Result<Vec<Part<'a>>, Refusal> {
    let mut parts = folders.iter().map(|folder| part(folder, columns)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(Refusal::new("there is nothing to merge: name the folders"));
    };
    for other in &parts[1..] {
        same(first, other)?;
    }
    parts.sort_by_key(|part| part.shard.number());
    if let Some([a, b]) = parts.windows(2).find_map(|pair| match pair {
        [a, b] if a.shard == b.shard => Some([a, b]),
        _ => None,
    }) {
        let (a_at, b_at) = (a.folder.display(), b.folder.display());
        return Err(Refusal::new(format!(
            "{a_at} and {b_at} are both shard {}: leave one of them out",
            a.shard
        )));
    }
    let of = parts[0].shard.of();
    let have = |number: &u64| parts.iter().any(|part| part.shard.number() == *number);
    if let Some(missing) = (1..=of).find(|number| !have(number)) {
        return Err(Refusal::new(format!("shard {missing}/{of} is missing: name its folder too")));
    }
    Ok(parts)
}

fn part<'a>(folder: &'a Path, columns: &[Column]) -> Result<Part<'a>, Refusal> {
    let at = folder.display();
    let manifest = Manifest::read(folder)?
        .ok_or_else(|| Refusal::new(format!("{at} holds no sweep: there is no manifest.json in it")))?;
    let shard = manifest.shard()?;
    if !manifest.complete {
        return Err(Refusal::new(format!(
            "{at} is not complete: its sweep stopped before run {} of {}; type its command again, and it goes on",
            manifest.rows + 1,
            manifest.runs
        )));
    }
    let ours = serde_json::to_value(columns).unwrap_or_default();
    if shape(&manifest.columns) != shape(&ours) {
        return Err(Refusal::new(format!(
            "{at} was made by doorway {} with other columns than this program has: merge it with that one",
            manifest.doorway
        )));
    }
    Ok(Part { folder, manifest, shard })
}

/// Whether two shards are of the same sweep.
fn same(first: &Part<'_>, other: &Part<'_>) -> Result<(), Refusal> {
    let (here, there) = (first.folder.display(), other.folder.display());
    if let Some(difference) = first.manifest.difference(&other.manifest) {
        return Err(Refusal::new(format!(
            "these are not shards of one sweep: {here} has {} {}, {there} has {}",
            difference.what, difference.here, difference.there
        )));
    }
    if first.shard.of() != other.shard.of() {
        return Err(Refusal::new(format!(
            "these are not shards of one sweep: {here} is shard {}, {there} is {}",
            first.shard, other.shard
        )));
    }
    Ok(())
}

/// The manifest of the sweep that was divided, before any row of it is there.
fn whole(part: &Manifest) -> Manifest {
    let nothing = Manifest { runs: part.points, shard: Shard::WHOLE.to_string(), ..part.clone() };
    nothing.at(RowTally::default(), None)
}

fn write(
    parts: &[Part<'_>],
    whole: Manifest,
    format: Format,
    shape: Shape<'_>,
    out: &Path,
    typed: &str,
    mut watch: impl FnMut(u64, u64),
) -> Result<Swept, Refusal> {
    let mut log = Log::open(out)?;
    let mut sources = parts.iter().map(|part| source(part, format, shape)).collect::<Result<Vec<_>, _>>()?;
    let file = out.join(format.file());
    let mut table = Table::create(&file, format, shape.columns)?;
    let counter = Counter::new(shape.columns);
    let mut tally = RowTally::default();
    let runs = whole.runs;
    for index in 0..runs {
        let shard = (index % parts.len() as u64) as usize;
        let row = next(&mut sources[shard], &parts[shard], index)?;
        counter.count(&row, &mut tally);
        table.push(row)?;
        if index % 1_000 == 0 {
            watch(index, runs);
        }
    }
    parts.iter().try_for_each(check)?;
    table.finish()?;
    whole.at(tally, Some(files::checksum(&file)?)).write(out)?;
    log.note("merged", tally.rows, typed)?;
    Ok(Swept { found: tally.rows, made: 0, runs, tally, file })
}

/// Whether the rows of a shard are those that were written.
fn check(part: &Part<'_>) -> Result<(), Refusal> {
    let file = part.folder.join(&part.manifest.file);
    part.manifest.check(&file, &files::checksum(&file)?)
}

fn source<'a>(part: &Part<'_>, format: Format, shape: Shape<'a>) -> Result<Rows<'a>, Refusal> {
    let shape = Shape { shard: part.shard, runs: part.manifest.runs, ..shape };
    table::rows(&part.folder.join(format.file()), format, shape)
}

fn next(rows: &mut Rows<'_>, part: &Part<'_>, index: u64) -> Result<Vec<Value>, Refusal> {
    let row = rows()?.filter(|row| row.first() == Some(&Value::Integer(index)));
    let told = || format!("{} lacks the row of run {index}", part.folder.join(&part.manifest.file).display());
    row.ok_or_else(|| Refusal::new(told()))
}
