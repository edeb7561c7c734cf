//! Refused settings, and programs that break their contract.

use std::collections::BTreeSet;

use doorway_checker::{Barriers, MemoryModel, MemorySetting, Property, RegisterModel, SharedMemory, System};
use doorway_core::Members;
use doorway_core::shared::{Cell, Memory, Program, Progress, Register, Team, Values};
use serde::Serialize;

use crate::bakery::Bakery;
use crate::peterson::Peterson;
use crate::{against, broken, explored, progress, size, system};

/// A fault of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Fault {
    TwoAccesses,
    NoAccess,
    EntersInside,
    StoresTooMuch,
    UsesNoRegister,
    NeverEnters,
    OnlyBarriers,
}

/// A process that enters at once, except for its fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Faulty {
    fault: Fault,
    is_inside: bool,
}

impl Program for Faulty {
    const LINES: &'static [&'static str] = &["enter", "leave"];

    fn line(&self) -> usize {
        1 + usize::from(self.is_inside)
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let register = Register::new(0);
        match (self.fault, self.is_inside) {
            (Fault::NeverEnters, _) => {
                memory.load(register);
                return Progress::Wait;
            }
            (Fault::OnlyBarriers, _) => {
                memory.barrier();
                return Progress::Step;
            }
            (_, false) => {
                self.is_inside = true;
                memory.load(register);
                return Progress::Enter;
            }
            (Fault::TwoAccesses, true) => {
                memory.store(register, 0);
                memory.load(register);
            }
            (Fault::NoAccess, true) => {}
            (Fault::EntersInside, true) => {
                memory.load(register);
                return Progress::Enter;
            }
            (Fault::StoresTooMuch, true) => memory.store(register, 2),
            (Fault::UsesNoRegister, true) => {
                memory.load(Register::new(7));
            }
        }
        self.is_inside = false;
        Progress::Exit
    }
}

fn faulty(fault: Fault) -> Team<Faulty> {
    let registers = vec![Cell::new("only", Values::UpTo(1))];
    Team::new(&Members::new(1).expect("one"), registers, move |_| Faulty { fault, is_inside: false })
}

#[test]
fn a_broken_contract_is_found_by_a_shortest_run() {
    let faults = [
        (Fault::TwoAccesses, 2, "a step made more than one access to memory"),
        (Fault::NoAccess, 2, "a step made no access to memory"),
        (Fault::EntersInside, 2, "the program entered when it was not waiting"),
        (Fault::StoresTooMuch, 2, "a step stored a value that its register cannot hold"),
        (Fault::UsesNoRegister, 2, "a step used a register that does not exist"),
        (Fault::OnlyBarriers, 1, "the program passes barriers for ever and makes no access"),
    ];
    for (fault, steps, what) in faults {
        let mut system = system(&faulty(fault), &MemorySetting::default());
        let found = explored(&mut system);
        assert_eq!(broken(&found), [Property::Invariants], "{fault:?}");
        let run = &found.violations[0];
        assert_eq!((run.steps.len(), run.what.as_str()), (steps, what), "{fault:?}");
        assert!(!system.reached_limit(), "the limit was not reached");
    }
}

#[test]
fn a_program_that_never_enters_violates_deadlock_freedom() {
    let found = explored(&mut system(&faulty(Fault::NeverEnters), &MemorySetting::default()));
    assert_eq!(progress(&found), (None, None));
    assert_eq!(broken(&found), [Property::DeadlockFreedom, Property::StarvationFreedom]);
    assert_eq!(against(&found, Property::DeadlockFreedom).and_then(|run| run.loop_start), Some(1));
}

/// A process with barriers at every possible place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Fenced {
    line: usize,
}

impl Program for Fenced {
    const LINES: &'static [&'static str] = &["barrier", "read", "barrier", "barrier", "write", "barrier"];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        match self.line {
            2 => _ = memory.load(Register::new(0)),
            5 => memory.store(Register::new(0), 0),
            _ => memory.barrier(),
        }
        self.line = self.line % 6 + 1;
        match self.line {
            2 => Progress::Doorway,
            4 => Progress::Enter,
            1 => Progress::Exit,
            _ => Progress::Step,
        }
    }
}

#[test]
fn an_inactive_barrier_takes_no_step() {
    let (sequential, tso) = (MemoryModel::Sequential, MemoryModel::TotalStoreOrder);
    let only = |numbers: &[usize]| Barriers::Only(numbers.iter().copied().collect());
    let sizes = [
        (sequential, Barriers::All, (2, 2)),
        (tso, Barriers::All, (7, 7)),
        (tso, only(&[1]), (4, 4)),
        (tso, only(&[2, 3]), (6, 7)),
    ];
    for (memory, barriers, expected) in sizes {
        let setting = MemorySetting { memory, barriers: barriers.clone(), ..MemorySetting::default() };
        let mut system = system(&fenced(), &setting);
        assert_eq!(system.barriers(), [1, 3, 4, 6]);
        let found = explored(&mut system);
        assert_eq!((size(&found), broken(&found)), (expected, vec![]), "{memory} {barriers:?}");
    }
}

#[test]
fn the_result_of_an_inactive_barrier_joins_its_neighbour() {
    let first = |numbers: &[usize]| {
        let (memory, barriers) =
            (MemoryModel::TotalStoreOrder, Barriers::Only(numbers.iter().copied().collect()));
        let mut system = system(&fenced(), &MemorySetting { memory, barriers, ..MemorySetting::default() });
        let begin = system.initial().remove(0);
        let (step, _) = system.enabled(&begin).remove(0);
        system.describe(&step)
    };
    assert_eq!(first(&[1]), "process 1 passes a barrier (line 1), and is past its doorway");
    assert_eq!(first(&[2]), "process 1 reads only = 0 (line 2), and is past its doorway");
    assert_eq!(first(&[]), "process 1 reads only = 0 (line 2), and enters");
}

fn fenced() -> Team<Fenced> {
    let registers = vec![Cell::new("only", Values::UpTo(1))];
    Team::new(&Members::new(1).expect("one"), registers, |_| Fenced { line: 1 })
}

#[test]
fn a_violated_invariant_is_found_if_it_is_checked() {
    let setting = MemorySetting { tickets: 2, invariants: true, ..MemorySetting::default() };
    assert_eq!(broken(&explored(&mut system(&Bakery::team(2, false), &setting))), []);
    let found = explored(&mut system(&Bakery::team(2, false), &MemorySetting { tickets: 3, ..setting }));
    assert_eq!(broken(&found), [Property::Invariants]);
    assert_eq!(found.violations[0].what, "it does not hold that no process has ticket 3");
}

fn refusal<P: Program>(team: &Team<P>, setting: MemorySetting) -> String {
    SharedMemory::new(team, setting).err().expect("it is refused").to_string()
}

#[test]
fn inconsistent_settings_are_refused_in_one_sentence() {
    let plain = MemorySetting::default;
    let (safe, tso) = (RegisterModel::Safe, MemoryModel::TotalStoreOrder);
    let team = Peterson::team(1);
    let refused = [
        refusal(&team, MemorySetting { registers: safe, memory: tso, ..plain() }),
        refusal(&Bakery::team(2, true), MemorySetting { registers: safe, ..plain() }),
        refusal(&team, MemorySetting { requests: Some(vec![1]), ..plain() }),
        refusal(&team, MemorySetting { capacity: 0, ..plain() }),
        refusal(&Bakery::team(2, false), MemorySetting { tickets: 70_000, ..plain() }),
        refusal(&team, MemorySetting { barriers: Barriers::Only(BTreeSet::from([3])), ..plain() }),
    ];
    let expected = [
        "safe registers are explored over sequential memory only, not over tso",
        "the program takes a maximum and stores it at once: that needs atomic registers, not safe ones",
        "requests are given for 1 processes, but there are 2: give as many numbers",
        "a store buffer has room for 1 to 64 stores, not for 0",
        "tickets can be explored up to 1000, not up to 70000",
        "there is no barrier 3: the program has 2, numbered from 1",
    ];
    assert_eq!(refused, expected);
}
