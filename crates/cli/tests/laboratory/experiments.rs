//! The verbs of the laboratory: claims and comparisons.

use serde_json::Value;

use crate::terminal::{doorway, doorway_with, folder, json, keys, prints, refused, text};

/// The words of a command as a shell would take them apart; ours have quotes only around whole words.
fn words(command: &str) -> Vec<String> {
    command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn claims_come_as_json_and_every_command_in_them_runs() {
    let rows = json("claims --json --nodes 3,4");
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 74);
    for row in rows {
        for key in ["id", "claim", "expected", "measured", "verdict", "command"] {
            assert!(row[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {row}");
        }
        assert_eq!(row["verdict"], row["expected"], "{row}");
        let sources = row["source"].as_array().expect("a list");
        assert!(!sources.is_empty(), "{row}");
        for source in sources {
            assert_eq!(keys(source), ["document", "title", "place"], "{row}");
        }
        for command in [&row["command"], &row["outside"]].into_iter().filter_map(Value::as_str) {
            let words = words(command);
            assert_eq!(words[0], "doorway");
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let output = doorway_with(&words);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn some_claims_can_be_chosen_and_each_tells_what_to_type() {
    let page = prints("claims --only 8,c02 --nodes 5");
    assert!(
        page.starts_with("C2   Lamport's algorithm costs 3(N−1) messages per entry, at every load.\n"),
        "{page}"
    );
    assert!(page.contains("measured  12 = 12 at every load"), "{page}");
    assert!(page.contains("try       doorway simulate ricart-agrawala --nodes 5"), "{page}");
    assert!(page.ends_with("2 claims, every verdict as expected\n"), "{page}");
}

#[test]
fn claims_and_lemmas_are_chosen_by_their_numbers() {
    let page = prints("claims --only C20,l4.1.1");
    for line in [
        "C20a An ideal system (",
        "\nC20b For other N the conditions",
        "\nL4.1.1 Lemma 4.1.1 on Singhal's algorithm: ",
    ] {
        assert!(page.contains(line), "{page}");
    }
    assert!(page.ends_with("3 claims, every verdict as expected\n"), "{page}");
    assert!(prints("claims --only C20b").ends_with("1 claim, every verdict as expected\n"));
}

#[test]
fn claims_are_listed_by_source_without_being_tested() {
    let all = prints("claims --source");
    assert!(all.starts_with("[H] Hofmann, Erlangen 2001\n"), "{all}");
    assert!(all.contains("\n  4.2-57: C37\n"), "{all}");
    assert!(all.contains("\n[S] Sabel, Munich 2020\n  tournament: C48, C49\n"), "{all}");
    let one = prints("claims --source s --only C48");
    assert!(
        one.starts_with("[S] Sabel, Munich 2020\ntournament\n  C48       The tournament is safe"),
        "{one}"
    );
    assert!(!one.contains("[H]"), "{one}");
    let listed = json("claims --source H --only C37 --json");
    assert_eq!(keys(&listed[0]), ["document", "title", "place", "claims"]);
    assert_eq!((&listed[0]["place"], &listed[0]["claims"][0]), (&"4.2-57".into(), &"C37".into()));
    let refusal = refused("claims --source Z");
    assert!(refusal.starts_with("there is no document \"Z\": H (Hofmann, Erlangen 2001), M ("), "{refusal}");
}

#[test]
fn an_unknown_claim_is_refused_with_the_near_ones() {
    assert_eq!(
        refused("claims --only C2,C18"),
        "there is no claim C18 to test; near it are C16, C17, C19, C20a"
    );
    assert_eq!(
        refused("claims --only lamport"),
        "\"lamport\" is not the number of a claim, such as C1: `doorway claims` lists them"
    );
    assert!(refused("claims --nodes 1").contains("2 to 200 nodes, not for 1"));
    assert!(refused("claims --nodes 2,x").contains("not a whole number"));
}

#[test]
fn compare_and_simulate_agree_for_the_same_seed() {
    let comparison = json("compare --nodes 5,7 --loads isolated,saturated --entries 200 --seed 9 --json");
    let cells = comparison["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 13 * 2 * 2);
    for cell in cells {
        let command = cell["command"].as_str().expect("what to type");
        let line = format!("{} --json", command.strip_prefix("doorway ").expect("its name"));
        let report = json(&line);
        for (mine, theirs) in [
            (&cell["messages_per_entry"], &report["messages_per_entry"]),
            (&cell["response_time"], &report["response_time"]["mean"]),
            (&cell["sync_delay"], &report["sync_delay"]["mean"]),
            (&cell["throughput"], &report["throughput"]),
            (&cell["jain"], &report["fairness"]["jain"]),
            (&cell["max_bypass"], &report["fairness"]["max_bypass"]),
            (&cell["entries"], &report["entries"]),
        ] {
            assert_eq!(mine, theirs, "{command}");
        }
        let bytes =
            report["bytes"].as_f64().expect("a number") / report["entries"].as_f64().expect("a number");
        assert_eq!(cell["bytes_per_entry"].as_f64(), Some(bytes), "{command}");
    }
}

#[test]
fn a_comparison_marks_the_best_of_each_column() {
    let page = prints("compare ricart-agrawala lamport suzuki-kasami --nodes 4,9 --loads saturated");
    let row = |name: &str| {
        let line = page.lines().find(|line| line.starts_with(name)).expect("a row");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("suzuki-kasami"), ["suzuki-kasami", "0", "or", "N", "3.988*", "8.973*"], "{page}");
    assert_eq!(row("lamport"), ["lamport", "3(N−1)", "9", "24"], "{page}");
}

/// What a comparison prints on a terminal of eighty columns.
fn narrow(line: &str) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_doorway"))
        .args(line.split(' '))
        .env("COLUMNS", "80")
        .output()
        .expect("the command starts");
    text(&output.stdout)
}

#[test]
fn a_comparison_fits_eighty_columns_and_aligns_its_numbers() {
    for line in
        ["compare --entries 200", "compare --entries 100 --nodes 2,3,4,5,6,7,8,9,10,11,12 --loads saturated"]
    {
        let page = narrow(line);
        let long: Vec<&str> = page.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
    let page = narrow("compare --entries 100 --nodes 2,3,4,5,6,7,8,9,10,11,12 --loads saturated");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("algorithm  ")).collect();
    assert_eq!(
        headings.len(),
        5,
        "three tables of messages, one of all else, one of order and faults: {page}"
    );
    let page = narrow("compare --loads saturated");
    let (_, all_else) = page.split_once("All else").expect("a second table");
    let ends = |line: &str| line.find(" bytes ").map(|at| at + " bytes".len());
    let end = all_else.lines().find_map(ends).expect("a heading");
    for row in all_else.lines().skip(3).take(12) {
        let letters: Vec<char> = row.chars().collect();
        assert!(letters[end - 1].is_ascii_digit() && [' ', '*'].contains(&letters[end]), "{end}: {all_else}");
    }
}

#[test]
fn a_comparison_tells_order_and_survived_faults() {
    let page = prints("compare central lamport maekawa --nodes 4 --loads isolated --entries 10");
    let (_, table) = page.split_once("Order and faults, in small systems").expect("a table of its own");
    let row = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).expect("a row");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("central"), "arrival nothing");
    assert_eq!(row("lamport"), "happened-before one duplicate");
    assert_eq!(row("maekawa"), "none nothing");
    let csv = prints("compare lamport --nodes 4 --loads isolated --entries 10 --csv");
    assert!(csv.contains(",order,survives,") && csv.contains(",happened-before,one duplicate,"), "{csv}");
}

#[test]
fn a_comparison_takes_planes_where_there_are_any_and_says_so() {
    let page = prints("compare maekawa --nodes 7,9,13 --loads saturated");
    assert!(page.contains("\nplane quorums at N = 7, 13\n"), "{page}");
    let delay = page.lines().filter(|line| line.starts_with("maekawa")).nth(1).expect("all else at N = 13");
    assert_eq!(delay.split_whitespace().nth(3), Some("17.678"), "{page}");
    let page = prints("compare maekawa --nodes 7,13 --loads saturated --quorum cyclic");
    assert!(!page.contains("plane quorums"), "{page}");
}

/// Every command of the table shows the effect that the table tells, after as many steps.
#[test]
fn the_commands_of_the_faults_show_their_effects() {
    let answer = json("compare --faults --json");
    let rows = answer["faults"].as_array().expect("a list");
    assert_eq!(rows.len(), 13);
    for suffered in rows.iter().flat_map(|row| row["suffered"].as_array().expect("one of each kind")) {
        let command = suffered["command"].as_str().and_then(|command| command.strip_prefix("doorway "));
        let output = doorway(&format!("{} --json", command.expect("a command")));
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let is_unaffected = suffered["effect"] == "unaffected";
        let verdict = if is_unaffected { "holds" } else { "violated" };
        for property in told["properties"].as_array().expect("a list") {
            assert_eq!(property["verdict"], verdict, "{suffered}");
            assert_eq!(property["steps"], suffered["steps"], "{suffered}");
        }
    }
    let lamport = rows.iter().find(|row| row["algorithm"] == "lamport").expect("it is there");
    assert_eq!(
        (&lamport["suffered"][0]["effect"], &lamport["suffered"][0]["steps"]),
        (&"loses-exclusion".into(), &5.into())
    );
}

#[test]
fn a_table_of_faults_fits_eighty_columns_and_takes_no_runs() {
    let page = narrow("compare --faults lamport carvalho-roucairol token-ring");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let row = |name: &str| {
        let line = page.lines().find(|line| line.starts_with(name)).expect("a row");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("lamport"), "loses exclusion 5 unaffected stalls 2 2,2");
    assert_eq!(row("token-ring"), "stalls 2 loses exclusion 5 stalls 2 2,2 1,1,1");
    for option in ["--nodes 4", "--loads saturated", "--csv", "--quorum grid", "--seed 2", "--plot x.svg"] {
        let sentence = refused(&format!("compare --faults {option}"));
        assert!(sentence.contains("cannot be used with --faults"), "{option}: {sentence}");
    }
    let specimen = prints("compare --faults maekawa/basic");
    assert!(specimen.contains("wrong anyway"), "{specimen}");
}

#[test]
fn a_comparison_can_be_read_by_a_spreadsheet() {
    let table = prints("compare central lamport --nodes 3 --loads saturated,only:2+3 --csv");
    assert!(table.contains("only:2+3"), "{table}");
    let table = prints("compare central lamport --nodes 3 --loads saturated --csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("algorithm,nodes,load,entries,messages_per_entry,formula,"), "{}", lines[0]);
    assert!(lines[1].starts_with("central,3,saturated,1000,"), "{}", lines[1]);
    assert!(lines[1].contains("\"3, 0 for the server\""), "{}", lines[1]);
    assert_eq!(lines[2].split(',').count(), lines[0].split(',').count());
}

#[test]
fn a_comparison_is_drawn_with_every_name_as_svg_or_png() {
    let folder = folder("plots");
    for (name, begin) in [("costs.svg", &b"<svg "[..]), ("costs.png", b"\x89PNG")] {
        let file = folder.join(name);
        prints(&format!("compare lamport raymond --nodes 4,16 --loads saturated --plot {}", file.display()));
        assert!(std::fs::read(&file).expect("it was written").starts_with(begin), "{name}");
    }
    let svg = std::fs::read_to_string(folder.join("costs.svg")).expect("it was written");
    assert!(["lamport", "raymond", "3(N−1)"].iter().all(|text| svg.contains(text)));
    let path = folder.join("costs.gif");
    assert!(
        refused(&format!("compare --plot {}", path.display())).ends_with("a picture ends in .svg or .png")
    );
    assert!(
        refused("compare --metric colour --plot x.svg")
            .contains("\"colour\" is not compared: messages, bytes")
    );
    assert!(refused("compare --metric delay").contains("--plot"));
}

#[test]
fn a_comparison_of_something_broken_says_so_and_fails() {
    let output = doorway("compare maekawa/basic --nodes 3 --loads saturated");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout)
            .contains("Runs that stalled or violated something:\n  doorway simulate maekawa/basic")
    );
}

#[test]
fn bad_comparisons_are_refused_in_one_sentence() {
    for (line, part) in [
        ("compare lamprot", "did you mean lamport"),
        ("compare --nodes 0", "at least one node"),
        ("compare --nodes 4,x", "not a whole number"),
        ("compare --loads heavy", "--loads: \"heavy\" is not a load"),
        ("compare --hold soon", "--hold: \"soon\" is not a span"),
        ("compare --latency x", "--latency: \"x\" is not a span"),
        ("compare --entries 0", "give 1 or more"),
        ("compare --nodes 2,2", "2 is among the nodes twice: leave one of them out"),
        ("compare central central", "central is among the algorithms twice"),
        ("compare --loads isolated,isolated", "isolated is among the loads twice"),
        ("compare --set color=red", "no algorithm has a \"color\" to choose"),
        ("compare --quorum plane --nodes 10", "maekawa among 10 nodes: no projective plane has 10 nodes"),
        ("compare --csv --json", "cannot be used with"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(part), "{line}: {sentence}");
    }
    assert_eq!(
        keys(&json("compare central --nodes 2 --loads isolated --json")),
        ["version", "cells", "traits"]
    );
}
