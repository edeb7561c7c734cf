//! The state machine of a client: all its requests and questions. Its inputs are the daemon's messages and the time.
//!
//! It has no socket and no clock: [`crate::session`] has both. Its outputs are the messages of [`Ledger::take_asks`] and the wakers of
//! [`Ledger::take_woken`].

mod entry;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{ClientMsg, DaemonMsg, MOST_NAMES, Reason, Status};

use crate::error::{Error, Incompatible, Lost};
use crate::lock_cell::{LockCell, LockState};
use crate::policy::{Holder, Policy};
use crate::watched::Watched;

pub use self::entry::LockRequest;
pub(crate) use self::entry::later;
use self::entry::{Entry, Stage};

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

struct Question {
    ask: ClientMsg,
    answer: Arc<PendingReply>,
    gives_up: Ticks,
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

    /// Whether a request is still inside although its daemon is gone.
    pub(crate) fn has_orphans(&self) -> bool {
        self.entries.values().any(|entry| matches!(entry.stage, Stage::Orphaned(_)))
    }

    /// A new daemon has said welcome: introduces the client and sends all waiting requests, in the order of their numbers.
    /// Messages queued before are dropped: they are about requests that this daemon has never seen.
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
mod tests;
