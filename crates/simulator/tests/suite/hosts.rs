//! Hosts: local clocks, pauses, crashes with restarts, disks, and alarms for the driver.

use doorway_core::{NodeId, Ticks};
use doorway_simulator::{Engine, Happened, LocalClock};
use doorway_trace::{Event, What};

use crate::probe::{A, B, C, Do, Probe, probes, run_to, seen};
use crate::typed;

fn drifting(drift_ppm: i32) -> LocalClock {
    LocalClock { drift_ppm, ..LocalClock::default() }
}

#[test]
fn a_node_without_its_own_clock_has_true_time() {
    let mut engine = probes(|_| {});
    engine.set_clock(B, LocalClock { offset: Ticks(1_000), ..drifting(500_000) });
    assert_eq!([A, B].map(|node| engine.local_time(node, Ticks(10))), [Ticks(10), Ticks(1_015)]);
    assert_eq!([A, B].map(|node| engine.true_time(node, Ticks(1_015))), [Ticks(1_015), Ticks(10)]);
    engine.command(A, vec![Do::Remind(7, 1), Do::Send(1, 2)]);
    run_to(&mut engine, 20);
    assert_eq!((seen(&engine, A), seen(&engine, B)), (vec![(7, "timer 1")], vec![(1_015, "2 from 1")]));
}

#[test]
fn a_timer_runs_by_the_nodes_own_clock() {
    // A duration of 100 by clocks that are a tenth fast, correct, and a tenth slow: 100/1.1 and 100/0.9,
    // rounded up.
    for (drift_ppm, due, shown) in [(100_000, 91, 100), (0, 100, 100), (-100_000, 112, 100)] {
        let mut engine = probes(|_| {});
        engine.set_clock(A, drifting(drift_ppm));
        engine.command(A, vec![Do::Remind(100, 1)]);
        run_to(&mut engine, due - 1);
        assert_eq!(seen(&engine, A), [], "{drift_ppm} is early");
        run_to(&mut engine, due);
        assert_eq!(seen(&engine, A), [(shown, "timer 1")], "{drift_ppm} is late");
    }
}

#[test]
fn a_change_of_rate_moves_pending_timers() {
    for (drift_ppm, due) in [(1_000_000, 750), (-500_000, 1_500), (0, 1_000)] {
        let mut engine = probes(|_| {});
        engine.command(A, vec![Do::Remind(1_000, 1)]);
        run_to(&mut engine, 500);
        engine.set_drift(A, drift_ppm);
        assert_eq!(engine.local_time(A, Ticks(500)), Ticks(500), "a change of rate is no jump");
        run_to(&mut engine, due - 1);
        assert_eq!(seen(&engine, A), [], "{drift_ppm} is early");
        run_to(&mut engine, 2_000);
        assert_eq!(seen(&engine, A), [(1_000, "timer 1")]);
        assert_eq!(engine.true_time(A, Ticks(999)), Ticks(due - 1));
    }
}

#[test]
fn setting_a_clock_keeps_the_remaining_time_of_timers() {
    let mut engine = probes(|_| {});
    engine.command(A, vec![Do::Remind(100, 1)]);
    run_to(&mut engine, 40);
    engine.set_clock(A, LocalClock { offset: Ticks(5_000), ..LocalClock::default() });
    run_to(&mut engine, 99);
    assert_eq!(seen(&engine, A), []);
    run_to(&mut engine, 100);
    assert_eq!(seen(&engine, A), [(5_100, "timer 1")]);
}

#[test]
fn only_a_clock_that_stops_in_pause_delays_timers() {
    for (stops_in_pause, expected) in
        [(false, [(60, "timer 1"), (100, "timer 2")]), (true, [(20, "timer 1"), (100, "timer 2")])]
    {
        let mut engine = probes(|_| {});
        engine.set_clock(A, LocalClock { stops_in_pause, ..LocalClock::default() });
        engine.command(A, vec![Do::Remind(20, 1), Do::Remind(100, 2)]);
        run_to(&mut engine, 10);
        engine.pause(A);
        run_to(&mut engine, 60);
        engine.resume(A);
        run_to(&mut engine, 140);
        let shown = if stops_in_pause { 90 } else { 140 };
        assert_eq!(engine.local_time(A, engine.now()), Ticks(shown));
        run_to(&mut engine, 200);
        assert_eq!(seen(&engine, A), expected);
    }
}

#[test]
fn events_of_a_paused_node_wait_and_keep_their_order() {
    let mut engine = probes(|_| {});
    engine.command(B, vec![Do::Remind(12, 2), Do::Remind(30, 5)]);
    engine.command(A, vec![Do::Send(1, 1)]);
    run_to(&mut engine, 9);
    engine.command(B, vec![Do::Write(3)]);
    engine.pause(B);
    assert!(engine.is_paused(B) && !engine.is_paused(A));
    run_to(&mut engine, 10);
    // The node resumes at 20, when another event is due for it at the same tick.
    engine.put_alarm(Ticks(20), 0);
    engine.command(A, vec![Do::Send(1, 4)]);
    while engine.take_alarm().is_none() {
        assert_ne!(engine.advance(), Some(B), "a paused node takes no step");
    }
    assert_eq!(engine.in_flight().len(), 2, "waiting messages are in flight, too");
    engine.resume(B);
    run_to(&mut engine, 40);
    let expected = [(20, "1 from 1"), (20, "timer 2"), (20, "written 3"), (20, "4 from 1"), (30, "timer 5")];
    assert_eq!(seen(&engine, B), expected);
}

#[test]
fn waiting_messages_come_before_the_rest_of_a_batch() {
    let mut engine = probes(|_| {});
    engine.command(A, vec![Do::SendBoth(1), Do::SendBoth(2)]);
    engine.pause(C);
    // The first message reaches the second node and waits for the third.
    assert_eq!([engine.advance(), engine.advance()], [Some(B), None]);
    engine.resume(C);
    assert_eq!([(); 3].map(|()| engine.advance()), [Some(C), Some(B), Some(C)]);
    assert_eq!(seen(&engine, C), [(10, "1 from 1"), (10, "2 from 1")]);
}

#[test]
#[should_panic(expected = "node 2 is paused and takes no command")]
fn a_paused_node_takes_no_command() {
    let mut engine = probes(|_| {});
    engine.pause(B);
    engine.command(B, Vec::new());
}

#[test]
fn a_message_that_arrived_in_a_pause_survives_a_cut_but_no_crash() {
    let outcome = |then: fn(&mut Engine<Probe>)| {
        let mut engine = probes(|_| {});
        engine.pause(B);
        engine.command(A, vec![Do::Send(1, 1)]);
        run_to(&mut engine, 15);
        then(&mut engine);
        engine.resume(B);
        run_to(&mut engine, 30);
        (seen(&engine, B).len(), engine.traffic().lost)
    };
    assert_eq!(outcome(|engine| engine.network_mut().cut(A, B)), (1, 0));
    assert_eq!(outcome(|engine| engine.crash(B)), (0, 1));
}

#[test]
fn a_restarted_node_keeps_no_timers_or_writes() {
    let mut engine = probes(|_| {});
    engine.command(B, vec![Do::Remind(30, 1), Do::Write(2)]);
    engine.command(A, vec![Do::Send(1, 3)]);
    engine.crash(B);
    run_to(&mut engine, 12);
    engine.command(A, vec![Do::Send(1, 4)]);
    run_to(&mut engine, 15);
    engine.restart(B, Probe::new(|| vec![Do::Write(5), Do::Remind(6, 6)]));
    assert!(!engine.is_crashed(B));
    run_to(&mut engine, 100);
    let expected = [(15, "start"), (19, "written 5"), (21, "timer 6"), (22, "4 from 1")];
    assert_eq!((seen(&engine, B), engine.traffic().lost), (expected.to_vec(), 1));
    engine.crash(B);
    engine.restart(B, Probe::new(Vec::new));
    assert_eq!(seen(&engine, B), [(100, "start")], "a node can crash again");
}

#[test]
fn a_crash_ends_a_pause_and_restarts_a_stopped_clock() {
    let mut engine = probes(|_| {});
    engine.set_clock(B, LocalClock { stops_in_pause: true, ..LocalClock::default() });
    engine.pause(B);
    run_to(&mut engine, 10);
    engine.crash(B);
    run_to(&mut engine, 25);
    engine.restart(B, Probe::new(Vec::new));
    assert_eq!((seen(&engine, B), engine.is_paused(B)), (vec![(15, "start")], false));
}

#[test]
#[should_panic(expected = "node 1 has not crashed and cannot be restarted")]
fn a_live_node_cannot_be_restarted() {
    probes(|_| {}).restart(A, Probe::new(Vec::new));
}

#[test]
fn pending_writes_are_known_in_order_until_a_crash() {
    let mut engine = probes(|_| {});
    let unsynced = |engine: &Engine<Probe>, node| engine.unsynced(node).copied().collect::<Vec<u32>>();
    engine.command(A, vec![Do::Write(3), Do::Write(1)]);
    run_to(&mut engine, 2);
    engine.command(A, vec![Do::Write(2)]);
    assert_eq!((unsynced(&engine, A), unsynced(&engine, B)), (vec![3, 1, 2], vec![]));
    let mut written = Vec::new();
    while engine.next_time().is_some_and(|due| due < Ticks(6)) {
        engine.advance();
        written.extend(engine.take_written());
        assert_eq!(engine.take_written(), None, "it was taken before");
    }
    assert_eq!((written, unsynced(&engine, A)), (vec![(A, 3), (A, 1)], vec![2]));
    engine.crash(A);
    assert!(unsynced(&engine, A).is_empty());
    run_to(&mut engine, 20);
    assert_eq!(engine.take_written(), None);
}

#[test]
fn each_disk_has_its_latency_and_writes_do_not_overtake() {
    let mut engine = probes(|_| {});
    engine.set_disk_latency(A, Ticks(50));
    engine.command(A, vec![Do::Write(1)]);
    engine.command(B, vec![Do::Write(1)]);
    engine.set_disk_latency(A, Ticks(1));
    engine.command(A, vec![Do::Write(2)]);
    run_to(&mut engine, 60);
    engine.command(A, vec![Do::Write(3)]);
    run_to(&mut engine, 70);
    assert_eq!(seen(&engine, A), [(50, "written 1"), (50, "written 2"), (61, "written 3")]);
    assert_eq!(seen(&engine, B), [(4, "written 1")]);
}

#[test]
fn alarms_come_in_the_order_of_the_agenda() {
    let mut engine = probes(|_| {});
    engine.put_alarm(Ticks(10), 7);
    engine.command(A, vec![Do::Send(1, 1)]);
    engine.put_alarm(Ticks(10), 8);
    engine.put_alarm(Ticks(30), 9);
    let happened: Vec<Happened> = [(); 5].map(|()| engine.advance_until(Ticks(20))).into();
    let expected =
        [Happened::Alarm(7), Happened::Step(B), Happened::Alarm(8), Happened::Over, Happened::Over];
    assert_eq!((happened, engine.now()), (expected.to_vec(), Ticks(10)));
    assert_eq!(engine.advance_until(Ticks(30)), Happened::Alarm(9));
    assert_eq!((engine.advance_until(Ticks(u64::MAX)), engine.next_time()), (Happened::Over, None));
}

#[test]
fn a_planned_crash_comes_first_in_its_tick() {
    let mut engine = probes(|settings| settings.faults.crashes = vec![typed("2@10")]);
    engine.command(A, vec![Do::Send(1, 1)]);
    assert_eq!(engine.advance_until(Ticks(10)), Happened::Nothing);
    assert_eq!((engine.take_crashed(), engine.is_crashed(B)), (Some(B), true));
    engine.restart(B, Probe::new(Vec::new));
    run_to(&mut engine, 10);
    assert_eq!(seen(&engine, B), [(10, "start"), (10, "1 from 1")]);
}

#[test]
fn the_log_has_timers_writes_pauses_and_restarts() {
    let mut engine = probes(|_| {});
    engine.record();
    let step = |engine: &mut Engine<Probe>, node: NodeId, what: What, command: Vec<Do>| {
        let now = engine.now();
        engine.log().expect("a record").push(now, node, what, "", None);
        engine.command(node, command);
    };
    step(&mut engine, B, What::Request, vec![Do::Remind(3, 100), Do::Write(1)]);
    step(&mut engine, C, What::Request, vec![Do::Send(1, 2)]);
    run_to(&mut engine, 5);
    engine.pause(B);
    run_to(&mut engine, 11);
    engine.resume(B);
    run_to(&mut engine, 12);
    engine.crash(B);
    engine.restart(B, Probe::new(Vec::new));
    run_to(&mut engine, 20);
    let (log, traffic) = engine.into_records();
    let events: Vec<Event> = log.expect("a record").iter().collect();
    let told: Vec<String> =
        events.iter().map(|event| format!("{} {}", event.time, event.sentence())).collect();
    let expected = [
        "0 node 2 asks to enter",
        "0 node 3 asks to enter",
        "0 node 3 sends Number to node 2",
        "3 node 2 is reminded",
        "3 node 2 sends Number to node 1",
        "4 node 2 has written to its disk",
        "5 node 2 stands still",
        "11 node 2 goes on",
        "11 node 2 receives Number from node 3",
        "12 node 2 crashes",
        "12 node 2 comes to life",
        "13 node 1 receives Number from node 2",
    ];
    assert_eq!((told, traffic.messages), (expected.map(str::to_owned).to_vec(), 2));
    assert_eq!((events[4].cause, events[8].cause), (Some(4), Some(3)), "the timer caused the sending");
}

#[test]
#[should_panic(expected = "a record begins before anything is sent")]
fn a_log_cannot_start_with_messages_in_flight() {
    let mut engine = probes(|_| {});
    engine.command(A, vec![Do::Send(1, 1)]);
    engine.record();
}
