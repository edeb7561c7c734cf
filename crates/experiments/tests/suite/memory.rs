//! Programs over shared memory: what the literature says of them, held against every interleaving.

use std::collections::BTreeSet;

use doorway_catalog::Catalog;
use doorway_checker::{Barriers, MemoryModel, Property, RegisterModel, SchedulerFairness};
use doorway_core::shared::Fairness as Promise;
use doorway_core::{NodeId, Options, Phase};
use doorway_experiments::check::{Checked, Decision};
use doorway_experiments::memory::{ProgramInstance, Replay};
use doorway_trace::What;

fn checked(instance: &ProgramInstance) -> Checked {
    instance.check(&Catalog::textbook(), &mut |_| ()).expect("it can be explored")
}

fn decision(checked: &Checked, property: Property) -> Decision {
    checked.verdict(property).expect("it was asked").decision
}

/// After how many steps a property is seen violated; `None` if it holds.
fn steps_against(instance: &ProgramInstance, property: Property) -> Option<usize> {
    let checked = checked(&instance.clone().deciding(&[property]));
    match decision(&checked, property) {
        Decision::Holds => None,
        Decision::Violated => checked.counterexample(property).map(|found| found.steps.len()),
        Decision::NotExhausted => panic!("{} was not explored to its end", instance.program),
    }
}

fn all_but(number: usize, count: usize) -> Barriers {
    Barriers::Only((1..=count).filter(|other| *other != number).collect::<BTreeSet<_>>())
}

/// Every program, how many nodes it is tried with, and the length of the shortest run without each of its barriers.
///
/// The lengths that are known for the textbook's are 15; 22, 20; 24, 20; 56, 28, for the variant of the first 6 and 26, and for the tournament 29 at each
/// level. They are upper bounds here: a run leaves the remainder, enters and leaves without a step of its own.
const BARRIERS: [(&str, usize, &[usize]); 7] = [
    ("peterson", 2, &[6]),
    ("peterson/unless-alone", 2, &[4, 21]),
    ("lamport-fast", 2, &[18, 16]),
    ("bakery", 2, &[19, 18]),
    ("black-white", 2, &[27, 25]),
    ("bakery/one-word", 2, &[14, 13]),
    ("black-white/one-word", 2, &[16, 15]),
];

#[test]
fn under_total_store_order_every_program_is_safe_with_its_barriers_and_not_without_any_one_of_them() {
    let tso = MemoryModel::TotalStoreOrder;
    for (name, n, lengths) in BARRIERS {
        let instance = ProgramInstance::new(name, n);
        let whole = instance.clone().over(tso, Barriers::All);
        assert_eq!(steps_against(&whole, Property::MutualExclusion), None, "{name}");
        for (number, length) in (1..).zip(lengths) {
            let without = instance.clone().over(tso, all_but(number, lengths.len()));
            let found = steps_against(&without, Property::MutualExclusion);
            assert_eq!(found, Some(*length), "{name} without barrier {number}");
        }
    }
}

#[test]
fn the_tournament_needs_its_barrier_at_every_level() {
    let tso = MemoryModel::TotalStoreOrder;
    let whole = ProgramInstance::new("tournament", 4).over(tso, Barriers::All);
    assert_eq!(steps_against(&whole, Property::MutualExclusion), None);
    let lengths = ["0", "1"].map(|level| {
        let without = ProgramInstance::new("tournament/missing-barrier", 4).with("level", level);
        assert_eq!(steps_against(&without, Property::MutualExclusion), None, "with sequential memory");
        steps_against(&without.over(tso, Barriers::All), Property::MutualExclusion)
    });
    assert_eq!(lengths, [Some(22), Some(18)]);
    let unless_alone = ProgramInstance::new("tournament", 4).with("lock", "unless-alone");
    let whole = unless_alone.clone().over(tso, Barriers::All);
    assert_eq!(steps_against(&whole, Property::MutualExclusion), None);
    for number in [1, 2] {
        let without = unless_alone.clone().over(tso, all_but(number, 2));
        assert!(steps_against(&without, Property::MutualExclusion).is_some(), "without barrier {number}");
    }
}

/// A program whose register overflows is told of, whatever was asked, and nothing plainly holds then.
#[test]
fn a_broken_contract_is_told_whatever_was_asked() {
    let instance = ProgramInstance::new("black-white", 2).registers(RegisterModel::Safe);
    let checked = checked(&instance.deciding(&[Property::MutualExclusion]));
    assert_eq!(decision(&checked, Property::Invariants), Decision::Violated);
    let exclusion = checked.verdict(Property::MutualExclusion).expect("it was asked");
    assert_eq!(exclusion.extent.as_deref(), Some("for runs in which nobody breaks the contract"));
}

#[test]
fn too_few_tickets_to_let_anybody_in_are_refused() {
    let refusal = ProgramInstance::new("bakery", 2).tickets(1).check(&Catalog::textbook(), &mut |_| ());
    assert_eq!(
        refusal.map_err(|refusal| refusal.to_string()).err(),
        Some("with tickets up to 1 nobody would enter: allow at least 2".to_owned())
    );
}

#[test]
fn where_stores_overtake_each_other_the_variants_that_ship_hold_and_the_textbooks_need_more() {
    let pso = |name: &str| ProgramInstance::new(name, 2).over(MemoryModel::PartialStoreOrder, Barriers::All);
    for name in ["peterson/unless-alone", "bakery", "bakery/one-word", "black-white", "black-white/one-word"]
    {
        assert_eq!(steps_against(&pso(name), Property::MutualExclusion), None, "{name}");
    }
    assert_eq!(steps_against(&pso("peterson"), Property::MutualExclusion), Some(13));
    assert_eq!(steps_against(&pso("lamport-fast"), Property::MutualExclusion), Some(38));
}

/// Each with its property, how many nodes, the steps that are known to suffice, and those of the shortest run here.
#[test]
fn every_specimen_is_refuted_within_the_known_number_of_steps() {
    let specimens = [
        ("simple-bakery/two-steps", 2, Property::MutualExclusion, 8, 8),
        ("simple-bakery/maximum-first", 2, Property::MutualExclusion, 8, 6),
        ("bakery/maximum-by-position", 3, Property::MutualExclusion, 38, 31),
        ("bakery/maximum-by-position", 3, Property::Fifo, 32, 27),
        ("bakery/maxpos-loop", 3, Property::MutualExclusion, 43, 43),
        ("bakery/maxpos-loop", 3, Property::Fifo, 39, 39),
        ("tournament/leaf-first", 4, Property::MutualExclusion, 21, 20),
        ("black-white/two-registers", 2, Property::Invariants, 58, 56),
        ("black-white/number-first", 2, Property::Invariants, 58, 26),
    ];
    for (name, n, property, known, here) in specimens {
        let found = steps_against(&ProgramInstance::new(name, n), property).expect(name);
        assert_eq!(found, here, "{name}");
        assert!(found <= known, "{name}");
    }
    let two = ProgramInstance::new("bakery/maximum-by-position", 2);
    assert_eq!(steps_against(&two, Property::MutualExclusion), None, "it is safe for two");
}

/// A program keeps exactly the fairness that it promises.
#[test]
fn programs_keep_what_they_promise_and_promise_no_less() {
    for about in Catalog::textbook().programs().into_iter().filter(|about| about.specimen.is_none()) {
        let n = if about.name.starts_with("peterson") { 2 } else { 3 };
        let checked = checked(&ProgramInstance::new(about.name, n).deciding(&ProgramInstance::PROPERTIES));
        for property in [Property::MutualExclusion, Property::DeadlockFreedom, Property::Invariants] {
            assert_eq!(decision(&checked, property), Decision::Holds, "{}", about.name);
        }
        let bound = checked.verdict(Property::BoundedWaiting).and_then(|verdict| verdict.bound);
        let is_bounded = decision(&checked, Property::BoundedWaiting) == Decision::Holds;
        let starves = decision(&checked, Property::StarvationFreedom) == Decision::Violated;
        let promise = match (starves, is_bounded, bound) {
            (true, _, _) => Promise::CanStarve,
            (false, true, Some(0)) => Promise::Fifo,
            (false, true, Some(bound)) => Promise::Bounded(bound),
            (false, _, _) => Promise::NobodyStarves,
        };
        assert_eq!(promise, about.promise, "{}", about.name);
        let needs = checked.verdict(Property::DeadlockFreedom).and_then(|verdict| verdict.fairness);
        assert_eq!(needs, Some(SchedulerFairness::Weak), "{}: tests that fail are steps", about.name);
    }
}

#[test]
fn a_tournament_inherits_what_its_lock_for_two_promises() {
    let over = |lock: &str| ProgramInstance::new("tournament", 3).with("lock", lock);
    for lock in ["peterson", "unless-alone"] {
        assert_eq!(steps_against(&over(lock), Property::StarvationFreedom), None, "{lock}");
    }
    assert_eq!(steps_against(&over("lamport-fast"), Property::MutualExclusion), None);
    assert!(steps_against(&over("lamport-fast"), Property::StarvationFreedom).is_some());
}

#[test]
fn the_bakery_needs_no_more_than_safe_registers_and_its_form_in_one_word_does() {
    for registers in [RegisterModel::Regular, RegisterModel::Safe, RegisterModel::SafeAny] {
        for name in ["bakery", "bakery/one-word"] {
            let instance = ProgramInstance::new(name, 2).registers(registers);
            let is_enough = name == "bakery" || registers == RegisterModel::Regular;
            let found = steps_against(&instance, Property::MutualExclusion);
            assert_eq!(found.is_none(), is_enough, "{name}, {registers}: {found:?}");
        }
    }
}

/// Peterson's turn and those of the tournament have two writers: whether safe registers are enough depends on what writes leave
/// that overlap each other.
#[test]
fn peterson_and_the_tournament_need_the_last_of_overlapping_writes_to_win() {
    let programs = [("peterson", 2, 12), ("peterson/unless-alone", 2, 14), ("tournament", 2, 12)];
    for (name, n, steps) in programs {
        let against = |registers: RegisterModel| {
            steps_against(&ProgramInstance::new(name, n).registers(registers), Property::MutualExclusion)
        };
        assert_eq!(against(RegisterModel::Safe), None, "{name}");
        assert_eq!(against(RegisterModel::SafeAny), Some(steps), "{name}");
    }
    let three = ProgramInstance::new("tournament", 3).registers(RegisterModel::SafeAny);
    assert_eq!(steps_against(&three, Property::MutualExclusion), Some(22));
}

#[test]
fn a_value_that_overlapping_writes_leave_is_chosen_in_a_script() {
    let begun = "algorithm peterson\nnodes 2\nregisters safe-any\n\nstep 1 x3\nstep 2 x3\nstep 1\n";
    let left =
        |value: u64| followed(&format!("{begun}step 2 leaves {value}\nexpect register turn = {value}\n"));
    assert!(left(0).is_ok() && left(1).is_ok());
    let refusals = [
        ("step 2\n", "the write of process 2 may leave 0 or 1: say which with `leaves`"),
        ("step 2 leaves 2\n", "process 2 cannot leave that: its write leaves 0 or 1"),
        ("step 2 reads 1\n", "process 2 does not read in its next step"),
        ("step 1 leaves 1\n", "process 1 does not end a write in its next step"),
    ];
    for (line, told) in refusals {
        let refusal = followed(&format!("{begun}{line}")).expect_err("it is not clear");
        assert!(refusal.contains(told), "{line}: {refusal}");
    }
}

#[test]
fn a_limit_of_tickets_is_told_with_what_holds() {
    let checked = checked(&ProgramInstance::new("bakery", 2).tickets(3));
    assert_eq!(checked.beyond, Some(3));
    for verdict in &checked.verdicts {
        assert_eq!(verdict.extent.as_deref(), Some("for tickets up to 3"));
    }
    let black_white = self::checked(&ProgramInstance::new("black-white", 2));
    assert!(
        black_white.beyond.is_none() && black_white.verdicts.iter().all(|verdict| verdict.extent.is_none())
    );
}

/// The script of every run that is found can be followed, and shows what was found.
#[test]
fn every_run_that_is_found_is_replayed_by_its_script() {
    let tso = MemoryModel::TotalStoreOrder;
    let instances = [
        ProgramInstance::new("simple-bakery/two-steps", 2),
        ProgramInstance::new("bakery/maximum-by-position", 3),
        ProgramInstance::new("tournament/leaf-first", 4),
        ProgramInstance::new("peterson", 2).over(tso, Barriers::None),
        ProgramInstance::new("peterson", 2).over(MemoryModel::PartialStoreOrder, Barriers::All),
        ProgramInstance::new("peterson", 2).registers(RegisterModel::SafeAny),
        ProgramInstance::new("bakery/one-word", 2).registers(RegisterModel::Safe),
        ProgramInstance::new("lamport-fast", 3),
        ProgramInstance::new("tournament", 3).with("lock", "lamport-fast"),
        ProgramInstance::new("peterson/no-turn", 2),
        ProgramInstance::new("black-white/two-registers", 2),
        ProgramInstance::new("black-white", 2).registers(RegisterModel::Safe),
    ];
    for instance in instances {
        let checked = checked(&instance.clone().deciding(&ProgramInstance::PROPERTIES));
        for found in checked.counterexamples.iter().chain(&checked.most_overtaken) {
            let name = format!("{} against {}", instance.program, found.property);
            let replay = Replay::of_script(&found.script, &Options::none(), &Catalog::textbook());
            let replay = replay.unwrap_or_else(|error| panic!("{name}: {error}\n{}", found.script));
            assert_eq!(replay.steps.len(), found.steps.len(), "{name}");
            assert_eq!(replay.loop_start, found.loop_start, "{name}");
            let is_violated = [Property::MutualExclusion, Property::Invariants].contains(&found.property);
            assert_eq!(replay.violation.is_some(), is_violated || replay.is_violation_expected, "{name}");
            assert!(found.script.contains("\nexpect "), "{name}: it says what is to be seen");
            let told: Vec<String> = replay.steps.iter().map(|played| played.act.to_string()).collect();
            assert_eq!(told, found.steps, "{name}");
        }
    }
}

const SLOW: &str = "algorithm bakery\nnodes 2\nregisters safe\ntickets 3\n\nstep 1\n";

fn followed(text: &str) -> Result<Replay, String> {
    Replay::of_script(text, &Options::none(), &Catalog::textbook()).map_err(|error| error.to_string())
}

#[test]
fn what_a_script_cannot_do_is_said_with_its_line() {
    let cases = [
        ("step 2 reads 1", "process 2 does not read in its next step"),
        ("step 3", "there is no process 3: they are 1 to 2"),
        ("jump 1", "\"jump 1\" is no step: step, run, reach, loop or expect"),
        ("expect accesses 5 = 0", "there is no process 5: they are 1 to 2"),
        ("step 40", "\"40\" is not a process: they count from 1 to at most 32"),
        ("tickets 4", "`tickets` was said before"),
        ("step 1 xx", "\"xx\" does not say how often: x2 is twice, up to x10000"),
        ("reach 1", "process 1 has no store that can reach memory now"),
        ("memory tso", "`memory` belongs into the heading, before the first step"),
        ("loop", "nothing happens after `loop`: at least one step repeats"),
        (
            "expect register none = 1",
            "there is no register none: they are choosing[1], choosing[2], number[1], number[2]",
        ),
        ("expect violation", "a violation is expected, and there was none"),
        ("expect inside 1", "who is inside is expected to be 1 and is nobody"),
        ("step 1 x3\nstep 2 x2\nstep 2", "process 2 may read 0 or 1 or 2 or 3: say which with `reads`"),
    ];
    for (line, what) in cases {
        let error = followed(&format!("{SLOW}{line}\n")).expect_err(line);
        let number = 6 + line.lines().count();
        assert_eq!(error, format!("line {number} of the script: {what}"));
    }
    let far = "algorithm bakery\nnodes 2\ntickets 2\nrun 1 until inside\nstep 2 x4\nrun 1 until outside\nstep 1 x3\n";
    let error = followed(far).expect_err("the third ticket is 3");
    assert!(error.contains("beyond the limit of 2: raise `tickets`"), "{error}");
    let long = "algorithm peterson\nnodes 2\nstep 1 x9999\nstep 2 x2\n";
    assert_eq!(
        followed(long).expect_err("too long"),
        "line 4 of the script: a script has at most 10000 steps"
    );
    let open = "algorithm bakery\nnodes 2\nstep 1\nloop\nstep 1\n";
    let error = followed(open).expect_err("it does not go round");
    assert_eq!(
        error,
        "line 4 of the script: what comes after `loop` does not end in the state in which it began"
    );
    assert!(followed("algorithm peterson\nnodes 3\nstep 1\n").is_err());
}

#[test]
fn a_replay_is_a_trace_with_requests_entries_and_accesses() {
    let replay =
        followed("algorithm peterson\nnodes 2\nrun 1 until inside\nrun 1 until outside\n").expect("it can");
    let words: Vec<String> = replay
        .events()
        .iter()
        .map(|event| match &event.what {
            What::Access { register, value, .. } => format!("{register} {value}"),
            what => format!("{what:?}").split([' ', '{']).next().unwrap_or_default().to_owned(),
        })
        .collect();
    let expected = ["Request", "flag[0] 1", "turn 0", "flag[1] 0", "Enter", "Release", "flag[0] 0"];
    assert_eq!(words, expected);
    assert_eq!(replay.entries, [NodeId::new(0)]);
    assert_eq!(replay.in_phase(Phase::Outside).len(), 2);
}
