//! Folders, rows, shards and grids that a sweep refuses.

use std::fs;
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use doorway_experiments::sweep::{Axes, Format, Grid, Points, Shard, Surroundings, Sweep, merge};

use super::fixture::{
    assert_same, bytes, choosing, counting, grid, place, points, run, sweep, text, with, with_seeds, word,
};

#[test]
fn a_folder_of_another_sweep_is_refused_with_the_difference() {
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
fn changed_rows_are_refused_with_their_line() {
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
fn shards_with_changed_rows_are_not_merged() {
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
fn impossible_grids_are_refused_before_the_first_run() {
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
