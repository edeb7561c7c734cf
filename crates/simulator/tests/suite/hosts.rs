//! What machines run on: clocks of their own, pauses, crashes with restarts, disks, and alarms for whoever drives the engine.

use doorway_core::{NodeId, Ticks};
use doorway_simulator::{Engine, Happened, LocalClock};
use doorway_trace::{Event, What};

use crate::probe::{A, B, C, Do, Probe, probes, run_to, seen};
use crate::typed;

fn drifting(drift_ppm: i32) -> LocalClock {
    LocalClock { drift_ppm, ..LocalClock::default() }
}

#[test]
fn a_node_has_true_time_unless_it_has_a_clock_of_its_own() {
    let mut engine = probes(|_| {});
    engine.set_clock(B, LocalClock { offset: Ticks(1_000), ..drifting(500_000) });
    assert_eq!([A, B].map(|node| engine.local_time(node, Ticks(10))), [Ticks(10), Ticks(1_015)]);
    assert_eq!([A, B].map(|node| engine.true_time(node, Ticks(1_015))), [Ticks(1_015), Ticks(10)]);
    engine.command(A, vec![Do::Remind(7, 1), Do::Send(1, 2)]);
    run_to(&mut engine, 20);
    assert_eq!((seen(&engine, A), seen(&engine, B)), (vec![(7, "timer 1")], vec![(1_015, "2 from 1")]));
}

#[test]
fn a_reminder_is_due_when_the_nodes_clock_has_advanced_by_its_span_and_not_before() {
    // A span of 100 by clocks that are a tenth too fast, right, and a tenth too slow: 100/1.1 and 100/0.9, rounded up.
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
fn a_change_of_rate_moves_the_reminders_that_wait() {
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
fn a_clock_that_is_set_anew_does_not_change_how_long_a_reminder_still_takes() {
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
fn a_clock_that_stops_in_pause_puts_reminders_off_and_a_right_one_does_not() {
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
fn what_comes_for_a_paused_node_waits_and_happens_in_its_order_when_it_goes_on() {
    let mut engine = probes(|_| {});
    engine.command(B, vec![Do::Remind(12, 2), Do::Remind(30, 5)]);
    engine.command(A, vec![Do::Send(1, 1)]);
    run_to(&mut engine, 9);
    engine.command(B, vec![Do::Write(3)]);
    engine.pause(B);
    assert!(engine.is_paused(B) && !engine.is_paused(A));
    run_to(&mut engine, 10);
    // At 20 the node goes on while something is due for it at that very tick.
    engine.put_alarm(Ticks(20), 0);
    engine.command(A, vec![Do::Send(1, 4)]);
    while engine.take_alarm().is_none() {
        assert_ne!(engine.advance(), Some(B), "who is paused makes no step");
    }
    assert_eq!(engine.in_flight().len(), 2, "what waits is on its way, too");
    engine.resume(B);
    run_to(&mut engine, 40);
    let expected = [(20, "1 from 1"), (20, "timer 2"), (20, "written 3"), (20, "4 from 1"), (30, "timer 5")];
    assert_eq!(seen(&engine, B), expected);
}

#[test]
fn what_waited_comes_before_the_rest_of_what_one_step_has_sent() {
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
#[should_panic(expected = "node 2 is paused and hears no command")]
fn a_paused_node_hears_no_command() {
    let mut engine = probes(|_| {});
    engine.pause(B);
    engine.command(B, Vec::new());
}

#[test]
fn a_message_that_has_arrived_in_a_pause_is_not_lost_by_a_cut_but_by_a_crash() {
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
fn nothing_from_before_a_crash_reaches_the_new_incarnation_but_messages_that_arrive_after_its_start() {
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
    assert_eq!(seen(&engine, B), [(100, "start")], "a node can crash as often as it likes");
}

#[test]
fn a_crash_ends_a_pause_and_a_stopped_clock_goes_on() {
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
fn who_lives_cannot_be_restarted() {
    probes(|_| {}).restart(A, Probe::new(Vec::new));
}

#[test]
fn what_has_not_reached_the_disk_is_known_in_its_order_until_a_crash() {
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
        assert_eq!(engine.take_written(), None, "what is taken is gone");
    }
    assert_eq!((written, unsynced(&engine, A)), (vec![(A, 3), (A, 1)], vec![2]));
    engine.crash(A);
    assert!(unsynced(&engine, A).is_empty());
    run_to(&mut engine, 20);
    assert_eq!(engine.take_written(), None);
}

#[test]
fn each_disk_has_its_latency_and_a_quicker_write_does_not_overtake_a_slower_one() {
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
fn a_planned_crash_comes_before_what_is_due_with_it_and_the_node_can_be_restarted() {
    let mut engine = probes(|settings| settings.faults.crashes = vec![typed("2@10")]);
    engine.command(A, vec![Do::Send(1, 1)]);
    assert_eq!(engine.advance_until(Ticks(10)), Happened::Nothing);
    assert_eq!((engine.take_crashed(), engine.is_crashed(B)), (Some(B), true));
    engine.restart(B, Probe::new(Vec::new));
    run_to(&mut engine, 10);
    assert_eq!(seen(&engine, B), [(10, "start"), (10, "1 from 1")]);
}

#[test]
fn a_record_tells_of_reminders_writes_pauses_and_restarts_and_whoever_drives_adds_the_rest() {
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
    assert_eq!((events[4].cause, events[8].cause), (Some(4), Some(3)), "a sending comes of its reminder");
}

#[test]
#[should_panic(expected = "a record begins before anything is sent")]
fn a_record_cannot_begin_in_the_middle() {
    let mut engine = probes(|_| {});
    engine.command(A, vec![Do::Send(1, 1)]);
    engine.record();
}
