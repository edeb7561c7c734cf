//! Sweeps in folders: interrupted, divided and merged, they come to the same bytes, and no run is made twice.
// tidy: allow length, because the tests of one folder share its catalog, grid and places.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use doorway_catalog::{Catalog, Listed};
use doorway_core::Refusal;
use doorway_experiments::sweep::{Axes, Format, Grid, Points, Shard, Surroundings, Sweep, Swept, merge};

/// The catalog of the textbook, and how often something was asked of it.
struct Counting {
    catalog: Catalog,
    runs: Arc<AtomicU64>,
}

fn counting() -> Counting {
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
    fn runs(&self) -> u64 {
        self.runs.swap(0, Ordering::SeqCst)
    }
}

/// Two algorithms, the second with two trees, on 2, 3 and 4 nodes, two seeds: 18 points.
fn grid() -> Grid {
    let mut grid = Grid::default();
    grid.algorithms = vec!["ricart-agrawala".to_owned(), "raymond".to_owned()];
    grid.choices = vec![("tree".to_owned(), ["star", "chain"].map(word).into())];
    grid.seeds = doorway_experiments::sweep::Seeds { first: 5, count: 2 };
    with(with(grid, "nodes", &["2,3,4"]), "entries", &["6"])
}

fn choosing(choices: Vec<(String, Vec<doorway_core::Choice>)>) -> Grid {
    let mut grid = grid();
    grid.choices = choices;
    grid
}

fn with_seeds(first: u64, count: u64) -> Grid {
    let mut grid = grid();
    grid.seeds = doorway_experiments::sweep::Seeds { first, count };
    grid
}

fn with(grid: Grid, axis: &str, words: &[&str]) -> Grid {
    grid.with(axis, words).expect("values that can be read")
}

fn word(word: &str) -> doorway_core::Choice {
    doorway_core::Choice { word: word.to_owned(), file: None }
}

fn points(grid: Grid) -> Points {
    Points::new(grid, &Catalog::textbook()).expect("a grid that can be run")
}

/// A place for one test in which nothing is.
fn place(test: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a folder for the test");
    place
}

fn sweep<'a>(catalog: &'a Catalog, points: &'a Points, format: Format) -> Sweep<'a> {
    let (program, typed) = ("doorway", "doorway sweep …");
    Sweep { catalog, points, shard: Shard::WHOLE, format, threads: 2, at_most: None, program, typed }
}

fn run(sweep: &Sweep<'_>, folder: &Path) -> Swept {
    sweep.run(folder, |_| ()).expect("it runs")
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).expect(name)
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

fn assert_same(a: &Path, b: &Path, format: Format) {
    assert_eq!(text(a, "manifest.json"), text(b, "manifest.json"));
    assert!(bytes(a, format.file()) == bytes(b, format.file()), "{} differ", format.file());
}

const LINES: [Format; 2] = [Format::Csv, Format::JsonLines];

#[test]
fn rows_are_in_the_order_of_the_grid_whatever_the_number_of_threads() {
    let (place, catalog, points) = (place("order"), counting(), points(grid()));
    let whole = place.join("one");
    let swept = run(&Sweep { threads: 1, ..sweep(&catalog, &points, Format::Csv) }, &whole);
    assert_eq!((swept.found, swept.made, swept.runs, catalog.runs()), (0, 18, 18, 18));
    assert!(swept.is_complete());
    let rows = text(&whole, "runs.csv");
    let column = |row: &str, at: usize| row.split(',').nth(at).unwrap_or_default().to_owned();
    let told = |at| rows.lines().skip(1).map(|row| column(row, at)).collect::<Vec<_>>();
    assert_eq!(told(0), (0..18).map(|index| index.to_string()).collect::<Vec<_>>());
    assert_eq!(told(2), ["2", "2", "3", "3", "4", "4"].repeat(3));
    let headings: Vec<&str> = rows.lines().next().expect("a header").split(',').collect();
    let at = |name: &str| headings.iter().position(|heading| *heading == name).expect(name);
    assert_eq!(told(at("tree")), [[""; 6], ["star"; 6], ["chain"; 6]].concat());
    assert_eq!(told(at("seed")), ["5", "6"].repeat(9));
    assert_eq!(told(at("messages_per_entry"))[..6], ["2", "2", "4", "4", "6", "6"]);
    for threads in [2, 7] {
        let other = place.join(threads.to_string());
        run(&Sweep { threads, ..sweep(&catalog, &points, Format::Csv) }, &other);
        assert_same(&whole, &other, Format::Csv);
    }
}

#[test]
fn an_interrupted_sweep_goes_on_and_makes_no_run_twice() {
    let (catalog, points) = (counting(), points(grid()));
    for format in LINES {
        let place = place(&format!("interrupted-{}", format.name()));
        run(&sweep(&catalog, &points, format), &place.join("whole"));
        catalog.runs();
        let parts = place.join("parts");
        let mut made = Vec::new();
        for at_most in [5, 0, 1, 7, 100, 100] {
            let swept = run(&Sweep { at_most: Some(at_most), ..sweep(&catalog, &points, format) }, &parts);
            made.push((swept.found, swept.made, catalog.runs()));
        }
        assert_eq!(made, [(0, 5, 5), (5, 0, 0), (5, 1, 1), (6, 7, 7), (13, 5, 5), (18, 0, 0)]);
        assert_same(&place.join("whole"), &parts, format);
    }
}

/// A cut at every byte is tried in the module that appends; here are those around the ends of rows, and some drawn by lot.
#[test]
fn a_sweep_that_was_cut_goes_on_after_its_last_whole_row() {
    let seed = 2026;
    println!("seed {seed}");
    let (catalog, points) = (counting(), points(grid()));
    for format in LINES {
        let place = place(&format!("cut-{}", format.name()));
        let (whole, cut) = (place.join("whole"), place.join("cut"));
        run(&Sweep { at_most: Some(0), ..sweep(&catalog, &points, format) }, &cut);
        let at_first = bytes(&cut, "manifest.json");
        run(&sweep(&catalog, &points, format), &whole);
        let all = bytes(&whole, format.file());
        let header = usize::from(format == Format::Csv);
        let ends = (0..all.len()).filter(|&at| all[at] == b'\n').flat_map(|at| [at, at + 1]);
        let by_lot = (0..30_u64).map(|draw| (seed * (draw + 1) * 7_919) as usize % all.len());
        for length in [0, 1].into_iter().chain(ends).chain(by_lot) {
            fs::write(cut.join("manifest.json"), &at_first).expect("a manifest");
            fs::write(cut.join(format.file()), &all[..length]).expect("rows");
            let kept =
                all[..length].iter().filter(|&&byte| byte == b'\n').count().saturating_sub(header) as u64;
            catalog.runs();
            let swept = run(&sweep(&catalog, &points, format), &cut);
            assert_eq!(
                (swept.found, swept.made, catalog.runs()),
                (kept, 18 - kept, 18 - kept),
                "cut at {length}"
            );
            assert!(bytes(&cut, format.file()) == all, "cut at {length} of {}", all.len());
        }
        assert_same(&whole, &cut, format);
    }
}

#[test]
fn a_complete_sweep_is_left_as_it_is() {
    let (place, catalog, points) = (place("complete"), counting(), points(grid()));
    let first = run(&sweep(&catalog, &points, Format::Csv), &place);
    let log = text(&place, "log.jsonl");
    assert_eq!(catalog.runs(), 18);
    let again = run(&sweep(&catalog, &points, Format::Csv), &place);
    assert_eq!((again.found, again.made, again.tally, catalog.runs()), (18, 0, first.tally, 0));
    assert_eq!(text(&place, "log.jsonl"), log);
}

#[test]
fn merged_shards_are_the_bytes_of_one_run() {
    let (catalog, points) = (counting(), points(grid()));
    for format in LINES {
        for of in [1, 2, 4, 18, 25] {
            let place = place(&format!("merged-{}-{of}", format.name()));
            run(&sweep(&catalog, &points, format), &place.join("whole"));
            catalog.runs();
            let folders: Vec<PathBuf> = (1..=of).rev().map(|number| place.join(number.to_string())).collect();
            for (number, folder) in (1..=of).rev().zip(&folders) {
                let shard = Shard::new(number, of).expect("a shard");
                run(&Sweep { shard, ..sweep(&catalog, &points, format) }, folder);
            }
            assert_eq!(catalog.runs(), 18);
            let merged = merge(&catalog, &folders, &place.join("merged"), "…", |_, _| ()).expect("they fit");
            assert_eq!((merged.tally.rows, catalog.runs()), (18, 0));
            assert_same(&place.join("whole"), &place.join("merged"), format);
        }
    }
}

#[test]
fn what_cannot_be_run_at_a_point_is_told_in_its_row() {
    let (place, catalog) = (place("refused"), counting());
    let points = points(with(grid(), "crashes", &["none,4@3"]));
    let swept = run(&sweep(&catalog, &points, Format::JsonLines), &place);
    assert_eq!((swept.tally.rows, swept.tally.refused), (36, 12));
    let rows = text(&place, "runs.jsonl");
    let refused: Vec<&str> =
        rows.lines().filter(|row| row.contains("there is no node 4: nodes are 1 to")).collect();
    assert_eq!(refused.len(), 12);
    assert!(
        refused.iter().all(|row| row.contains("\"messages\":null") && row.contains("\"crashes\":\"4@3\""))
    );
}

#[test]
fn stalls_and_violations_are_counted_and_do_not_end_the_sweep() {
    let (place, catalog) = (place("trouble"), counting());
    let mut axes = Axes::default();
    for (axis, words) in [
        ("algorithms", "lamport,maekawa/basic"),
        ("nodes", "3"),
        ("channels", "any"),
        ("latencies", "uniform:1:40"),
        ("entries", "20"),
        ("seeds", "1..10"),
    ] {
        axes.set(axis, vec![words.to_owned()]);
    }
    let surroundings = Surroundings { read: &|_| Ok(String::new()), unknown: &|name| Refusal::new(name) };
    let points = points(Grid::read(&axes, &catalog, &surroundings).expect("a grid"));
    let swept = run(&sweep(&catalog, &points, Format::Csv), &place);
    let rows = text(&place, "runs.csv");
    let lines = |part: &str| rows.lines().filter(|line| line.contains(part)).count() as u64;
    assert_eq!((swept.tally.rows, swept.tally.refused), (20, 0));
    assert_eq!((swept.tally.stalled, swept.tally.violated), (lines(",true,"), lines(",time ")));
    assert!(swept.tally.stalled > 0 && swept.tally.violated > 0, "{:?}", swept.tally);
}

#[test]
fn a_folder_with_anything_else_is_refused_with_the_difference_and_left_alone() {
    let (place, catalog, ours) = (place("foreign"), counting(), points(grid()));
    let folder = place.join("sweep");
    run(&Sweep { at_most: Some(3), ..sweep(&catalog, &ours, Format::Csv) }, &folder);
    let before = ["manifest.json", "runs.csv", "log.jsonl"].map(|name| bytes(&folder, name));
    let refused = |sweep: &Sweep<'_>, part: &str| {
        let sentence = sweep.run(&folder, |_| ()).expect_err(part).to_string();
        assert!(sentence.contains(part), "{sentence}");
        assert!(
            before == ["manifest.json", "runs.csv", "log.jsonl"].map(|name| bytes(&folder, name)),
            "{part}"
        );
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 3);
    };
    catalog.runs();
    let other = points(with(grid(), "nodes", &["2,3"]));
    refused(
        &sweep(&catalog, &other, Format::Csv),
        "another sweep, with nodes 2,3,4 and not 2,3: take another",
    );
    let other = points(with(grid(), "loss", &["0.5"]));
    refused(&sweep(&catalog, &other, Format::Csv), "with loss 0 and not 0.5");
    let other = points(choosing(Vec::new()));
    refused(&sweep(&catalog, &other, Format::Csv), "with tree star,chain and not nothing");
    refused(&sweep(&catalog, &ours, Format::JsonLines), "with file runs.csv and not runs.jsonl");
    let shard = Shard::new(2, 3).expect("a shard");
    refused(
        &Sweep { shard, ..sweep(&catalog, &ours, Format::Csv) },
        "holds shard 1/1 of this sweep and not 2/3",
    );
    assert_eq!(catalog.runs(), 0);

    let letters = place.join("letters");
    fs::create_dir(&letters).expect("a folder");
    fs::write(letters.join("runs.csv"), "mine").expect("a file");
    let sentence = sweep(&catalog, &ours, Format::Csv).run(&letters, |_| ()).expect_err("mine").to_string();
    assert!(sentence.ends_with("is not empty and holds no sweep: take another folder"), "{sentence}");
    assert_eq!(fs::read_dir(&letters).expect("a folder").count(), 1);
}

#[test]
fn rows_that_somebody_has_changed_are_refused_with_their_line() {
    let (place, catalog, points) = (place("changed"), counting(), points(grid()));
    run(&sweep(&catalog, &points, Format::Csv), &place);
    let rows = text(&place, "runs.csv");
    let refused = |changed: &str| {
        fs::write(place.join("runs.csv"), changed).expect("rows");
        let sentence =
            sweep(&catalog, &points, Format::Csv).run(&place, |_| ()).expect_err("changed").to_string();
        assert_eq!(text(&place, "runs.csv"), changed);
        sentence
    };
    let without = |line: usize| {
        let kept = rows.lines().enumerate().filter(|(at, _)| *at != line).map(|(_, row)| format!("{row}\n"));
        kept.collect::<String>()
    };
    assert!(refused(&without(3)).contains("runs.csv, line 4: the row of run 2 should be here"));
    assert!(refused(&without(0)).contains("runs.csv, line 1: it is not the header"));
    assert!(refused(&rows.replacen(",fifo,", ",fifo,,", 1)).contains("line 2: it is no row"));
    assert!(refused(&format!("{rows}{}\n", rows.lines().last().expect("a row"))).contains("more rows"));
    let another =
        "runs.csv, line 2: the algorithm of run 0 is ricart-agrawala on the grid, and here ricart-agrawalo";
    assert!(refused(&rows.replacen(",ricart-agrawala,", ",ricart-agrawalo,", 1)).contains(another));
    let another = "line 8: the tree of run 6 is star on the grid, and here chain";
    assert!(refused(&rows.replacen(",star,", ",chain,", 1)).contains(another));
    let measured = rows.replacen(",6,12,2,", ",6,13,2,", 1);
    assert_ne!(measured, rows);
    let sentence = refused(&measured);
    assert!(
        sentence.contains("runs.csv has been changed since its sweep ended: its checksum is"),
        "{sentence}"
    );
}

#[test]
fn shards_whose_rows_somebody_has_changed_are_not_merged() {
    let (catalog, points) = (counting(), points(with(grid(), "partitions", &["none", "1,2|3,4@5..9"])));
    for (format, nodes, told) in [
        (Format::Csv, (",4,saturated", ",77,saturated"), "line 6"),
        (Format::JsonLines, ("\"nodes\":4", "\"nodes\":77"), "line 5"),
    ] {
        let place = place(&format!("edited-{}", format.name()));
        let folders = [1, 2].map(|number| {
            let (shard, folder) = (Shard::new(number, 2).expect("a shard"), place.join(number.to_string()));
            run(&Sweep { shard, ..sweep(&catalog, &points, format) }, &folder);
            folder
        });
        let (file, out) = (folders[1].join(format.file()), place.join("out"));
        let rows = text(&folders[1], format.file());
        let refused = |from: &str, to: &str| {
            let changed = rows.replacen(from, to, 1);
            assert_ne!(changed, rows, "{from}");
            fs::write(&file, changed).expect("rows");
            let sentence = merge(&catalog, &folders, &out, "…", |_, _| ()).expect_err("changed").to_string();
            assert!(!out.exists(), "{sentence}");
            sentence
        };
        let sentence = refused("raymond", "raymund");
        assert!(
            sentence.contains("the algorithm of run 13 is raymond on the grid, and here raymund"),
            "{sentence}"
        );
        let sentence = refused(nodes.0, nodes.1);
        assert!(sentence.contains(&format!("{told}: the nodes of run 9 is")), "{sentence}");
        let sentence = refused("REQUEST=6", "REQUEST=7");
        assert!(
            sentence.contains(&format!("{} has been changed since its sweep ended", file.display())),
            "{sentence}"
        );
        fs::write(&file, &rows).expect("rows");
        assert_eq!(merge(&catalog, &folders, &out, "…", |_, _| ()).expect("they fit").tally.rows, 36);
    }
}

/// A grid with two alternatives, one of which has commas in its name.
/// The files that a grid names need not be where its shards are merged.
#[test]
fn shards_of_a_grid_with_files_are_merged_without_them() {
    let (place, catalog) = (place("named-files"), counting());
    let mut axes = Axes::default();
    for (axis, words) in [
        ("algorithms", "maekawa,raymond"),
        ("nodes", "2"),
        ("latencies", "matrix:two.txt,uniform:1:3"),
        ("quorum", "file:two.quorums"),
        ("tree", "star,chain"),
        ("entries", "6"),
    ] {
        axes.set(axis, vec![words.to_owned()]);
    }
    let read = |path: &Path| match path.to_str() {
        Some("two.txt") => Ok("0 5\n5 0\n".to_owned()),
        _ => Ok("1: 1 2\n2: 1 2\n".to_owned()),
    };
    let surroundings = Surroundings { read: &read, unknown: &|name| Refusal::new(name) };
    let points = points(Grid::read(&axes, &catalog, &surroundings).expect("a grid"));
    run(&sweep(&catalog, &points, Format::Csv), &place.join("whole"));
    let folders = [1, 2].map(|number| {
        let (shard, folder) = (Shard::new(number, 2).expect("a shard"), place.join(number.to_string()));
        run(&Sweep { shard, ..sweep(&catalog, &points, Format::Csv) }, &folder);
        folder
    });
    merge(&catalog, &folders, &place.join("merged"), "…", |_, _| ()).expect("they fit");
    assert_same(&place.join("whole"), &place.join("merged"), Format::Csv);
}

#[test]
fn shards_that_do_not_fit_are_refused_with_the_difference() {
    let (place, catalog, ours) = (place("unfit"), counting(), points(grid()));
    let other = points(with(grid(), "nodes", &["2,3,5"]));
    let shard = |points: &Points, shard: &str, at_most: Option<u64>, name: &str| {
        let shard = shard.parse().expect("a shard");
        run(&Sweep { shard, at_most, ..sweep(&catalog, points, Format::Csv) }, &place.join(name));
        place.join(name)
    };
    let one = shard(&ours, "1/2", None, "one");
    let two = shard(&ours, "2/2", None, "two");
    let out = place.join("out");
    let refused = |folders: &[&PathBuf], part: &str| {
        let folders: Vec<PathBuf> = folders.iter().map(|folder| (*folder).clone()).collect();
        let sentence = merge(&catalog, &folders, &out, "…", |_, _| ()).expect_err(part).to_string();
        assert!(sentence.contains(part), "{sentence}");
        assert!(!out.exists(), "{part}");
    };
    refused(&[&one, &shard(&other, "2/2", None, "other")], "has nodes 2,3,4, ");
    refused(&[&one, &place.join("other")], "other has 2,3,5");
    refused(&[&one], "shard 2/2 is missing");
    refused(&[&one, &two, &shard(&ours, "2/2", None, "again")], "are both shard 2/2");
    refused(&[&one, &shard(&ours, "2/3", None, "third")], "is shard 1/2, ");
    refused(&[&one, &shard(&ours, "2/2", Some(4), "part")], "stopped before run 5 of 9");
    refused(&[&one, &place.join("nowhere")], "holds no sweep");
    refused(&[], "nothing to merge");

    fs::create_dir(&out).expect("a folder");
    fs::write(out.join("mine"), "mine").expect("a file");
    let sentence = merge(&catalog, &[one, two], &out, "…", |_, _| ()).expect_err("mine").to_string();
    assert!(sentence.contains("is not empty"), "{sentence}");
    assert_eq!(fs::read_dir(&out).expect("a folder").count(), 1);
}

/// A catalog in which one algorithm panics.
fn panicking() -> Catalog {
    Catalog::textbook().map(|listed| match listed.about.name {
        "raymond" => Listed::new(listed.about, |_| panic!("a tree fell over")),
        _ => listed,
    })
}

#[test]
fn a_run_that_panics_costs_its_row_and_no_other() {
    let (place, catalog, points) = (place("panics"), panicking(), points(grid()));
    let swept = run(&sweep(&catalog, &points, Format::Csv), &place);
    assert_eq!((swept.tally.rows, swept.tally.refused), (18, 12));
    assert_eq!(text(&place, "runs.csv").matches(",the run panicked: a tree fell over\n").count(), 12);
}

#[test]
fn two_sweeps_do_not_work_in_one_folder_at_the_same_time() {
    let (place, catalog, points) = (place("locked"), counting(), points(grid()));
    run(&Sweep { at_most: Some(3), ..sweep(&catalog, &points, Format::Csv) }, &place);
    let log = fs::File::open(place.join("log.jsonl")).expect("a log");
    log.lock().expect("a lock");
    let sentence = sweep(&catalog, &points, Format::Csv).run(&place, |_| ()).expect_err("locked").to_string();
    assert!(sentence.starts_with("another sweep is at work in "), "{sentence}");
    drop(log);
    assert_eq!(run(&sweep(&catalog, &points, Format::Csv), &place).made, 15);
}

#[test]
fn absurd_grids_and_values_that_fit_nowhere_are_refused_before_the_first_run() {
    let catalog = counting();
    let refused = |grid: Grid| Points::new(grid, &catalog).expect_err("it cannot be").to_string();
    assert!(refused(with_seeds(1, 1_111_112)).starts_with("the grid has 10000008 runs and a sweep at most"));
    assert!(refused(with_seeds(1, u64::MAX)).contains("more than 2^64 runs"));
    assert!(refused(with(grid(), "nodes", &["2,0"])).contains("at least one node"));
    assert!(refused(with(grid(), "warmup", &["6"])).contains("leaves none of 6"));
    assert!(
        refused(with(grid(), "crashes", &["9@3"]))
            .contains("no point of the grid can have this of its crashes")
    );
    let circle = vec![("tree".to_owned(), vec![word("star"), word("circle")])];
    assert!(refused(choosing(circle)).contains("there is no tree \"circle\""));
    let quorum = vec![("quorum".to_owned(), vec![word("grid")])];
    assert_eq!(refused(choosing(quorum)), "no algorithm of the grid has a quorum to choose");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_same_rows_goes_on_and_merges_to_the_same_bytes() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let (place, catalog, points) = (place("parquet"), counting(), points(grid()));
    let (whole, parts) = (place.join("whole"), place.join("parts"));
    run(&sweep(&catalog, &points, Format::Parquet), &whole);
    catalog.runs();
    for (at_most, made) in [(7, 7), (100, 11), (100, 0)] {
        let swept =
            run(&Sweep { at_most: Some(at_most), ..sweep(&catalog, &points, Format::Parquet) }, &parts);
        assert_eq!((swept.made, catalog.runs()), (made, made));
    }
    assert_same(&whole, &parts, Format::Parquet);
    assert_eq!(fs::read_dir(&parts).expect("a folder").count(), 3);

    let folders = [1, 2, 3].map(|number| {
        let (shard, folder) = (Shard::new(number, 3).expect("a shard"), place.join(number.to_string()));
        run(&Sweep { shard, ..sweep(&catalog, &points, Format::Parquet) }, &folder);
        folder
    });
    merge(&catalog, &folders, &place.join("merged"), "…", |_, _| ()).expect("they fit");
    assert_same(&whole, &place.join("merged"), Format::Parquet);

    run(&sweep(&catalog, &points, Format::JsonLines), &place.join("lines"));
    let lines = text(&place.join("lines"), "runs.jsonl");
    let file = fs::File::open(whole.join("runs.parquet")).expect("a file");
    let reader = SerializedFileReader::new(file).expect("a table");
    let units = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
    assert!(units.iter().any(|pair| pair.key == "doorway.columns"));
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 18);
    for (row, line) in rows.iter().zip(lines.lines()) {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).expect("a row");
        for ((name, field), (key, value)) in row.get_column_iter().zip(&object) {
            assert_eq!(name, key);
            let same = match field {
                Field::Null => value.is_null(),
                Field::ULong(number) => value.as_u64() == Some(*number),
                Field::Double(number) => value.as_f64() == Some(*number),
                Field::Bool(told) => value.as_bool() == Some(*told),
                Field::Str(told) => value.as_str() == Some(told),
                _ => false,
            };
            assert!(same, "{name}: {field} and {value}");
        }
    }
}
