//! `--svg`: pictures of runs and of quorum systems, written whole or refused in one sentence.

use std::fs;

use crate::terminal::{SCRIPT, doorway, file, folder, prints, refused};

#[test]
fn a_run_is_drawn_as_svg_and_as_png() {
    let folder = folder("pictures");
    let run = "simulate ricart-agrawala --nodes 3 --entries 4";
    for (name, begin) in [("run.svg", b"<svg xmlns=".as_slice()), ("run.PNG", b"\x89PNG\r\n")] {
        let path = folder.join(name);
        let report = prints(&format!("{run} --svg {}", path.display()));
        assert_eq!(report, prints(run), "the picture changes nothing of the answer");
        assert!(fs::read(&path).expect("the picture").starts_with(begin), "{name}");
    }
    let names: Vec<_> =
        fs::read_dir(&folder).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_picture_depends_only_on_its_command() {
    let folder = folder("looks");
    let drawn = |options: &str| {
        let path = folder.join("run.svg");
        prints(&format!("simulate raymond --entries 3 {options} --svg {}", path.display()));
        fs::read_to_string(path).expect("the picture")
    };
    let usual = drawn("");
    assert_eq!((usual.clone(), usual.clone()), (drawn(""), drawn("--spacing time --theme auto")));
    assert!(drawn("--spacing even").contains("moments evenly spaced"));
    assert!(!drawn("--theme light").contains("@media") && !drawn("--theme dark").contains("@media"));
}

#[test]
fn a_script_is_drawn_together_with_its_trace() {
    let folder = folder("scripted");
    let script = file(&folder, "two.script", SCRIPT);
    let (svg, trace) = (folder.join("two.svg"), folder.join("two.jsonl"));
    let line = format!("simulate --script {script} --svg {} --trace {}", svg.display(), trace.display());
    prints(&line);
    let events = fs::read_to_string(&trace).expect("the trace").lines().count() - 1;
    let sends = fs::read_to_string(&trace).expect("the trace").matches("\"event\":\"send\"").count();
    let arrows = fs::read_to_string(&svg).expect("the picture").matches("<g data-event=").count();
    assert!(events > 0 && sends > 0);
    assert_eq!(arrows, sends, "an arrow for each message");
}

#[test]
fn a_script_with_a_loop_exits_0_and_is_traced_and_drawn_with_it() {
    let folder = folder("looped");
    let text = "algorithm central\nnodes 3\nrequest 2\nlose 2->1\nloop\nrequest 3\ndeliver 3->1\ndeliver 1->3\n\
                release 3\ndeliver 3->1 #1 # its RELEASE\nexpect waiting 2\n";
    let script = file(&folder, "starved.script", text);
    let (svg, trace) = (folder.join("starved.svg"), folder.join("starved.jsonl"));
    let page =
        prints(&format!("simulate --script {script} --svg {} --trace {}", svg.display(), trace.display()));
    assert!(
        page.ends_with("\n\n  repeats     for ever after time 2: node 2 waits all the while\n"),
        "{page}"
    );
    let svg = fs::read_to_string(&svg).expect("the picture");
    assert!(svg.contains("What happens after time 2 repeats for ever.</desc>"));
    let trace = fs::read_to_string(&trace).expect("the trace");
    assert_eq!(trace.matches("\"time\":2,\"node\":1,\"event\":\"loop\"").count(), 1);
    let unmet = file(&folder, "unmet.script", &text.replace("waiting 2", "waiting nobody"));
    assert_eq!(doorway(&format!("simulate --script {unmet}")).status.code(), Some(1));
}

#[test]
fn a_run_that_stalls_is_drawn_as_well() {
    let path = folder("stalled").join("run.svg");
    let output = doorway(&format!("simulate central --entries 5 --loss 1 --svg {}", path.display()));
    assert_eq!(output.status.code(), Some(1));
    let svg = fs::read_to_string(path).expect("the picture");
    assert_eq!(svg.matches("class=\"message lost\"").count(), 4);
}

#[test]
fn pictures_that_cannot_be_are_refused_and_nothing_is_written() {
    let folder = folder("refused-pictures");
    let path = |name: &str| folder.join(name).display().to_string();
    let short = "simulate lamport --nodes 3 --entries 3";
    let sentence = refused(&format!("{short} --svg {}", path("run.pdf")));
    assert_eq!(sentence, format!("{} cannot be drawn: a picture ends in .svg or .png", path("run.pdf")));
    assert_eq!(
        refused(&format!("{short} --runs 2 --svg {}", path("run.svg"))),
        "a drawing is of one run: leave --runs out, or --svg"
    );
    let long = refused(&format!("simulate lamport --svg {} --trace {}", path("run.svg"), path("run.jsonl")));
    assert!(long.ends_with("20000 are the most: let it have fewer entries, as with --entries 20"), "{long}");
    assert_eq!(
        refused(&format!("{short} --theme pink --svg {}", path("run.svg"))),
        "--theme: \"pink\" is not a theme: the themes are auto, light and dark"
    );
    assert!(refused(&format!("{short} --spacing even")).contains("--svg"));
    assert!(
        refused(&format!("{short} --svg {}", path("no/such/run.svg"))).ends_with("there is no such folder")
    );
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn a_quorum_system_is_drawn_with_one_quorum() {
    let path = folder("quorums").join("plane.svg");
    let line = format!("quorum plane --nodes 7 --quorum-of 3 --svg {}", path.display());
    assert_eq!(prints(&line), prints("quorum plane --nodes 7"));
    let svg = fs::read_to_string(&path).expect("the picture");
    assert!(svg.contains("The quorum of node 3 has 3 nodes"));
    assert_eq!(svg.matches("class=\"node member\"").count(), 3);
    let sentence = refused(&format!("quorum plane --nodes 7 --quorum-of 8 --svg {}", path.display()));
    assert_eq!(sentence, "there is no node 8: the nodes are 1 to 7");
}
