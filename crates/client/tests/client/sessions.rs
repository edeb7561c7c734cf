//! A session without a thread: the test drives it, and its clock is the test's.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use doorway_client::session::{Acquisition, Holder, LockRequest, LockState, Policy, Session};
use doorway_client::{Error, Incompatible, Lost, clock};
use doorway_core::{Fence, Ticks};
use doorway_protocol::{ClientMsg, DaemonMsg, Loss, Reason, Status};

use crate::daemon::{Daemon, granted, name};

const SECOND: Ticks = Ticks(1_000_000);

/// A session, its clock, and the source of its next connections.
struct Scene {
    session: Session,
    now: Ticks,
    sockets: Sender<UnixStream>,
}

impl Scene {
    fn new(policy: Policy) -> Self {
        let (sockets, next) = mpsc::channel();
        let unreachable = |error: mpsc::TryRecvError| Error::Unreachable(error.to_string());
        let dial = move || next.try_recv().map_err(unreachable);
        let now = clock::now();
        Self { session: Session::dialing(dial, policy, now), now, sockets }
    }

    /// A daemon that can be connected to, once.
    fn stranger(&self) -> Daemon {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        self.sockets.send(ours).expect("the session lives");
        Daemon::new(theirs)
    }

    /// The same, which has said welcome at this moment.
    fn daemon(&self) -> Daemon {
        let daemon = self.stranger();
        daemon.welcome_at(self.now);
        daemon
    }

    fn request(&mut self, patience: Option<u64>, ttl: Option<u64>) -> Acquisition {
        let request = LockRequest {
            names: vec![name("a")],
            patience: patience.map(Duration::from_secs),
            max_hold: None,
            ttl: ttl.map(Duration::from_secs),
            tell_if_wanted: false,
            persists: true,
        };
        self.session.request(request, self.now).expect("it is not held")
    }

    /// Drives it twice, as it connects at the end of the first time.
    fn drive(&mut self) {
        let now = self.now;
        self.session.drive(|| now);
        self.session.drive(|| now);
    }

    fn pass(&mut self, span: Ticks) {
        self.now = self.now + span;
        self.drive();
    }

    /// A request that a daemon has granted for this many seconds.
    fn held(policy: Policy, seconds: u64, ttl: Option<u64>) -> (Self, Daemon, Acquisition, u32) {
        let mut scene = Self::new(policy);
        let (daemon, lock) = (scene.daemon(), scene.request(None, ttl));
        scene.drive();
        let (number, names) = daemon.next_lock();
        daemon.tell(&granted(number, &names, scene.now + Ticks(seconds * SECOND.0)));
        scene.drive();
        assert_eq!(lock.state(), LockState::Held(vec![(name("a"), Fence(10))]));
        (scene, daemon, lock, number)
    }
}

fn of_command() -> Policy {
    Policy { holder: Holder::Command, outage: Some(Duration::from_secs(60)), ..Policy::default() }
}

/// Whether the other end of a connection is open and has said nothing.
fn is_open(daemon: &Daemon) -> bool {
    daemon.0.set_nonblocking(true).expect("it can");
    let read = (&daemon.0).read(&mut [0]);
    daemon.0.set_nonblocking(false).expect("it can");
    read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[test]
fn a_grant_is_renewed_and_released() {
    let (mut scene, daemon, lock, number) = Scene::held(Policy::default(), 10, None);
    assert_eq!(lock.valid_until(), scene.now + Ticks(10 * SECOND.0));
    assert_eq!(scene.session.due(), Some(lock.valid_until()));
    let until = scene.now + Ticks(20 * SECOND.0);
    daemon.tell(&DaemonMsg::Renewed { number, until });
    scene.drive();
    assert_eq!((lock.valid_until(), scene.session.due()), (until, Some(until)));
    scene.session.leave(&lock);
    scene.session.flush(scene.now);
    assert_eq!(daemon.next(), ClientMsg::Release { number });
    assert_eq!(scene.session.due(), None);
}

#[test]
fn signs_of_life_are_given_until_the_lock_is_let_expire() {
    let (mut scene, daemon, lock, number) = Scene::held(of_command(), 60, Some(3));
    assert_eq!(daemon.next(), ClientMsg::Alive, "at the grant");
    for _ in 0..2 {
        assert_eq!(scene.session.due(), Some(scene.now + SECOND));
        scene.pass(SECOND);
        assert_eq!(daemon.next(), ClientMsg::Alive);
    }
    scene.session.let_expire(&lock);
    let until = lock.valid_until();
    daemon.tell(&DaemonMsg::Renewed { number, until: until + SECOND });
    scene.pass(SECOND);
    assert!(is_open(&daemon) && lock.valid_until() == until);
    daemon.tell(&DaemonMsg::Lost { number, why: Loss::Silent });
    scene.drive();
    assert_eq!(lock.state(), LockState::Lost(Lost::Notified(Loss::Silent)));
}

#[test]
fn a_loss_is_released_when_its_holder_leaves() {
    let (mut scene, daemon, lock, number) = Scene::held(Policy::default(), 10, None);
    daemon.tell(&DaemonMsg::Lost { number, why: Loss::Broken });
    scene.drive();
    assert_eq!(lock.state(), LockState::Lost(Lost::Notified(Loss::Broken)));
    assert!(is_open(&daemon), "it may still act");
    scene.session.leave(&lock);
    scene.session.flush(scene.now);
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

/// A process that was stopped past the deadline finds a renewal that came in time.
#[test]
fn an_unread_renewal_counts_for_a_command_only() {
    let renewed = LockState::Held(vec![(name("a"), Fence(10))]);
    for (policy, expected) in [(of_command(), renewed), (Policy::default(), LockState::Lost(Lost::Deadline))]
    {
        let (mut scene, daemon, lock, number) = Scene::held(policy, 1, None);
        daemon.tell(&DaemonMsg::Renewed { number, until: lock.valid_until() + SECOND });
        daemon.tell(&DaemonMsg::Renewed { number, until: lock.valid_until() + Ticks(9 * SECOND.0) });
        scene.pass(Ticks(3 * SECOND.0));
        assert_eq!(lock.state(), expected);
        scene.pass(Ticks(9 * SECOND.0));
        assert_eq!(lock.state(), LockState::Lost(Lost::Deadline));
    }
}

#[test]
fn a_daemon_that_is_gone_takes_the_lock_of_a_program_at_once() {
    let (mut scene, daemon, lock, _) = Scene::held(Policy::default(), 10, None);
    drop(daemon);
    scene.drive();
    assert_eq!(lock.state(), LockState::Lost(Lost::Daemon));
    assert_eq!(scene.session.fault(), Some(&Error::Gone));
    assert!(scene.session.socket().is_none());
}

#[test]
fn a_command_keeps_its_lock_and_its_connection_until_it_has_left() {
    let (mut scene, daemon, lock, _) = Scene::held(of_command(), 10, None);
    daemon.write(&[0xff; 8]);
    scene.drive();
    assert!(matches!(scene.session.fault(), Some(Error::Incompatible(Incompatible::Bytes(_)))));
    assert!(matches!(lock.state(), LockState::Held(_)) && !scene.session.is_connected());
    assert!(is_open(&daemon) && scene.session.socket().is_some());
    scene.pass(Ticks(10 * SECOND.0));
    assert_eq!(lock.state(), LockState::Lost(Lost::Deadline));
    assert!(is_open(&daemon), "the command may not have stopped yet");
    assert_eq!(scene.session.due(), None);
    scene.session.leave(&lock);
    assert_eq!((&daemon.0).read(&mut [0]).expect("it closes"), 0);
}

#[test]
fn the_next_daemon_is_asked_with_the_patience_that_is_left() {
    let mut scene = Scene::new(of_command());
    scene.session.introduce("a test");
    let introduced = ClientMsg::Introduce { label: "a test".to_owned() };
    let (first, lock) = (scene.daemon(), scene.request(Some(20), None));
    scene.drive();
    assert_eq!(first.next(), introduced);
    let ClientMsg::Lock { patience: Some(Ticks(20_000_000)), .. } = first.next() else {
        panic!("it asks in full")
    };
    drop(first);
    scene.pass(SECOND);
    assert_eq!((lock.state(), scene.session.fault()), (LockState::Waiting, Some(&Error::Gone)));
    let due = scene.session.due().expect("it looks for another");
    assert!(due > scene.now && due <= scene.now + SECOND);
    // This one is not there yet.
    scene.pass(SECOND);
    assert!(matches!(scene.session.fault(), Some(Error::Unreachable(_))));
    let second = scene.stranger();
    scene.pass(SECOND);
    assert!(scene.session.is_connected() && !scene.session.is_welcome() && is_open(&second));
    second.welcome_at(scene.now);
    scene.pass(SECOND);
    assert_eq!(second.next(), introduced);
    let ClientMsg::Lock { number, names, patience, .. } = second.next() else { panic!("it asks again") };
    assert_eq!(patience, Some(Ticks(16 * SECOND.0)), "what it waited for a welcome counts");
    second.tell(&granted(number, &names, scene.now + SECOND));
    scene.drive();
    assert!(matches!(lock.state(), LockState::Held(_)));
}

#[test]
fn a_late_welcome_is_checked_before_anything_else() {
    let mut scene = Scene::new(Policy::default());
    let (daemon, lock) = (scene.stranger(), scene.request(None, None));
    let now = scene.now;
    scene.session.drive(|| now);
    daemon.welcome_by(scene.now, None);
    for _ in 0..2 {
        scene.pass(Ticks(50_000));
        assert_eq!(daemon.next(), ClientMsg::Clock, "an answer that took so long proves nothing");
        assert!(!scene.session.is_welcome() && is_open(&daemon));
        daemon.tell(&DaemonMsg::Clock { now: scene.now });
    }
    scene.drive();
    assert!(scene.session.is_welcome() && scene.session.spare() == Some(Ticks(500_000)));
    daemon.next_lock();
    assert_eq!(lock.state(), LockState::Waiting);
}

#[test]
fn a_clock_that_is_ahead_is_found_out_by_the_question() {
    let mut scene = Scene::new(Policy::default());
    let (daemon, _lock) = (scene.stranger(), scene.request(None, None));
    let now = scene.now;
    scene.session.drive(|| now);
    daemon.welcome_by(scene.now + Ticks(300_000), None);
    scene.pass(Ticks(400_000));
    assert_eq!(daemon.next(), ClientMsg::Clock);
    daemon.tell(&DaemonMsg::Clock { now: scene.now + Ticks(300_000) });
    scene.drive();
    assert!(matches!(scene.session.fault(), Some(Error::Incompatible(Incompatible::Clock(_)))));
    assert_eq!((&daemon.0).read(&mut [0]).expect("it closes"), 0, "it was asked for nothing");
}

#[test]
fn a_daemon_whose_leases_are_too_short_is_asked_for_nothing() {
    let mut scene = Scene::new(Policy { least_spare: Ticks(500_001), ..Policy::default() });
    let (daemon, _lock) = (scene.daemon(), scene.request(None, None));
    scene.drive();
    assert_eq!(scene.session.fault(), Some(&Error::ShortLease { spare: Ticks(500_000) }));
    assert_eq!((&daemon.0).read(&mut [0]).expect("it closes"), 0);
}

#[test]
fn an_outage_has_an_end_where_that_is_wanted() {
    let mut scene = Scene::new(of_command());
    let lock = scene.request(None, None);
    scene.pass(Ticks(5 * SECOND.0 - 1));
    assert_eq!(lock.state(), LockState::Waiting);
    scene.pass(Ticks(1));
    assert!(matches!(lock.state(), LockState::Refused(Error::Unreachable(_))), "no daemon ever came");
    let mut scene = Scene::new(of_command());
    let (daemon, lock) = (scene.daemon(), scene.request(None, None));
    scene.drive();
    drop(daemon);
    scene.drive();
    scene.pass(Ticks(60 * SECOND.0 - 1));
    assert_eq!(lock.state(), LockState::Waiting);
    scene.pass(Ticks(1));
    assert!(matches!(lock.state(), LockState::Refused(Error::Unreachable(_))), "it did not return");
    let mut scene = Scene::new(Policy::default());
    let lock = scene.request(None, None);
    scene.pass(Ticks(1_000 * SECOND.0));
    assert_eq!(lock.state(), LockState::Waiting, "it persists");
}

#[test]
fn a_client_that_is_turned_away_has_time_to_try_again() {
    let mut scene = Scene::new(of_command());
    let lock = scene.request(None, None);
    for _ in 0..3 {
        let daemon = scene.stranger();
        scene.pass(Ticks(4 * SECOND.0));
        daemon.tell(&DaemonMsg::Goodbye { sentence: "7 clients are connected".to_owned() });
        scene.drive();
        let turned_away = Error::TurnedAway("7 clients are connected".to_owned());
        assert_eq!((lock.state(), scene.session.fault()), (LockState::Waiting, Some(&turned_away)));
    }
    let daemon = scene.stranger();
    scene.pass(Ticks(4 * SECOND.0));
    daemon.welcome_at(scene.now);
    scene.drive();
    daemon.next_lock();
}

#[test]
fn a_leaving_daemon_is_not_asked_again_and_the_next_one_is() {
    let mut scene = Scene::new(Policy { outlasts_leaving: true, ..of_command() });
    let (first, lock) = (scene.daemon(), scene.request(None, None));
    scene.drive();
    let (number, _) = first.next_lock();
    first.tell(&DaemonMsg::Refused { number, why: Reason::Leaving });
    scene.drive();
    assert_eq!((&first.0).read(&mut [0]).expect("it closes"), 0);
    let second = scene.daemon();
    scene.pass(SECOND);
    assert_eq!(second.next_lock().0, number);
    assert_eq!(lock.state(), LockState::Waiting);
}

#[test]
fn a_question_is_answered_or_given_up() {
    let (mut scene, daemon, _lock, _) = Scene::held(of_command(), 60, None);
    let ends = scene.now + SECOND;
    let (first, second) =
        (scene.session.ask_status(Some(name("a")), false, ends), scene.session.ask_status(None, true, ends));
    scene.session.flush(scene.now);
    let ClientMsg::Status { number, section, everywhere: false } = daemon.next() else { panic!("it asks") };
    assert_eq!(section, Some(name("a")));
    let status = Status {
        cluster: "test".to_owned(),
        algorithm: "none".to_owned(),
        node: "a".to_owned(),
        nodes: Vec::new(),
        sections: Vec::new(),
        is_cut: false,
    };
    daemon.tell(&DaemonMsg::Status { number, status: Box::new(status.clone()) });
    scene.drive();
    assert_eq!((first.answer(), second.answer()), (Some(Ok(status)), None));
    assert_eq!(scene.session.due(), Some(ends));
    scene.pass(SECOND);
    assert_eq!(second.answer(), Some(Err(Error::Silent)));
}
