//! From the wish to the grant.
//!
//! A daemon that is restarted meanwhile is no failure: the wish is told to the next one, as long as there is patience.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::PathBuf;

use doorway_client::protocol::{Ask, ClientStatus, Status, Told};
use doorway_client::{clock, place};
use doorway_core::{Refusal, Ticks};
use doorway_node::Reason;
use nix::sys::signal::Signal;

use super::{
    Arguments, Ending, Grant, NOT_IN_TIME, OWN_FAILURE, REQUEST, Voice, check_margin, label, listed, patience,
};
use crate::line::{Line, silent};
use crate::status::spoken;
use crate::wakeups::Wakeups;

/// How much longer than its own patience somebody waits for the daemon's word that it is over.
const GRACE: Ticks = Ticks(500_000);
/// After what time somebody who waits at a terminal is told for whom.
const SILENCE: Ticks = Ticks(1_000_000);
/// How long a daemon may take to say welcome.
const ANSWER: Ticks = Ticks(5_000_000);
/// How often a daemon that has ended, or lets nobody in, is looked for, and for how long the next one is waited for.
const RETRY: Ticks = Ticks(200_000);
const RETURN: Ticks = Ticks(60_000_000);
/// The numbers of two questions: who is inside, and whether it is for somebody inside that nobody is let in.
const QUESTION: u32 = 1;
const WHY: u32 = 4;

/// Waits for the grant; the connection goes with it.
pub(super) fn obtain(
    arguments: &Arguments,
    wakeups: &Wakeups,
    voice: &Voice<'_>,
) -> Result<(Line, Grant), Ending> {
    let now = clock::now();
    let mut wait = Waiting {
        arguments,
        voice,
        path: users_socket(arguments)?,
        line: None,
        ends: patience(arguments).map(|patience| now + patience),
        is_over: false,
        asks_at: io::stderr().is_terminal().then_some(now + SILENCE),
        looks_at: Some(now),
        answers_by: Some(now + ANSWER),
        was_welcome: false,
        spare: Ticks(0),
        missing: None,
        turned_away: None,
    };
    loop {
        wait.on_time(clock::now())?;
        let slept = wakeups.sleep(wait.line.as_ref().map(AsFd::as_fd), wait.alarm());
        while let Some(signal) = wakeups.signal() {
            on_signal(signal)?;
        }
        slept.map_err(|error| Ending::failure(&error))?;
        // Whoever was stopped meanwhile hears what was said in time before it looks at the clock.
        if wait.line.is_some()
            && let Some(grant) = wait.hear()?
            && let Some(line) = wait.line.take()
        {
            return Ok((line, grant));
        }
    }
}

/// The daemon's socket for users of locks. Over the administrators' one the command would inherit more than a lock.
fn users_socket(arguments: &Arguments) -> Result<PathBuf, Refusal> {
    let path = arguments.daemon.path()?;
    if place::is_admin_socket(&path) {
        return Err(Refusal::new(format!(
            "{} is for administrators, and the command would inherit the connection: take the socket for users of locks beside it",
            path.display()
        )));
    }
    Ok(path)
}

/// Whoever is told to end while it waits ends; the connection is closed, and so the wish withdrawn.
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
    /// None while the daemon is gone, or lets nobody in.
    line: Option<Line>,
    /// When patience ends, if it does.
    ends: Option<Ticks>,
    /// Whether the daemon has said that patience has ended.
    is_over: bool,
    /// When to ask who is inside.
    asks_at: Option<Ticks>,
    /// When the daemon is looked for next, if it has to be.
    looks_at: Option<Ticks>,
    /// By when it must have said welcome, unless it has.
    answers_by: Option<Ticks>,
    /// Whether any daemon has said welcome until now.
    was_welcome: bool,
    /// How near a deadline of the last one may be while all is well.
    spare: Ticks,
    /// Why there is no daemon, if none is there at all.
    missing: Option<Refusal>,
    /// Why the last daemon served this client not yet, if it said so.
    turned_away: Option<Refusal>,
}

impl Waiting<'_> {
    /// Tells the daemon what is wanted.
    fn ask(&mut self) -> Result<(), Ending> {
        let Some(line) = &mut self.line else { return Ok(()) };
        let left = self.ends.map(|ends| Ticks(ends.0.saturating_sub(clock::now().0)));
        line.say(&Ask::Introduce { label: label(self.arguments) })?;
        line.say(&Ask::Lock {
            number: REQUEST,
            names: self.arguments.names.clone(),
            patience: left,
            max_hold: self.arguments.max_hold.map(|span| clock::ticks(span.0)),
            ttl: self.arguments.ttl.map(|span| clock::ticks(span.0)),
            tell_if_wanted: false,
        })?;
        Ok(())
    }

    /// The daemon has said welcome: it is told what is wanted, once.
    fn on_welcome(&mut self) -> Result<(), Ending> {
        self.was_welcome = true;
        self.turned_away = None;
        self.answers_by.take().map_or(Ok(()), |_| self.ask())
    }

    fn alarm(&self) -> Option<Ticks> {
        let ends = self.ends.map(|ends| ends + GRACE);
        [ends, self.asks_at(), self.looks_at, self.answers_by].into_iter().flatten().min()
    }

    /// When to ask who is inside, if there is anybody to ask.
    fn asks_at(&self) -> Option<Ticks> {
        self.asks_at.filter(|_| self.line.as_ref().is_some_and(Line::is_welcome))
    }

    fn on_time(&mut self, now: Ticks) -> Result<(), Ending> {
        let is_due = |moment: Option<Ticks>| moment.is_some_and(|moment| moment <= now);
        if is_due(self.ends.map(|ends| ends + GRACE)) {
            return Err(if self.is_over { self.too_late(None) } else { self.unanswered(NOT_IN_TIME) });
        }
        if is_due(self.answers_by) {
            return Err(self.unanswered(OWN_FAILURE));
        }
        if is_due(self.asks_at()) {
            self.asks_at = None;
            let section = self.arguments.names.first().cloned();
            if let Some(line) = &mut self.line {
                line.say(&Ask::Status { number: QUESTION, section, everywhere: true })?;
            }
        }
        if is_due(self.looks_at) { self.look(now) } else { Ok(()) }
    }

    /// Looks for the daemon. That none is there is tolerated only if there was one.
    fn look(&mut self, now: Ticks) -> Result<(), Ending> {
        self.missing = None;
        match Line::open(&self.path) {
            Ok(line) => self.line = line,
            Err(refusal) if self.was_welcome || self.turned_away.is_some() => self.missing = Some(refusal),
            Err(refusal) => return Err(refusal.into()),
        }
        self.looks_at = self.line.is_none().then_some(now + RETRY);
        Ok(())
    }

    /// The daemon has ended, or is about to. The next one has its time from when the last one that said welcome was gone.
    fn on_gone(&mut self) -> Result<(), Ending> {
        let now = clock::now();
        self.missing = self.line.take().map(|line| line.gone());
        if !self.was_welcome {
            return Err(self.unanswered(OWN_FAILURE));
        }
        self.looks_at = Some(now + RETRY);
        self.answers_by.get_or_insert(now + RETURN);
        Ok(())
    }

    /// No daemon has said anything about the wish.
    fn unanswered(&self, code: u8) -> Ending {
        let known = self.missing.clone().or_else(|| self.turned_away.clone());
        let why = known.unwrap_or_else(|| silent(&self.path));
        Ending::with(code, why.to_string())
    }

    /// Hears what the daemon says.
    fn hear(&mut self) -> Result<Option<Grant>, Ending> {
        let goes_on = self.line.as_mut().is_some_and(|line| line.take_in().unwrap_or(false));
        while let Some(told) = self.next()? {
            match told {
                Told::Welcome { spare, .. } => {
                    check_margin(self.arguments, spare)?;
                    self.spare = spare;
                    self.on_welcome()?;
                }
                Told::Granted { number: REQUEST, fences, until } => {
                    return Ok(Some(Grant { fences, until, spare: self.spare }));
                }
                Told::Refused { number: REQUEST, why: Reason::TimedOut } => self.ask_why()?,
                Told::Status { number: WHY, status } => return Err(self.too_late(Some(&status))),
                Told::Refused { number: REQUEST, why: Reason::Leaving } => {
                    self.on_gone()?;
                    return Ok(None);
                }
                Told::Refused { number: REQUEST, why } => {
                    let names = listed(&self.arguments.names);
                    return Err(Ending::failure(&format_args!(
                        "{names} cannot be locked: {}",
                        why.sentence()
                    )));
                }
                Told::Status { number: QUESTION, status } => self.tell_who_is_inside(&status),
                _ => {}
            }
        }
        if !goes_on && self.line.is_some() {
            self.on_gone()?;
        }
        Ok(None)
    }

    /// The daemon's next word. One that turns this client away, as it has too many, is tried again for as long as `--wait` says.
    fn next(&mut self) -> Result<Option<Told>, Ending> {
        let Some(line) = &mut self.line else { return Ok(None) };
        match line.next() {
            Err(refusal) if line.is_turned_away() && self.arguments.wait.is_some() => {
                let now = clock::now();
                self.line = None;
                self.turned_away = Some(refusal);
                self.looks_at = Some(now + RETRY);
                self.answers_by = Some(now + RETRY + ANSWER);
                Ok(None)
            }
            told => Ok(told?),
        }
    }

    /// Patience has ended. It may be that nobody was inside, and that the node could let nobody in: then it says so.
    fn ask_why(&mut self) -> Result<(), Ending> {
        self.ends = Some(clock::now());
        self.is_over = true;
        let section = self.arguments.names.first().cloned();
        let question = Ask::Status { number: WHY, section, everywhere: false };
        self.line.as_mut().map_or(Ok(()), |line| line.say(&question))?;
        Ok(())
    }

    fn tell_who_is_inside(&self, status: &Status) {
        let names = listed(&self.arguments.names);
        let inside = status.sections.iter().find_map(|section| section.inside.as_ref());
        self.voice.say(&match inside {
            Some(ClientStatus { node, label, since, .. }) => {
                format!("waiting for {names}: {label} on node {node} has been inside for {}", spoken(*since))
            }
            None => format!("waiting for {names}"),
        });
    }

    fn too_late(&self, status: Option<&Status>) -> Ending {
        let names = listed(&self.arguments.names);
        let wait = self.arguments.wait.filter(|_| !self.arguments.try_only);
        let sentence = match (status.and_then(closed), wait) {
            (Some(why), Some(span)) => format!("{names} could not be entered within {span}: {why}"),
            (Some(why), None) => format!("{names} cannot be entered: {why}"),
            (None, Some(span)) => format!("{names} was not free within {span}"),
            (None, None) => format!("{names} is not free"),
        };
        Ending::with(NOT_IN_TIME, sentence)
    }
}

/// Why a node lets nobody in, if that is so.
fn closed(status: &Status) -> Option<String> {
    let node = status.nodes.iter().find(|node| node.name == status.node)?;
    let own = node.own.as_ref().filter(|own| own.lease_left == Ticks(0))?;
    let name = &node.name;
    Some(match own.standing.as_str() {
        "active" => format!("node {name} has no lease, as it does not reach a majority of the voters"),
        standing => format!("node {name} has no lease ({standing})"),
    })
}
