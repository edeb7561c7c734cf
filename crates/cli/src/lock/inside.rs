//! From the grant to the end of the command.

use std::os::fd::AsFd;

use doorway_client::clock;
use doorway_client::protocol::{Ask, Told};
use doorway_core::{SectionName, Ticks};
use doorway_node::Loss;
use nix::sys::signal;
use rustix::process::Signal;

use super::program::{Program, is_passed_on};
use super::stay::{Stay, Step};
use super::{Arguments, Ending, Grant, LOST, OWN_FAILURE, OnLost, REQUEST, Voice, listed};
use crate::line::Line;
use crate::wakeups::Wakeups;

/// How long the daemon may take to say that a section is free again.
const FAREWELL: Ticks = Ticks(1_000_000);
/// The number of the question that tells that it has heard.
const QUESTION: u32 = 3;

/// Runs the command inside and tells its status.
pub(super) fn run(
    arguments: &Arguments,
    grant: Grant,
    line: Line,
    wakeups: &Wakeups,
    voice: &Voice<'_>,
) -> Result<u8, Ending> {
    let stay = Stay::new(grant.until, clock::ticks(arguments.margin.0));
    let signs_at = arguments.ttl.map(|_| clock::now());
    let mut inside = Inside {
        arguments,
        voice,
        wakeups,
        line,
        is_connected: true,
        stay,
        signs_at,
        why: None,
        program: None,
    };
    inside.wait_for_time()?;
    let program = Program::start(&arguments.command, &variables(arguments, &grant), &inside.line);
    inside.program = Some(program.map_err(|error| Ending::failure(&error))?);
    while !inside.is_done() {
        inside.give_sign();
        inside.sleep()?;
        inside.hear();
        inside.on_time();
        inside.on_signals()?;
        inside.stop_what_is_left();
    }
    Ok(inside.leave())
}

/// What the command finds in its environment.
fn variables(arguments: &Arguments, grant: &Grant) -> Vec<(&'static str, String)> {
    let fence = |wanted: &SectionName| grant.fences.iter().find(|(name, _)| name == wanted);
    let fences = arguments.names.iter().filter_map(fence);
    let pairs: Vec<String> = fences.clone().map(|(name, fence)| format!("{name}={fence}")).collect();
    let first = fences.map(|(_, fence)| fence.to_string()).next().unwrap_or_default();
    vec![("DOORWAY_FENCE", first), ("DOORWAY_FENCES", pairs.join("\n"))]
}

struct Inside<'a> {
    arguments: &'a Arguments,
    voice: &'a Voice<'a>,
    wakeups: &'a Wakeups,
    line: Line,
    /// Whether the daemon is still there.
    is_connected: bool,
    stay: Stay,
    /// When the next sign of life is due, if there is a time-to-live.
    signs_at: Option<Ticks>,
    /// Why the daemon said that the lock is lost, if it did.
    why: Option<Loss>,
    program: Option<Program>,
}

impl Inside<'_> {
    /// A grant that comes at the end of a lease is renewed before the command begins, or it would be stopped at once.
    fn wait_for_time(&mut self) -> Result<(), Ending> {
        while !self.stay.has_time(clock::now()) {
            if self.why.is_some() || !self.is_connected {
                return Err(Ending::with(LOST, self.lost_sentence("the command was not started")));
            }
            if self.stay.has_passed(clock::now()) {
                return Err(self.margin_is_long());
            }
            self.give_sign();
            let before = self.stay.deadline();
            let _ = self.sleep_until(Some(before));
            self.hear();
            if self.stay.deadline() > before && !self.stay.has_time(clock::now()) {
                return Err(self.margin_is_long());
            }
            while let Some(signal) = self.wakeups.signal() {
                super::waiting::on_signal(signal)?;
            }
        }
        Ok(())
    }

    /// Even a grant that was just renewed would have to end before the command begins.
    fn margin_is_long(&self) -> Ending {
        let Arguments { margin, .. } = self.arguments;
        Ending::failure(&format_args!("--margin {margin} is longer than a grant is valid: give less"))
    }

    fn sleep(&self) -> Result<(), Ending> {
        let alarm = self.stay.alarm().filter(|_| self.program.is_some());
        self.sleep_until(alarm)
    }

    fn sleep_until(&self, alarm: Option<Ticks>) -> Result<(), Ending> {
        let line = self.is_connected.then(|| self.line.as_fd());
        let alarm = alarm.into_iter().chain(self.signs_at).min();
        self.wakeups.sleep(line, alarm).map(|_| ()).map_err(|error| Ending::failure(&error))
    }

    /// Tells the daemon every third of the time-to-live that this process runs. A command that was asked to stop needs no more time.
    fn give_sign(&mut self) {
        let now = clock::now();
        let Some(ttl) = self.arguments.ttl.filter(|_| self.signs_at.is_some_and(|at| at <= now)) else {
            return;
        };
        let is_given = self.is_connected && !self.stay.is_over() && self.line.say(&Ask::Alive).is_ok();
        self.signs_at = is_given.then(|| now + clock::ticks(ttl.0 / 3));
    }

    /// Hears what the daemon says; of one that is gone, that there will be no more.
    fn hear(&mut self) {
        if !self.is_connected {
            return;
        }
        self.is_connected = self.line.take_in().unwrap_or(false);
        loop {
            match self.line.next() {
                Ok(Some(Told::Renewed { number: REQUEST, until })) => self.stay.renew(until),
                Ok(Some(Told::Lost { number: REQUEST, why })) => self.on_lost(why),
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_connected = false;
                    return;
                }
            }
        }
    }

    /// Whoever has lost must be out at once; one that was told to stop in good time has until its deadline.
    fn on_lost(&mut self, why: Loss) {
        self.why = Some(why);
        let has_time = matches!(why, Loss::Broken | Loss::Leaving);
        self.stay.end_by(if has_time { Ticks(u64::MAX) } else { clock::now() });
    }

    fn on_time(&mut self) {
        while let Some(step) = self.stay.due(clock::now()) {
            let Some(program) = &self.program else { return };
            match (step, self.arguments.on_lost) {
                // A command that was stopped until now would go on for a moment if it were asked first.
                (Step::Ask, OnLost::Kill) if self.stay.has_passed(clock::now()) => {
                    program.kill_all();
                    self.tell_lost("the command was stopped");
                }
                (Step::Ask, OnLost::Ignore) => self.tell_lost("the command goes on all the same"),
                (Step::Ask, OnLost::Kill | OnLost::Signal) => {
                    program.signal(Signal::TERM);
                    self.tell_lost("the command is told to stop");
                }
                (Step::Stop, OnLost::Kill) => program.kill_all(),
                (Step::Stop, OnLost::Signal | OnLost::Ignore) => {}
            }
        }
    }

    fn tell_lost(&self, what: &str) {
        self.voice.say(&self.lost_sentence(what));
    }

    fn lost_sentence(&self, what: &str) -> String {
        let names = listed(&self.arguments.names);
        let why = match self.why {
            Some(Loss::MaxHold) => {
                return format!("{names} was held for as long as --max-hold allows: {what}");
            }
            Some(why) => why.sentence(),
            None if self.arguments.max_hold.is_some() && self.is_connected => {
                return format!("{names} was held for as long as --max-hold allows: {what}");
            }
            None if self.is_connected => "the daemon does not renew it",
            None => "the daemon has ended",
        };
        format!("the lock on {names} is lost, as {why}: {what}")
    }

    fn on_signals(&mut self) -> Result<(), Ending> {
        while let Some(signal) = self.wakeups.signal() {
            let Some(program) = &mut self.program else { return Ok(()) };
            match signal {
                signal::Signal::SIGCHLD => {
                    program.look();
                }
                signal::Signal::SIGCONT => self.on_cont(),
                signal => is_passed_on(signal).into_iter().for_each(|signal| program.signal(signal)),
            }
        }
        Ok(())
    }

    /// This process goes on after a stop, which may have taken longer than the deadline: then the command must not.
    fn on_cont(&mut self) {
        self.hear();
        self.on_time();
        let is_stopped = self.stay.has_passed(clock::now()) && self.arguments.on_lost == OnLost::Kill;
        if let Some(program) = self.program.as_mut().filter(|_| !is_stopped) {
            program.go_on();
        }
    }

    /// After the deadline nothing of the command may be left, however it was started: what loses its parent becomes our child, and
    /// is stopped like the others.
    fn stop_what_is_left(&mut self) {
        let is_past = self.must_stop() && self.stay.alarm().is_none();
        if let Some(program) = self.program.as_ref().filter(|_| is_past) {
            program.kill_all();
        }
    }

    /// Whether the command has lost its lock and nothing of it may go on.
    fn must_stop(&self) -> bool {
        self.stay.is_over() && self.arguments.on_lost == OnLost::Kill
    }

    fn is_done(&mut self) -> bool {
        let must_stop = self.must_stop();
        let Some(program) = &mut self.program else { return true };
        let is_left = must_stop && program.look();
        program.end().is_some() && !is_left
    }

    /// The end of the command is known. If nothing of it is left, the section is given back by word, and free when this process ends;
    /// otherwise those who are left keep it.
    fn leave(mut self) -> u8 {
        let Some(mut program) = self.program.take() else { return OWN_FAILURE };
        program.take_terminal();
        if !program.look() && self.is_connected {
            self.release();
        }
        match program.end() {
            _ if self.stay.is_over() && self.arguments.on_lost != OnLost::Ignore => LOST,
            Some(end) => end.code(),
            None => OWN_FAILURE,
        }
    }

    /// Leaves, and waits until the daemon has heard it; one that let the deadline pass may be deaf.
    fn release(&mut self) {
        self.signs_at = None;
        let now = clock::now();
        let ends = if self.stay.has_passed(now) { now } else { now + FAREWELL };
        let section = self.arguments.names.first().cloned();
        let question = Ask::Status { number: QUESTION, section, everywhere: false };
        let said = self.line.say(&Ask::Release { number: REQUEST }).and_then(|()| self.line.say(&question));
        while said.is_ok() && self.is_connected && clock::now() < ends {
            let _ = self.sleep_until(Some(ends));
            while self.wakeups.signal().is_some() {}
            self.is_connected = self.line.take_in().unwrap_or(false);
            while let Ok(Some(told)) = self.line.next() {
                if matches!(
                    told,
                    Told::Status { number: QUESTION, .. } | Told::Failed { number: QUESTION, .. }
                ) {
                    return;
                }
            }
        }
    }
}
