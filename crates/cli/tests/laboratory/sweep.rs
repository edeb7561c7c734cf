//! `doorway sweep`: the command, its refusals, and the lines of its documentation.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::terminal::{doorway_with, file, folder, prints, refusal, text};

/// The page about sweeps, whose grid and lines are run here.
const PAGE: &str = include_str!("../../../../docs/sweeps.md");

/// A small sweep to a folder.
fn small(out: &Path, more: &str) -> Output {
    let out = out.to_string_lossy();
    let line =
        format!("sweep --algorithms central,raymond --nodes 2,3 --entries 5 --seeds 1..3 --out {out} {more}");
    doorway_with(&line.split(' ').collect::<Vec<_>>())
}

fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

/// Rows and manifest.
fn results(folder: &Path) -> [String; 2] {
    ["runs.csv", "manifest.json"].map(|name| fs::read_to_string(folder.join(name)).expect(name))
}

#[test]
fn a_sweep_tells_what_it_made_and_where_it_is() {
    let out = folder("sweep-told").join("out");
    let at = out.display();
    let files = format!("\n  rows      {at}/runs.csv\n  manifest  {at}/manifest.json\n");
    assert_eq!(told(&small(&out, "")), (Some(0), format!("12 runs made\n{files}")));
    let again = format!("nothing to do: all 12 rows are there already\n{files}");
    assert_eq!(told(&small(&out, "")), (Some(0), again));
    let json: serde_json::Value = serde_json::from_str(&told(&small(&out, "--json")).1).expect("JSON");
    assert_eq!((&json["version"], &json["made"], &json["resumed"]), (&1.into(), &0.into(), &12.into()));
    assert_eq!((&json["complete"], &json["stalled"]), (&true.into(), &0.into()));
}

#[test]
fn the_same_command_continues_a_stopped_sweep() {
    let place = folder("sweep-resumed");
    let (whole, parts) = (place.join("whole"), place.join("parts"));
    small(&whole, "");
    let (exit, first) = told(&small(&parts, "--at-most 5"));
    assert_eq!(exit, Some(3));
    assert!(first.starts_with("5 runs made\n7 rows missing: the same command continues\n"), "{first}");
    let (exit, rest) = told(&small(&parts, "--threads 1"));
    assert_eq!(exit, Some(0));
    assert!(rest.starts_with("7 runs made, 5 rows there already\n"), "{rest}");
    assert_eq!(results(&whole), results(&parts));
}

#[test]
fn trouble_in_runs_is_counted_and_the_sweep_still_holds() {
    let out = folder("sweep-trouble").join("out").display().to_string();
    let page = prints(&format!(
        "sweep --algorithms maekawa --nodes 7,10 --quorum plane --loss 0,0.5 --entries 20 --seeds 1..2 --out {out}"
    ));
    assert!(page.contains("2 of 8 runs stalled\n"), "{page}");
    assert!(page.contains("4 of 8 runs could not be made: the column error"), "{page}");
}

#[test]
fn a_dry_run_tells_how_many_runs_there_are_and_makes_none() {
    let place = folder("sweep-dry");
    let grid = file(
        &place,
        "grid.toml",
        "algorithms = [\"raymond\", \"central\"]\nnodes = [4, 8]\ntree = [\"star\", \"chain\"]\n",
    );
    let page = prints(&format!("sweep {grid} --dry-run --nodes 2..32:x2 --seeds 7..9"));
    assert!(page.starts_with("45 runs\n"), "{page}");
    assert!(page.contains("algorithms    2, with their choices 3: raymond, central\n"), "{page}");
    assert!(page.contains("  doorway simulate raymond --nodes 2 --tree star --seed 7\n"), "{page}");
    let page = prints(&format!("sweep {grid} --dry-run --shard 2/4 --json"));
    let json: serde_json::Value = serde_json::from_str(&page).expect("JSON");
    assert_eq!((&json["points"], &json["runs"], &json["shard"]), (&6.into(), &2.into(), &"2/4".into()));
    assert_eq!(json["commands"][0], "doorway simulate raymond --nodes 8 --tree star --seed 1");
}

#[test]
fn bad_input_is_refused_in_one_sentence_and_nothing_is_written() {
    let place = folder("sweep-bad");
    let grid = file(&place, "grid.toml", "algorithms = \"central\"\nnods = 4\n");
    let words = file(&place, "words.toml", "algorithms = \"central\"\n\nnodes = \"few\"\n");
    let out = place.join("out").display().to_string();
    for (line, part) in [
        ("sweep", "which algorithms?"),
        ("sweep --algorithms centarl --out OUT", "did you mean central?"),
        ("sweep --algorithms central", "give --out FOLDER"),
        (
            "sweep --algorithms central --shard 5/4 --out OUT",
            "--shard: there is no shard 5 of 4: shards are 1 to 4",
        ),
        ("sweep --algorithms central --shard 0/4 --out OUT", "there is no shard 0 of 4"),
        ("sweep --algorithms central --shard 1 --out OUT", "as in 1/8"),
        ("sweep --algorithms central --shard -1/3 --out OUT", "\"-1/3\" is not a shard: I/N, as in 1/8"),
        ("sweep --algorithms central --nodes 2..4:x1 --out OUT", "or a factor above 1"),
        ("sweep --algorithms central --nodes 9..2 --out OUT", "2..9 would be right"),
        ("sweep --algorithms central --nodes 0 --out OUT", "at least one node"),
        ("sweep --algorithms central --nodes -4 --out OUT", "--nodes"),
        (
            "sweep --algorithms central --nodes 1..100000 --seeds 1..1000 --out OUT",
            "has 100000000 runs and a sweep at most",
        ),
        ("sweep --algorithms central --quorum grid --out OUT", "no algorithm of the grid has a quorum"),
        ("sweep --algorithms maekawa --quorum circle --out OUT", "not a quorum system"),
        ("sweep --algorithms central --crashes 9@5 --out OUT", "there is no node 9"),
        ("sweep --algorithms central --format xml --out OUT", "csv, jsonl or parquet"),
        ("sweep --algorithms central --threads 0 --out OUT", "must be at least 1"),
        ("sweep --algorithms central --warmup 1000 --out OUT", "leaves none"),
        ("sweep no-such-file --out OUT", "cannot be read"),
        ("sweep GRID --out OUT", "grid.toml, line 2: there is no axis \"nods\", only algorithms, nodes"),
        ("sweep WORDS --out OUT", "words.toml, line 3, nodes: \"few\" is neither"),
        ("sweep merge --out OUT", "FOLDER"),
        ("sweep merge nowhere --out OUT", "nowhere holds no sweep"),
    ] {
        let line = line.replace("OUT", &out).replace("GRID", &grid).replace("WORDS", &words);
        let sentence = refusal(&line.split(' ').collect::<Vec<_>>());
        assert!(sentence.contains(part), "{line}: {sentence}");
        assert!(!Path::new(&out).exists(), "{line}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_that_was_not_built_in_is_refused_with_how_to_build_it() {
    let out = folder("sweep-parquet").join("out").display().to_string();
    let sentence =
        crate::terminal::refused(&format!("sweep --algorithms central --format parquet --out {out}"));
    assert!(sentence.contains("--features parquet"), "{sentence}");
    assert!(!Path::new(&out).exists());
}

#[test]
fn folders_and_shards_of_another_sweep_are_refused() {
    let place = folder("sweep-others");
    let [one, two, out] = ["one", "two", "out"].map(|name| place.join(name));
    small(&one, "--shard 1/2");
    small(&two, "--shard 2/2 --loss 0.25");
    let before = (files(&one), files(&two));
    let (exit, sentence) = told(&small(&one, "--shard 1/2 --loads isolated"));
    assert_eq!(exit, Some(2));
    assert!(sentence.contains("holds another sweep, with loads saturated and not isolated"), "{sentence}");
    let [one_at, two_at, out_at] = [&one, &two, &out].map(|path| path.display().to_string());
    let sentence = refusal(&["sweep", "merge", &one_at, &two_at, "--out", &out_at]);
    let difference = format!("these are not shards of one sweep: {one_at} has loss 0, {two_at} has 0.25");
    assert_eq!(sentence, difference);
    assert!(before == (files(&one), files(&two)) && !out.exists());
    let sentence = refusal(&["sweep", "merge", &one_at, "--out", &two_at]);
    assert!(sentence.contains("shard 2/2 is missing"), "{sentence}");
}

/// The grid of the page.
fn grid() -> &'static str {
    let (_, rest) = PAGE.split_once("```toml grid.toml\n").expect("the page has a grid");
    rest.split_once("```").expect("an end").0
}

/// The command of the page that begins so.
fn line(start: &str) -> &'static str {
    PAGE.lines().filter_map(|line| line.strip_prefix("$ ")).find(|line| line.starts_with(start)).expect(start)
}

#[test]
fn the_documented_line_for_gnu_parallel_makes_the_bytes_of_one_run() {
    let is_there = Command::new("parallel")
        .arg("--version")
        .output()
        .is_ok_and(|output| text(&output.stdout).contains("GNU"));
    if !is_there {
        eprintln!("skipped: there is no GNU parallel here; on Debian, `apt-get install parallel` brings it");
        return;
    }
    let place = folder("sweep-parallel");
    file(&place, "grid.toml", grid());
    let shell = |line: &str| {
        let program = env!("CARGO_BIN_EXE_doorway");
        let line = line.replace("doorway", program);
        let output = Command::new("sh").args(["-c", &line]).current_dir(&place).env("HOME", &place).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    };
    shell(line("parallel doorway sweep"));
    shell(line("doorway sweep merge"));
    shell("doorway sweep grid.toml --out whole");
    assert_eq!(results(&place.join("whole")), results(&place.join("merged")));
    let rows = results(&place.join("merged"))[0].lines().count() - 1;
    assert_eq!(rows, 4 * 3 * 2 * 2 * 2 * 5);
}

#[test]
fn the_help_has_the_documented_lines() {
    let help = prints("sweep --help");
    assert!(help.contains("only:NODE+…"), "{help}");
    for start in ["parallel doorway sweep", "doorway sweep merge"] {
        assert!(help.contains(line(start)), "{start}");
    }
    let folder = folder("sweep-help");
    file(&folder, "grid.toml", grid());
    let page = prints(&format!("sweep {} --dry-run", folder.join("grid.toml").display()));
    assert!(page.starts_with("480 runs\n"), "{page}");
}
