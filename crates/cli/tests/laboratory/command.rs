//! All verbs but `simulate`, their help, and the command as a library.

use std::fs;
use std::process::Command;

use doorway_catalog::Catalog;
use serde_json::Value;

use crate::terminal::{SCRIPT, doorway, file, folder, json, keys, names, prints, refused, text};

#[test]
fn algorithms_lists_all_thirteen_and_the_specimens_apart() {
    let (algorithms, specimens) = names();
    assert_eq!((algorithms.len(), specimens.len()), (13, 31), "none is lost, and a new one is counted here");
    let page = prints("algorithms");
    let (right, wrong) = page.split_once("Specimens").expect("specimens stand apart");
    for name in algorithms {
        let is_listed = right.lines().any(|line| line.starts_with(&format!("{name} ")));
        assert!(is_listed, "{name} is missing in\n{page}");
    }
    for name in specimens {
        assert!(wrong.contains(name) && !right.contains(name), "{page}");
    }
    assert!(prints("algorithms --all").contains("B0 of maekawa: there is no remedy"));
}

#[test]
fn algorithms_as_json_tells_what_the_table_tells() {
    let answer = json("algorithms --json");
    assert_eq!(
        (keys(&answer), &answer["version"]),
        (vec!["version", "algorithms", "programs"], &Value::from(1))
    );
    let list = answer["algorithms"].as_array().expect("a list");
    for entry in list {
        let expected = ["name", "title", "family", "messages", "delay", "needs", "parameters", "specimen"];
        assert_eq!(keys(entry), expected);
    }
    let right: Vec<&Value> = list.iter().filter(|entry| entry["specimen"].is_null()).collect();
    assert_eq!(right.iter().map(|entry| &entry["name"]).collect::<Vec<_>>(), names().0);
    let raymond = right.iter().find(|entry| entry["name"] == "raymond").expect("it is listed");
    assert_eq!(keys(&raymond["parameters"][0]), ["name", "default", "help"]);
    let specimen = list.iter().find(|entry| entry["name"] == "maekawa/basic").expect("it is listed");
    assert_eq!(keys(&specimen["specimen"]), ["id", "of", "wrong", "verdict"]);
}

#[test]
fn explain_has_a_page_for_everything_in_the_catalog() {
    for about in Catalog::textbook().list() {
        let page = prints(&format!("explain {}", about.name));
        let first = about.page().split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let rules = match about.specimen {
            Some(specimen) => format!("\nRules of {}, which this variant spoils\n", specimen.of),
            None => "\nRules\n".to_owned(),
        };
        for part in [about.title, first.trim_end_matches('.'), &rules, "\nTry\n  doorway "] {
            assert!(page.contains(part), "{part:?} is missing in\n{page}");
        }
        assert!(!page.contains(&format!("\n{}.\n", about.title)), "the title stands there twice\n{page}");
        assert_eq!(page.contains("wrong on purpose"), about.specimen.is_some());
        let answer = json(&format!("explain {} --json", about.name));
        assert_eq!((&answer["version"], &answer["name"]), (&Value::from(1), &Value::from(about.name)));
        assert!(answer["rules"].as_array().is_some_and(|rules| !rules.is_empty()));
    }
}

#[test]
fn the_command_that_explain_says_to_try_works() {
    for name in names().0 {
        let answer = json(&format!("explain {name} --json"));
        let command =
            answer["try"].as_str().and_then(|command| command.strip_prefix("doorway ")).expect("a command");
        prints(command);
    }
}

#[test]
fn the_command_suggested_by_explain_shows_the_flaw() {
    for name in names().1 {
        let answer = json(&format!("explain {name} --json"));
        let command =
            answer["try"].as_str().and_then(|command| command.strip_prefix("doorway ")).expect("a command");
        assert_eq!(doorway(command).status.code(), Some(1), "{command}");
    }
    let starving = json("explain maekawa/node-first --json");
    let command =
        starving["try"].as_str().and_then(|command| command.strip_prefix("doorway ")).expect("a command");
    let output = doorway(command);
    let shown = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("node 3 waits for ever while the others go on"), "{shown}");
}

#[test]
fn a_quorum_system_as_json_has_the_keys_of_the_issue() {
    let answer = json("quorum plane --nodes 7 --json");
    let expected = ["version", "kind", "nodes", "assignment", "intersecting", "size", "responsibility"];
    let properties = ["in_own_quorum", "coterie"];
    let ratings = ["load", "capacity", "resilience", "failure_probability", "nondominated"];
    let more =
        ["minimal_nondominated", "minimal_quorums", "overlap", "load_fraction", "certificate", "listed"];
    assert_eq!(keys(&answer), [&expected[..], &properties, &ratings, &more].concat());
    assert_eq!(
        (&answer["kind"], &answer["nodes"], &answer["intersecting"]),
        (&"plane".into(), &7.into(), &true.into())
    );
    assert_eq!(answer["size"], serde_json::json!({"min": 3, "mean": 3.0, "max": 3}));
    assert_eq!(answer["responsibility"], serde_json::json!({"min": 3, "max": 3}));
    let sets: Vec<Vec<u32>> = serde_json::from_value(answer["assignment"].clone()).expect("lists of numbers");
    assert!(sets.len() == 7 && sets.iter().flatten().all(|node| (1..=7).contains(node)));
}

#[test]
fn ratings_are_numbers_where_they_are_exact_and_bounds_elsewhere() {
    let plane = json("quorum plane --nodes 7 --fail 0.1,.2 --json");
    assert_eq!((&plane["load"], &plane["load_fraction"]), (&(3.0 / 7.0).into(), &"3/7".into()));
    assert_eq!((&plane["capacity"], &plane["resilience"]), (&(7.0 / 3.0).into(), &2.into()));
    assert_eq!((&plane["nondominated"], &plane["minimal_quorums"]), (&true.into(), &7.into()));
    assert_eq!(keys(&plane["failure_probability"]), ["0.1", ".2"]);
    assert_eq!(format!("{:.4}", plane["failure_probability"][".2"].as_f64().expect("a number")), "0.0505");
    assert_eq!(plane["certificate"]["weights"], serde_json::json!([1, 1, 1, 1, 1, 1, 1]));
    let truncated = json("quorum truncated --nodes 200 --fail 0.2 --json");
    assert_eq!((&truncated["nondominated"], &truncated["certificate"]), (&Value::Null, &Value::Null));
    let number = |value: &Value| value.as_f64().expect("a number");
    let (load, drawn) = (&truncated["load"], &truncated["failure_interval"]["0.2"]);
    assert!(0.0 < number(&load["least"]) && number(&load["least"]) < number(&load["most"]), "{load}");
    let probability = number(&truncated["failure_probability"]["0.2"]);
    assert!(number(&drawn["least"]) < probability && probability < number(&drawn["most"]), "{drawn}");
    assert_eq!(
        truncated,
        json("quorum truncated --nodes 200 --fail 0.2 --json"),
        "a seed gives the same again"
    );
    let other = json("quorum truncated --nodes 200 --fail 0.2 --json --seed 2");
    assert_ne!(truncated["failure_probability"], other["failure_probability"]);
}

#[test]
fn listed_quorums_and_the_whole_family_are_both_rated_and_labelled() {
    let page = prints("quorum grid --nodes 7");
    let (listed, family) = page.split_once("\nRatings of the whole family").expect("two blocks");
    let in_order = |page: &str, lines: &[&str]| lines.iter().all(|line| page.contains(line));
    let of_listed = [
        "i ∈ S_i holds: every node is in its own quorum\n",
        "nodes that two quorums share      1  2.238     3\n",
        "Ratings of the listed quorums alone, one for each node\n",
        "  resilience       1 (any one node may crash)\n",
        "  failure at 0.1   0.0499 (exact)\n",
    ];
    let of_family = [
        ": every quorum of this kind, listed or not\n",
        "  overlap          1.571 on average",
        "  resilience       2 (any 2 nodes may crash)\n",
        "  failure at 0.1   0.0150 (exact)\n",
    ];
    assert!(in_order(listed, &of_listed) && in_order(family, &of_family), "{page}");
    let answer = json("quorum grid --nodes 7 --json");
    assert_eq!((&answer["resilience"], &answer["listed"]["resilience"]), (&2.into(), &1.into()));
    let mean = |rated: &Value| format!("{:.3}", rated["overlap"]["mean"].as_f64().expect("a number"));
    assert_eq!((mean(&answer), mean(&answer["listed"])), ("1.571".to_owned(), "2.238".to_owned()));
    assert!(
        prints("quorum plane --nodes 7")
            .contains("Ratings of the listed quorums, which are the whole family\n")
    );
    let page = prints("quorum singleton --nodes 3");
    assert!(page.contains("\ni ∈ S_i does not hold: node 2 is not in its own quorum\n"), "{page}");
}

#[test]
fn a_wall_that_is_no_coterie_is_not_called_nondominated() {
    let page = prints("quorum wall:1,3,1,2");
    assert!(page.contains("  non-dominated    no: this is not a coterie"), "{page}");
    assert!(!page.contains("non-dominated    yes"), "{page}");
    let answer = json("quorum wall:1,3,1,2 --json");
    assert_eq!((&answer["coterie"], &answer["nondominated"]), (&false.into(), &false.into()));
    assert_eq!(answer["minimal_nondominated"], Value::from(true));
    assert!(prints("quorum wall:1,2,3").contains("  non-dominated    yes"));
}

#[test]
fn planes_of_order_6_and_10_are_refused_as_impossible() {
    for (nodes, order) in [(43, 6), (111, 10)] {
        let told = refused(&format!("quorum plane --nodes {nodes}"));
        assert!(told.contains(&format!("there is no projective plane of order {order}, ")), "{told}");
    }
    assert!(refused("quorum plane --nodes 157").contains("whether one exists is open"));
}

#[test]
fn ratings_on_paper_say_how_they_are_known() {
    let page = prints("quorum plane --nodes 7");
    for line in [
        "  load             3/7, about 0.4286 (exact; --json has a certificate)\n",
        "  resilience       2 (any 2 nodes may crash)\n",
        "  failure at 0.1   0.0068 (exact)\n",
        "  non-dominated    yes:",
    ] {
        assert!(page.contains(line), "{page}");
    }
    let page = prints("quorum majority --nodes 4096 --fail 0.1");
    assert!(page.contains("2049/4096, about 0.5002 (exact: each assigned quorum equally often)"), "{page}");
    assert!(page.contains("failure at 0.1   below 1e-300\n") && page.contains("more than 65536"), "{page}");
    let page = prints("quorum cyclic --nodes 40 --fail 0.2");
    assert!(page.contains("95 % confidence, from 100000 draws)") && page.contains("unknown:"), "{page}");
}

#[test]
fn weights_widths_and_files_imply_the_number_of_nodes() {
    let folder = folder("implied");
    let own = file(&folder, "own.quorums", "1: 1 2\n2: 2 3\n3: 1 3\n");
    assert_eq!(json("quorum weighted --weights 3,1,1 --json")["nodes"], 3);
    assert_eq!(json("quorum wall --widths 1,2,3 --json")["nodes"], 6);
    assert_eq!(json(&format!("quorum file:{own} --json"))["assignment"][2], serde_json::json!([1, 3]));
    let page = prints(&format!("quorum file:{own}"));
    assert!(page.starts_with(&format!("file:{own}, 3 nodes: every two quorums meet\n")), "{page}");
    assert!(prints("quorum majority --nodes 40").contains("… 8 more"));
}

#[test]
fn every_verb_has_help_that_teaches() {
    let main = prints("--help");
    assert_eq!(prints(""), main);
    for verb in ["algorithms", "explain", "simulate", "quorum", "bank", "completions", "man"] {
        assert!(main.contains(&format!("\n  {verb} ")), "{verb} is missing in\n{main}");
        let long = prints(&format!("{verb} --help"));
        assert!(long.contains("Examples:\n  doorway "), "{long}");
        assert!(prints(&format!("{verb} -h")).len() <= long.len());
    }
    for kind in doorway_quorums::Construction::LIST {
        assert!(prints("quorum --help").contains(kind.name));
    }
}

/// The examples of a verb's help, each as words, without what follows for the shell or the reader.
fn examples(verb: &str) -> Vec<Vec<String>> {
    let help = prints(&format!("{verb} --help"));
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let command = |line: &str| {
        let line = line.trim().strip_prefix("doorway ").expect("a command");
        let end = ["  ", " > ", " && "].iter().filter_map(|mark| line.find(mark)).min();
        line[..end.unwrap_or(line.len())].replace('"', "").split(' ').map(str::to_owned).collect()
    };
    examples.lines().map(command).collect()
}

#[test]
fn every_example_of_the_help_runs() {
    let folder = folder("examples");
    file(&folder, "scenario.script", SCRIPT);
    file(&folder, "mine.quorums", "1: 1 2\n2: 2 3\n3: 1 3\n");
    for verb in ["algorithms", "explain", "simulate", "quorum", "bank", "completions", "man"] {
        // The bank of real processes takes its time, and has tests of its own.
        let is_quick = |words: &Vec<String>| verb != "bank" || words.iter().any(|word| word == "--simulated");
        for words in examples(verb).into_iter().filter(is_quick) {
            let output = Command::new(env!("CARGO_BIN_EXE_doorway"))
                .args(&words)
                .current_dir(&folder)
                .output()
                .expect("the command starts");
            // These examples show a failure: a crashed coordinator stalls all nodes, a lost message stalls one, a broken lock
            // loses money.
            let fails =
                words.iter().any(|word| ["--crash", "--message", "--broken"].contains(&word.as_str()));
            let expected = if fails { 1 } else { 0 };
            assert_eq!(output.status.code(), Some(expected), "{words:?}: {}", text(&output.stderr));
            assert!(!output.stdout.is_empty(), "{words:?}");
        }
    }
}

/// All verbs.
const VERBS: [&str; 20] = [
    "algorithms",
    "explain",
    "simulate",
    "compare",
    "claims",
    "check",
    "quorum",
    "structure",
    "bank",
    "sweep",
    "chaos",
    "trace",
    "studio",
    "cluster",
    "node",
    "lock",
    "status",
    "break",
    "completions",
    "man",
];

#[test]
fn help_fits_eighty_columns() {
    let help = |verb: &str, columns: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_doorway"))
            .args(verb.split_whitespace().chain(["--help"]))
            .env("COLUMNS", columns)
            .output()
            .expect("the command starts");
        text(&output.stdout)
    };
    let examples = |help: &str| {
        let (_, examples) = help.split_once("Examples:\n").expect("examples");
        examples.split("\n\n").next().unwrap_or_default().trim_end().to_owned()
    };
    let traces = ["trace show", "trace convert", "trace svg", "trace html"];
    let clusters = ["cluster init", "cluster add", "cluster remove", "cluster lead"];
    let rare = ["cluster rotate-certificates", "cluster recover"];
    for verb in [&VERBS[..], &["", "sweep merge", "node stop"], &traces, &clusters, &rare].concat() {
        let narrow = help(verb, "80");
        let long: Vec<&str> = narrow.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{verb}: {long:#?}");
        assert_eq!(examples(&narrow), examples(&help(verb, "200")), "no example of {verb} is broken");
    }
}

#[test]
fn completions_know_verbs_options_and_algorithms() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = prints(&format!("completions {shell}"));
        for word in ["simulate", "start-inside", "rotate-certificates", "max-hold"] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
        assert!(!script.contains("held-run"), "nobody types that: {shell}");
        let completes_values = matches!(shell, "bash" | "zsh");
        assert!(script.contains("ricart-agrawala") || !completes_values, "{shell}");
    }
}

#[test]
fn manual_pages_are_made_for_every_verb() {
    let folder = folder("man");
    prints(&format!("man {}", folder.display()));
    for page in
        ["doorway.1", "doorway-simulate.1", "doorway-quorum.1", "doorway-lock.1", "doorway-cluster-init.1"]
    {
        let roff = fs::read_to_string(folder.join(page)).expect(page);
        assert!(roff.contains(".SH NAME") && roff.contains("Examples"), "{page}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
        .args(["quorum", "all", "--nodes", "1000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_catalog_from_outside_is_run_as_it_is() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["doorway", "algorithms", "--json"].map(std::ffi::OsString::from);
    let exit = doorway_cli::run_from(Catalog::default(), words, &mut out, &mut err);
    assert_eq!(
        (exit, text(&out)),
        (doorway_cli::Exit::Holds, "{\"version\":1,\"algorithms\":[],\"programs\":[]}\n".to_owned())
    );
    let words = ["doorway", "explain", "lamport"].map(std::ffi::OsString::from);
    let exit = doorway_cli::run_from(Catalog::default(), words, &mut out, &mut err);
    assert_eq!(exit.code(), 2);
    assert_eq!(text(&err), "doorway: there is no algorithm \"lamport\": `doorway algorithms` lists them\n");
}

#[test]
fn a_program_that_extends_the_catalog_speaks_under_its_own_name() {
    let folder = folder("own-name");
    let ask = |line: &str| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = std::iter::once("target/release/laboratory").chain(line.split(' '));
        let catalog = Catalog::textbook();
        let exit = doorway_cli::run_from(catalog, words.map(Into::into), &mut out, &mut err);
        (exit.code(), text(&out), text(&err))
    };
    let man = format!("man {}", folder.display());
    for (line, code, part) in [
        ("--help", 0, "Usage: laboratory"),
        ("simulate --help", 0, "\n  laboratory simulate ricart-agrawala --nodes 16\n"),
        ("--version", 0, "laboratory with doorway "),
        ("algorithms", 0, "`laboratory explain NAME` tells more"),
        ("explain raymond", 0, "Try\n  laboratory simulate raymond"),
        ("explain raymund", 2, "laboratory: there is no algorithm \"raymund\""),
        ("simulate", 2, "`laboratory algorithms` lists them"),
        ("simulate central --crash 1@50", 1, "replay: laboratory simulate central --crash 1@50 --seed 1"),
        ("completions bash", 0, "_laboratory()"),
        (&man, 0, "/laboratory.1`"),
    ] {
        let (exit, out, err) = ask(line);
        assert!(exit == code && format!("{out}{err}").contains(part), "{line}: {exit}\n{out}{err}");
        assert!(
            !format!("{out}{err}").replace("with doorway", "").contains("doorway "),
            "{line}: {out}{err}"
        );
    }
    assert!(folder.join("laboratory-simulate.1").is_file());
}
