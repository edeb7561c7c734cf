//! The values of loads that overlap stores of other processes, or follow buffered stores of their own.

use doorway_checker::{
    Access, Exploration, MemoryModel, MemorySetting, Property, RegisterModel, SharedMemory, System,
};
use doorway_core::Members;
use doorway_core::shared::{Cell, Memory, Program, Progress, Register, Team, Values};
use serde::Serialize;

use crate::{against, explored, progress, system};

/// A process that reads a register, enters, and writes the register on exit; after a barrier if it has read a
/// value other than 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Writer {
    line: usize,
    writes: u64,
}

impl Program for Writer {
    const LINES: &'static [&'static str] = &["read", "barrier", "write"];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        match self.line {
            1 => {
                self.line = if memory.load(Register::new(0)) == 0 { 3 } else { 2 };
                Progress::Enter
            }
            2 => {
                memory.barrier();
                self.line = 3;
                Progress::Step
            }
            _ => {
                memory.store(Register::new(0), self.writes);
                self.line = 1;
                Progress::Exit
            }
        }
    }
}

/// One process for each of these values; all write to one register.
fn writers(values: &'static [u64]) -> Team<Writer> {
    let registers = vec![Cell::new("only", Values::UpTo(2))];
    let members = Members::new(values.len()).expect("there is one");
    Team::new(&members, registers, move |me| Writer { line: 1, writes: values[me.index()] })
}

/// The values that the last process can read after these processes, counted from 1, have taken one step each
/// in this order.
fn readings(system: &mut SharedMemory, script: &[usize]) -> Vec<u64> {
    let mut state = system.initial().remove(0);
    for who in script {
        let enabled = system.enabled(&state);
        let step = enabled.into_iter().find(|(step, _)| step.process as usize + 1 == *who);
        state = step.expect("a valid script").1;
    }
    let last = system.processes() as u32 - 1;
    let enabled = system.enabled(&state);
    let mine = enabled.iter().filter(|(step, _)| step.process == last);
    mine.map(|(step, _)| match system.act(step).access {
        Access::Load { value, .. } => value,
        other => panic!("expected a load, found {other:?}"),
    })
    .collect()
}

#[test]
fn a_load_that_overlaps_stores_has_one_step_per_value() {
    let known = [
        (RegisterModel::Atomic, [vec![0], vec![1], vec![1], vec![1]]),
        (RegisterModel::Regular, [vec![0], vec![0, 1], vec![1], vec![1]]),
        (RegisterModel::Safe, [vec![0], vec![0, 1, 2], vec![0, 1, 2], vec![1]]),
        (RegisterModel::SafeAny, [vec![0], vec![0, 1, 2], vec![0, 1, 2], vec![0]]),
    ];
    for (registers, expected) in known {
        let setting = MemorySetting { registers, ..MemorySetting::default() };
        let mut system = system(&writers(&[1, 1, 2]), &setting);
        // Both are inside; both have started to write 1, or written it; the first has ended; both have ended.
        let scripts: [&[usize]; 4] = match registers {
            RegisterModel::Atomic => [&[1, 2], &[1, 2, 1], &[1, 2, 1, 2], &[1, 2, 1, 2]],
            _ => [&[1, 2], &[1, 2, 1, 2], &[1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2]],
        };
        assert_eq!(scripts.map(|script| readings(&mut system, script)), expected, "{registers}");
    }
}

#[test]
fn of_overlapping_stores_the_one_that_ends_last_wins() {
    let setting = MemorySetting { registers: RegisterModel::Regular, ..MemorySetting::default() };
    let mut system = system(&writers(&[1, 2, 0]), &setting);
    assert_eq!(readings(&mut system, &[1, 2, 1, 2]), [0, 1, 2]);
    assert_eq!(readings(&mut system, &[1, 2, 1, 2, 1, 2]), [2]);
    assert_eq!(readings(&mut system, &[1, 2, 1, 2, 2, 1]), [1]);
}

/// The values that each end of a store can leave after these processes have taken one step each in this order.
fn endings(system: &mut SharedMemory, script: &[usize]) -> Vec<(usize, u64)> {
    let mut state = system.initial().remove(0);
    for who in script {
        let enabled = system.enabled(&state);
        let step = enabled.into_iter().find(|(step, _)| step.process as usize + 1 == *who);
        state = step.expect("a valid script").1;
    }
    let enabled = system.enabled(&state);
    let left = |step| match system.act(step).access {
        Access::EndStore { value, .. } => Some(value),
        Access::EndOverlapped { left, .. } => Some(left),
        _ => None,
    };
    enabled.iter().filter_map(|(step, _)| Some((step.process as usize + 1, left(step)?))).collect()
}

#[test]
fn the_last_of_overlapping_stores_leaves_its_own_value_or_any() {
    for (registers, last) in [
        (RegisterModel::Regular, vec![(2, 2)]),
        (RegisterModel::Safe, vec![(2, 2)]),
        (RegisterModel::SafeAny, vec![(2, 0), (2, 1), (2, 2)]),
    ] {
        let setting = MemorySetting { registers, ..MemorySetting::default() };
        let mut system = system(&writers(&[1, 2]), &setting);
        assert_eq!(endings(&mut system, &[1, 2, 1]), [(1, 1)], "{registers}: alone it leaves what it writes");
        assert_eq!(endings(&mut system, &[1, 2, 1, 2]), [(1, 1), (2, 2)], "{registers}: both are under way");
        assert_eq!(endings(&mut system, &[1, 2, 1, 2, 1]), last, "{registers}: 1 has ended");
        assert_eq!(endings(&mut system, &[1, 2, 1, 1, 2]), [(2, 2)], "{registers}: one after the other");
    }
}

#[test]
fn the_value_that_overlapping_stores_leave_stays() {
    let setting = MemorySetting { registers: RegisterModel::SafeAny, ..MemorySetting::default() };
    let mut system = system(&writers(&[1, 2, 0]), &setting);
    let after = [1, 2, 1, 2, 1, 2];
    assert_eq!(readings(&mut system, &after), [0], "the first choice is 0, and every later read returns it");
    let mut state = system.initial().remove(0);
    for who in after {
        let step = system.enabled(&state).into_iter().rfind(|(step, _)| step.process as usize + 1 == who);
        state = step.expect("a valid script").1;
    }
    let view = system.view(&state).expect("a normal state");
    assert_eq!(view.registers, [2], "the last choice is 2");
}

#[test]
fn a_step_that_leaves_another_value_says_so() {
    let setting = MemorySetting { registers: RegisterModel::SafeAny, ..MemorySetting::default() };
    let mut system = system(&writers(&[1, 2]), &setting);
    let mut state = system.initial().remove(0);
    for who in [0, 1, 0, 1, 0] {
        let step = system.enabled(&state).into_iter().find(|(step, _)| step.process == who);
        state = step.expect("a valid script").1;
    }
    let view = system.view(&state).expect("a normal state");
    assert_eq!(view.registers, [1], "the mark of overlapping stores is no part of the value");
    let told: Vec<String> = system.enabled(&state).iter().map(|(step, _)| system.describe(step)).collect();
    let leaves = |left: u64| {
        format!(
            "process 2 has written only := 2 over another write, which leaves {left} (line 3), and is back in its remainder"
        )
    };
    assert!(told.contains(&leaves(0)) && told.contains(&leaves(1)), "{told:#?}");
    assert!(!told.contains(&leaves(2)), "{told:#?}");
}

#[test]
fn a_barrier_behind_a_nonzero_value_is_found() {
    assert_eq!(system(&writers(&[1]), &MemorySetting::default()).barriers(), [2]);
}

/// A process that writes twice and then reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Twice(usize);

impl Program for Twice {
    const LINES: &'static [&'static str] = &["write 1", "write 2", "read", "write 0"];

    fn line(&self) -> usize {
        self.0
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let register = Register::new(0);
        let line = self.0;
        self.0 = line % 4 + 1;
        match line {
            1 => memory.store(register, 1),
            2 => memory.store(register, 2),
            3 => {
                memory.load(register);
                return Progress::Enter;
            }
            _ => {
                memory.store(register, 0);
                return Progress::Exit;
            }
        }
        Progress::Step
    }
}

#[test]
fn a_process_reads_its_own_newest_buffered_store() {
    for memory in [MemoryModel::TotalStoreOrder, MemoryModel::PartialStoreOrder] {
        let registers = vec![Cell::new("only", Values::UpTo(2))];
        let team = Team::new(&Members::new(1).expect("one"), registers, |_| Twice(1));
        let mut system = system(&team, &MemorySetting { memory, ..MemorySetting::default() });
        let mut state = system.initial().remove(0);
        for _ in 0..2 {
            state = system.enabled(&state).remove(0).1;
        }
        let (step, _) = system.enabled(&state).remove(0);
        assert_eq!(system.describe(&step), "process 1 reads only = 2 (line 3), and enters", "{memory}");
    }
}

/// A process that waits for its number in the register, enters, and writes the other's on exit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Turns {
    me: u64,
    is_inside: bool,
}

impl Program for Turns {
    const LINES: &'static [&'static str] = &["await turn = i", "turn := 1 − i"];

    fn line(&self) -> usize {
        1 + usize::from(self.is_inside)
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let turn = Register::new(0);
        if self.is_inside {
            memory.store(turn, 1 - self.me);
            self.is_inside = false;
            return Progress::Exit;
        }
        self.is_inside = memory.load(turn) == self.me;
        if self.is_inside { Progress::Enter } else { Progress::Wait }
    }
}

#[test]
fn a_process_may_stay_in_its_remainder_for_ever() {
    let registers = vec![Cell::new("turn", Values::UpTo(1))];
    let make = |me: doorway_core::NodeId| Turns { me: me.index() as u64, is_inside: false };
    let team = Team::new(&Members::new(2).expect("two"), registers, make);
    let found: Exploration = explored(&mut system(&team, &MemorySetting::default()));
    assert_eq!(progress(&found), (None, None));
    let vain = against(&found, Property::DeadlockFreedom).expect("the other process stays in its remainder");
    assert_eq!((vain.steps.len(), vain.loop_start), (2, Some(1)));
    assert_eq!(vain.what, "the run goes on for ever, but no process enters, and process 2 waits in vain");
}
