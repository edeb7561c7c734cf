//! From the wish to the grant.
//!
//! A daemon that is restarted meanwhile is no failure: the wish is told to the next one, as long as there is patience.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::PathBuf;

use doorway_client::clock;
use doorway_client::protocol::{Ask, ClientStatus, Status, Told};
use doorway_core::Ticks;
use doorway_node::Reason;
use nix::sys::signal::Signal;

use super::{Arguments, Ending, Grant, NOT_IN_TIME, REQUEST, Voice, label, listed, patience};
use crate::line::Line;
use crate::status::spoken;
use crate::wakeups::Wakeups;

/// How much longer than its own patience somebody waits for the daemon's word that it is over.
const GRACE: Ticks = Ticks(500_000);
/// After what time somebody who waits at a terminal is told for whom.
const SILENCE: Ticks = Ticks(1_000_000);
/// How often a daemon that has ended is looked for, and for how long.
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
    let path = arguments.daemon.path()?;
    let now = clock::now();
    let ends = patience(arguments).map(|patience| now + patience);
    let by = ends.map_or(Ticks(u64::MAX), |ends| ends + GRACE);
    let line = Line::open_by(&path, by);
    let mut wait = Waiting {
        arguments,
        voice,
        line: None,
        path,
        ends,
        asks_at: io::stderr().is_terminal().then_some(now + SILENCE),
        gone_since: None,
    };
    wait.line = match line {
        Err(_) if clock::now() >= by => return Err(wait.too_late(None)),
        line => Some(line?),
    };
    wait.ask()?;
    loop {
        wait.on_time(clock::now())?;
        let is_heard = wakeups.sleep(wait.line.as_ref().map(AsFd::as_fd), wait.alarm());
        while let Some(signal) = wakeups.signal() {
            on_signal(signal)?;
        }
        if is_heard.map_err(|error| Ending::failure(&error))?
            && let Some(grant) = wait.hear()?
            && let Some(line) = wait.line.take()
        {
            return Ok((line, grant));
        }
    }
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
    /// None while the daemon is gone.
    line: Option<Line>,
    /// When patience ends, if it does.
    ends: Option<Ticks>,
    /// When to ask who is inside.
    asks_at: Option<Ticks>,
    /// Since when the daemon is gone, and when it is looked for next.
    gone_since: Option<(Ticks, Ticks)>,
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
            tell_if_wanted: false,
        })?;
        Ok(())
    }

    fn alarm(&self) -> Option<Ticks> {
        let retry = self.gone_since.map(|(_, next)| next);
        [self.ends.map(|ends| ends + GRACE), self.asks_at, retry].into_iter().flatten().min()
    }

    fn on_time(&mut self, now: Ticks) -> Result<(), Ending> {
        if self.ends.is_some_and(|ends| ends + GRACE <= now) {
            return Err(self.too_late(None));
        }
        if self.asks_at.is_some_and(|at| at <= now) {
            self.asks_at = None;
            let section = self.arguments.names.first().cloned();
            if let Some(line) = &mut self.line {
                line.say(&Ask::Status { number: QUESTION, section, everywhere: true })?;
            }
        }
        match self.gone_since {
            Some((since, next)) if next <= now => self.return_to(since, now),
            _ => Ok(()),
        }
    }

    /// Looks for the daemon that was gone.
    fn return_to(&mut self, since: Ticks, now: Ticks) -> Result<(), Ending> {
        match Line::open(&self.path) {
            Ok(line) => {
                self.line = Some(line);
                self.gone_since = None;
                self.ask()
            }
            Err(refusal) if since + RETURN <= now => Err(refusal.into()),
            Err(_) => {
                self.gone_since = Some((since, now + RETRY));
                Ok(())
            }
        }
    }

    /// The daemon has ended, or is about to.
    fn on_gone(&mut self) {
        let now = clock::now();
        self.line = None;
        self.gone_since = Some((now, now + RETRY));
    }

    /// Hears what the daemon says.
    fn hear(&mut self) -> Result<Option<Grant>, Ending> {
        let goes_on = self.line.as_mut().is_some_and(|line| line.take_in().unwrap_or(false));
        while let Some(told) = self.line.as_mut().map(Line::next).transpose()?.flatten() {
            match told {
                Told::Granted { number: REQUEST, fences, until } => return Ok(Some(Grant { fences, until })),
                Told::Refused { number: REQUEST, why: Reason::TimedOut } => self.ask_why()?,
                Told::Status { number: WHY, status } => return Err(self.too_late(Some(&status))),
                Told::Refused { number: REQUEST, why: Reason::Leaving } => {
                    self.on_gone();
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
        if !goes_on {
            self.on_gone();
        }
        Ok(None)
    }

    /// Patience has ended. It may be that nobody was inside, and that the node could let nobody in: then it says so.
    fn ask_why(&mut self) -> Result<(), Ending> {
        self.ends = Some(clock::now());
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
