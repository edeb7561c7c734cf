//! The state machine of a client: all its requests and questions. Its inputs are the daemon's messages and the time.
//!
//! It has no socket and no clock: [`crate::session`] has both. Its outputs are the messages of [`Ledger::take_asks`] and the wakers of
//! [`Ledger::take_woken`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{ClientMsg, DaemonMsg, MOST_NAMES, Reason, Status};

use crate::clock;
use crate::error::{Error, Incompatible, Lost};
use crate::lock_cell::{LockCell, LockState};
use crate::policy::{Holder, Policy};
use crate::watched::Watched;

/// A request for sections.
#[derive(Clone, Debug)]
pub struct LockRequest {
    /// The sections: all of them or none.
    pub names: Vec<SectionName>,
    /// How long it waits; for ever if there is no limit.
    pub patience: Option<Duration>,
    /// The longest time that it may hold them.
    pub max_hold: Option<Duration>,
    /// The longest time that it may hold them without a sign of life.
    pub ttl: Option<Duration>,
    /// Whether to tell it that another client waits.
    pub tell_if_wanted: bool,
    /// Whether to ask another daemon if the connection is lost before this one has answered.
    pub persists: bool,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Status(Box<Status>),
    Done(String),
}

/// A pending answer.
pub(crate) type PendingReply = Watched<Option<Result<Reply, Error>>>;

/// All requests and questions of a client.
#[derive(Default)]
pub(crate) struct Ledger {
    policy: Policy,
    entries: BTreeMap<u32, Entry>,
    questions: BTreeMap<u32, Question>,
    last: u32,
    /// When the last sign of life was queued.
    signed: Ticks,
    asks: Vec<ClientMsg>,
    woken: Vec<Waker>,
}

struct Entry {
    cell: Arc<LockCell>,
    request: LockRequest,
    stage: Stage,
}

/// The stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waiting since then.
    Waiting(Ticks),
    /// Inside until then, unless a renewal moves the deadline.
    Inside(Ticks),
    /// Inside until then, and its owner has begun to stop: no signs of life, and no renewal moves its deadline.
    Expiring(Ticks),
    /// The connection to the daemon that granted it is lost: no more messages about it come or go. It is inside until then, or, with `None`,
    /// must stop. Its connection stays open until its owner has left.
    Orphaned(Option<Ticks>),
    /// It must stop: the daemon told it to, or its deadline has passed. It keeps its sections until its owner leaves, because only the owner
    /// knows that the program has stopped, or until the daemon frees them.
    Stopping,
}

struct Question {
    ask: ClientMsg,
    answer: Arc<PendingReply>,
    gives_up: Ticks,
}

impl Entry {
    /// When it times out.
    fn due(&self, grace: Duration) -> Option<Ticks> {
        match self.stage {
            Stage::Waiting(since) => {
                self.request.patience.map(|span| later(since, span.saturating_add(grace)))
            }
            Stage::Inside(until) | Stage::Expiring(until) => Some(until),
            Stage::Orphaned(until) => until,
            Stage::Stopping => None,
        }
    }

    /// The request as a message, with the patience that is left, if it still waits.
    fn ask(&self, number: u32, now: Ticks) -> Option<ClientMsg> {
        let Stage::Waiting(since) = self.stage else { return None };
        let waited = clock::span(Ticks(now.0.saturating_sub(since.0)));
        let LockRequest { names, patience, max_hold, ttl, tell_if_wanted, persists: _ } = &self.request;
        Some(ClientMsg::Lock {
            number,
            names: names.clone(),
            patience: patience.map(|span| clock::ticks(span.saturating_sub(waited))),
            max_hold: max_hold.map(clock::ticks),
            ttl: ttl.map(clock::ticks),
            tell_if_wanted: *tell_if_wanted,
        })
    }

    fn refused(&self, why: Reason) -> Error {
        Error::Refused { names: self.request.names.clone(), why }
    }
}

/// `span` after `moment`, or the last moment there is.
pub(crate) fn later(moment: Ticks, span: Duration) -> Ticks {
    Ticks(moment.0.saturating_add(clock::ticks(span).0))
}

impl Ledger {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// A new request.
    pub(crate) fn enter(&mut self, request: LockRequest, now: Ticks) -> Result<(u32, Arc<LockCell>), Error> {
        let entry = Entry { cell: LockCell::new(), request, stage: Stage::Waiting(now) };
        let names = &entry.request.names;
        if !(1..=MOST_NAMES).contains(&names.len()) || has_twice(names) {
            return Err(entry.refused(Reason::BadNames));
        }
        let is_held = |name| self.entries.values().any(|other| other.request.names.contains(name));
        if names.iter().any(is_held) {
            return Err(entry.refused(Reason::Reentrant));
        }
        let (number, cell) = (self.number(), Arc::clone(&entry.cell));
        self.asks.extend(entry.ask(number, now));
        self.entries.insert(number, entry);
        Ok((number, cell))
    }

    /// The owner of a request cancels or releases it.
    pub(crate) fn leave(&mut self, number: u32) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.asks.extend(match entry.stage {
            Stage::Waiting(_) => Some(ClientMsg::Cancel { number }),
            Stage::Inside(_) | Stage::Expiring(_) | Stage::Stopping => Some(ClientMsg::Release { number }),
            Stage::Orphaned(_) => None,
        });
    }

    /// The owner of a request that is inside has begun to stop.
    pub(crate) fn let_expire(&mut self, number: u32) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        if let Stage::Inside(until) = entry.stage {
            entry.stage = Stage::Expiring(until);
        }
    }

    /// A question, or a command.
    pub(crate) fn question(
        &mut self,
        ask: impl FnOnce(u32) -> ClientMsg,
        gives_up: Ticks,
    ) -> (u32, Arc<PendingReply>) {
        let number = self.number();
        let (ask, answer) = (ask(number), Watched::new(None));
        self.asks.push(ask.clone());
        self.questions.insert(number, Question { ask, answer: Arc::clone(&answer), gives_up });
        (number, answer)
    }

    /// Drops a question.
    pub(crate) fn forget(&mut self, number: u32) {
        self.questions.remove(&number);
    }

    /// An unused number. Numbers wrap around after 2^32.
    fn number(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.entries.contains_key(&self.last) && !self.questions.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    /// Handles a message of the daemon.
    ///
    /// # Errors
    /// If the message breaks the protocol, or the daemon closes the connection.
    pub(crate) fn on_msg(&mut self, told: DaemonMsg, now: Ticks) -> Result<(), Error> {
        match told {
            DaemonMsg::Welcome { .. } => Err(Error::Incompatible(Incompatible::SecondWelcome)),
            DaemonMsg::Goodbye { sentence } => Err(Error::TurnedAway(sentence)),
            // A late answer to a question about the time that was asked again.
            DaemonMsg::Clock { .. } => Ok(()),
            DaemonMsg::Granted { number, fences, until } => self.on_granted(number, fences, until, now),
            DaemonMsg::Renewed { number, until } => {
                self.on_renewed(number, until, now);
                Ok(())
            }
            DaemonMsg::Lost { number, why } => {
                let stage = self.entries.get(&number).map(|entry| entry.stage);
                if matches!(stage, Some(Stage::Inside(_) | Stage::Expiring(_))) {
                    self.stop(number, Lost::Notified(why));
                }
                Ok(())
            }
            DaemonMsg::Freed { number } => self.on_freed(number),
            DaemonMsg::Refused { number, why } => self.on_refused(number, why),
            DaemonMsg::Wanted { number, section } => {
                self.on_wanted(number, section);
                Ok(())
            }
            DaemonMsg::Status { number, status } => {
                self.answer(number, Ok(Reply::Status(status)));
                Ok(())
            }
            DaemonMsg::Done { number, sentence } => {
                self.answer(number, Ok(Reply::Done(sentence)));
                Ok(())
            }
            DaemonMsg::Failed { number, sentence } => {
                self.answer(number, Err(Error::Failed(sentence)));
                Ok(())
            }
        }
    }

    fn on_granted(
        &mut self,
        number: u32,
        fences: Vec<(SectionName, Fence)>,
        until: Ticks,
        now: Ticks,
    ) -> Result<(), Error> {
        let Some(entry) = self.entries.get_mut(&number) else {
            // The request was cancelled while the grant was under way.
            self.asks.push(ClientMsg::Release { number });
            return Ok(());
        };
        let fences = in_order(&entry.request.names, &fences);
        let (Stage::Waiting(_), Some(fences)) = (entry.stage, fences) else {
            return Err(Error::Incompatible(Incompatible::Grant));
        };
        // The watcher of a command may have been stopped, with renewals right behind the grant: its deadline is checked later.
        if until <= now && self.policy.holder == Holder::Program {
            // The program never entered, so it need not stop: release at once.
            self.stop(number, Lost::Deadline);
            self.leave(number);
            return Ok(());
        }
        entry.stage = Stage::Inside(until);
        self.woken.extend(entry.cell.enter(fences, until));
        if entry.request.ttl.is_some() {
            self.give_sign(now);
        }
        Ok(())
    }

    /// A renewal that is read at the deadline or later comes too late for a program, which may have seen the deadline pass. For a command
    /// it counts, because the daemon sent it in time: the command ran on, and the lock was never free.
    fn on_renewed(&mut self, number: u32, until: Ticks, now: Ticks) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        let Stage::Inside(_) = entry.stage else { return };
        let is_renewed = match self.policy.holder {
            Holder::Program => entry.cell.renew(until, now),
            Holder::Command => {
                entry.cell.extend(until);
                true
            }
        };
        if is_renewed {
            entry.stage = Stage::Inside(until);
        } else {
            self.stop(number, Lost::Deadline);
        }
    }

    /// The daemon has freed the sections of a lost request: there is nothing left to release.
    fn on_freed(&mut self, number: u32) -> Result<(), Error> {
        match self.entries.get(&number).map(|entry| entry.stage) {
            Some(Stage::Waiting(_)) => Err(Error::Incompatible(Incompatible::Freed)),
            Some(Stage::Inside(_) | Stage::Expiring(_) | Stage::Stopping) => {
                self.stop(number, Lost::Deadline);
                self.entries.remove(&number);
                Ok(())
            }
            Some(Stage::Orphaned(_)) | None => Ok(()),
        }
    }

    fn give_sign(&mut self, now: Ticks) {
        self.signed = now;
        self.asks.push(ClientMsg::Alive);
    }

    /// When the next sign of life is due: a third of the shortest time-to-live of all requests inside after the last one.
    fn sign_due(&self) -> Option<Ticks> {
        let is_inside = |entry: &&Entry| matches!(entry.stage, Stage::Inside(_));
        let ttls = self.entries.values().filter(is_inside).filter_map(|entry| entry.request.ttl);
        ttls.min().map(|ttl| later(self.signed, ttl / 3))
    }

    fn on_refused(&mut self, number: u32, why: Reason) -> Result<(), Error> {
        let Some(entry) = self.entries.get(&number) else { return Ok(()) };
        if !matches!(entry.stage, Stage::Waiting(_)) {
            return Err(Error::Incompatible(Incompatible::Refused));
        }
        if why == Reason::Leaving && entry.request.persists && self.policy.outlasts_leaving {
            return Err(Error::Gone);
        }
        let error = entry.refused(why);
        self.fail(number, error);
        Ok(())
    }

    fn on_wanted(&mut self, number: u32, section: SectionName) {
        let Some(entry) = self.entries.get(&number) else { return };
        if entry.request.names.contains(&section) {
            self.woken.extend(entry.cell.progress.change(|progress| {
                progress.wanted.insert(section);
            }));
        }
    }

    /// The connection is lost. Waiting requests fail, or wait for the next connection; those inside are lost, or held until their
    /// deadline.
    pub(crate) fn on_gone(&mut self, error: &Error, comes_back: bool) {
        for (number, stage, persists) in self.stages() {
            match stage {
                Stage::Waiting(_) if persists && comes_back => {}
                Stage::Waiting(_) => self.fail(number, error.clone()),
                Stage::Orphaned(_) => {}
                Stage::Inside(_) | Stage::Expiring(_) | Stage::Stopping => match self.policy.holder {
                    Holder::Program => {
                        self.stop(number, Lost::Daemon);
                        self.entries.remove(&number);
                    }
                    Holder::Command => self.orphan(number),
                },
            }
        }
        for number in self.questions.keys().copied().collect::<Vec<_>>() {
            self.answer(number, Err(error.clone()));
        }
        self.asks.clear();
    }

    /// No daemon was found for too long: all waiting requests fail, persistent or not.
    pub(crate) fn give_up(&mut self, error: &Error) {
        for (number, stage, _) in self.stages() {
            if matches!(stage, Stage::Waiting(_)) {
                self.fail(number, error.clone());
            }
        }
    }

    /// Handles timeouts.
    pub(crate) fn on_time(&mut self, now: Ticks, is_connected: bool) {
        for (number, stage, _) in self.stages() {
            let is_due = |entry: &&Entry| entry.due(self.policy.grace).is_some_and(|due| due <= now);
            let Some(entry) = self.entries.get(&number).filter(is_due) else { continue };
            match stage {
                Stage::Waiting(_) => {
                    let late = if is_connected { Error::Silent } else { entry.refused(Reason::TimedOut) };
                    self.woken.extend(entry.cell.end(LockState::Refused(late)));
                    self.leave(number);
                }
                Stage::Inside(_) | Stage::Expiring(_) | Stage::Stopping => self.stop(number, Lost::Deadline),
                Stage::Orphaned(_) => {
                    self.stop(number, Lost::Deadline);
                    self.orphan(number);
                }
            }
        }
        if self.sign_due().is_some_and(|due| due <= now) {
            self.give_sign(now);
        }
        let late = self.questions.iter().filter(|(_, question)| question.gives_up <= now);
        for number in late.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.answer(number, Err(Error::Silent));
        }
    }

    /// When the next timeout is due.
    pub(crate) fn due(&self) -> Option<Ticks> {
        let entries = self.entries.values().filter_map(|entry| entry.due(self.policy.grace));
        let questions = self.questions.values().map(|question| question.gives_up);
        entries.chain(questions).chain(self.sign_due()).min()
    }

    /// Whether anything waits for the daemon.
    pub(crate) fn is_waiting(&self) -> bool {
        let is_waiting = |entry: &Entry| matches!(entry.stage, Stage::Waiting(_));
        !self.questions.is_empty() || self.entries.values().any(is_waiting)
    }

    /// Whether anything that was let in has not left although its daemon is gone.
    pub(crate) fn has_orphans(&self) -> bool {
        self.entries.values().any(|entry| matches!(entry.stage, Stage::Orphaned(_)))
    }

    /// A daemon has said welcome, and knows nothing yet: it is told who asks, and asked for all that waits, in the order of its numbers.
    /// Nothing that was collected before is of use: what was left since was never asked for on this connection.
    pub(crate) fn on_welcome(&mut self, introduction: Option<ClientMsg>, now: Ticks) {
        let questions = self.questions.iter().map(|(number, question)| (*number, question.ask.clone()));
        let locks =
            self.entries.iter().filter_map(|(number, entry)| Some((*number, entry.ask(*number, now)?)));
        let asks: BTreeMap<u32, ClientMsg> = questions.chain(locks).collect();
        self.asks = introduction.into_iter().chain(asks.into_values()).collect();
    }

    /// Queues a message that needs no answer.
    pub(crate) fn tell(&mut self, ask: ClientMsg) {
        self.asks.push(ask);
    }

    /// Whether messages are queued.
    pub(crate) fn has_asks(&self) -> bool {
        !self.asks.is_empty()
    }

    /// The queued messages, in order.
    pub(crate) fn take_asks(&mut self) -> Vec<ClientMsg> {
        std::mem::take(&mut self.asks)
    }

    /// The wakers to wake when no lock is held.
    pub(crate) fn take_woken(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.woken)
    }

    fn stages(&self) -> Vec<(u32, Stage, bool)> {
        self.entries.iter().map(|(number, entry)| (*number, entry.stage, entry.request.persists)).collect()
    }

    /// The connection of a request that is inside, or has to stop, is lost.
    fn orphan(&mut self, number: u32) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.stage = Stage::Orphaned(match entry.stage {
            Stage::Inside(until) | Stage::Expiring(until) => Some(until),
            Stage::Waiting(_) | Stage::Stopping | Stage::Orphaned(_) => None,
        });
    }

    /// The owner of a request that is inside must stop. It confirms that by leaving.
    fn stop(&mut self, number: u32, lost: Lost) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.stage = Stage::Stopping;
        self.woken.extend(entry.cell.end(LockState::Lost(lost)));
    }

    fn fail(&mut self, number: u32, error: Error) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.woken.extend(entry.cell.end(LockState::Refused(error)));
    }

    fn answer(&mut self, number: u32, reply: Result<Reply, Error>) {
        let Some(question) = self.questions.remove(&number) else { return };
        self.woken.extend(question.answer.change(|answer| *answer = Some(reply)));
    }
}

fn has_twice(names: &[SectionName]) -> bool {
    names.iter().enumerate().any(|(place, name)| names[..place].contains(name))
}

/// The fences in the order of `names`, if they are of exactly these sections.
fn in_order(names: &[SectionName], fences: &[(SectionName, Fence)]) -> Option<Vec<(SectionName, Fence)>> {
    let find = |name: &SectionName| fences.iter().find(|(other, _)| other == name).cloned();
    let found: Option<Vec<_>> = names.iter().map(find).collect();
    found.filter(|found| found.len() == fences.len() && !found.is_empty())
}

#[cfg(test)]
mod tests {
    use doorway_protocol::Loss;

    use super::*;

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
        assert!(
            ledger.enter(request(&["b"], None), Ticks(9)).is_err(),
            "it has not said yet that it stopped"
        );
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
            ledger
                .on_msg(DaemonMsg::Renewed { number, until: Ticks(until) }, now)
                .expect("a daemon says this");
        }
        ledger.on_time(now, true);
        assert!(matches!(state(&cell), LockState::Held(_)));
        assert_eq!(ledger.due(), Some(Ticks(100)));
        ledger.on_time(Ticks(100), true);
        assert_eq!(state(&cell), LockState::Lost(Lost::Deadline));
        let late = DaemonMsg::Renewed { number, until: Ticks(200) };
        ledger.on_msg(late, Ticks(101)).expect("a daemon says this");
        assert_eq!(
            (state(&cell), ledger.due()),
            (LockState::Lost(Lost::Deadline), None),
            "it was seen to pass"
        );
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
        ledger
            .on_msg(DaemonMsg::Lost { number, why: Loss::LeftOut }, Ticks(SECOND))
            .expect("a daemon says this");
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
}
