//! From the request to the grant.
//!
//! A daemon that is restarted meanwhile is no failure: the session asks the next one until --wait is over.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use doorway_client::backoff::Backoff;
use doorway_client::session::{Acquisition, Holder, LockRequest, LockState, Policy, Session, StatusQuestion};
use doorway_client::{Error, clock, sockets};
use doorway_core::{Fence, Refusal, SectionName, Ticks};
use doorway_protocol::{ClientStatus, Reason, Status};
use nix::sys::signal::Signal;

use super::{
    Arguments, Ending, Grant, NOT_IN_TIME, OWN_FAILURE, Voice, label, listed, margin_too_long, patience,
};
use crate::line::{dial, sentence, silent};
use crate::status::spoken;
use crate::wakeups::Wakeups;

/// How long after its own timeout a request still waits for the daemon to report the timeout and its cause.
const GRACE: Duration = Duration::from_millis(500);
/// How long a user at a terminal waits before being told who holds the lock, and how long the answer may take.
const SILENCE: Ticks = Ticks(1_000_000);
const ANSWER: Ticks = Ticks(60_000_000);
/// How often to look for a daemon that has ended or grants no locks, and how long to wait for the next one.
const RETRY: Duration = Duration::from_millis(200);
const RETURN: Duration = Duration::from_secs(60);

/// Waits for the grant.
pub(super) fn obtain(arguments: &Arguments, wakeups: &Wakeups, voice: &Voice<'_>) -> Result<Grant, Ending> {
    let now = clock::now();
    let path = users_socket(arguments)?;
    let dialed = path.clone();
    let mut session = Session::dialing(move || dial(&dialed), policy(arguments), now);
    session.introduce(&label(arguments));
    let lock = session.request(request(arguments), now).map_err(|error| Ending::failure(&error))?;
    let mut wait = Waiting {
        arguments,
        voice,
        path,
        session,
        lock,
        ends: patience(arguments).map(|patience| now + patience),
        asks_at: io::stderr().is_terminal().then_some(now + SILENCE),
        who_is_inside: None,
        why_not: None,
        turned_away: None,
    };
    loop {
        wait.session.drive(clock::now);
        if let Some(fences) = wait.look()? {
            let spare = wait.session.spare().unwrap_or_default();
            return Ok(Grant { session: wait.session, lock: wait.lock, fences, spare });
        }
        wait.ask_who_is_inside(clock::now());
        let slept = wait.sleep(wakeups);
        while let Some(signal) = wakeups.signal() {
            on_signal(signal)?;
        }
        slept.map_err(|error| Ending::failure(&error))?;
    }
}

/// How the session treats the daemon.
fn policy(arguments: &Arguments) -> Policy {
    Policy {
        grace: GRACE,
        backoff: Backoff::between(RETRY, RETRY),
        outage: Some(RETURN),
        outlasts_leaving: true,
        least_spare: arguments.margin.map_or(Ticks(0), |margin| clock::ticks(margin.0)),
        holder: Holder::Command,
    }
}

fn request(arguments: &Arguments) -> LockRequest {
    LockRequest {
        names: arguments.names.clone(),
        patience: patience(arguments).map(clock::span),
        max_hold: arguments.max_hold.map(|span| span.0),
        ttl: arguments.ttl.map(|span| span.0),
        tell_if_wanted: false,
        persists: true,
    }
}

/// The daemon's socket for lock users. Over the administrators' socket the command would inherit more rights than a lock.
fn users_socket(arguments: &Arguments) -> Result<PathBuf, Refusal> {
    let path = arguments.daemon.path()?;
    if sockets::is_admin_socket(&path) {
        return Err(Refusal::new(format!(
            "{} is for administrators, and the command would inherit the connection: take the socket for users of locks beside it",
            path.display()
        )));
    }
    Ok(path)
}

/// A signal to end while waiting ends this process, which closes the connection and so withdraws the request.
pub(super) fn on_signal(signal: Signal) -> Result<(), Ending> {
    match signal {
        Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP | Signal::SIGQUIT => {
            Err(Ending { code: 128 + signal as u8, sentence: None })
        }
        Signal::SIGTSTP => {
            let stopped =
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
            stopped.map_err(|error| Ending::failure(&error))
        }
        _ => Ok(()),
    }
}

struct Waiting<'a> {
    arguments: &'a Arguments,
    voice: &'a Voice<'a>,
    path: PathBuf,
    session: Session,
    lock: Acquisition,
    /// When --wait is over, if it was given.
    ends: Option<Ticks>,
    /// When to ask who holds the lock.
    asks_at: Option<Ticks>,
    who_is_inside: Option<StatusQuestion>,
    /// After the timeout: the question whether a holder, or the node itself, kept the lock from us.
    why_not: Option<StatusQuestion>,
    /// Why the last daemon turned this client away, if it said so.
    turned_away: Option<Refusal>,
}

impl Waiting<'_> {
    fn sleep(&self, wakeups: &Wakeups) -> io::Result<()> {
        let asks_at = self.asks_at.filter(|_| self.session.is_welcome());
        let alarm = self.session.due().into_iter().chain(asks_at).min();
        wakeups.sleep_for(&mut self.session.poll_fd().into_iter().collect(), alarm)
    }

    /// Checks the request: the fences, if it is granted.
    fn look(&mut self) -> Result<Option<Vec<(SectionName, Fence)>>, Ending> {
        match self.lock.state() {
            LockState::Waiting => {
                self.check_daemon()?;
                self.tell_who_is_inside();
                Ok(None)
            }
            LockState::Held(fences) => Ok(Some(fences)),
            // As soon as it was granted: then the command is not started.
            LockState::Lost(_) => Ok(Some(Vec::new())),
            LockState::Refused(error) => self.on_refused(&error).map(|()| None),
        }
    }

    /// Whether to keep waiting. A daemon that was there may be about to return; one with too many clients is tried again until
    /// --wait is over; and one that grants no locks may do so soon.
    fn check_daemon(&mut self) -> Result<(), Ending> {
        if self.session.is_welcome() {
            self.turned_away = None;
        }
        let Some(error) = self.session.fault() else { return Ok(()) };
        let was_welcome = self.session.spare().is_some();
        let why = sentence(&self.path, error);
        let waits_on = match error {
            Error::ShortLease { spare } => return Err(margin_too_long(self.arguments, *spare)),
            Error::TurnedAway(_) => {
                self.turned_away = Some(why.clone());
                self.arguments.wait.is_some()
            }
            Error::Silent => true,
            Error::Gone => was_welcome,
            Error::Unreachable(_) | Error::Forbidden(_) | Error::Bad(_) | Error::System(_) => {
                was_welcome || self.turned_away.is_some()
            }
            Error::Incompatible(_) | Error::Refused { .. } | Error::Lost(_) | Error::Failed(_) => false,
        };
        if waits_on { Ok(()) } else { Err(why.into()) }
    }

    /// The request has ended without a grant.
    fn on_refused(&mut self, error: &Error) -> Result<(), Ending> {
        if let Some(question) = &self.why_not {
            return question.answer().map_or(Ok(()), |answer| Err(self.too_late(answer.ok().as_ref())));
        }
        match error {
            Error::Refused { why: Reason::TimedOut, .. } if self.session.is_connected() => {
                self.ask_why_not();
                Ok(())
            }
            // The daemon said so and was gone at once: without it, the session gives up later than this.
            Error::Refused { why: Reason::TimedOut, .. } if !self.is_late() => Err(self.too_late(None)),
            Error::Refused { why, .. } if *why != Reason::TimedOut => {
                let names = listed(&self.arguments.names);
                Err(Ending::failure(&format_args!("{names} cannot be locked: {}", why.sentence())))
            }
            _ => Err(self.unanswered()),
        }
    }

    /// Whether the timeout was so long ago that no daemon is waited for.
    fn is_late(&self) -> bool {
        self.ends.is_some_and(|ends| ends + clock::ticks(GRACE) <= clock::now())
    }

    /// The daemon reports the timeout. Perhaps there was no holder, and the node could not grant locks: ask.
    fn ask_why_not(&mut self) {
        let now = clock::now();
        let section = self.arguments.names.first().cloned();
        self.why_not = Some(self.session.ask_status(section, false, now + clock::ticks(GRACE)));
        self.session.flush(now);
        self.asks_at = None;
    }

    /// No daemon has answered the request before the timeout, or within the time that a daemon may take.
    fn unanswered(&self) -> Ending {
        let known =
            self.session.fault().filter(|error| !matches!(error, Error::Silent | Error::TurnedAway(_)));
        let missing = known.map(|error| sentence(&self.path, error));
        let why = missing.or_else(|| self.turned_away.clone()).unwrap_or_else(|| silent(&self.path));
        Ending::with(if self.is_late() { NOT_IN_TIME } else { OWN_FAILURE }, why.to_string())
    }

    /// Asks once, at a terminal, who holds the lock.
    fn ask_who_is_inside(&mut self, now: Ticks) {
        if self.session.is_welcome() && self.asks_at.take_if(|at| *at <= now).is_some() {
            let section = self.arguments.names.first().cloned();
            self.who_is_inside = Some(self.session.ask_status(section, true, now + ANSWER));
            self.session.flush(now);
        }
    }

    fn tell_who_is_inside(&mut self) {
        let Some(answer) = self.who_is_inside.as_ref().and_then(StatusQuestion::answer) else { return };
        self.who_is_inside = None;
        let Ok(status) = answer else { return };
        let names = listed(&self.arguments.names);
        let inside = status.sections.iter().find_map(|section| section.inside.as_ref());
        self.voice.say(&match inside {
            Some(ClientStatus { node, label, since, .. }) => {
                format!("waiting for {names}: {label} on node {node} has held it for {}", spoken(*since))
            }
            None => format!("waiting for {names}"),
        });
    }

    fn too_late(&self, status: Option<&Status>) -> Ending {
        let names = listed(&self.arguments.names);
        let wait = self.arguments.wait.filter(|_| !self.arguments.try_only);
        let sentence = match (status.and_then(closed), wait) {
            (Some(why), Some(span)) => format!("{names} could not be acquired within {span}: {why}"),
            (Some(why), None) => format!("{names} cannot be acquired: {why}"),
            (None, Some(span)) => format!("{names} was not free within {span}"),
            (None, None) => format!("{names} is not free"),
        };
        Ending::with(NOT_IN_TIME, sentence)
    }
}

/// Why a node grants no locks, if it does not.
fn closed(status: &Status) -> Option<String> {
    let node = status.nodes.iter().find(|node| node.name == status.node)?;
    let own = node.own.as_ref().filter(|own| own.lease_left == Ticks(0))?;
    let name = &node.name;
    Some(match own.standing.as_str() {
        "active" => format!("node {name} has no lease, as it does not reach a majority of the voters"),
        standing => format!("node {name} has no lease ({standing})"),
    })
}
