//! Every specimen is wrong, and in the way that it says: by a script that replays a short run, and by chance.

use std::collections::BTreeSet;

use crate::laboratory::{play, run, shipped, textbook, typed};
use doorway_core::{Channels, Options, Specimen};
use doorway_simulator::{Latency, Outcome, Settings};

/// The scripts of the specimens, with the number of their steps: requests, deliveries and releases.
const SCRIPTS: &[(&str, &str, usize)] = &[
    ("carvalho-roucairol/no-asking-back", "", 21),
    ("carvalho-roucairol/permission-kept", "", 20),
    ("lamport/double-stamps", "", 11),
    ("lamport/equal-stamps", "", 6),
    ("lamport/stamp-before-tick", "", 2),
    ("lamport/stamp-per-copy", "", 7),
    ("lamport/stamped-early", "", 6),
    ("maekawa/basic", "", 6),
    ("maekawa/failed-remembered", "", 11),
    ("maekawa/inquire-answered-inside", "", 6),
    ("maekawa/inquire-before-locked", "", 16),
    ("maekawa/inquire-before-locked", "-seven-nodes", 20),
    ("maekawa/inquired-for-ever", "", 17),
    ("maekawa/never-free", "", 7),
    ("maekawa/one-inquire-answered", "", 10),
    ("maekawa/unnamed-requests", "", 19),
    ("maekawa/unnamed-requests", "-seven-nodes", 69),
    ("raymond/token-away-while-inside", "", 4),
    ("replicated/grant-before-ack", "", 5),
    ("ricart-agrawala/deferred-not-cleared", "", 17),
    ("ricart-agrawala/deferred-not-cleared", "-fifo", 20),
    ("ricart-agrawala/double-stamps", "", 10),
    ("ricart-agrawala/equal-stamps", "", 6),
    ("ricart-agrawala/stamped-early", "", 8),
    ("sanders/clocks-not-merged", "", 15),
    ("sanders/no-remedy", "", 4),
    ("sanders/own-request-travels", "", 10),
    ("sanders/unchecked-structure", "", 4),
    ("sanders/unchecked-structure", "-unasked", 2),
    ("singhal/idle-while-inside", "", 4),
    ("singhal/no-chase", "", 15),
    ("suzuki-kasami/own-entry", "", 6),
];

/// What is shown elsewhere: two by scripts of their own, in `scripts.rs`, and one because it only starves, below.
const ELSEWHERE: [&str; 3] = ["lamport/any-order", "maekawa/no-failed-when-overtaken", "maekawa/node-first"];

fn specimens() -> Vec<(&'static str, Specimen)> {
    let catalog = textbook();
    catalog.list().into_iter().filter_map(|about| Some((about.name, about.specimen?))).collect()
}

fn specimen(name: &str) -> Specimen {
    let found = specimens().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{name} is not in the catalog")).1
}

fn script(name: &str, ending: &str) -> String {
    shipped(&format!("specimens/{}{ending}.script", name.replace('/', "-")))
}

fn steps(script: &str) -> usize {
    let is_step =
        |line: &&str| ["request ", "deliver ", "release "].iter().any(|word| line.starts_with(word));
    script.lines().filter(is_step).count()
}

/// Whether a run went wrong in the way that the specimen says.
fn is_as_said(specimen: &Specimen, outcome: &Outcome) -> bool {
    match specimen.verdict {
        verdict if verdict.starts_with("exclusion violated") => {
            let told = |violation: &String| {
                violation.contains("inside together") || violation.contains("with fence")
            };
            outcome.violations.first().is_some_and(told)
        }
        verdict if verdict.ends_with("the stamp of the event that caused it") => {
            let told = "an event has no larger stamp than the event before it at its node";
            outcome.violations.first().is_some_and(|violation| violation.ends_with(told))
        }
        _ => outcome.violations.is_empty() && outcome.stall.is_some(),
    }
}

#[test]
fn every_specimen_has_a_script_or_is_shown_elsewhere() {
    let shown: BTreeSet<&str> = SCRIPTS.iter().map(|(name, ..)| *name).chain(ELSEWHERE).collect();
    let all: BTreeSet<&str> = specimens().into_iter().map(|(name, _)| name).collect();
    assert_eq!(shown, all);
}

#[test]
fn the_script_of_each_specimen_ends_in_the_failure_that_it_says_within_the_steps_known() {
    for &(name, ending, known) in SCRIPTS {
        let script = script(name, ending);
        let outcome = play(&script).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            is_as_said(&specimen(name), &outcome),
            "{name}: {:?} {:?}",
            outcome.violations,
            outcome.stall
        );
        if specimen(name).verdict.starts_with("exclusion") {
            assert!(outcome.violations.iter().any(|what| what.ends_with("are inside together")), "{name}");
        }
        assert_eq!(steps(&script), known, "{name}");
    }
}

#[test]
fn the_correct_algorithm_does_not_follow_any_of_these_scripts_to_its_end() {
    for &(name, ending, _) in SCRIPTS.iter().filter(|(name, ..)| *name != "sanders/unchecked-structure") {
        let corrected = script(name, ending).replace(name, specimen(name).of);
        assert!(play(&corrected).is_err(), "{name} is no worse than {}", specimen(name).of);
    }
}

/// Where chance finds each: parameters, nodes, channels, load and latency, with requests for 20 entries a run.
const BY_CHANCE: &[(&str, &str, usize, Channels, &str, &str)] = &[
    ("carvalho-roucairol/no-asking-back", "", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("carvalho-roucairol/permission-kept", "", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("lamport/any-order", "", 2, Channels::Any, "saturated", "uniform:1:40"),
    ("lamport/double-stamps", "", 3, Channels::Fifo, "light:100", "uniform:1:40"),
    ("lamport/equal-stamps", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("lamport/stamp-before-tick", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("lamport/stamp-per-copy", "", 3, Channels::Fifo, "isolated", "uniform:1:40"),
    ("lamport/stamped-early", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/basic", "quorum=cyclic", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/failed-remembered", "quorum=cyclic", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/inquire-answered-inside", "quorum=cyclic", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/inquire-before-locked", "quorum=cyclic", 7, Channels::Any, "light:100", "exponential:20"),
    ("maekawa/inquired-for-ever", "quorum=cyclic", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/never-free", "quorum=cyclic", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/no-failed-when-overtaken", "quorum=cyclic", 5, Channels::Fifo, "saturated", "uniform:1:40"),
    ("maekawa/one-inquire-answered", "quorum=all", 3, Channels::Fifo, "light:100", "uniform:1:40"),
    ("maekawa/unnamed-requests", "quorum=cyclic", 7, Channels::Fifo, "light:100", "exponential:20"),
    ("raymond/token-away-while-inside", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("ricart-agrawala/deferred-not-cleared", "", 2, Channels::Any, "light:30", "uniform:1:40"),
    ("ricart-agrawala/double-stamps", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("ricart-agrawala/equal-stamps", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("ricart-agrawala/stamped-early", "", 3, Channels::Fifo, "saturated", "uniform:1:40"),
    ("sanders/clocks-not-merged", "", 3, Channels::Fifo, "light:100", "uniform:1:40"),
    ("sanders/no-remedy", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("sanders/own-request-travels", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("sanders/unchecked-structure", "structure=one-sided", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("sanders/unchecked-structure", "structure=unasked", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("singhal/idle-while-inside", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
    ("singhal/no-chase", "", 3, Channels::Fifo, "light:30", "exponential:20"),
    ("suzuki-kasami/own-entry", "", 2, Channels::Fifo, "saturated", "uniform:1:40"),
];

/// Shown with crashes, in `replicated.rs`.
const NEEDS_A_CRASH: &str = "replicated/grant-before-ack";

#[test]
fn chance_finds_every_specimen_wrong_but_the_one_that_only_starves() {
    const SEEDS: u64 = 3_000;
    for &(name, choice, nodes, channels, load, latency) in BY_CHANCE {
        let options = choice.split_once('=').map(|(name, word)| Options::none().with(name, word));
        let settings = |seed| Settings {
            nodes,
            channels,
            load: typed(load),
            latency: Latency::Span(typed(latency)),
            entries: 20,
            seed,
            ..Settings::default()
        };
        let goes_wrong = |seed: u64| {
            let outcome = run(name, options.as_ref().unwrap_or(&Options::none()), &settings(seed));
            (!outcome.as_expected && is_as_said(&specimen(name), &outcome)).then_some((seed, outcome))
        };
        let Some((seed, outcome)) = (1..=SEEDS).find_map(goes_wrong) else {
            panic!("{name} {choice}: nothing in {SEEDS} seeds");
        };
        let choice =
            if choice.is_empty() { String::new() } else { format!(" --{}", choice.replace('=', " ")) };
        let wrong = outcome.violations.first().cloned().or(outcome.stall.map(|stall| stall.to_string()));
        println!(
            "doorway simulate {name}{choice} --nodes {nodes} --channels {} --load {load} --latency {latency} \
             --entries 20 --seed {seed}\n    {}",
            channels.name(),
            wrong.unwrap_or_default()
        );
    }
    let found: BTreeSet<&str> =
        BY_CHANCE.iter().map(|(name, ..)| *name).chain(["maekawa/node-first", NEEDS_A_CRASH]).collect();
    assert_eq!(found, specimens().into_iter().map(|(name, _)| name).collect());
}

/// The script with so many of its rounds, then everybody leaves without asking again.
fn rounds(count: usize) -> String {
    let script = script("maekawa/node-first", "");
    let mut parts = script.split("# Round ");
    let start = parts.next().expect("what comes before the rounds");
    let round = parts.next().and_then(|part| part.split_once('\n')).expect("a round has a heading").1;
    let end = "release 2\ndeliver all\nrelease 1\ndeliver all\nexpect inside 3\nrelease 3\n";
    format!("{start}{}{end}", round.repeat(count))
}

#[test]
fn e28_by_node_first_a_node_is_passed_over_twice_in_each_round_for_as_many_rounds_as_one_likes() {
    for count in [1, 10, 1_000] {
        let outcome = play(&rounds(count)).expect("every round ends as it began");
        assert!(outcome.as_expected);
        assert_eq!(outcome.measures.bypasses.max(), Some(2 * count as u64));
    }
}

#[test]
fn e28_by_node_first_a_node_enters_once_in_a_saturated_run_and_by_age_in_turn() {
    for entries in [200, 2_000] {
        let settings = Settings { nodes: 3, entries, ..Settings::default() };
        let starving = run("maekawa/node-first", &Options::none(), &settings);
        assert!(starving.as_expected, "it is safe and free of deadlock");
        assert_eq!(starving.measures.entries_of_those_who_asked().min(), Some(1));
        assert_eq!(starving.measures.bypasses.max(), Some(entries - 3));
        let fair = run("maekawa", &Options::none(), &settings);
        assert_eq!(fair.measures.bypasses.max(), Some(1));
    }
}

#[test]
fn e11_without_the_chase_singhal_is_right_under_causal_delivery() {
    for (seed, nodes) in (1..=2_000).zip((2..=6).cycle()) {
        let latency = Latency::Span(typed("exponential:20"));
        let load = typed("light:30");
        let channels = Channels::Causal;
        let settings = Settings {
            nodes,
            channels,
            load,
            latency,
            entries: 20,
            seed,
            invariants: true,
            ..Settings::default()
        };
        let outcome = run("singhal/no-chase", &Options::none(), &settings);
        assert!(
            outcome.as_expected,
            "{nodes} nodes, seed {seed}: {:?} {:?}",
            outcome.violations, outcome.stall
        );
    }
}

#[test]
fn c44_with_the_nearest_first_singhal_lets_two_neighbours_starve_the_others() {
    let settings = Settings { entries: 200, ..Settings::default() };
    let by_node = |arbitration: &str| {
        let outcome = run("singhal", &Options::none().with("arbitration", arbitration), &settings);
        assert!(outcome.as_expected);
        outcome.measures.entries_by_node
    };
    assert_eq!(by_node("nearest"), [100, 97, 1, 1, 1]);
    assert_eq!(by_node("round-robin"), [42, 40, 40, 39, 39]);
}
