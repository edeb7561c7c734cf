//! Bad input: one sentence, exit 2, nothing half written.

use std::fs;

use crate::terminal::{SCRIPT, file, folder, prints, refusal, refused};

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let folder = folder("bad");
    let apart = file(&folder, "apart.quorums", "1: 1\n2: 2\n");
    let apart = format!("file:{apart}");
    for (words, part) in [
        ("simulate lamport --nodes 0", "at least one node"),
        ("simulate lamport --nodes 99999999999", "more than can be numbered"),
        ("simulate lamport --nodes 99999999999999999999999", "too large"),
        ("simulate lamport --nodes -1", "not a whole number"),
        ("simulate lamport --nodes five", "not a whole number"),
        ("simulate lamport --start-inside 9", "there is no node 9"),
        ("simulate lamport --start-inside 0", "nodes count from 1"),
        ("simulate lamport --crash 9@5", "there is no node 9"),
        ("simulate lamport --suspect 2@5", "are not told of crashes: leave out --suspect"),
        ("check lamport --suspect 1", "are not told of crashes: leave out --suspect"),
        ("simulate lamport --partition 1,2|9@1..2", "there is no node 9"),
        ("simulate maekawa --nodes 10 --quorum plane", "7 and 13"),
        ("simulate maekawa --quorum circle", "not a quorum system"),
        ("simulate sanders --structure circle", "no structure"),
        ("simulate raymond --tree circle", "no tree"),
        ("simulate raymond --set tree", "NAME=VALUE"),
        ("simulate lamport --quorum grid", "no quorum to choose"),
        ("simulate lamport --runs 0", "must be at least 1"),
        ("simulate lamport --threads 0", "must be at least 1"),
        ("simulate lamport --warmup 1000", "leaves none"),
        ("simulate lamport --load heavy", "--load: \"heavy\" is not a load"),
        ("simulate lamport --hold long", "--hold: \"long\" is not a span of time"),
        ("simulate lamport --latency slow", "--latency: \"slow\" is not a span of time"),
        ("simulate lamport --latency matrix:", "--latency: matrix: needs the name of a file"),
        ("simulate maekawa --quorum file:", "file: needs the name of a file"),
        ("simulate lamport --latency matrix:no-such-file", "cannot be read"),
        ("simulate lamport --loss 2", "from 0 to 1"),
        ("simulate lamport --channels wide", "fifo, any or causal"),
        ("simulate lamport --nods 3", "--nodes"),
        ("simulate ricart", "did you mean ricart-agrawala?"),
        ("simulate", "which algorithm?"),
        ("explain mekawa", "did you mean maekawa"),
        ("explain nothing", "\"nothing\": `doorway algorithms` lists them"),
        ("explain", "ALGORITHM"),
        ("completions cmd", "powershell"),
        ("juggle", "--help"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
    for words in
        [["quorum", &apart, "", ""], ["simulate", "maekawa", "--nodes=2", &format!("--quorum={apart}")]]
    {
        let sentence = refusal(&words);
        assert!(sentence.contains("nodes 1 and 2 do not meet"), "{sentence}");
    }
}

#[test]
fn an_impossible_fate_of_a_message_is_refused() {
    for (words, part) in [
        ("--message 0@5", "--message: \"0@5\" decides nothing about a message"),
        ("--message 5:gone", "counted from 1, as in 12@40"),
        ("--message 5:lost --message 5@9", "message 5 cannot have two fates: leave out 5@9 or 5:lost"),
        ("--message 5@2000000000000", "2000000000000 ticks are too long"),
    ] {
        let sentence = refused(&format!("simulate lamport {words}"));
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn quorum_systems_that_do_not_exist_are_refused_in_one_sentence() {
    for (words, part) in [
        ("quorum plane --nodes 10", "7 and 13"),
        ("quorum grid", "--nodes N"),
        ("quorum grid --nodes 0", "at least one node"),
        ("quorum grid --nodes 99999999999", "at most"),
        ("quorum circle --nodes 3", "not a quorum system"),
        ("quorum grid --nodes 3 --weights 1", "only for weighted"),
        ("quorum wall:1,2 --widths 1,2", "leave --widths out"),
        ("quorum file:no-such-file", "cannot be read"),
        ("quorum file", "file:mine.quorums"),
        ("quorum file:", "file: needs the name of a file"),
        ("quorum plane --nodes 1", "has 1 node:"),
        ("quorum grid --nodes 4 --fail 2", "--fail: \"2\" is not a probability"),
        ("quorum grid --nodes 4 --fail -0.1", "--fail: \"-0.1\" is not a probability"),
        ("quorum grid --nodes 4 --fail 0.1,x", "--fail: \"x\" is not a probability"),
        ("quorum grid --nodes 4 --fail 0.1,0.1", "--fail: 0.1 is there twice"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
}

#[test]
fn a_mistake_in_a_file_is_reported_with_the_file_name() {
    let folder = folder("blamed");
    let wrong = file(&folder, "wrong.txt", "1: 1\n2: 2\n");
    let small = file(&folder, "small.txt", "1 1\n2 2\n");
    for (words, part) in [
        (format!("simulate maekawa --nodes 2 --quorum file:{wrong}"), "nodes 1 and 2 do not meet"),
        (format!("simulate maekawa --nodes 3 --quorum file:{wrong}"), "3"),
        (format!("simulate sanders --nodes 2 --structure file:{wrong}"), "line 1 of the structure"),
        (format!("simulate raymond --nodes 2 --tree file:{wrong}"), "line 1 of the tree"),
        (format!("simulate raymond --nodes 2 --set tree=file:{wrong}"), "line 1 of the tree"),
        (format!("simulate lamport --nodes 2 --latency matrix:{wrong}"), "line 1 of the latency matrix"),
    ] {
        let sentence = refused(&words);
        assert!(sentence.starts_with(&format!("{wrong}: ")) && sentence.contains(part), "{sentence}");
    }
    assert_eq!(
        refused(&format!("simulate lamport --latency matrix:{small}")),
        format!("{small}: the latency matrix has 2 rows for 5 nodes")
    );
    let script = "algorithm maekawa\nnodes 2\nquorum file:wrong.txt\nrequest 1\n";
    let script = file(&folder, "two.script", script);
    assert!(refused(&format!("simulate --script {script}")).starts_with(&format!("{wrong}: ")));
    let sentence = refused(&format!("simulate lamport --quorum file:{wrong}"));
    assert_eq!(sentence, "lamport has no quorum to choose", "the file is not to blame");
}

#[test]
fn a_refused_run_leaves_no_trace_and_keeps_an_old_one() {
    let elsewhere = folder;
    let folder = folder("refused");
    let path = folder.join("run.jsonl");
    let trace = path.to_string_lossy();
    let apart = format!("file:{}", file(&elsewhere("refused-input"), "apart.quorums", "1: 1\n2: 2\n"));
    let impossible = SCRIPT.replace("2->1 REQUEST", "3->1 REQUEST");
    let impossible = file(&elsewhere("refused-script"), "wrong.script", &impossible);
    for words in [
        &["maekawa", "--nodes", "10", "--quorum", "plane"][..],
        &["lamport", "--nodes", "5", "--crash", "9@1"],
        &["lamport", "--nodes", "5", "--partition", "1|9@1..2"],
        &["lamport", "--nodes", "5", "--start-inside", "9"],
        &["lamport", "--nodes", "0"],
        &["lamport", "--runs", "2"],
        &["maekawa", "--nodes", "2", "--quorum", &apart],
        &["--script", &impossible],
        &["--script", &impossible, "--json"],
    ] {
        refusal(&[&["simulate"], words, &["--trace", &trace]].concat());
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0, "{words:?}");
    }
    fs::write(&path, "old").expect("an old trace");
    refusal(&["simulate", "maekawa", "--nodes", "10", "--quorum", "plane", "--trace", &trace]);
    assert_eq!(fs::read_to_string(&path).expect("it is still there"), "old");
    assert!(
        refused("simulate lamport --trace no/such/folder/run.jsonl").ends_with("there is no such folder")
    );
}

#[test]
fn what_a_script_decides_itself_does_not_go_with_it() {
    let folder = folder("decided");
    let script = file(&folder, "good.script", SCRIPT);
    for (given, reason) in [
        ("--load saturated", "a script says itself who asks and when"),
        ("--entries 1000", "a script says itself who asks and when"),
        ("--hold 5", "a script says itself who asks and when"),
        ("--warmup 0", "a script says itself who asks and when"),
        ("--latency 10", "a script delivers each message itself"),
        ("--local-latency 3", "a script delivers each message itself"),
        ("--message 1@5", "a script delivers each message itself"),
        ("--loss 0.1", "a script says itself what goes wrong"),
        ("--duplicate 0.1", "a script says itself what goes wrong"),
        ("--retransmit", "a script says itself what goes wrong"),
        ("--crash 1@5", "a script says itself what goes wrong"),
        ("--partition 1|2@1..2", "a script says itself what goes wrong"),
        ("--runs 1", "a script is one run"),
        ("--threads 1", "a script is one run"),
    ] {
        let flag = given.split(' ').next().expect("a flag");
        let sentence = format!("{flag} does not go with --script: {reason}");
        assert_eq!(refused(&format!("simulate --script {script} {given}")), sentence);
        assert_eq!(refused(&format!("simulate {given} --script {script}")), sentence);
    }
    prints(&format!("simulate --script {script} --channels any --seed 7 --invariants --order --nodes 4"));
}

#[test]
fn an_impossible_delivery_is_refused_with_its_line_and_what_is_in_flight() {
    let folder = folder("impossible");
    let script = file(&folder, "wrong.script", &SCRIPT.replace("2->1 REQUEST", "3->1 REQUEST"));
    let sentence = refusal(&["simulate", "--script", &script]);
    assert!(sentence.contains("line 4") && sentence.contains("2->1 REQUEST"), "{sentence}");
    let nonsense = file(&folder, "nonsense.script", "algorithm central\nfly 2\n");
    assert!(refusal(&["simulate", "--script", &nonsense]).contains("line 2"));
    let nameless = file(&folder, "nameless.script", "nodes 3\nrequest 2\n");
    assert!(refusal(&["simulate", "--script", &nameless]).starts_with("which algorithm?"));
}
