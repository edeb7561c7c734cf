//! The view change, explored: exact numbers of states, no violation of the rules as they are, and a shortest run against each flaw.

mod voters;

use std::collections::HashMap;

use doorway_chaos::model::{ViewBounds, ViewFlaw, ViewModel, Witnesses};
use doorway_checker::{Exploration, Property, Search, SearchLimits, StepsKnown, System, explore};
use doorway_core::Phase;
use doorway_simulator::parallel::processors;

const fn bounds(views: u8, changes: usize, crash: bool, leave: bool) -> ViewBounds {
    ViewBounds { crash, leave, ..ViewBounds::quiet(views, changes) }
}

/// The same, and one disk may be set back.
const fn set_back(bounds: ViewBounds, witnesses: Witnesses) -> ViewBounds {
    ViewBounds { set_back: Some(witnesses), ..bounds }
}

fn model(bounds: ViewBounds) -> ViewModel {
    ViewModel::new(bounds).expect("there are at most three views")
}

fn explored(mut model: ViewModel, until: &[Property]) -> Exploration {
    let search = Search { threads: processors(), until: until.to_vec(), ..Search::default() };
    explore(&mut model, &search, &mut |_| ())
}

/// The length of the shortest run after which two clients are inside, if there is one.
fn shortest(model: ViewModel) -> Option<usize> {
    let explored = explored(model, &[Property::MutualExclusion]);
    assert!(explored.is_satisfied || explored.is_complete);
    let run = explored.violations.iter().find(|found| found.property == Property::MutualExclusion);
    run.map(|run| run.steps.len())
}

/// Bounds, with the numbers of states and of steps between them.
const INSTANCES: [(ViewBounds, u64, u64); 5] = [
    (bounds(1, 3, true, true), 105, 297),
    (bounds(2, 3, true, true), 527_403, 3_696_261),
    (set_back(bounds(1, 3, true, true), Witnesses::Both), 285, 909),
    (set_back(bounds(2, 3, true, true), Witnesses::Both), 856_782, 7_150_992),
    (set_back(bounds(3, 1, true, false), Witnesses::Both), 8_734_791, 100_808_965),
];

#[test]
fn no_crash_or_noticed_set_back_lets_two_clients_in() {
    for (bounds, states, transitions) in INSTANCES {
        let explored = explored(model(bounds), &[]);
        let broken: Vec<&str> = explored.violations.iter().map(|found| found.what.as_str()).collect();
        assert_eq!(broken, [""; 0], "{bounds:?}");
        assert!(explored.is_complete, "{bounds:?}");
        assert_eq!((explored.states, explored.transitions), (states, transitions), "{bounds:?}");
    }
}

#[test]
fn a_greeting_stops_a_set_back_disk_from_counting() {
    let bounds = set_back(bounds(2, 1, true, false), Witnesses::Both);
    let explored = explored(model(bounds).with_greetings(), &[]);
    assert_eq!((explored.is_complete, explored.violations.len()), (true, 0));
    assert_eq!((explored.states, explored.transitions), (573_604, 3_473_877));
}

#[test]
fn every_view_lets_a_client_in() {
    for (view, steps) in [(1, 1), (2, 6), (3, 8)] {
        let sought = model(bounds(3, 1, true, false)).seeking_entry_in(view);
        let explored = explored(sought, &[Property::Invariants]);
        assert_eq!(explored.violations[0].what, "a client is let in in the view that is sought");
        assert_eq!(explored.violations[0].steps.len(), steps, "view {view}");
    }
}

/// Every flaw with the lengths of the shortest runs to two clients inside: reduced, and with every step on its own where that
/// is found soon.
const FLAWS: [(ViewFlaw, usize, Option<usize>); 27] = [
    (ViewFlaw::NoWait, 6, Some(7)),
    (ViewFlaw::WaitFromAccepting, 7, None),
    (ViewFlaw::WaitOverwritten, 10, None),
    (ViewFlaw::SkippedViewsForgotten, 9, None),
    (ViewFlaw::NewcomerActsAtOnce, 9, None),
    (ViewFlaw::LeftOutByName, 11, None),
    (ViewFlaw::LeftOutReadmitted, 8, None),
    (ViewFlaw::RestartIntoView, 4, Some(6)),
    (ViewFlaw::ReportWithoutFreeze, 9, None),
    (ViewFlaw::ReportRebuilt, 13, None),
    (ViewFlaw::ReportMissing, 8, Some(9)),
    (ViewFlaw::AcknowledgedAfterAccepting, 7, Some(12)),
    (ViewFlaw::OldMessagesTaken, 10, None),
    (ViewFlaw::LeaveBeforeStop, 7, Some(8)),
    (ViewFlaw::SetBackDiskVotes, 8, Some(13)),
    (ViewFlaw::BootsWithoutNonce, 8, None),
    (ViewFlaw::SyncedIgnored, 8, None),
    (ViewFlaw::SyncedAfterBoot, 8, None),
    (ViewFlaw::MarkNotDurable, 14, None),
    (ViewFlaw::VotersBesideViews, 11, None),
    (ViewFlaw::JointSkipped, 9, None),
    (ViewFlaw::FirstVoterSetOnly, 12, None),
    (ViewFlaw::VotersSinceIgnored, 11, None),
    (ViewFlaw::AgeDespiteVoterChange, 11, None),
    (ViewFlaw::AgeWithoutBootGuard, 9, None),
    (ViewFlaw::SlackNotReported, 9, None),
    (ViewFlaw::FreedAtDeadline, 4, Some(5)),
];

#[test]
fn every_flaw_lets_two_clients_in_by_a_shortest_run_of_known_length() {
    assert_eq!(FLAWS.map(|(flaw, ..)| flaw), ViewFlaw::ALL);
    for (flaw, steps, _) in FLAWS {
        assert_eq!(shortest(model(flaw.bounds()).with_flaw(flaw)), Some(steps), "{}", flaw.words());
    }
}

#[test]
fn an_invariant_tells_of_some_flaws_before_two_clients_are_inside() {
    let told = [
        (
            ViewFlaw::ReportMissing,
            4,
            "a member has not frozen older views though somebody is active in view 2",
        ),
        (ViewFlaw::LeftOutReadmitted, 6, "an incarnation left out before is in view 3"),
        (ViewFlaw::SetBackDiskVotes, 7, "two contents are decided as view 2"),
        (ViewFlaw::MarkNotDurable, 9, "two contents are decided as view 2"),
    ];
    for (flaw, steps, what) in told {
        let explored = explored(model(flaw.bounds()).with_flaw(flaw), &[Property::Invariants]);
        let found = explored.violations.iter().find(|found| found.property == Property::Invariants);
        assert_eq!(found.map(|found| (found.steps.len(), found.what.as_str())), Some((steps, what)));
    }
}

#[test]
fn with_every_step_on_its_own_the_same_flaws_let_two_clients_in() {
    for (flaw, _, steps) in FLAWS.into_iter().filter(|(.., steps)| steps.is_some()) {
        let full = model(flaw.bounds()).with_flaw(flaw).without_reduction();
        assert_eq!(shortest(full), steps, "{}", flaw.words());
    }
}

#[test]
fn with_every_step_on_its_own_the_rules_still_hold() {
    let full = explored(model(bounds(1, 1, true, true)).without_reduction(), &[]);
    assert_eq!((full.states, full.is_complete, full.violations.len()), (2_442, true, 0));
    let full = explored(model(set_back(bounds(1, 1, true, true), Witnesses::Both)).without_reduction(), &[]);
    assert_eq!((full.states, full.is_complete, full.violations.len()), (6_774, true, 0));
    let limits = SearchLimits { depth: 10, ..SearchLimits::default() };
    let search = Search { threads: processors(), limits, ..Search::default() };
    let quiet = bounds(2, 1, false, false);
    for (bounds, states) in [(quiet, 262_794), (set_back(quiet, Witnesses::Both), 570_831)] {
        let mut two_views = model(bounds).without_reduction();
        let full = explore(&mut two_views, &search, &mut |_| ());
        assert_eq!((full.states, full.violations.len()), (states, 0), "{bounds:?}");
    }
}

/// Voter 1 knows nothing newer of node 3, and counts its acknowledgement though node 3 has accepted a view without node 1.
const UNNOTICED: [&str; 8] = [
    "node 1 lets its client in, in view 1",
    "node 2 proposes view 2: 2, 3",
    "node 3 takes what node 2 has as view 2",
    "node 3 learns view 2",
    "node 2 learns view 2",
    "node 3 restarts with an earlier disk that ends with view 1; known to voter 2",
    "the quiet time of node 2 ends",
    "node 2 lets its client in, in view 2",
];

#[test]
fn one_of_two_voters_that_knows_of_a_set_back_is_not_enough() {
    let quiet = bounds(2, 1, false, false);
    assert_eq!(shortest(model(set_back(quiet, Witnesses::One))), Some(UNNOTICED.len()));
    assert_eq!(follow(&mut model(set_back(quiet, Witnesses::One)), &UNNOTICED), Ok(2));
    let mut noticed = UNNOTICED;
    noticed[5] = "node 3 restarts with an earlier disk that ends with view 1; known to voter 1 and voter 2";
    // Node 1 cannot renew its lease, so the quiet time of node 2 outlasts its client.
    assert_eq!(follow(&mut model(set_back(quiet, Witnesses::Both)), &noticed), Err(noticed[6]));
    noticed[5] = "node 3 restarts with its disk from before its first start";
    assert_eq!(follow(&mut model(set_back(quiet, Witnesses::One)), &noticed), Err(noticed[6]));
}

#[test]
fn a_voter_that_restarts_forgets_that_it_knew_of_a_set_back() {
    let bounds = set_back(bounds(2, 2, true, false), Witnesses::BothUntilRestart);
    assert_eq!(shortest(model(bounds)), Some(13));
    let run = [
        "node 1 proposes view 2: 3",
        "node 2 proposes view 2: 1",
        "node 3 takes what node 1 has as view 2",
        "node 3 learns view 2",
        "the quiet time of node 3 ends",
        "node 3 lets its client in, in view 2",
        "node 3 restarts with an earlier disk that ends with view 1; known to voter 1 and voter 2",
        "node 2 crashes",
        "node 2 is started again",
        "node 3 takes what node 2 has as view 2",
        "node 2 learns view 2",
        "node 1 takes what node 2 has as view 2",
        "node 1 lets its client in, in view 1",
    ];
    assert_eq!(follow(&mut model(bounds), &run), Ok(2));
    let mut marked = run.to_vec();
    marked.insert(7, "node 3 hears from voter 1 what it lacks, and marks its disk");
    assert_eq!(follow(&mut model(bounds), &marked), Err(run[9]));
    let marks_first = ViewBounds { set_back: Some(Witnesses::Both), ..bounds };
    assert_eq!(follow(&mut model(marks_first), &run), Err(run[9]));
}

#[test]
fn a_flaw_is_shown_by_a_run_in_words() {
    let mut model = model(ViewFlaw::NoWait.bounds()).with_flaw(ViewFlaw::NoWait);
    let search = Search { until: vec![Property::MutualExclusion], ..Search::default() };
    let explored = explore(&mut model, &search, &mut |_| ());
    let found = explored.violations.iter().find(|found| found.property == Property::MutualExclusion);
    let found = found.expect("two clients are inside");
    let run: Vec<String> = found.steps.iter().map(|step| model.describe(step)).collect();
    let expected = [
        "node 1 lets its client in, in view 1",
        "node 2 proposes view 2: 2, 3",
        "node 3 takes what node 2 has as view 2",
        "node 3 learns view 2",
        "node 2 learns view 2",
        "node 2 lets its client in, in view 2",
    ];
    assert_eq!(run, expected);
    assert_eq!(found.what, "nodes 1 and 2 are inside together");
}

#[test]
fn a_wait_from_accepting_ends_too_early_step_by_step() {
    let flaw = ViewFlaw::WaitFromAccepting;
    let run = [
        "node 1 lets its client in, in view 1",
        "node 2 proposes view 2: 2, 3",
        "node 1 sends a heartbeat, and voter 1 acknowledges it",
        "voter 3 acknowledges it, too: node 1 has a new lease",
        "the quiet time of node 2 ends",
        "node 3 takes what node 2 has as view 2",
        "node 3 learns view 2",
        "node 2 learns view 2",
        "node 2 installs view 2",
        "node 2 sends a heartbeat, and voter 2 acknowledges it",
        "voter 3 acknowledges it, too: node 2 has a new lease",
        "node 2 lets its client in, in view 2",
    ];
    let mut flawed = model(flaw.bounds()).with_flaw(flaw).without_reduction();
    assert_eq!(follow(&mut flawed, &run), Ok(2));
    let mut right = model(flaw.bounds()).without_reduction();
    let without_renewals = [run[0], run[1], run[5], run[6], run[7], run[8], run[11]];
    assert_eq!(follow(&mut right, &without_renewals), Err(run[11]));
}

/// How many clients are inside after a run with these steps, or the first impossible step.
fn follow<'a>(model: &mut ViewModel, run: &[&'a str]) -> Result<usize, &'a str> {
    let mut state = model.initial().remove(0);
    for words in run {
        let mut next = None;
        let known = model.steps(&state, &mut |step, after| {
            if model.describe(&step) == *words {
                next = Some(after.to_vec());
            }
        });
        assert_eq!(known, StepsKnown::All);
        state = next.ok_or(*words)?;
    }
    Ok(inside(model, &state))
}

#[test]
fn a_client_can_enter_again_while_a_view_is_left() {
    let graph = Graph::of(&mut model(bounds(3, 1, false, false)));
    assert_eq!(graph.states.len(), 606_216);
    let can_enter = graph.before(&graph.entries);
    let with_a_view_left = graph.newest_views.iter().filter(|newest| **newest < 3).count();
    assert_eq!(with_a_view_left, 7_575);
    let stuck = (0..graph.states.len()).filter(|state| graph.newest_views[*state] < 3 && !can_enter[*state]);
    assert_eq!(stuck.count(), 0);
}

#[test]
fn a_noticed_set_back_stops_no_other_node() {
    let graph = Graph::of(&mut model(set_back(bounds(2, 2, true, false), Witnesses::Both)));
    assert_eq!(graph.states.len(), 291_531);
    let can_enter = graph.before(&graph.entries);
    // With one change a view, the only view left could not leave out the marked node and replace the crashed one.
    let left = (0..graph.states.len()).filter(|state| graph.newest_views[*state] < 2);
    let (can, stuck): (Vec<usize>, Vec<usize>) = left.partition(|state| can_enter[*state]);
    assert_eq!((can.len(), stuck.len()), (138, 0));
}

#[test]
fn a_fourth_view_is_refused() {
    let refused = ViewModel::new(bounds(4, 1, false, false)).expect_err("a state has no room for it");
    assert_eq!(refused.to_string(), "1 to 3 views can be explored, not 4");
    assert!(ViewModel::new(bounds(0, 1, false, false)).is_err());
}

/// All states and the steps between them.
#[derive(Default)]
struct Graph {
    states: HashMap<Vec<u32>, u32>,
    steps: Vec<(u32, u32)>,
    newest_views: Vec<u8>,
    /// The states from which a step lets a client in.
    entries: Vec<u32>,
}

impl Graph {
    fn of(model: &mut ViewModel) -> Self {
        let mut graph = Self::default();
        let mut words = model.initial();
        graph.number(&words[0].clone(), &mut Vec::new());
        let mut from = 0;
        while let Some(word) = words.get(from).cloned() {
            let inside = inside(model, &word);
            let known = model.steps(&word, &mut |_, after| {
                let to = graph.number(after, &mut words);
                graph.steps.push((from as u32, to));
                if self::inside(model, after) > inside {
                    graph.entries.push(from as u32);
                }
            });
            assert_eq!(known, StepsKnown::All);
            from += 1;
        }
        graph
    }

    fn number(&mut self, word: &[u32], fresh: &mut Vec<Vec<u32>>) -> u32 {
        if let Some(number) = self.states.get(word) {
            return *number;
        }
        let number = self.states.len() as u32;
        self.states.insert(word.to_vec(), number);
        self.newest_views.push(ViewModel::newest_view(word));
        fresh.push(word.to_vec());
        number
    }

    /// Which states lead to one of these.
    fn before(&self, goals: &[u32]) -> Vec<bool> {
        let mut steps = self.steps.clone();
        steps.sort_unstable_by_key(|step| step.1);
        let mut leads = vec![false; self.states.len()];
        let mut open = goals.to_vec();
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut leads[state as usize], true) {
                let first = steps.partition_point(|step| step.1 < state);
                open.extend(steps[first..].iter().take_while(|step| step.1 == state).map(|step| step.0));
            }
        }
        leads
    }
}

fn inside(model: &ViewModel, word: &[u32]) -> usize {
    (0..model.processes()).filter(|node| model.phase(word, *node) == Phase::Inside).count()
}
