//! The catalog, the grid and the folders of these tests.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use doorway_catalog::{Catalog, Listed};
use doorway_experiments::sweep::{Format, Grid, Points, Shard, Sweep, Swept};

/// The catalog of the textbook, and how often something was asked of it.
pub(super) struct Counting {
    catalog: Catalog,
    runs: Arc<AtomicU64>,
}

pub(super) fn counting() -> Counting {
    let runs = Arc::new(AtomicU64::new(0));
    let counted = |listed: Listed| {
        let runs = Arc::clone(&runs);
        Listed::new(listed.about.clone(), move |options| {
            runs.fetch_add(1, Ordering::SeqCst);
            listed.choose(options)
        })
    };
    Counting { catalog: Catalog::textbook().map(counted), runs }
}

impl Deref for Counting {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.catalog
    }
}

impl Counting {
    /// The runs since this was last asked.
    pub(super) fn runs(&self) -> u64 {
        self.runs.swap(0, Ordering::SeqCst)
    }
}

/// Two algorithms, the second with two trees, on 2, 3 and 4 nodes, two seeds: 18 points.
pub(super) fn grid() -> Grid {
    let mut grid = Grid::default();
    grid.algorithms = vec!["ricart-agrawala".to_owned(), "raymond".to_owned()];
    grid.choices = vec![("tree".to_owned(), ["star", "chain"].map(word).into())];
    grid.seeds = doorway_experiments::sweep::Seeds { first: 5, count: 2 };
    with(with(grid, "nodes", &["2,3,4"]), "entries", &["6"])
}

pub(super) fn choosing(choices: Vec<(String, Vec<doorway_core::Choice>)>) -> Grid {
    let mut grid = grid();
    grid.choices = choices;
    grid
}

pub(super) fn with_seeds(first: u64, count: u64) -> Grid {
    let mut grid = grid();
    grid.seeds = doorway_experiments::sweep::Seeds { first, count };
    grid
}

pub(super) fn with(grid: Grid, axis: &str, words: &[&str]) -> Grid {
    grid.with(axis, words).expect("values that can be read")
}

pub(super) fn word(word: &str) -> doorway_core::Choice {
    doorway_core::Choice { word: word.to_owned(), file: None }
}

pub(super) fn points(grid: Grid) -> Points {
    Points::new(grid, &Catalog::textbook()).expect("a grid that can be run")
}

/// A place for one test in which nothing is.
pub(super) fn place(test: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a folder for the test");
    place
}

pub(super) fn sweep<'a>(catalog: &'a Catalog, points: &'a Points, format: Format) -> Sweep<'a> {
    let (program, typed) = ("doorway", "doorway sweep …");
    Sweep { catalog, points, shard: Shard::WHOLE, format, threads: 2, at_most: None, program, typed }
}

pub(super) fn run(sweep: &Sweep<'_>, folder: &Path) -> Swept {
    sweep.run(folder, |_| ()).expect("it runs")
}

pub(super) fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).expect(name)
}

pub(super) fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

pub(super) fn assert_same(a: &Path, b: &Path, format: Format) {
    assert_eq!(text(a, "manifest.json"), text(b, "manifest.json"));
    assert!(bytes(a, format.file()) == bytes(b, format.file()), "{} differ", format.file());
}

pub(super) const LINES: [Format; 2] = [Format::Csv, Format::JsonLines];
