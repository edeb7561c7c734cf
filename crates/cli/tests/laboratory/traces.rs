//! Recorded runs: listed, drawn, converted and made into a page, or refused with the line.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::terminal::{doorway, file, folder, json, prints, refused, text};

/// Records a short run and answers the name of its file.
fn recorded(folder: &Path) -> String {
    let path = folder.join("run.jsonl").display().to_string();
    prints(&format!("simulate ricart-agrawala --nodes 3 --entries 4 --trace {path}"));
    path
}

#[test]
fn a_run_is_listed_with_time_node_rule_and_cause() {
    let run = recorded(&folder("trace-show"));
    let page = prints(&format!("trace show {run}"));
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines[0], "ricart-agrawala, 3 nodes, seed 1");
    assert_eq!(lines[2], "  event     time  node  what happens                             rule ← cause");
    assert_eq!(lines[7], "      5        0     1  sends REQUEST to node 2                  ask ← 4");
    assert_eq!(lines[26], "     24       20     1  enters with fence 1                      ← 23");
    assert_eq!(lines.last(), Some(&"47 events"));
    assert_eq!(lines.len(), 3 + 47 + 2);
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "it fits a terminal");
}

/// The run of the clock that jumps.
fn jump(folder: &Path) -> String {
    let path = folder.join("jump.jsonl").display().to_string();
    prints(&format!("simulate --script example:clocks/jump --trace {path}"));
    path
}

#[test]
fn the_list_has_the_logical_time_of_each_event() {
    let run = jump(&folder("trace-clocks"));
    let page = prints(&format!("trace show {run} --clocks both --node 2"));
    let lines: Vec<&str> = page.lines().skip(2).take(5).collect();
    assert_eq!(
        lines,
        [
            "  event     time  node  lamport vector  what happens                             rule ← cause",
            "      2        0     2        1 [0 1]   comes to life",
            "      6        3     2       42 [0 2]   the clock of node 2 is set to 42",
            "      7        4     2       44 [4 3]   receives REQUEST from node 1             ← 5",
            "      8        4     2       45 [4 4]   sends REPLY to node 1                    reply ← 7",
        ]
    );
    let told = json(&format!("trace show {run} --clocks both --json"));
    let of = |name: &str| -> Vec<Value> {
        told["events"].as_array().expect("a list").iter().map(|event| event[name].clone()).collect()
    };
    let lamport = [1, 1, 41, 42, 43, 42, 44, 45, 46, 47, 48].map(Value::from);
    assert_eq!(of("lamport"), lamport);
    assert_eq!(of("vector")[8], serde_json::json!([5, 4]));
    let scalar = json(&format!("trace show {run} --clocks lamport --json"));
    assert_eq!(
        (&scalar["events"][6]["lamport"], &scalar["events"][6]["vector"]),
        (&Value::from(44), &Value::Null)
    );
    assert!(json(&format!("trace show {run} --json"))["events"][6].get("lamport").is_none());
    assert!(refused(&format!("trace show {run} --clocks wall")).contains("lamport, vector and both"));
}

#[test]
fn a_diagram_has_the_logical_times_beside_its_steps() {
    let folder = folder("trace-svg-clocks");
    let run = jump(&folder);
    let path = folder.join("jump.svg");
    prints(&format!("trace svg {run} -o {} --clocks lamport", path.display()));
    let svg = fs::read_to_string(&path).expect("it is drawn");
    assert!(svg.contains(">44–45</text>") && svg.contains(">42</text>"), "{svg}");
    prints(&format!("simulate --script example:clocks/jump --svg {} --clocks vector", path.display()));
    assert!(fs::read_to_string(&path).expect("it is drawn").contains(">[4 3–4]</text>"));
    assert!(refused("simulate central --clocks lamport").contains("--svg"));
}

#[test]
fn a_page_has_the_times_and_opens_with_the_chosen_clock() {
    let folder = folder("trace-html-clocks");
    let run = jump(&folder);
    let path = folder.join("jump.html");
    let page = |flag: &str| {
        prints(&format!("trace html {run} -o {} {flag}", path.display()));
        fs::read_to_string(&path).expect("it is written")
    };
    let opened = page("--clocks lamport");
    assert!(opened.contains("\"clock\":\"lamport\"") && opened.contains("\"text\":\"44–45\""));
    assert!(opened.contains("<select id=\"clock\">"));
    assert!(page("").contains("\"clock\":null"));
}

#[test]
fn a_node_and_a_time_can_be_chosen_from_the_list() {
    let run = recorded(&folder("trace-chosen"));
    let page = prints(&format!("trace show {run} --node 2 --from 10 --to 20"));
    assert!(page.ends_with("\n4 events of 47\n"), "{page}");
    let told = json(&format!("trace show {run} --node 2 --from 10 --to 20 --json"));
    let ids: Vec<u64> =
        told["events"].as_array().expect("a list").iter().filter_map(|event| event["id"].as_u64()).collect();
    assert_eq!((told["version"].as_u64(), ids), (Some(1), vec![13, 14, 21, 25]));
    assert_eq!(told["header"]["algorithm"], "ricart-agrawala");
    assert_eq!(told["events"][1]["says"], "node 2 sends REPLY to node 1");
    assert_eq!(refused(&format!("trace show {run} --node 4")), "there is no node 4: the nodes are 1 to 3");
    assert!(
        refused(&format!("trace show {run} --from 5 --to 4")).starts_with("--from 5 is later than --to 4")
    );
}

#[test]
fn a_run_is_converted_to_each_form_and_to_itself() {
    let folder = folder("trace-convert");
    let run = recorded(&folder);
    let converted = |to: &str| {
        let out = folder.join(to);
        assert_eq!(prints(&format!("trace convert {run} --to {to} -o {}", out.display())), "");
        fs::read_to_string(out).expect("it is written")
    };
    assert_eq!(converted("jsonl"), fs::read_to_string(&run).expect("the trace"));
    assert!(
        converted("shiviz")
            .starts_with("(?<host>\\S*) (?<clock>{.*})\\n(?<time>\\d*) (?<event>.*)\n\nnode1 ")
    );
    let perfetto: Value = serde_json::from_str(&converted("perfetto")).expect("JSON");
    assert!(perfetto["traceEvents"].as_array().is_some_and(|entries| entries.len() > 47));
}

#[test]
fn a_run_is_drawn_as_when_it_was_simulated() {
    let folder = folder("trace-svg");
    let path = |name: &str| folder.join(name).display().to_string();
    prints(&format!(
        "simulate raymond --entries 3 --trace {} --svg {} --theme dark --spacing even",
        path("run.jsonl"),
        path("there.svg")
    ));
    prints(&format!("trace svg {} -o {} --theme dark --spacing even", path("run.jsonl"), path("here.svg")));
    let read = |name: &str| fs::read(path(name)).expect("a picture");
    assert_eq!(read("here.svg"), read("there.svg"));
    prints(&format!("trace svg {} -o {}", path("run.jsonl"), path("here.png")));
    assert!(read("here.png").starts_with(b"\x89PNG\r\n"));
}

#[test]
fn a_page_is_made_from_a_file_and_from_standard_input() {
    let folder = folder("trace-html");
    let run = recorded(&folder);
    let (one, other) = (folder.join("one.html"), folder.join("other.html"));
    assert_eq!(prints(&format!("trace html {run} -o {}", one.display())), "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"))
        .args(["trace", "html", "-", "-o", &other.display().to_string()])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let trace = fs::read(&run).expect("the trace");
    command.stdin.take().expect("it listens").write_all(&trace).expect("it reads");
    assert!(command.wait().expect("it ends").success());
    let html = fs::read_to_string(&one).expect("a page");
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && html.ends_with("</html>\n"));
    assert_eq!(html, fs::read_to_string(&other).expect("a page"));
}

#[test]
fn a_trace_of_an_unknown_algorithm_gives_a_page_without_states() {
    let folder = folder("trace-unknown");
    let run = fs::read_to_string(recorded(&folder)).expect("the trace");
    let foreign = file(&folder, "foreign.jsonl", &run.replacen("ricart-agrawala", "martin", 1));
    let out = folder.join("page.html");
    let output = doorway(&format!("trace html {foreign} -o {}", out.display()));
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (
            Some(0),
            "doorway: \"martin\" is no algorithm that is known here: the page is without states\n".to_owned()
        )
    );
    assert!(out.exists());
}

#[test]
fn a_damaged_trace_is_refused_with_its_line() {
    let folder = folder("trace-broken");
    let run = fs::read_to_string(recorded(&folder)).expect("the trace");
    let half = file(&folder, "half.jsonl", &run[..run.len() / 2]);
    let lines: Vec<&str> = run.lines().collect();
    let short = file(&folder, "short.jsonl", &(lines[..20].join("\n") + "\n"));
    let wrong = file(&folder, "wrong.jsonl", &run.replacen("\"node\":2", "\"node\":9", 1));
    let other = file(&folder, "other.jsonl", "{\"some\":\"thing\"}\n");
    let out = folder.join("out");
    for (name, part) in [
        (&half, format!("line {} of the trace cannot be read: EOF", run[..run.len() / 2].lines().count())),
        (
            &short,
            "line 21 of the trace cannot be read: the file ends after 19 of 47 events: it was cut".to_owned(),
        ),
        (&wrong, "line 3 of the trace cannot be read: event 2 is about node 9".to_owned()),
        (&other, "line 1 of the trace cannot be read: missing field `version`".to_owned()),
    ] {
        for verb in [
            format!("trace show {name}"),
            format!("trace convert {name} --to perfetto -o {}", out.display()),
            format!("trace svg {name} -o {}.svg", out.display()),
            format!("trace html {name} -o {}", out.display()),
        ] {
            let sentence = refused(&verb);
            assert!(sentence.starts_with(&format!("{name}: {part}")), "{verb}: {sentence}");
        }
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 5, "four broken files and the whole one");
}

#[test]
fn what_is_asked_wrongly_is_refused_in_one_sentence() {
    let folder = folder("trace-refused");
    let run = recorded(&folder);
    assert!(refused("trace show no-such-file").starts_with("no-such-file cannot be read"));
    assert_eq!(
        refused(&format!("trace convert {run} --to pdf -o x")),
        "--to: \"pdf\" is not a form of traces: the forms are jsonl, shiviz and perfetto"
    );
    assert!(refused(&format!("trace svg {run} -o run.pdf")).ends_with("a picture ends in .svg or .png"));
    assert!(refused(&format!("trace html {run}")).contains("--out"));
    assert!(refused(&format!("trace html {run} -o no/such/run.html")).ends_with("there is no such folder"));
    let long = folder.join("long.jsonl").display().to_string();
    prints(&format!("simulate central --entries 4000 --trace {long}"));
    let sentence = refused(&format!("trace html {long} -o {}", folder.join("long.html").display()));
    assert!(sentence.contains("has more than 20000 events, the most that are drawn"), "{sentence}");
}
