//! Sweeps that run: interrupted, divided and merged, they come to the same bytes.

use std::fs;
use std::path::PathBuf;

use doorway_catalog::{Catalog, Listed};
use doorway_core::Refusal;
use doorway_experiments::sweep::{Axes, Format, Grid, Shard, Surroundings, Sweep, merge};

use super::fixture::{LINES, assert_same, bytes, counting, grid, place, points, run, sweep, text, with};

#[test]
fn rows_are_in_grid_order_with_any_number_of_threads() {
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
fn an_interrupted_sweep_continues_and_repeats_no_run() {
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
fn a_cut_sweep_continues_after_its_last_whole_row() {
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
fn a_point_that_cannot_run_has_its_reason_in_its_row() {
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

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_same_rows_and_merges_to_the_same_bytes() {
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
