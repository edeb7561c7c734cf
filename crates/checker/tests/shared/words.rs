//! Descriptions of steps, views of states, and scripts.

use doorway_checker::{
    Access, MemoryModel, MemorySetting, ProcessView, RegisterModel, SharedMemory, SharedView, Step, System,
};
use doorway_core::Field;
use doorway_core::shared::{Place, Register};

use crate::bakery::Bakery;
use crate::peterson::Peterson;
use crate::system;

/// Follows a script of processes, counted from 1, and takes the last step if a process has several; a
/// negative number lets a store of that process reach memory. Returns the steps in words, and the final
/// state.
fn follow(system: &mut SharedMemory, script: &[i32]) -> (Vec<String>, Vec<u32>) {
    let mut state = system.initial().remove(0);
    let mut words = Vec::new();
    for &who in script {
        let reaches = |act| matches!(act, Access::ReachMemory { .. });
        let enabled = system.enabled(&state);
        let is_it = |(step, _): &&(Step, Vec<u32>)| {
            let act = system.act(step);
            act.process as i32 + 1 == who.abs() && reaches(act.access) == (who < 0)
        };
        let (step, after) = enabled.iter().rfind(is_it).expect("a valid script");
        words.push(system.describe(step));
        state.clone_from(after);
    }
    (words, state)
}

#[test]
fn a_run_of_the_bakery_reads_like_the_textbook() {
    let mut system =
        system(&Bakery::team(2, false), &MemorySetting { tickets: 1, ..MemorySetting::default() });
    let (words, _) = follow(&mut system, &[1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2]);
    let expected = [
        "process 1 writes choosing[1] := 1 (line 1)",
        "process 1 reads number[1] = 0 (line 2)",
        "process 1 reads number[2] = 0 (line 2)",
        "process 1 writes number[1] := 1 (line 3)",
        "process 1 writes choosing[1] := 0 (line 4), and is past its doorway",
        "process 2 writes choosing[2] := 1 (line 1)",
        "process 2 reads number[1] = 1 (line 2)",
        "process 2 reads number[2] = 0 (line 2)",
        "process 1 reads choosing[2] = 1 (line 5), and waits",
        "process 1 reads choosing[2] = 1 (line 5), and waits",
        "process 1 reads choosing[2] = 1 (line 5), and waits",
        "process 2 would write number[2] := 2 (line 3), beyond the limit",
    ];
    assert_eq!(words, expected);
}

#[test]
fn beyond_the_limit_is_a_sink_without_a_view() {
    let mut system =
        system(&Bakery::team(2, false), &MemorySetting { tickets: 0, ..MemorySetting::default() });
    let (_, state) = follow(&mut system, &[1, 1, 1, 1]);
    assert!(system.reached_limit());
    assert_eq!((system.enabled(&state), system.view(&state)), (Vec::new(), None));
}

#[test]
fn a_non_atomic_store_can_be_read_before_it_ends() {
    let setting = MemorySetting { registers: RegisterModel::Safe, ..MemorySetting::default() };
    let mut system = system(&Bakery::team(2, false), &setting);
    let (words, state) = follow(&mut system, &[1, 1, 1, 1, 1, 2, 2, 2, 1]);
    let expected = [
        "process 1 begins to write choosing[1] := 1 (line 1)",
        "process 1 has written choosing[1] := 1 (line 1)",
        "process 1 reads number[1] = 0 (line 2)",
        "process 1 reads number[2] = 0 (line 2)",
        "process 1 begins to write number[1] := 1 (line 3)",
        "process 2 begins to write choosing[2] := 1 (line 1)",
        "process 2 has written choosing[2] := 1 (line 1)",
        "process 2 reads number[1] = 4 (line 2)",
        "process 1 has written number[1] := 1 (line 3)",
    ];
    assert_eq!(words, expected);
    let fields = |max: u32| vec![Field::new("max", max)];
    let process =
        |line, fields| ProcessView { line, place: Place::Doorway, fields, begun: None, buffered: Vec::new() };
    let processes = vec![process(4, fields(1)), process(2, fields(4))];
    assert_eq!(system.view(&state), Some(SharedView { processes, registers: vec![1, 1, 1, 0] }));
    let begun = follow(&mut system, &[1, 2]).1;
    let begun = system.view(&begun).expect("an ordinary state").processes;
    assert_eq!(begun[0].begun, Some((Register::new(0), 1)));
    assert_eq!((begun[0].line, begun[0].place), (1, Place::Doorway));
}

#[test]
fn only_its_process_sees_a_buffered_store_and_a_barrier_waits() {
    let setting = MemorySetting { memory: MemoryModel::TotalStoreOrder, ..MemorySetting::default() };
    let mut system = system(&Peterson::team(1), &setting);
    assert_eq!(system.barriers(), [2, 4]);
    let (words, state) = follow(&mut system, &[1]);
    assert_eq!(words, ["process 1 writes flag[1,0] := 1 (line 1)"]);
    let view = system.view(&state).expect("an ordinary state");
    assert_eq!(
        (&view.registers[..], &view.processes[0].buffered[..]),
        (&[0; 3][..], &[(Register::new(0), 1)][..])
    );
    let is_blocked =
        system.enabled(&state).iter().all(|(step, _)| system.act(step).line.is_none() || step.process == 1);
    assert!(is_blocked, "the process waits at a barrier");
    let (words, state) = follow(&mut system, &[1, -1, 1, 1, -1, 1, 1, 1]);
    let expected = [
        "process 1's flag[1,0] = 1 reaches memory",
        "process 1 passes a barrier (line 2)",
        "process 1 writes turn[1] := 0 (line 3)",
        "process 1's turn[1] = 0 reaches memory",
        "process 1 passes a barrier (line 4), and is past its doorway",
        "process 1 reads flag[1,1] = 0 (line 5), and enters",
        "process 1 writes flag[1,0] := 0 (line 7), and leaves",
    ];
    assert_eq!(words[1..], expected);
    assert_eq!(system.view(&state).map(|view| view.processes[0].place), Some(Place::Remainder));
}
