//! What a sweep is, beside its rows: version, command, grid, seeds, shard, columns. Nothing in it depends on the machine, the
//! time or the number of threads, so that the manifest of merged shards is that of one run.

use std::collections::BTreeMap;
use std::path::Path;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::axes::Axes;
use super::columns::Column;
use super::files::{self, cannot};
use super::format::Format;
use super::grid::{Grid, Surroundings, fingerprint};
use super::points::Points;
use super::shard::Shard;
use super::tally::RowTally;

/// The file beside the rows.
pub(super) const NAME: &str = "manifest.json";

/// What a folder of a sweep tells about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this form.
    pub version: u32,
    /// The version of Doorway that made the runs.
    pub doorway: String,
    /// A command that makes the same rows.
    pub command: String,
    /// A number for the grid and the files that it names.
    pub fingerprint: String,
    /// The grid in its normal form: each axis with its values.
    pub grid: serde_json::Map<String, Json>,
    /// The files that the grid names, each with a number for its text.
    pub files: BTreeMap<String, String>,
    /// The seeds of each point.
    pub seeds: FirstAndCount,
    /// The part of the grid that is here: `1/1` is the whole.
    pub shard: String,
    /// The number of points of the whole grid.
    pub points: u64,
    /// The number of rows that are here when the sweep is complete.
    pub runs: u64,
    /// The number of rows that were here when this was written.
    pub rows: u64,
    /// Whether all are.
    pub complete: bool,
    /// What the runs came to, once it is complete.
    pub tally: Option<RowTally>,
    /// The file with the rows.
    pub file: String,
    /// A number for the bytes of that file, once it is complete: FNV-1a.
    pub checksum: Option<String>,
    /// Its columns with their types and units.
    pub columns: Json,
}

/// The first of some seeds that follow each other, and how many they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAndCount {
    /// The first seed.
    pub first: u64,
    /// How many.
    pub count: u64,
}

impl Manifest {
    /// The manifest of a sweep that has not begun.
    pub(super) fn new(
        points: &Points,
        columns: &[Column],
        shard: Shard,
        format: Format,
        program: &str,
    ) -> Self {
        let grid = points.grid();
        let command = format!("{} --format {}", grid.command(program), format.name());
        let axes: serde_json::Map<String, Json> =
            grid.normal().into_iter().map(|(axis, values)| (axis, values.into())).collect();
        let files: BTreeMap<String, String> = grid.files().into_iter().collect();
        let (first, count) = (grid.seeds.first, grid.seeds.count);
        Self {
            version: 1,
            doorway: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            fingerprint: fingerprint(&format!("{} {files:?}", Json::from(axes.clone()))),
            grid: axes,
            files,
            seeds: FirstAndCount { first, count },
            shard: shard.to_string(),
            points: points.count(),
            runs: shard.size(points.count()),
            rows: 0,
            complete: false,
            tally: None,
            file: format.file().to_owned(),
            checksum: None,
            // Columns are words: they can always be written.
            columns: serde_json::to_value(columns).unwrap_or_default(),
        }
    }

    /// Reads the manifest in a folder; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Refusal> {
        let path = folder.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot("read", &path, &error)),
        };
        let read = serde_json::from_str(&text);
        read.map(Some)
            .map_err(|error| Refusal::new(format!("{} is no manifest of a sweep: {error}", path.display())))
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Refusal> {
        let path = folder.join(NAME);
        let text = serde_json::to_string_pretty(self).map_err(|error| Refusal::new(error.to_string()))?;
        files::replace(&path, &format!("{text}\n")).map_err(|error| cannot("write", &path, &error))
    }

    /// The same when so many rows are there; a complete file has a checksum.
    pub(super) fn at(mut self, tally: RowTally, checksum: Option<String>) -> Self {
        self.rows = tally.rows;
        self.complete = tally.rows == self.runs;
        self.tally = self.complete.then_some(tally);
        self.checksum = checksum.filter(|_| self.complete);
        self
    }

    /// # Errors
    /// If the file of a complete sweep has another checksum than it had when it was written.
    pub(super) fn check(&self, file: &Path, checksum: &str) -> Result<(), Refusal> {
        match &self.checksum {
            Some(noted) if noted == checksum => Ok(()),
            _ if !self.complete => Ok(()),
            noted => Err(Refusal::new(format!(
                "{} has been changed since its sweep ended: its checksum is {checksum} and not {}, as its manifest says; make it \
                 again in another folder",
                file.display(),
                noted.as_deref().unwrap_or("any")
            ))),
        }
    }

    /// The points of its grid, without what is in the files that the grid names.
    ///
    /// # Errors
    /// If the manifest was edited and cannot be read.
    pub(super) fn points(&self, catalog: &Catalog) -> Result<Points, Refusal> {
        let mut axes = Axes::default();
        for (axis, values) in &self.grid {
            let words = values.as_array().into_iter().flatten().filter_map(Json::as_str);
            axes.set(axis, words.map(str::to_owned).collect());
        }
        let nothing = "0\n".to_owned();
        let unknown = |name: &str| Refusal::new(format!("there is no algorithm {name:?}"));
        let surroundings = Surroundings { read: &|_| Ok(nothing.clone()), unknown: &unknown };
        let mut grid = Grid::read(&axes, catalog, &surroundings)?;
        let place = |name: &String| self.grid.keys().position(|axis| axis == name);
        grid.choices.sort_by_key(|(name, _)| place(name));
        Points::unchecked(grid, catalog)
    }

    /// Its shard.
    ///
    /// # Errors
    /// If the manifest was edited and cannot be read.
    pub(super) fn shard(&self) -> Result<Shard, Refusal> {
        self.shard.parse()
    }

    /// The first thing in which another sweep differs from this one, as `(what, here, there)`, apart from shard and progress.
    pub(super) fn difference(&self, other: &Manifest) -> Option<Difference> {
        let differs = |what: &str, here: &dyn ToString, there: &dyn ToString| {
            let (here, there) = (here.to_string(), there.to_string());
            (here != there).then(|| Difference { what: what.to_owned(), here, there })
        };
        let axis = |name: &String| {
            let (here, there) = (self.grid.get(name), other.grid.get(name));
            (here != there).then(|| Difference { what: name.clone(), here: told(here), there: told(there) })
        };
        let file = |name: &String| {
            let (here, there) = (self.files.get(name), other.files.get(name));
            (here != there).then(|| Difference {
                what: format!("the text of {name}"),
                here: here.cloned().unwrap_or_default(),
                there: there.cloned().unwrap_or_default(),
            })
        };
        differs("version of the manifest", &self.version, &other.version)
            .or_else(|| self.grid.keys().chain(other.grid.keys()).find_map(axis))
            .or_else(|| self.files.keys().chain(other.files.keys()).find_map(file))
            .or_else(|| differs("file", &self.file, &other.file))
            .or_else(|| differs("version of Doorway", &self.doorway, &other.doorway))
            .or_else(|| {
                differs("columns", &shape(&self.columns), &shape(&other.columns))
                    .map(Difference::without_values)
            })
            .or_else(|| differs("fingerprint", &self.fingerprint, &other.fingerprint))
            .or_else(|| differs("number of points", &self.points, &other.points))
    }
}

/// In what two sweeps differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) what: String,
    pub(super) here: String,
    pub(super) there: String,
}

impl Difference {
    /// For values that are too long to compare by reading.
    fn without_values(self) -> Self {
        Self { here: "some".to_owned(), there: "others".to_owned(), ..self }
    }
}

/// Names, types and units of columns. Their descriptions are for people, and may be worded better in a later version.
pub(super) fn shape(columns: &Json) -> Json {
    let shape =
        |column: &Json| ["name", "type", "unit"].map(|key| column[key].clone()).into_iter().collect::<Json>();
    columns.as_array().into_iter().flatten().map(shape).collect()
}

fn told(values: Option<&Json>) -> String {
    const SHOWN: usize = 60;
    let Some(values) = values.and_then(Json::as_array) else { return "nothing".to_owned() };
    let words: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
    let words = words.join(",");
    match words.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}
