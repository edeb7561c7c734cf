//! All that a client has asked for: a state machine that is told what the daemon says and what time it is.
//!
//! It has no socket and no clock. What it wants to be sent is in [`Ledger::take_asks`], who is to be woken in
//! [`Ledger::take_woken`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_node::Reason;

use crate::clock;
use crate::error::{Error, Lost};
use crate::protocol::{Ask, Status, Told};
use crate::seat::{Outcome, Seat};
use crate::watched::Watched;

/// How much longer than its patience a request waits for a daemon that does not answer.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// What somebody asks for.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) names: Vec<SectionName>,
    pub(crate) patience: Option<Duration>,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) tell_if_wanted: bool,
    /// Whether it is asked again if the daemon goes away before it answers.
    pub(crate) persists: bool,
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
    plan: Plan,
    stage: Stage,
}

/// How far an entry has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits since then.
    Waiting(Ticks),
    /// It is inside until then.
    Inside(Ticks),
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
    fn due(&self) -> Option<Ticks> {
        match self.stage {
            Stage::Waiting(since) => self.plan.patience.map(|span| later(since, span.saturating_add(GRACE))),
            Stage::Inside(until) => Some(until),
            Stage::Stopping => None,
        }
    }

    fn ask(&self, number: u32, now: Ticks) -> Ask {
        let waited = match self.stage {
            Stage::Waiting(since) => clock::span(Ticks(now.0.saturating_sub(since.0))),
            Stage::Inside(_) | Stage::Stopping => Duration::ZERO,
        };
        Ask::Lock {
            number,
            names: self.plan.names.clone(),
            patience: self.plan.patience.map(|span| clock::ticks(span.saturating_sub(waited))),
            max_hold: self.plan.max_hold.map(clock::ticks),
            ttl: self.plan.ttl.map(clock::ticks),
            tell_if_wanted: self.plan.tell_if_wanted,
        }
    }

    fn refused(&self, why: Reason) -> Error {
        Error::Refused { names: self.plan.names.clone(), why }
    }
}

fn later(moment: Ticks, span: Duration) -> Ticks {
    Ticks(moment.0.saturating_add(clock::ticks(span).0))
}

impl Ledger {
    /// Somebody wants into sections.
    pub(crate) fn enter(&mut self, plan: Plan, now: Ticks) -> Result<(u32, Arc<Seat>), Error> {
        let entry = Entry { seat: Seat::new(), plan, stage: Stage::Waiting(now) };
        let is_held = |name| self.entries.values().any(|other| other.plan.names.contains(name));
        if entry.plan.names.iter().any(is_held) {
            return Err(entry.refused(Reason::Reentrant));
        }
        let (number, seat) = (self.number(), Arc::clone(&entry.seat));
        self.asks.push(entry.ask(number, now));
        self.entries.insert(number, entry);
        Ok((number, seat))
    }

    /// Whoever asked wants it no more, or has left.
    pub(crate) fn leave(&mut self, number: u32) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.asks.push(match entry.stage {
            Stage::Waiting(_) => Ask::Cancel { number },
            Stage::Inside(_) | Stage::Stopping => Ask::Release { number },
        });
    }

    /// Somebody wants to know something, or have something done.
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
            Told::Welcome { .. } => Err(Error::Strange("it says welcome twice".to_owned())),
            Told::Goodbye { sentence } => Err(Error::TurnedAway(sentence)),
            // An answer that came after all to a question that was asked again.
            Told::Clock { .. } => Ok(()),
            Told::Granted { number, fences, until } => self.on_granted(number, fences, until, now),
            Told::Renewed { number, until } => {
                self.on_renewed(number, until, now);
                Ok(())
            }
            Told::Lost { number, why } => {
                if let Some(Stage::Inside(_)) = self.entries.get(&number).map(|entry| entry.stage) {
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
        let fences = in_order(&entry.plan.names, &fences);
        let (Stage::Waiting(_), Some(fences)) = (entry.stage, fences) else {
            return Err(Error::Strange("it grants what was not asked for".to_owned()));
        };
        if until <= now {
            // Nobody was inside, so that nobody has to stop.
            self.stop(number, Lost::Deadline);
            self.leave(number);
            return Ok(());
        }
        entry.stage = Stage::Inside(until);
        self.woken.extend(entry.seat.enter(fences, until));
        if entry.plan.ttl.is_some() {
            self.give_sign(now);
        }
        Ok(())
    }

    /// A word that comes at the deadline or after it comes too late.
    fn on_renewed(&mut self, number: u32, until: Ticks, now: Ticks) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        let Stage::Inside(_) = entry.stage else { return };
        if entry.seat.renew(until, now) {
            entry.stage = Stage::Inside(until);
        } else {
            self.stop(number, Lost::Deadline);
        }
    }

    /// The daemon has taken what was lost: there is nothing to leave any more.
    fn on_freed(&mut self, number: u32) -> Result<(), Error> {
        match self.entries.get(&number).map(|entry| entry.stage) {
            Some(Stage::Waiting(_)) => Err(Error::Strange("it frees what it has not granted".to_owned())),
            Some(Stage::Inside(_) | Stage::Stopping) => {
                self.stop(number, Lost::Deadline);
                self.entries.remove(&number);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn give_sign(&mut self, now: Ticks) {
        self.signed = now;
        self.asks.push(Ask::Alive);
    }

    /// When the next sign of life is due, if anybody inside has a time-to-live: a third of the shortest after the last one.
    fn sign_due(&self) -> Option<Ticks> {
        let is_inside = |entry: &&Entry| matches!(entry.stage, Stage::Inside(_));
        let ttls = self.entries.values().filter(is_inside).filter_map(|entry| entry.plan.ttl);
        ttls.min().map(|ttl| later(self.signed, ttl / 3))
    }

    fn on_refused(&mut self, number: u32, why: Reason) -> Result<(), Error> {
        let Some(entry) = self.entries.get(&number) else { return Ok(()) };
        if !matches!(entry.stage, Stage::Waiting(_)) {
            return Err(Error::Strange("it refuses what it has granted".to_owned()));
        }
        let error = entry.refused(why);
        self.fail(number, error);
        Ok(())
    }

    fn on_wanted(&mut self, number: u32, section: SectionName) {
        let Some(entry) = self.entries.get(&number) else { return };
        if entry.plan.names.contains(&section) {
            self.woken.extend(entry.seat.course.change(|course| {
                course.wanted.insert(section);
            }));
        }
    }

    /// The connection is gone: nobody is inside any more, and who waits does so no longer or for the next one.
    pub(crate) fn on_gone(&mut self, error: &Error, comes_back: bool) {
        for (number, stage, persists) in self.stages() {
            match stage {
                Stage::Waiting(_) if persists && comes_back => {}
                Stage::Waiting(_) => self.fail(number, error.clone()),
                Stage::Inside(_) | Stage::Stopping => {
                    self.stop(number, Lost::Daemon);
                    self.entries.remove(&number);
                }
            }
        }
        for number in self.questions.keys().copied().collect::<Vec<_>>() {
            self.answer(number, Err(error.clone()));
        }
        self.asks.clear();
    }

    /// Time has passed.
    pub(crate) fn on_time(&mut self, now: Ticks, is_connected: bool) {
        for (number, stage, _) in self.stages() {
            let Some(entry) =
                self.entries.get(&number).filter(|entry| entry.due().is_some_and(|due| due <= now))
            else {
                continue;
            };
            match stage {
                Stage::Waiting(_) => {
                    let late = if is_connected { Error::Silent } else { entry.refused(Reason::TimedOut) };
                    self.woken.extend(entry.seat.end(Outcome::Refused(late)));
                    self.leave(number);
                }
                Stage::Inside(_) | Stage::Stopping => self.stop(number, Lost::Deadline),
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
        let entries = self.entries.values().filter_map(Entry::due);
        let questions = self.questions.values().map(|question| question.gives_up);
        entries.chain(questions).chain(self.sign_due()).min()
    }

    /// Whether anything waits for the daemon.
    pub(crate) fn is_waiting(&self) -> bool {
        let is_waiting = |entry: &Entry| matches!(entry.stage, Stage::Waiting(_));
        !self.questions.is_empty() || self.entries.values().any(is_waiting)
    }

    /// All that a new daemon has to be asked.
    pub(crate) fn ask_again(&mut self, now: Ticks) {
        self.asks = self.questions.values().map(|question| question.ask.clone()).collect();
        self.asks.extend(self.entries.iter().map(|(number, entry)| entry.ask(*number, now)));
    }

    /// Something is to be sent before everything else.
    pub(crate) fn ask_first(&mut self, ask: Option<Ask>) {
        self.asks.splice(..0, ask);
    }

    /// Something is to be sent that nobody waits for.
    pub(crate) fn tell(&mut self, ask: Ask) {
        self.asks.push(ask);
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
        self.entries.iter().map(|(number, entry)| (*number, entry.stage, entry.plan.persists)).collect()
    }

    /// Whoever is inside must stop. That it did it says by leaving.
    fn stop(&mut self, number: u32, lost: Lost) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.stage = Stage::Stopping;
        self.woken.extend(entry.seat.end(Outcome::Lost(lost)));
    }

    fn fail(&mut self, number: u32, error: Error) {
        let Some(entry) = self.entries.remove(&number) else { return };
        self.woken.extend(entry.seat.end(Outcome::Refused(error)));
    }

    fn answer(&mut self, number: u32, reply: Result<Reply, Error>) {
        let Some(question) = self.questions.remove(&number) else { return };
        self.woken.extend(question.answer.change(|answer| *answer = Some(reply)));
    }
}

/// The fences of these sections in the order in which they were asked for, if these are all and no others.
fn in_order(names: &[SectionName], fences: &[(SectionName, Fence)]) -> Option<Vec<(SectionName, Fence)>> {
    let find = |name: &SectionName| fences.iter().find(|(other, _)| other == name).cloned();
    let found: Option<Vec<_>> = names.iter().map(find).collect();
    found.filter(|found| found.len() == fences.len() && !found.is_empty())
}

#[cfg(test)]
mod tests {
    use doorway_node::Loss;

    use super::*;

    const SECOND: u64 = 1_000_000;

    fn name(name: &str) -> SectionName {
        SectionName::new(name).expect("a good name")
    }

    fn plan(names: &[&str], patience: Option<u64>) -> Plan {
        Plan {
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

    fn outcome(seat: &Seat) -> Outcome {
        seat.course.look(|course| course.outcome.clone())
    }

    #[test]
    fn a_request_gives_a_silent_daemon_up_some_time_after_its_patience() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(plan(&["a"], Some(2)), Ticks(SECOND)).expect("it is free");
        assert_eq!(ledger.due(), Some(Ticks(6 * SECOND)));
        ledger.on_time(Ticks(6 * SECOND - 1), true);
        assert_eq!(outcome(&seat), Outcome::Waiting);
        ledger.take_asks();
        ledger.on_time(Ticks(6 * SECOND), true);
        assert_eq!(outcome(&seat), Outcome::Refused(Error::Silent));
        assert_eq!(ledger.take_asks(), [Ask::Cancel { number }]);
        assert_eq!(ledger.due(), None);
    }

    #[test]
    fn a_grant_whose_deadline_has_passed_is_none() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(plan(&["a"], None), Ticks(0)).expect("it is free");
        ledger.take_asks();
        ledger.on_told(granted(number, "a", 5), Ticks(5)).expect("a daemon says this");
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Deadline));
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
    }

    #[test]
    fn a_renewal_that_comes_at_the_deadline_comes_too_late() {
        let start = clock::now().0;
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(plan(&["a"], None), Ticks(start)).expect("it is free");
        ledger.take_asks();
        let until = start + 3_600 * SECOND;
        ledger.on_told(granted(number, "a", until), Ticks(start)).expect("a daemon says this");
        let renewed = |until| Told::Renewed { number, until: Ticks(until) };
        ledger.on_told(renewed(until + SECOND), Ticks(until - 1)).expect("a daemon says this");
        assert_eq!(ledger.due(), Some(Ticks(until + SECOND)));
        ledger.on_told(renewed(until + 9 * SECOND), Ticks(until + SECOND)).expect("a daemon says this");
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Deadline));
        assert_eq!(ledger.take_asks(), [], "the program may not have stopped yet");
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
    }

    #[test]
    fn a_lost_lock_is_released_when_its_owner_leaves_and_not_at_the_deadline() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(plan(&["a", "b"], None), Ticks(0)).expect("it is free");
        let fences = vec![(name("b"), Fence(2)), (name("a"), Fence(1))];
        let granted = Told::Granted { number, fences, until: Ticks(9) };
        ledger.on_told(granted, Ticks(1)).expect("a daemon says this");
        assert_eq!(outcome(&seat), Outcome::Inside(vec![(name("a"), Fence(1)), (name("b"), Fence(2))]));
        ledger.take_asks();
        ledger.on_told(Told::Lost { number, why: Loss::Leaving }, Ticks(2)).expect("a daemon says this");
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Told(Loss::Leaving)));
        let renewed = Told::Renewed { number, until: Ticks(99) };
        ledger.on_told(renewed, Ticks(3)).expect("a daemon says this");
        assert!(!seat.is_valid(), "no later word revives it");
        ledger.on_time(Ticks(9), true);
        assert_eq!((ledger.take_asks(), ledger.due()), (vec![], None));
        assert!(ledger.enter(plan(&["b"], None), Ticks(9)).is_err(), "it has not said yet that it stopped");
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), [Ask::Release { number }]);
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Told(Loss::Leaving)));
        assert!(ledger.enter(plan(&["b"], None), Ticks(9)).is_ok());
    }

    #[test]
    fn what_the_daemon_has_freed_is_not_left_any_more_and_can_be_entered_again() {
        let mut ledger = Ledger::default();
        let (number, seat) = ledger.enter(plan(&["a"], None), Ticks(0)).expect("it is free");
        let freed = || Told::Freed { number };
        assert!(ledger.on_told(freed(), Ticks(0)).is_err(), "nothing was granted");
        ledger.on_told(granted(number, "a", 9), Ticks(1)).expect("a daemon says this");
        ledger.take_asks();
        ledger.on_time(Ticks(9), true);
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Deadline));
        ledger.on_told(freed(), Ticks(10)).expect("a daemon says this");
        ledger.on_told(freed(), Ticks(10)).expect("nothing is known of it any more");
        ledger.leave(number);
        assert_eq!(ledger.take_asks(), []);
        assert!(ledger.enter(plan(&["a"], None), Ticks(10)).is_ok());
    }

    #[test]
    fn a_sign_of_life_is_given_at_the_entry_and_every_third_of_the_shortest_ttl() {
        let mut ledger = Ledger::default();
        let with = |names, seconds| Plan { ttl: Some(Duration::from_secs(seconds)), ..plan(names, None) };
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
        let (held, seat) = ledger.enter(plan(&["held"], None), Ticks(0)).expect("it is free");
        ledger.on_told(granted(held, "held", 99 * SECOND), Ticks(0)).expect("a daemon says this");
        let (waits, _) = ledger.enter(plan(&["waits"], Some(10)), Ticks(0)).expect("it is free");
        ledger.on_gone(&Error::Gone, true);
        assert_eq!(outcome(&seat), Outcome::Lost(Lost::Daemon));
        assert_eq!(ledger.take_asks(), []);
        ledger.ask_again(Ticks(4 * SECOND));
        let [Ask::Lock { number, names, patience, .. }] = &ledger.take_asks()[..] else {
            panic!("it is asked for one thing")
        };
        assert_eq!((*number, patience), (waits, &Some(Ticks(6 * SECOND))), "it has waited four seconds");
        assert_eq!(names, &[name("waits")]);
    }

    #[test]
    fn numbers_come_again_after_the_last_but_none_that_is_in_use() {
        let mut ledger = Ledger::default();
        let (first, _) = ledger.enter(plan(&["a"], None), Ticks(0)).expect("it is free");
        ledger.last = u32::MAX;
        let (zero, _) = ledger.enter(plan(&["b"], None), Ticks(0)).expect("it is free");
        let (second, _) = ledger.enter(plan(&["c"], None), Ticks(0)).expect("it is free");
        assert_eq!((first, zero, second), (1, 0, 2));
    }
}
