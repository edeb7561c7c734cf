//! The laboratory asks the checker: specimens are refuted by runs that replay, and properties are decided in passes.

use doorway_catalog::Catalog;
use doorway_checker::{FaultBudget, Property, SchedulerFairness, Setting, Visited, Walks};
use doorway_core::{Channels, NodeId, Start};
use doorway_experiments::check::{Checked, Decision, Effort, Instance};
use doorway_experiments::record_script;

/// A specimen, what is chosen for it, how often each node asks, the channels, what it violates, and after how many steps at most
/// as CLAIMS says, and after how many it is found.
type Refuted = (&'static str, &'static str, &'static [u32], Channels, Property, usize, usize);

use Channels::{Any, Fifo};
use Property::{DeadlockFreedom, MutualExclusion};

const REFUTED: &[Refuted] = &[
    ("ricart-agrawala/deferred-not-cleared", "", &[3, 3], Any, MutualExclusion, 17, 17),
    ("ricart-agrawala/deferred-not-cleared", "", &[3, 3], Fifo, MutualExclusion, 20, 20),
    ("suzuki-kasami/own-entry", "", &[2, 2], Fifo, DeadlockFreedom, 6, 4),
    ("maekawa/no-failed-when-overtaken", "quorum=grid", &[0, 1, 1, 1], Fifo, DeadlockFreedom, 14, 14),
    ("maekawa/failed-remembered", "quorum=cyclic", &[2, 2, 2], Fifo, MutualExclusion, 11, 11),
    ("maekawa/inquire-answered-inside", "quorum=cyclic", &[1, 1, 1], Fifo, MutualExclusion, 11, 6),
    ("maekawa/inquire-before-locked", "quorum=grid", &[1, 1, 1], Any, MutualExclusion, 20, 16),
    ("maekawa/unnamed-requests", "quorum=singleton:3", &[2, 2, 0], Fifo, MutualExclusion, 69, 19),
    ("maekawa/never-free", "quorum=cyclic", &[1, 1, 1], Fifo, DeadlockFreedom, 7, 7),
    ("maekawa/one-inquire-answered", "quorum=all", &[1, 1, 1], Fifo, DeadlockFreedom, 10, 10),
    ("maekawa/inquired-for-ever", "quorum=cyclic", &[2, 2, 2], Fifo, DeadlockFreedom, 17, 17),
    ("singhal/idle-while-inside", "", &[1, 1], Fifo, MutualExclusion, 4, 4),
    ("singhal/no-chase", "", &[2, 2, 2], Fifo, DeadlockFreedom, 15, 15),
    ("raymond/token-away-while-inside", "", &[1, 1], Fifo, MutualExclusion, 4, 4),
    ("lamport/stamp-per-copy", "", &[0, 0, 1], Fifo, DeadlockFreedom, 7, 7),
    ("lamport/stamped-early", "", &[1, 1], Fifo, MutualExclusion, 9, 6),
    ("ricart-agrawala/stamped-early", "", &[1, 1], Any, MutualExclusion, 12, 8),
    ("lamport/equal-stamps", "", &[1, 1], Fifo, MutualExclusion, 6, 6),
    ("lamport/double-stamps", "", &[2, 2], Fifo, MutualExclusion, 11, 11),
    ("ricart-agrawala/double-stamps", "", &[2, 2], Fifo, MutualExclusion, 10, 10),
    ("lamport/stamp-before-tick", "", &[1, 1], Fifo, Property::Invariants, 2, 2),
    ("ricart-agrawala/equal-stamps", "", &[1, 1], Fifo, MutualExclusion, 6, 6),
    ("lamport/any-order", "", &[1, 1], Any, MutualExclusion, 8, 4),
    ("lamport/any-order", "", &[1, 1, 1], Any, MutualExclusion, 8, 7),
    ("sanders/no-remedy", "structure=ricart-agrawala", &[1, 1], Fifo, DeadlockFreedom, 4, 4),
    ("sanders/own-request-travels", "structure=ricart-agrawala", &[1, 1], Fifo, MutualExclusion, 10, 10),
    ("sanders/clocks-not-merged", "structure=ricart-agrawala", &[2, 1, 1], Fifo, MutualExclusion, 15, 15),
    ("sanders/unchecked-structure", "structure=one-sided", &[1, 1], Fifo, MutualExclusion, 4, 4),
    ("sanders/unchecked-structure", "structure=unasked", &[1, 1], Fifo, MutualExclusion, 2, 2),
    ("carvalho-roucairol/no-asking-back", "", &[2, 2, 1], Fifo, DeadlockFreedom, 21, 21),
    ("carvalho-roucairol/permission-kept", "", &[2, 2, 1], Fifo, MutualExclusion, 20, 12),
    ("maekawa/basic", "quorum=cyclic", &[1, 1, 1], Fifo, DeadlockFreedom, 6, 6),
];

fn instance(name: &str, choice: &str, requests: &[u32], channels: Channels) -> Instance {
    let instance = Instance::new(name, requests, channels);
    match choice.split_once('=') {
        Some((name, word)) => instance.with(name, word),
        None => instance,
    }
}

fn checked(instance: &Instance) -> Checked {
    instance.check(&Catalog::textbook(), &mut |_| ()).expect("it can be explored")
}

fn decided(instance: &Instance, property: Property) -> Decision {
    checked(&instance.clone().deciding(&[property])).verdict(property).expect("it was asked").decision
}

#[test]
fn every_specimen_is_refuted_in_at_most_the_steps_stated_and_its_run_replays() {
    for &(name, choice, requests, channels, property, at_most, steps) in REFUTED {
        let instance = instance(name, choice, requests, channels).deciding(&[property]);
        let instance = Instance { effort: Effort::of_states(3_000_000), ..instance };
        let checked = checked(&instance);
        let found = checked.counterexample(property).unwrap_or_else(|| panic!("{name} violates {property}"));
        assert_eq!(found.steps.len(), steps, "{name} {requests:?}: {:?}", found.steps);
        assert!(steps <= at_most, "{name}");
        let replayed = record_script(&found.script, &instance.options, &Catalog::textbook());
        assert!(replayed.is_ok(), "{name}: {:?}\n{}", replayed.err(), found.script);
    }
}

#[test]
fn a_clock_that_stamps_before_it_ticks_leaves_the_algorithm_safe() {
    let instance = instance("lamport/stamp-before-tick", "", &[2, 2], Fifo);
    for property in [MutualExclusion, DeadlockFreedom, Property::StarvationFreedom] {
        assert_eq!(decided(&instance, property), Decision::Holds, "{property}");
    }
    let correct = Instance { algorithm: "lamport".to_owned(), ..instance };
    assert_eq!(
        decided(&correct, Property::Invariants),
        Decision::Holds,
        "with the tick first no stamp repeats"
    );
}

#[test]
fn floating_point_stamps_are_safe_as_long_as_each_node_asks_once() {
    for name in ["lamport/double-stamps", "ricart-agrawala/double-stamps"] {
        assert_eq!(decided(&instance(name, "", &[1, 1], Fifo), MutualExclusion), Decision::Holds, "{name}");
    }
}

#[test]
fn all_specimens_are_among_those_that_are_refuted() {
    let specimens = Catalog::textbook();
    let specimens = specimens.list().into_iter().filter(|about| about.specimen.is_some());
    // One starves, the other one needs a crash: each has a test of its own.
    let elsewhere = ["maekawa/node-first", "replicated/grant-before-ack"];
    for about in specimens {
        let is_refuted = REFUTED.iter().any(|(name, ..)| *name == about.name);
        assert!(is_refuted || elsewhere.contains(&about.name), "{}", about.name);
    }
}

#[test]
fn compared_by_node_first_maekawa_is_safe_and_free_of_deadlock_but_node_3_starves_even_under_strong_fairness()
{
    let requests = [Setting::UNBOUNDED; 3];
    let checked = checked(&instance("maekawa/node-first", "quorum=cyclic", &requests, Fifo));
    let verdict = |property| checked.verdict(property).map(|verdict| verdict.decision);
    assert_eq!(verdict(MutualExclusion), Some(Decision::Holds));
    assert_eq!(verdict(DeadlockFreedom), Some(Decision::Holds));
    assert_eq!(verdict(Property::StarvationFreedom), Some(Decision::Violated));
    let starvation = checked.verdict(Property::StarvationFreedom).expect("it was asked");
    assert_eq!(starvation.each, [Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak), None]);
    let found = checked.counterexample(Property::StarvationFreedom).expect("there is a run");
    assert_eq!(found.what, "node 3 waits for ever while the others go on");
    let loop_start = found.loop_start.expect("it goes round");
    assert!(loop_start > 0 && loop_start < found.steps.len());
    let catalog = Catalog::textbook();
    let options = doorway_core::Options::none();
    let replayed = record_script(&found.script, &options, &catalog).expect("it replays");
    assert!(doorway_picture::space_time(&replayed.header, &replayed.events, &Default::default()).is_ok());
}

#[test]
fn central_needs_weak_fairness_when_all_ask_again_and_again_and_then_nobody_overtakes() {
    let properties = [Property::StarvationFreedom, Property::Fifo, Property::BoundedWaiting];
    let instance = instance("central", "", &[Setting::UNBOUNDED; 3], Any).deciding(&properties);
    let told = checked(&instance);
    let starvation = told.verdict(Property::StarvationFreedom).expect("it was asked");
    assert_eq!((starvation.decision, starvation.fairness), (Decision::Holds, Some(SchedulerFairness::Weak)));
    assert_eq!(told.verdict(Property::BoundedWaiting).expect("it was asked").bound, Some(0));
    assert_eq!(told.verdict(Property::Fifo).expect("it was asked").decision, Decision::Holds);
    let unfair = Instance { fairness: Some(SchedulerFairness::None), ..instance };
    let told = checked(&unfair);
    let starvation = told.verdict(Property::StarvationFreedom).expect("it was asked");
    assert_eq!(
        (starvation.decision, starvation.fairness),
        (Decision::Violated, Some(SchedulerFairness::None))
    );
    let found = told.counterexample(Property::StarvationFreedom).expect("there is a run");
    assert!(found.loop_start.is_some());
}

#[test]
fn the_worst_overtaking_is_exact_where_nodes_ask_without_end() {
    let worst = |name: &str, n: usize| {
        let instance = instance(name, "", &vec![Setting::UNBOUNDED; n], Any);
        let told = checked(&instance.deciding(&[Property::BoundedWaiting]));
        let verdict = told.verdict(Property::BoundedWaiting).expect("it was asked").clone();
        (verdict.decision, verdict.bound, told.most_overtaken.map(|run| run.steps.len()))
    };
    assert_eq!(worst("central", 3), (Decision::Holds, Some(0), None));
    assert_eq!(worst("ricart-agrawala", 2), (Decision::Holds, Some(0), None));
    assert_eq!(worst("token-ring", 3), (Decision::Holds, Some(1), Some(3)));
    assert_eq!(worst("raymond", 3).0, Decision::Violated);
    assert_eq!(worst("naimi-trehel", 3).0, Decision::Violated);
}

#[test]
fn with_few_requests_a_bound_is_only_the_least_that_is_known() {
    let told = checked(&instance("raymond", "", &[2, 2, 2], Any).deciding(&[Property::BoundedWaiting]));
    let verdict = told.verdict(Property::BoundedWaiting).expect("it was asked");
    assert_eq!((verdict.decision, verdict.bound), (Decision::NotExhausted, Some(1)));
    assert_eq!(
        decided(&instance("ricart-agrawala", "", &[2, 1, 1], Any), Property::BoundedWaiting),
        Decision::Holds
    );
}

#[test]
fn runs_in_causal_channels_replay_and_what_applications_tell_counts_there_too() {
    let (catalog, channels) = (Catalog::textbook(), Channels::Causal);
    for (name, property) in [
        ("lamport/stamp-per-copy", DeadlockFreedom),
        ("maekawa", Property::HappenedBeforeOrder),
        ("sanders/clocks-not-merged", MutualExclusion),
        ("cao-singhal", Property::HappenedBeforeOrder),
        ("ricart-agrawala/stamped-early", MutualExclusion),
    ] {
        let instance = instance(name, "", &[1, 1, 1], channels).deciding(&[property]);
        let told = checked(&instance);
        if let Some(found) = told.counterexample(property) {
            let replayed = record_script(&found.script, &instance.options, &catalog);
            assert!(replayed.is_ok(), "{name}: {:?}\n{}", replayed.err(), found.script);
        }
    }
}

#[test]
fn more_messages_than_causal_channels_can_keep_apart_give_no_verdict() {
    let walks = Walks { count: 20, ..Walks::default() };
    let base = instance("ricart-agrawala", "", &[1; 10], Channels::Causal);
    let told = checked(&Instance {
        effort: Effort::of_walks(walks),
        ..base.deciding(&[MutualExclusion, DeadlockFreedom])
    });
    assert_eq!(told.decision(), Decision::NotExhausted);
}

#[test]
fn walks_tell_several_runs_and_each_replays() {
    let walks = Walks { count: 600, ..Walks::default() };
    let base = instance("maekawa/basic", "quorum=plane", &[1; 7], Any).deciding(&Property::ALL);
    let instance = Instance { effort: Effort::of_walks(walks), ..base };
    let told = checked(&instance);
    assert!(told.counterexamples.len() >= 2, "{:?}", told.verdicts);
    for found in &told.counterexamples {
        let replayed = record_script(&found.script, &instance.options, &Catalog::textbook());
        assert!(replayed.is_ok(), "{}: {:?}", found.property, replayed.err());
    }
}

#[test]
fn with_faults_nothing_is_left_out() {
    let faults = FaultBudget { crashes: 1, ..FaultBudget::default() };
    let base = instance("ricart-agrawala", "", &[1, 1, 1], Any).deciding(&[MutualExclusion, DeadlockFreedom]);
    let messages = |reduction| checked(&Instance { faults, reduction, ..base.clone() }).messages;
    assert_eq!(messages(true).map(|counts| (counts.min, counts.max)), Some((5, Some(12))));
    assert_eq!(messages(true), messages(false));
}

#[test]
fn with_few_requests_a_bound_that_they_reach_is_no_verdict() {
    let told =
        checked(&instance("maekawa", "quorum=cyclic", &[2, 2, 2], Any).deciding(&[Property::BoundedWaiting]));
    let verdict = told.verdict(Property::BoundedWaiting).expect("it was asked");
    assert_eq!((verdict.decision, verdict.bound), (Decision::NotExhausted, Some(2)));
}

#[test]
fn happened_before_order_is_kept_by_lamport_and_ricart_agrawala_and_not_by_the_others() {
    let order = |name: &str, requests: &[u32], channels| {
        decided(&instance(name, "", requests, channels), Property::HappenedBeforeOrder)
    };
    assert_eq!(order("lamport", &[2, 2], Fifo), Decision::Holds);
    assert_eq!(order("ricart-agrawala", &[2, 2, 1], Any), Decision::Holds);
    for name in
        ["central", "token-ring", "carvalho-roucairol", "suzuki-kasami", "singhal", "raymond", "naimi-trehel"]
    {
        assert_eq!(order(name, &[2, 1], Any), Decision::Violated, "{name}");
    }
    assert_eq!(order("maekawa", &[1, 1, 1], Any), Decision::Violated);
    assert_eq!(order("ricart-agrawala/stamped-early", &[1, 1], Any), Decision::Violated);
}

#[test]
fn a_run_against_happened_before_order_replays_with_what_applications_tell() {
    let property = Property::HappenedBeforeOrder;
    let told = checked(&instance("central", "", &[1, 1, 1], Any).deciding(&[property]));
    let found = told.counterexample(property).expect("there is a run");
    assert!(
        found.script.contains("tell ") && found.script.contains("expect out-of-order 1"),
        "{}",
        found.script
    );
    let (options, catalog) = (doorway_core::Options::none(), Catalog::textbook());
    record_script(&found.script, &options, &catalog).expect("it replays");
}

#[test]
fn one_lost_message_or_one_crash_stops_every_textbook_algorithm() {
    for name in
        ["central", "token-ring", "ricart-agrawala", "suzuki-kasami", "raymond", "naimi-trehel", "maekawa"]
    {
        let losing = FaultBudget { losses: 1, ..FaultBudget::default() };
        let crashing = FaultBudget { crashes: 1, ..FaultBudget::default() };
        for faults in [losing, crashing] {
            let base = instance(name, "", &[1, 1, 1], Any).deciding(&[DeadlockFreedom, MutualExclusion]);
            let told = checked(&Instance { faults, ..base });
            assert_eq!(
                told.verdict(DeadlockFreedom).map(|verdict| verdict.decision),
                Some(Decision::Violated),
                "{name} {faults:?}"
            );
            assert_eq!(
                told.verdict(MutualExclusion).map(|verdict| verdict.decision),
                Some(Decision::Holds),
                "{name} {faults:?}"
            );
            let found = told.counterexample(DeadlockFreedom).expect("there is a run");
            let (options, catalog) = (doorway_core::Options::none(), Catalog::textbook());
            let replayed = record_script(&found.script, &options, &catalog);
            assert!(replayed.is_ok(), "{name}: {:?}\n{}", replayed.err(), found.script);
        }
    }
}

/// What the coordinators come to if this may happen, for three nodes that ask once.
fn with_faults(name: &str, requests: &[u32], faults: FaultBudget) -> Checked {
    let properties = [
        MutualExclusion,
        DeadlockFreedom,
        Property::StarvationFreedom,
        Property::Invariants,
        Property::Fence,
    ];
    checked(&Instance { faults, ..instance(name, "", requests, Fifo).deciding(&properties) })
}

#[test]
fn the_replicated_coordinator_survives_crashes_at_any_moment() {
    for (requests, crashes) in [([1, 1, 1], 1), ([0, 1, 1], 2)] {
        let told = with_faults("replicated", &requests, FaultBudget { crashes, ..FaultBudget::default() });
        assert_eq!(told.decision(), Decision::Holds, "{crashes}: {:?}", told.verdicts);
    }
}

#[test]
fn it_does_not_survive_a_grant_before_the_backups_know_or_an_oracle_that_errs() {
    let crash = FaultBudget { crashes: 1, ..FaultBudget::default() };
    let error = FaultBudget { suspicions: 1, ..FaultBudget::default() };
    for (name, faults, steps) in [("replicated/grant-before-ack", crash, 7), ("replicated", error, 9)] {
        let told = with_faults(name, &[1, 1, 1], faults);
        let found = told.counterexample(MutualExclusion).expect("two are inside");
        assert_eq!(found.steps.len(), steps, "{name}");
        assert!(found.script.contains("report 1 to 2"), "{}", found.script);
        let (options, catalog) = (doorway_core::Options::none(), Catalog::textbook());
        record_script(&found.script, &options, &catalog).expect("it replays");
    }
}

#[test]
fn a_token_that_arrives_twice_is_two_tokens() {
    let faults = FaultBudget { duplicates: 1, ..FaultBudget::default() };
    let base = instance("token-ring", "", &[1, 1], Any).deciding(&[Property::OneToken, MutualExclusion]);
    let told = checked(&Instance { faults, ..base });
    assert_eq!(told.decision(), Decision::Violated);
    assert_eq!(told.counterexamples.len(), 2);
}

#[test]
fn without_the_chase_singhal_is_free_of_deadlock_in_causal_channels_and_not_in_fifo_ones() {
    let no_chase =
        |channels| decided(&instance("singhal/no-chase", "", &[2, 2, 2], channels), DeadlockFreedom);
    assert_eq!(no_chase(Fifo), Decision::Violated);
    assert_eq!(no_chase(Channels::Causal), Decision::Holds);
    assert_eq!(
        decided(&instance("lamport", "", &[1, 1, 1], Channels::Causal), MutualExclusion),
        Decision::Holds
    );
}

#[test]
fn a_limit_gives_no_verdict_and_says_how_far_it_got() {
    let effort = Effort::of_states(10_000);
    let base = instance("ricart-agrawala", "", &[1; 4], Any);
    let told = checked(&Instance { effort, reduction: false, ..base });
    assert!(
        told.verdicts.iter().all(|verdict| verdict.decision == Decision::NotExhausted),
        "{:?}",
        told.verdicts
    );
    assert!(!told.numbers.is_complete && told.numbers.states >= 10_000);
}

#[test]
fn where_a_reduced_search_ends_in_time_and_a_full_one_does_not_what_it_decides_is_told() {
    let effort = Effort::of_states(300_000);
    let told = checked(&Instance { effort, ..instance("ricart-agrawala", "", &[1; 4], Any) });
    let decision = |property| told.verdict(property).map(|verdict| verdict.decision);
    assert_eq!(decision(MutualExclusion), Some(Decision::Holds));
    assert_eq!(decision(Property::StarvationFreedom), Some(Decision::Holds));
    assert_eq!(decision(Property::Invariants), Some(Decision::NotExhausted));
    assert_eq!(told.messages.map(|counts| (counts.min, counts.max)), Some((24, Some(24))));
}

#[test]
fn threads_and_fingerprints_change_neither_counts_nor_verdicts_nor_runs() {
    for (name, requests) in
        [("suzuki-kasami", &[2, 2, 2][..]), ("maekawa/basic", &[2, 2, 2]), ("lamport", &[1, 1, 1])]
    {
        let base = Instance { reduction: false, ..instance(name, "", requests, Fifo) };
        let base = base.deciding(&[MutualExclusion, DeadlockFreedom, Property::Invariants]);
        let one = checked(&base);
        let two = checked(&Instance { effort: Effort { threads: 2, ..Effort::default() }, ..base.clone() });
        let bare = checked(&Instance {
            effort: Effort { visited: Visited::Fingerprints, ..Effort::default() },
            ..base.clone()
        });
        assert_eq!(one.numbers, two.numbers, "{name}");
        let counts = |told: &Checked| (told.numbers.states, told.numbers.transitions, told.numbers.depth);
        assert_eq!(counts(&one), counts(&bare), "{name}");
        let odds = bare.numbers.odds_of_omission.expect("they are told");
        assert!(odds > 0.0 && odds < 1e-7, "{odds}");
        for other in [&two, &bare] {
            assert_eq!(one.verdicts, other.verdicts, "{name}");
            let runs = |told: &Checked| {
                told.counterexamples.iter().map(|run| run.script.clone()).collect::<Vec<_>>()
            };
            assert_eq!(runs(&one), runs(other), "{name}");
        }
    }
}

#[test]
fn with_a_node_inside_at_the_start_specimens_are_refuted_too() {
    let start = Start::Inside(NodeId::new(0));
    let base = instance("raymond/token-away-while-inside", "", &[1, 1], Any).deciding(&[MutualExclusion]);
    let told = checked(&Instance { start, ..base });
    assert_eq!(told.decision(), Decision::Violated);
    assert!(told.counterexamples[0].script.contains("start-inside 1"));
}

/// A specimen, how often each of seven nodes asks, the channels, what walks find.
const WALKED: [(&str, u32, Channels, Property); 3] = [
    ("maekawa/no-failed-when-overtaken", 1, Any, DeadlockFreedom),
    ("maekawa/inquire-before-locked", 1, Any, MutualExclusion),
    ("maekawa/unnamed-requests", 2, Fifo, MutualExclusion),
];

#[test]
fn random_walks_find_three_faults_on_the_plane_of_seven_nodes_and_their_runs_replay() {
    for (name, each, channels, property) in WALKED {
        let walks = Walks { count: 100_000, seed: 1, until: vec![property], ..Walks::default() };
        let base = instance(name, "quorum=plane", &[each; 7], channels).deciding(&[property]);
        let instance = Instance { effort: Effort::of_walks(walks), ..base };
        let told = checked(&instance);
        let found =
            told.counterexample(property).unwrap_or_else(|| panic!("{name}: walks with seed 1 find it"));
        let replayed = record_script(&found.script, &instance.options, &Catalog::textbook());
        assert!(replayed.is_ok(), "{name}: {:?}\n{}", replayed.err(), found.script);
    }
}

#[test]
fn walks_find_nothing_where_nothing_is_wrong_and_never_say_that_it_holds() {
    let walks = Walks { count: 500, ..Walks::default() };
    let base = instance("maekawa", "quorum=plane", &[1; 7], Any);
    let told = checked(&Instance { effort: Effort::of_walks(walks), ..base });
    assert_eq!(told.decision(), Decision::NotExhausted);
    assert_eq!(told.walked.map(|(walks, _)| walks), Some(500));
}
