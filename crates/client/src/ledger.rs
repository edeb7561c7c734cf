//! All that a client has asked for: a state machine that is told what the daemon says and what time it is.
//!
//! It has no socket and no clock: [`crate::session`] has both. What it wants to be sent is in [`Ledger::take_asks`], who is to be woken in
//! [`Ledger::take_woken`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{Ask, MOST_NAMES, Reason, Status, Told};

use crate::clock;
use crate::error::{Error, Lost, Strange};
use crate::policy::{Holder, Policy};
use crate::seat::{LockState, Seat};
use crate::watched::Watched;

/// What a request asks for.
#[derive(Clone, Debug)]
pub struct LockRequest {
    /// The sections: all of them or none.
    pub names: Vec<SectionName>,
    /// How long it waits; for ever if there is no limit.
    pub patience: Option<Duration>,
    /// How long it holds them at most.
    pub max_hold: Option<Duration>,
    /// How long it holds them at most without a sign of life.
    pub ttl: Option<Duration>,
    /// Whether it wants to be told that others wait.
    pub tell_if_wanted: bool,
    /// Whether another daemon is asked if this one goes away before it has answered.
    pub persists: bool,
}

/// What a question is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Status(Box<Status>),
    Done(String),
}

/// Where an answer will be.
pub(crate) type Answer = Watched<Option<Result<Reply, Error>>>;

/// All that a client has asked for.
#[derive(Default)]
pub(crate) struct Ledger {
    policy: Policy,
    entries: BTreeMap<u32, Entry>,
    questions: BTreeMap<u32, Question>,
    last: u32,
    /// When the last sign of life was given.
    signed: Ticks,
    asks: Vec<Ask>,
    woken: Vec<Waker>,
}

struct Entry {
    seat: Arc<Seat>,
    request: LockRequest,
    stage: Stage,
}

/// How far an entry has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits since then.
    Waiting(Ticks),
    /// It is inside until then, unless a renewal moves that.
    Inside(Ticks),
    /// It is inside until then and its owner has begun to stop: it gives no signs of life, and no renewal moves its deadline.
    Expiring(Ticks),
    /// The daemon that let it in is gone: nothing more is heard of it, and no daemon is told anything. It is inside until then, or must stop if
    /// it has lost. Its connection is kept open until its owner has left.
    Orphaned(Option<Ticks>),
    /// It must stop: it was told to, or its deadline has passed. It keeps its sections until its owner has left, as nothing else
    /// here knows that the program has stopped, or until the daemon takes them.
    Stopping,
}

struct Question {
    ask: Ask,
    answer: Arc<Answer>,
    gives_up: Ticks,
}

impl Entry {
    /// When something has to be done although nobody said a word.
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

    /// What the daemon is asked, if this waits: the patience that is left.
    fn ask(&self, number: u32, now: Ticks) -> Option<Ask> {
        let Stage::Waiting(since) = self.stage else { return None };
        let waited = clock::span(Ticks(now.0.saturating_sub(since.0)));
        let LockRequest { names, patience, max_hold, ttl, tell_if_wanted, persists: _ } = &self.request;
        Some(Ask::Lock {
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

/// The moment so much later, or the last one that there is.
pub(crate) fn later(moment: Ticks, span: Duration) -> Ticks {
    Ticks(moment.0.saturating_add(clock::ticks(span).0))
}

impl Ledger {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// A new request.
    pub(crate) fn enter(&mut self, request: LockRequest, now: Ticks) -> Result<(u32, Arc<Seat>), Error> {
        let entry = Entry { seat: Seat::new(), request, stage: Stage::Waiting(now) };
        let names = &entry.request.names;
        if !(1..=MOST_NAMES).contains(&names.len()) || has_twice(names) {
            return Err(entry.refused(Reason::BadNames));
        }
        let is_held = |name| self.entries.values().any(|other| other.request.names.contains(name));
        if names.iter().any(is_held) {
            return Err(entry.refused(Reason::Reentrant));
        }
        let (number, seat) = (self.number(), Arc::clone(&entry.seat));
        self.asks.extend(entry.ask(number, now));
        self.entries.insert(number, entry);
        Ok((number, seat))
    }

    /// The owner of a request does not want it any longer, or has left.
    pub(crate) fn leave(&mut self, number: u32) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.asks.extend(match entry.stage {
            Stage::Waiting(_) => Some(Ask::Cancel { number }),
            Stage::Inside(_) | Stage::Expiring(_) | Stage::Stopping => Some(Ask::Release { number }),
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
    pub(crate) fn question(&mut self, ask: impl FnOnce(u32) -> Ask, gives_up: Ticks) -> (u32, Arc<Answer>) {
        let number = self.number();
        let (ask, answer) = (ask(number), Watched::new(None));
        self.asks.push(ask.clone());
        self.questions.insert(number, Question { ask, answer: Arc::clone(&answer), gives_up });
        (number, answer)
    }

    /// Nobody wants to know that any more.
    pub(crate) fn forget(&mut self, number: u32) {
        self.questions.remove(&number);
    }

    /// A number that nothing else has; after four thousand million of them they come again.
    fn number(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.entries.contains_key(&self.last) && !self.questions.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    /// The daemon said something.
    ///
    /// # Errors
    /// If no daemon can say that now.
    pub(crate) fn on_told(&mut self, told: Told, now: Ticks) -> Result<(), Error> {
        match told {
            Told::Welcome { .. } => Err(Error::Strange(Strange::SecondWelcome)),
            Told::Goodbye { sentence } => Err(Error::TurnedAway(sentence)),
            // An answer that came after all to a question that was asked again.
            Told::Clock { .. } => Ok(()),
            Told::Granted { number, fences, until } => self.on_granted(number, fences, until, now),
            Told::Renewed { number, until } => {
                self.on_renewed(number, until, now);
                Ok(())
            }
            Told::Lost { number, why } => {
                let stage = self.entries.get(&number).map(|entry| entry.stage);
                if matches!(stage, Some(Stage::Inside(_) | Stage::Expiring(_))) {
                    self.stop(number, Lost::Told(why));
                }
                Ok(())
            }
            Told::Freed { number } => self.on_freed(number),
            Told::Refused { number, why } => self.on_refused(number, why),
            Told::Wanted { number, section } => {
                self.on_wanted(number, section);
                Ok(())
            }
            Told::Status { number, status } => {
                self.answer(number, Ok(Reply::Status(status)));
                Ok(())
            }
            Told::Done { number, sentence } => {
                self.answer(number, Ok(Reply::Done(sentence)));
                Ok(())
            }
            Told::Failed { number, sentence } => {
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
            // It was given up while the word was under way.
            self.asks.push(Ask::Release { number });
            return Ok(());
        };
        let fences = in_order(&entry.request.names, &fences);
        let (Stage::Waiting(_), Some(fences)) = (entry.stage, fences) else {
            return Err(Error::Strange(Strange::Grant));
        };
        // A command's watcher that was stopped may find its renewals right behind the grant, so its deadline is looked at later.
        if until <= now && self.policy.holder == Holder::Program {
            // Nobody was inside, so that nobody has to stop.
            self.stop(number, Lost::Deadline);
            self.leave(number);
            return Ok(());
        }
        entry.stage = Stage::Inside(until);
        self.woken.extend(entry.seat.enter(fences, until));
        if entry.request.ttl.is_some() {
            self.give_sign(now);
        }
        Ok(())
    }

    /// A renewal that is read at the deadline or after it comes too late for a program, which may know that it has lost. For a command
    /// it counts, as the daemon sent it in time: the command has run on, and the lock was never free.
    fn on_renewed(&mut self, number: u32, until: Ticks, now: Ticks) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        let Stage::Inside(_) = entry.stage else { return };
        let is_renewed = match self.policy.holder {
            Holder::Program => entry.seat.renew(until, now),
            Holder::Command => {
                entry.seat.extend(until);
                true
            }
        };
        if is_renewed {
            entry.stage = Stage::Inside(until);
        } else {
            self.stop(number, Lost::Deadline);
        }
    }

    /// The daemon has taken what was lost: there is nothing to leave any more.
    fn on_freed(&mut self, number: u32) -> Result<(), Error> {
        match self.entries.get(&number).map(|entry| entry.stage) {
            Some(Stage::Waiting(_)) => Err(Error::Strange(Strange::Freed)),
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
        self.asks.push(Ask::Alive);
    }

    /// When the next sign of life is due, if anybody inside has a time-to-live: a third of the shortest after the last one.
    fn sign_due(&self) -> Option<Ticks> {
        let is_inside = |entry: &&Entry| matches!(entry.stage, Stage::Inside(_));
        let ttls = self.entries.values().filter(is_inside).filter_map(|entry| entry.request.ttl);
        ttls.min().map(|ttl| later(self.signed, ttl / 3))
    }

    fn on_refused(&mut self, number: u32, why: Reason) -> Result<(), Error> {
        let Some(entry) = self.entries.get(&number) else { return Ok(()) };
        if !matches!(entry.stage, Stage::Waiting(_)) {
            return Err(Error::Strange(Strange::Refused));
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
            self.woken.extend(entry.seat.course.change(|course| {
                course.wanted.insert(section);
            }));
        }
    }

    /// The connection is gone. Requests that wait fail, or wait for the next one; those that are inside are lost, or held until their
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

    /// No daemon has come for too long: nothing waits any longer, whether it persists or not.
    pub(crate) fn give_up(&mut self, error: &Error) {
        for (number, stage, _) in self.stages() {
            if matches!(stage, Stage::Waiting(_)) {
                self.fail(number, error.clone());
            }
        }
    }

    /// Time has passed.
    pub(crate) fn on_time(&mut self, now: Ticks, is_connected: bool) {
        for (number, stage, _) in self.stages() {
            let is_due = |entry: &&Entry| entry.due(self.policy.grace).is_some_and(|due| due <= now);
            let Some(entry) = self.entries.get(&number).filter(is_due) else { continue };
            match stage {
                Stage::Waiting(_) => {
                    let late = if is_connected { Error::Silent } else { entry.refused(Reason::TimedOut) };
                    self.woken.extend(entry.seat.end(LockState::Refused(late)));
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

    /// When time has to be looked at again.
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
    pub(crate) fn on_welcome(&mut self, introduction: Option<Ask>, now: Ticks) {
        let questions = self.questions.iter().map(|(number, question)| (*number, question.ask.clone()));
        let locks =
            self.entries.iter().filter_map(|(number, entry)| Some((*number, entry.ask(*number, now)?)));
        let asks: BTreeMap<u32, Ask> = questions.chain(locks).collect();
        self.asks = introduction.into_iter().chain(asks.into_values()).collect();
    }

    /// Something is to be sent that nobody waits for.
    pub(crate) fn tell(&mut self, ask: Ask) {
        self.asks.push(ask);
    }

    /// Whether anything is to be sent.
    pub(crate) fn has_asks(&self) -> bool {
        !self.asks.is_empty()
    }

    /// What is to be sent, in this order.
    pub(crate) fn take_asks(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.asks)
    }

    /// Who is to be woken, when no lock is held.
    pub(crate) fn take_woken(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.woken)
    }

    fn stages(&self) -> Vec<(u32, Stage, bool)> {
        self.entries.iter().map(|(number, entry)| (*number, entry.stage, entry.request.persists)).collect()
    }

    /// The daemon of a request that is inside, or has to stop, is gone.
    fn orphan(&mut self, number: u32) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.stage = Stage::Orphaned(match entry.stage {
            Stage::Inside(until) | Stage::Expiring(until) => Some(until),
            Stage::Waiting(_) | Stage::Stopping | Stage::Orphaned(_) => None,
        });
    }

    /// The owner of a request that is inside must stop. It says that it has by leaving.
    fn stop(&mut self, number: u32, lost: Lost) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.stage = Stage::Stopping;
        self.woken.extend(entry.seat.end(LockState::Lost(lost)));
    }

    fn fail(&mut self, number: u32, error: Error) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.woken.extend(entry.seat.end(LockState::Refused(error)));
    }

    fn answer(&mut self, number: u32, reply: Result<Reply, Error>) {
        let Some(question) = self.questions.remove(&number) else { return };
        self.woken.extend(question.answer.change(|answer| *answer = Some(reply)));
    }
}

fn has_twice(names: &[SectionName]) -> bool {
    names.iter().enumerate().any(|(place, name)| names[..place].contains(name))
}

/// The fences of these sections in the order in which they were asked for, if these are all and no others.
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

    fn granted(number: u32, section: &str, until: u64) -> Told {
        Told::Granted { number, fences: vec![(name(section), Fence(7))], until: Ticks(until) }
    }

    fn state(seat: &Seat) -> LockState {
        seat.course.look(|course| course.state.clone())
    }

    #[test]
    fn a_request_gives_a_silent_daemon_up_some_time_after_its_patience() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(request(&["a"], Some(2)), Ticks(SECOND)).expect("it is free");
        assert_eq!(ledger.due(), Some(Ticks(6 * SECOND)));
        ledger.on_time(Ticks(6 * SECOND - 1), true);
        assert_eq!(state(&seat), LockState::Waiting);
        ledger.take_asks();
        ledger.on_time(Ticks(6 * SECOND), true);
        assert_eq!(state(&seat), LockState::Refused(Error::Silent));
        assert_eq!(ledger.take_asks(), [Ask::Cancel { number }]);
        assert_eq!(ledger.due(), None);
    }

    #[test]
    fn a_grant_whose_deadline_has_passed_is_none() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
        ledger.take_asks();
        ledger.on_told(granted(number, "a", 5), Ticks(5)).expect("a daemon says this");
        assert_eq!(state(&seat), LockState::Lost(Lost::Deadline));
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
    }

    #[test]
    fn a_renewal_that_comes_at_the_deadline_comes_too_late() {
        let start = clock::now().0;
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(request(&["a"], None), Ticks(start)).expect("it is free");
        ledger.take_asks();
        let until = start + 3_600 * SECOND;
        ledger.on_told(granted(number, "a", until), Ticks(start)).expect("a daemon says this");
        let renewed = |until| Told::Renewed { number, until: Ticks(until) };
        ledger.on_told(renewed(until + SECOND), Ticks(until - 1)).expect("a daemon says this");
        assert_eq!(ledger.due(), Some(Ticks(until + SECOND)));
        ledger.on_told(renewed(until + 9 * SECOND), Ticks(until + SECOND)).expect("a daemon says this");
        assert_eq!(state(&seat), LockState::Lost(Lost::Deadline));
        assert_eq!(ledger.take_asks(), [], "the program may not have stopped yet");
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
    }

    #[test]
    fn a_lost_lock_is_released_when_its_owner_leaves_and_not_at_the_deadline() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(request(&["a", "b"], None), Ticks(0)).expect("it is free");
        let fences = vec![(name("b"), Fence(2)), (name("a"), Fence(1))];
        let granted = Told::Granted { number, fences, until: Ticks(9) };
        ledger.on_told(granted, Ticks(1)).expect("a daemon says this");
        assert_eq!(state(&seat), LockState::Held(vec![(name("a"), Fence(1)), (name("b"), Fence(2))]));
        ledger.take_asks();
        ledger.on_told(Told::Lost { number, why: Loss::Leaving }, Ticks(2)).expect("a daemon says this");
        assert_eq!(state(&seat), LockState::Lost(Lost::Told(Loss::Leaving)));
        let renewed = Told::Renewed { number, until: Ticks(99) };
        ledger.on_told(renewed, Ticks(3)).expect("a daemon says this");
        assert!(!seat.is_valid(), "no later word revives it");
        ledger.on_time(Ticks(9), true);
        assert_eq!((ledger.take_asks(), ledger.due()), (vec![], None));
        assert!(
            ledger.enter(request(&["b"], None), Ticks(9)).is_err(),
            "it has not said yet that it stopped"
        );
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
        assert_eq!(state(&seat), LockState::Lost(Lost::Told(Loss::Leaving)));
        assert!(ledger.enter(request(&["b"], None), Ticks(9)).is_ok());
    }

    #[test]
    fn what_the_daemon_has_freed_is_not_left_any_more_and_can_be_entered_again() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
        let freed = || Told::Freed { number };
        assert!(ledger.on_told(freed(), Ticks(0)).is_err(), "nothing was granted");
        ledger.on_told(granted(number, "a", 9), Ticks(1)).expect("a daemon says this");
        ledger.take_asks();
        ledger.on_time(Ticks(9), true);
        assert_eq!(state(&seat), LockState::Lost(Lost::Deadline));
        ledger.on_told(freed(), Ticks(10)).expect("a daemon says this");
        ledger.on_told(freed(), Ticks(10)).expect("nothing is known of it any more");
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), []);
        assert!(ledger.enter(request(&["a"], None), Ticks(10)).is_ok());
    }

    #[test]
    fn a_sign_of_life_is_given_at_the_entry_and_every_third_of_the_shortest_ttl() {
        let mut ledger = Ledger::default();
        let with =
            |names, seconds| LockRequest { ttl: Some(Duration::from_secs(seconds)), ..request(names, None) };
        let (slow, _) = ledger.enter(with(&["slow"], 9), Ticks(0)).expect("it is free");
        let (quick, _) = ledger.enter(with(&["quick"], 6), Ticks(0)).expect("it is free");
        ledger.take_asks();
        assert_eq!(ledger.due(), None, "nobody who waits gives signs");
        ledger.on_told(granted(slow, "slow", 60 * SECOND), Ticks(SECOND)).expect("a daemon says this");
        assert_eq!((ledger.take_asks(), ledger.due()), (vec![Ask::Alive], Some(Ticks(4 * SECOND))));
        ledger.on_told(granted(quick, "quick", 60 * SECOND), Ticks(2 * SECOND)).expect("a daemon says this");
        assert_eq!((ledger.take_asks(), ledger.due()), (vec![Ask::Alive], Some(Ticks(4 * SECOND))));
        ledger.on_time(Ticks(4 * SECOND - 1), true);
        assert_eq!(ledger.take_asks(), []);
        ledger.on_time(Ticks(5 * SECOND), true);
        assert_eq!((ledger.take_asks(), ledger.due()), (vec![Ask::Alive], Some(Ticks(7 * SECOND))));
        let lost = Told::Lost { number: quick, why: Loss::Silent };
        ledger.on_told(lost, Ticks(6 * SECOND)).expect("a daemon says this");
        assert_eq!(ledger.due(), Some(Ticks(8 * SECOND)), "only the slow one is left");
        ledger.leave(slow);
        assert_eq!(ledger.due(), None);
    }

    #[test]
    fn a_new_daemon_is_asked_again_for_what_was_waited_for_and_never_for_what_was_held() {
        let mut ledger = Ledger::default();
        let (held, seat) = ledger.enter(request(&["held"], None), Ticks(0)).expect("it is free");
        ledger.on_told(granted(held, "held", 99 * SECOND), Ticks(0)).expect("a daemon says this");
        let (waits, _) = ledger.enter(request(&["waits"], Some(10)), Ticks(0)).expect("it is free");
        ledger.on_gone(&Error::Gone, true);
        assert_eq!(state(&seat), LockState::Lost(Lost::Daemon));
        assert_eq!(ledger.take_asks(), []);
        ledger.on_welcome(None, Ticks(4 * SECOND));
        let [Ask::Lock { number, names, patience, .. }] = &ledger.take_asks()[..] else {
            panic!("it is asked for one thing")
        };
        assert_eq!((*number, patience), (waits, &Some(Ticks(6 * SECOND))), "it has waited four seconds");
        assert_eq!(names, &[name("waits")]);
    }

    #[test]
    fn numbers_come_again_after_the_last_but_none_that_is_in_use() {
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
    fn a_command_keeps_what_was_renewed_while_its_watcher_was_stopped() {
        let mut ledger = watching();
        let (number, seat) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
        // All of this is read at once, long after it was said.
        let now = Ticks(90);
        ledger.on_told(granted(number, "a", 10), now).expect("a daemon says this");
        for until in [20, 30, 100] {
            ledger.on_told(Told::Renewed { number, until: Ticks(until) }, now).expect("a daemon says this");
        }
        ledger.on_time(now, true);
        assert!(matches!(state(&seat), LockState::Held(_)));
        assert_eq!(ledger.due(), Some(Ticks(100)));
        ledger.on_time(Ticks(100), true);
        assert_eq!(state(&seat), LockState::Lost(Lost::Deadline));
        let late = Told::Renewed { number, until: Ticks(200) };
        ledger.on_told(late, Ticks(101)).expect("a daemon says this");
        assert_eq!(
            (state(&seat), ledger.due()),
            (LockState::Lost(Lost::Deadline), None),
            "it was seen to pass"
        );
    }

    #[test]
    fn a_command_whose_daemon_is_gone_is_inside_until_its_deadline() {
        let mut ledger = watching();
        let (number, seat) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
        ledger.on_told(granted(number, "a", 9), Ticks(1)).expect("a daemon says this");
        ledger.on_gone(&Error::Gone, true);
        ledger.on_gone(&Error::Gone, true);
        assert!(matches!(state(&seat), LockState::Held(_)) && ledger.has_orphans());
        ledger.on_welcome(None, Ticks(2));
        assert_eq!(ledger.take_asks(), [], "another daemon knows nothing of it");
        ledger.on_time(Ticks(9), true);
        assert_eq!((state(&seat), ledger.due()), (LockState::Lost(Lost::Deadline), None));
        assert!(ledger.has_orphans(), "it may not have stopped yet");
        ledger.leave(number);
        assert_eq!((ledger.take_asks(), ledger.has_orphans()), (vec![], false));
    }

    #[test]
    fn a_lock_that_is_let_expire_is_not_renewed_but_can_be_lost_earlier() {
        let mut ledger = Ledger::default();
        let mortal = LockRequest { ttl: Some(Duration::from_secs(3)), ..request(&["a"], None) };
        let (number, seat) = ledger.enter(mortal, Ticks(0)).expect("it is free");
        ledger.on_told(granted(number, "a", 3 * SECOND), Ticks(0)).expect("a daemon says this");
        assert_eq!(ledger.due(), Some(Ticks(SECOND)), "a sign of life");
        ledger.let_expire(number);
        assert_eq!(ledger.due(), Some(Ticks(3 * SECOND)));
        let renewed = Told::Renewed { number, until: Ticks(9 * SECOND) };
        ledger.on_told(renewed, Ticks(SECOND)).expect("a daemon says this");
        assert_eq!(ledger.due(), Some(Ticks(3 * SECOND)));
        ledger.on_told(Told::Lost { number, why: Loss::LeftOut }, Ticks(SECOND)).expect("a daemon says this");
        assert_eq!(state(&seat), LockState::Lost(Lost::Told(Loss::LeftOut)));
        ledger.take_asks();
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
    }

    #[test]
    fn a_daemon_that_is_leaving_is_as_good_as_gone_where_that_is_wanted() {
        for (mut ledger, expected) in [(Ledger::default(), Ok(())), (watching(), Err(Error::Gone))] {
            let (number, seat) = ledger.enter(request(&["a"], None), Ticks(0)).expect("it is free");
            let told = ledger.on_told(Told::Refused { number, why: Reason::Leaving }, Ticks(1));
            assert_eq!(told, expected);
            assert_eq!(state(&seat) == LockState::Waiting, expected.is_err());
            ledger.give_up(&Error::Gone);
            assert!(matches!(state(&seat), LockState::Refused(_)));
        }
    }
}
