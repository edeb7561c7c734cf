//! Programs over shared memory on the command line.

use std::fs;

use crate::terminal::{doorway, folder, json, prints, refused, text};

fn words(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_is_explored_and_its_ticket_limit_is_printed() {
    let page = words(&prints("check bakery --nodes 3 --registers safe --tickets 3"));
    assert!(
        page.starts_with("bakery, 3 processes, requests unbounded, safe registers (of overlapping writes the last wins), sequential memory"),
        "{page}"
    );
    for told in [
        "mutual-exclusion holds for tickets up to 3",
        "starvation-freedom holds for tickets up to 3, if the scheduler is weakly fair",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[test]
fn a_missing_barrier_gives_a_run_to_replay_draw_and_trace() {
    let folder = folder("without-barrier");
    let files = ["run.script", "run.svg", "run.jsonl"].map(|name| folder.join(name).display().to_string());
    let [script, svg, trace] = &files;
    let output = doorway(&format!(
        "check peterson --memory tso --barrier off --script {script} --svg {svg} --trace {trace}"
    ));
    assert_eq!(output.status.code(), Some(1));
    let page = words(&text(&output.stdout));
    assert!(
        page.contains("mutual-exclusion violated after 6 steps: processes 1 and 2 are inside together"),
        "{page}"
    );
    let replayed = doorway(&format!("simulate --script {script}"));
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    let page = text(&replayed.stdout);
    assert!(page.contains("processes 1 and 2 are inside together"), "{page}");
    let last = page.lines().find(|line| line.starts_with("6 ")).expect("each step has a row");
    assert!(
        last.contains("2, line 4") && last.contains("flag[0] = 0") && last.contains("1: flag[0]=1 turn=0"),
        "{last}"
    );
    let svg = fs::read_to_string(svg).expect("it was drawn");
    assert!(
        svg.contains("flag[0] := 1") && svg.contains("class=\"violation\""),
        "signs, labels and the violation"
    );
    let trace = fs::read_to_string(trace).expect("it was traced");
    assert_eq!(trace.lines().filter(|line| line.contains("\"event\":\"access\"")).count(), 6);
}

#[test]
fn starvation_is_drawn_with_its_loop() {
    let svg = folder("starvation").join("loop.svg").display().to_string();
    let line = format!("check lamport-fast --property starvation-freedom --svg {svg}");
    assert_eq!(doorway(&line).status.code(), Some(1));
    assert!(fs::read_to_string(svg).expect("it was drawn").contains("class=\"repetition\""));
}

#[test]
fn the_answer_is_json_with_the_memory() {
    let answer = json("check bakery --nodes 2 --memory tso --barrier 1,2 --json");
    assert_eq!(answer["nodes"], 2);
    assert_eq!(answer["memory"]["memory"], "tso");
    assert_eq!(answer["memory"]["barriers"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["properties"][0]["extent"], "for tickets up to 4");
    assert_eq!(answer["properties"][0]["verdict"], "holds");
}

#[test]
fn the_scripts_that_ship_show_the_registers_after_each_step() {
    let page = prints("simulate --script example:memory/bakery-tickets-grow");
    let last = page.lines().rfind(|line| line.contains("number[2] := 6")).expect("the last ticket");
    assert!(last.ends_with(" 6"), "{last}");
    let answer = json("simulate --script example:memory/bakery-tickets-grow --json");
    let last = answer["steps"].as_array().and_then(|steps| steps.last()).expect("steps");
    assert_eq!(last["registers"], serde_json::json!([0, 0, 5, 6]));
    let answer = json("simulate --script example:memory/lamport-fast-alone --json");
    assert_eq!(answer["steps"].as_array().map(Vec::len), Some(7), "seven accesses");
    assert_eq!(answer["entries"][0], 3);
    let page = prints("simulate --script example:memory/lamport-fast-slow-path");
    assert!(page.contains("entered in this order: 1, 2"), "{page}");
}

#[test]
fn programs_are_listed_and_explained() {
    let page = prints("algorithms");
    let row = page.lines().find(|line| line.starts_with("lamport-fast ")).expect("it is listed");
    assert!(row.contains("5 writes, 2 reads") && row.contains("may starve"), "{row}");
    let page = prints("explain bakery");
    assert!(page.contains("   4  number[i] := max + 1"), "{page}");
    let answer = json("algorithms --json");
    let programs = answer["programs"].as_array().expect("a list");
    let fast = programs.iter().find(|program| program["name"] == "lamport-fast").expect("it is there");
    assert_eq!((&fast["alone"]["writes"], &fast["alone"]["reads"]), (&5.into(), &2.into()));
    let answer = json("explain peterson --json");
    assert_eq!(answer["lines"][2], "barrier");
}

#[test]
fn what_does_not_go_together_is_refused_in_one_sentence() {
    for (line, part) in [
        ("check bakry", "did you mean bakery"),
        ("check peterson --nodes 3", "peterson is for two processes, not for 3"),
        ("check bakery --nodes 0", "1 to 32 processes"),
        ("check bakery --nodes 33", "1 to 32 processes"),
        ("check bakery --registers weak", "atomic, regular, safe or safe-any"),
        ("check bakery --memory arm", "sequential, tso or pso"),
        (
            "check bakery --memory tso --barrier 3",
            "there is no barrier 3: the program has 2, numbered from 1",
        ),
        ("check bakery --memory tso --barrier some", "on, off, or numbers such as 1,2"),
        ("check bakery --memory tso --registers safe", "over sequential memory only"),
        ("check simple-bakery --registers safe", "needs atomic registers"),
        ("check bakery --memory tso --buffer 0", "1 to 64 stores"),
        ("check bakery --tickets 70000", "tickets can be explored up to 1000, not up to 70000"),
        ("check bakery --tickets 0", "nobody would enter"),
        ("check peterson --tickets 3", "no register of peterson is without limit"),
        ("check peterson --barrier off", "says nothing over sequential memory"),
        ("check tournament/missing-barrier --set level=9 --memory tso", "they are 0 to 1"),
        ("check bakery --channels any", "--channels is about messages, and bakery shares memory"),
        ("check bakery --property one-token", "nothing of that kind to decide"),
        ("check central --registers safe", "--registers is about shared memory, and central sends messages"),
        ("check bakery --requests 1,unbounded", "either all processes ask again and again, or none does"),
        ("check tournament --set lock=none", "lock"),
        ("simulate bakery", "bakery sends no messages, it shares memory: `doorway check bakery` explores it"),
        ("simulate --script example:memory/lamport-fast-alone --nodes 3", "its heading says all"),
        ("simulate bakery --script example:memory/lamport-fast-alone", "this script is for lamport-fast"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(part), "{line}: {sentence}");
    }
}
