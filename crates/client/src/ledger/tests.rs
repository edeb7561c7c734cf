//! Tests of the client's state machine.

use std::time::Duration;

use doorway_protocol::Loss;

use super::*;
use crate::clock;

const SECOND: u64 = 1_000_000;

fn name(name: &str) -> SectionName {
    SectionName::new(name).expect("a good name")
}

fn request(names: &[&str], patience: Option<u64>) -> LockRequest {
    LockRequest {
        names: names.iter().map(|text| name(text)).collect(),
        patience: patience.map(Duration::from_secs),
        max_hold: None,
        ttl: None,
        tell_if_wanted: false,
        persists: true,
    }
}

fn granted(number: u32, section: &str, until: u64) -> DaemonMsg {
    DaemonMsg::Granted { number, fences: vec![(name(section), Fence(7))], until: Ticks(until) }
}

fn state(cell: &LockCell) -> LockState {
    cell.progress.look(|progress| progress.state.clone())
}

#[test]
fn a_request_gives_up_a_silent_daemon_after_its_patience() {
    let mut ledger = Ledger::default();
    let (number, cell) = ledger.enter(request(&["a"], Some(2)), Ticks(SECOND)).expect("it is free");
    assert_eq!(ledger.due(), Some(Ticks(6 * SECOND)));
    ledger.on_time(Ticks(6 * SECOND - 1), true);
    assert_eq!(state(&cell), LockState::Waiting);
    ledger.take_asks();
    ledger.on_time(Ticks(6 * SECOND), true);
    assert_eq!(state(&cell), LockState::Refused(Error::Silent));
    assert_eq!(ledger.take_asks(), [ClientMsg::Cancel { number }]);
    assert_eq!(ledger.due(), None);
}

#[test]
fn a_grant_whose_deadline_has_passed_is_none() {
    let mut ledger = Ledger::default();
    let (number, cell) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
    ledger.take_asks();
    ledger.on_msg(granted(number, "a", 5), Ticks(5)).expect("a daemon says this");
    assert_eq!(state(&cell), LockState::Lost(Lost::Deadline));
    assert_eq!(ledger.take_asks(), [ClientMsg::Release { number }]);
}

#[test]
fn a_renewal_that_comes_at_the_deadline_comes_too_late() {
    let start = clock::now().0;
    let mut ledger = Ledger::default();
    let (number, cell) = ledger.enter(request(&["a"], None), Ticks(start)).expect("it is free");
    ledger.take_asks();
    let until = start + 3_600 * SECOND;
    ledger.on_msg(granted(number, "a", until), Ticks(start)).expect("a daemon says this");
    let renewed = |until| DaemonMsg::Renewed { number, until: Ticks(until) };
    ledger.on_msg(renewed(until + SECOND), Ticks(until - 1)).expect("a daemon says this");
    assert_eq!(ledger.due(), Some(Ticks(until + SECOND)));
    ledger.on_msg(renewed(until + 9 * SECOND), Ticks(until + SECOND)).expect("a daemon says this");
    assert_eq!(state(&cell), LockState::Lost(Lost::Deadline));
    assert_eq!(ledger.take_asks(), [], "the program may not have stopped yet");
    ledger.leave(number);
    assert_eq!(ledger.take_asks(), [ClientMsg::Release { number }]);
}

#[test]
fn a_lost_lock_is_released_when_its_owner_leaves() {
    let mut ledger = Ledger::default();
    let (number, cell) = ledger.enter(request(&["a", "b"], None), Ticks(0)).expect("it is free");
    let fences = vec![(name("b"), Fence(2)), (name("a"), Fence(1))];
    let granted = DaemonMsg::Granted { number, fences, until: Ticks(9) };
    ledger.on_msg(granted, Ticks(1)).expect("a daemon says this");
    assert_eq!(state(&cell), LockState::Held(vec![(name("a"), Fence(1)), (name("b"), Fence(2))]));
    ledger.take_asks();
    ledger.on_msg(DaemonMsg::Lost { number, why: Loss::Leaving }, Ticks(2)).expect("a daemon says this");
    assert_eq!(state(&cell), LockState::Lost(Lost::Notified(Loss::Leaving)));
    let renewed = DaemonMsg::Renewed { number, until: Ticks(99) };
    ledger.on_msg(renewed, Ticks(3)).expect("a daemon says this");
    assert!(!cell.is_valid(), "no later word revives it");
    ledger.on_time(Ticks(9), true);
    assert_eq!((ledger.take_asks(), ledger.due()), (vec![], None));
    assert!(ledger.enter(request(&["b"], None), Ticks(9)).is_err(), "it has not said yet that it stopped");
    ledger.leave(number);
    assert_eq!(ledger.take_asks(), [ClientMsg::Release { number }]);
    assert_eq!(state(&cell), LockState::Lost(Lost::Notified(Loss::Leaving)));
    assert!(ledger.enter(request(&["b"], None), Ticks(9)).is_ok());
}

#[test]
fn a_freed_request_is_not_released_again() {
    let mut ledger = Ledger::default();
    let (number, cell) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
    let freed = || DaemonMsg::Freed { number };
    assert!(ledger.on_msg(freed(), Ticks(0)).is_err(), "nothing was granted");
    ledger.on_msg(granted(number, "a", 9), Ticks(1)).expect("a daemon says this");
    ledger.take_asks();
    ledger.on_time(Ticks(9), true);
    assert_eq!(state(&cell), LockState::Lost(Lost::Deadline));
    ledger.on_msg(freed(), Ticks(10)).expect("a daemon says this");
    ledger.on_msg(freed(), Ticks(10)).expect("nothing is known of it any more");
    ledger.leave(number);
    assert_eq!(ledger.take_asks(), []);
    assert!(ledger.enter(request(&["a"], None), Ticks(10)).is_ok());
}

#[test]
fn signs_of_life_come_every_third_of_the_shortest_ttl() {
    let mut ledger = Ledger::default();
    let with =
        |names, seconds| LockRequest { ttl: Some(Duration::from_secs(seconds)), ..request(names, None) };
    let (slow, _) = ledger.enter(with(&["slow"], 9), Ticks(0)).expect("it is free");
    let (quick, _) = ledger.enter(with(&["quick"], 6), Ticks(0)).expect("it is free");
    ledger.take_asks();
    assert_eq!(ledger.due(), None, "nobody who waits gives signs");
    ledger.on_msg(granted(slow, "slow", 60 * SECOND), Ticks(SECOND)).expect("a daemon says this");
    assert_eq!((ledger.take_asks(), ledger.due()), (vec![ClientMsg::Alive], Some(Ticks(4 * SECOND))));
    ledger.on_msg(granted(quick, "quick", 60 * SECOND), Ticks(2 * SECOND)).expect("a daemon says this");
    assert_eq!((ledger.take_asks(), ledger.due()), (vec![ClientMsg::Alive], Some(Ticks(4 * SECOND))));
    ledger.on_time(Ticks(4 * SECOND - 1), true);
    assert_eq!(ledger.take_asks(), []);
    ledger.on_time(Ticks(5 * SECOND), true);
    assert_eq!((ledger.take_asks(), ledger.due()), (vec![ClientMsg::Alive], Some(Ticks(7 * SECOND))));
    let lost = DaemonMsg::Lost { number: quick, why: Loss::Silent };
    ledger.on_msg(lost, Ticks(6 * SECOND)).expect("a daemon says this");
    assert_eq!(ledger.due(), Some(Ticks(8 * SECOND)), "only the slow one is left");
    ledger.leave(slow);
    assert_eq!(ledger.due(), None);
}

#[test]
fn a_new_daemon_gets_waiting_requests_and_no_held_ones() {
    let mut ledger = Ledger::default();
    let (held, cell) = ledger.enter(request(&["held"], None), Ticks(0)).expect("it is free");
    ledger.on_msg(granted(held, "held", 99 * SECOND), Ticks(0)).expect("a daemon says this");
    let (waits, _) = ledger.enter(request(&["waits"], Some(10)), Ticks(0)).expect("it is free");
    ledger.on_gone(&Error::Gone, true);
    assert_eq!(state(&cell), LockState::Lost(Lost::Daemon));
    assert_eq!(ledger.take_asks(), []);
    ledger.on_welcome(None, Ticks(4 * SECOND));
    let [ClientMsg::Lock { number, names, patience, .. }] = &ledger.take_asks()[..] else {
        panic!("it is asked for one thing")
    };
    assert_eq!((*number, patience), (waits, &Some(Ticks(6 * SECOND))), "it has waited four seconds");
    assert_eq!(names, &[name("waits")]);
}

#[test]
fn numbers_wrap_around_and_skip_those_in_use() {
    let mut ledger = Ledger::default();
    let (first, _) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
    ledger.last = u32::MAX;
    let (zero, _) = ledger.enter(request(&["b"], None), Ticks(0)).expect("it is free");
    let (second, _) = ledger.enter(request(&["c"], None), Ticks(0)).expect("it is free");
    assert_eq!((first, zero, second), (1, 0, 2));
}

/// A ledger of a process that watches a command.
fn watching() -> Ledger {
    Ledger::new(Policy { holder: Holder::Command, outlasts_leaving: true, ..Policy::default() })
}

#[test]
fn a_command_keeps_a_lock_renewed_while_its_watcher_stopped() {
    let mut ledger = watching();
    let (number, cell) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
    // All of this is read at once, long after it was said.
    let now = Ticks(90);
    ledger.on_msg(granted(number, "a", 10), now).expect("a daemon says this");
    for until in [20, 30, 100] {
        ledger.on_msg(DaemonMsg::Renewed { number, until: Ticks(until) }, now).expect("a daemon says this");
    }
    ledger.on_time(now, true);
    assert!(matches!(state(&cell), LockState::Held(_)));
    assert_eq!(ledger.due(), Some(Ticks(100)));
    ledger.on_time(Ticks(100), true);
    assert_eq!(state(&cell), LockState::Lost(Lost::Deadline));
    let late = DaemonMsg::Renewed { number, until: Ticks(200) };
    ledger.on_msg(late, Ticks(101)).expect("a daemon says this");
    assert_eq!((state(&cell), ledger.due()), (LockState::Lost(Lost::Deadline), None), "it was seen to pass");
}

#[test]
fn a_command_whose_daemon_is_gone_is_inside_until_its_deadline() {
    let mut ledger = watching();
    let (number, cell) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
    ledger.on_msg(granted(number, "a", 9), Ticks(1)).expect("a daemon says this");
    ledger.on_gone(&Error::Gone, true);
    ledger.on_gone(&Error::Gone, true);
    assert!(matches!(state(&cell), LockState::Held(_)) && ledger.has_orphans());
    ledger.on_welcome(None, Ticks(2));
    assert_eq!(ledger.take_asks(), [], "another daemon knows nothing of it");
    ledger.on_time(Ticks(9), true);
    assert_eq!((state(&cell), ledger.due()), (LockState::Lost(Lost::Deadline), None));
    assert!(ledger.has_orphans(), "it may not have stopped yet");
    ledger.leave(number);
    assert_eq!((ledger.take_asks(), ledger.has_orphans()), (vec![], false));
}

#[test]
fn an_expiring_lock_is_not_renewed_but_can_be_lost() {
    let mut ledger = Ledger::default();
    let mortal = LockRequest { ttl: Some(Duration::from_secs(3)), ..request(&["a"], None) };
    let (number, cell) = ledger.enter(mortal, Ticks(0)).expect("it is free");
    ledger.on_msg(granted(number, "a", 3 * SECOND), Ticks(0)).expect("a daemon says this");
    assert_eq!(ledger.due(), Some(Ticks(SECOND)), "a sign of life");
    ledger.let_expire(number);
    assert_eq!(ledger.due(), Some(Ticks(3 * SECOND)));
    let renewed = DaemonMsg::Renewed { number, until: Ticks(9 * SECOND) };
    ledger.on_msg(renewed, Ticks(SECOND)).expect("a daemon says this");
    assert_eq!(ledger.due(), Some(Ticks(3 * SECOND)));
    ledger.on_msg(DaemonMsg::Lost { number, why: Loss::LeftOut }, Ticks(SECOND)).expect("a daemon says this");
    assert_eq!(state(&cell), LockState::Lost(Lost::Notified(Loss::LeftOut)));
    ledger.take_asks();
    ledger.leave(number);
    assert_eq!(ledger.take_asks(), [ClientMsg::Release { number }]);
}

#[test]
fn outlasts_leaving_waits_for_another_daemon() {
    for (mut ledger, expected) in [(Ledger::default(), Ok(())), (watching(), Err(Error::Gone))] {
        let (number, cell) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
        let told = ledger.on_msg(DaemonMsg::Refused { number, why: Reason::Leaving }, Ticks(1));
        assert_eq!(told, expected);
        assert_eq!(state(&cell) == LockState::Waiting, expected.is_err());
        ledger.give_up(&Error::Gone);
        assert!(matches!(state(&cell), LockState::Refused(_)));
    }
}
