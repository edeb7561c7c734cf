//! From the grant to the end of the command.

use doorway_client::session::{Acquisition, LockState, Session};
use doorway_client::{Lost, clock, refused_by_system};
use doorway_core::{Fence, SectionName, Ticks};
use doorway_daemon::config::HumanDuration;
use doorway_protocol::Loss;
use nix::sys::signal;
use rustix::event::PollFd;
use rustix::process::Signal;

use super::deadline::{Deadline, Escalation};
use super::program::{COMMAND, PROCESS, Program, Reach, is_passed_on};
use super::{Arguments, Ending, Grant, LOST, OWN_FAILURE, OnLost, RAN_ON, Voice, listed, margin};
use crate::wakeups::Wakeups;

/// How long the daemon may take to confirm the release.
const FAREWELL: Ticks = Ticks(1_000_000);

/// Shortest time between two checks whether a process of the command has changed its uid.
const LOOK: Ticks = Ticks(500_000);

/// The note about commands that have changed their uid.
const KILLED_LATER: &str =
    "the command changed its uid, cannot be told to stop and is killed at the deadline";

/// Runs the command while holding the lock, and returns its status.
pub(super) fn run(
    arguments: &Arguments,
    grant: Grant,
    wakeups: &Wakeups,
    voice: &Voice<'_>,
) -> Result<u8, Ending> {
    let Grant { session, lock, fences, spare } = grant;
    let margin = margin(arguments, spare);
    let deadline = Deadline::new(lock.valid_until(), margin);
    let mut inside = Inside {
        arguments,
        voice,
        wakeups,
        session,
        lock,
        deadline,
        why: None,
        program: None,
        margin,
        has_warned: false,
        looks_at: Ticks(0),
        has_told_beyond: false,
        ran_on: false,
    };
    inside.wait_for_time()?;
    inside.start(&variables(&fences))?;
    while !inside.is_done() {
        inside.sleep()?;
        inside.hear();
        inside.on_time();
        inside.on_signals()?;
        inside.stop_what_is_left();
        inside.warn_of_uid();
    }
    Ok(inside.leave())
}

/// The environment variables with the fences, in the order in which the names were typed.
fn variables(fences: &[(SectionName, Fence)]) -> Vec<(&'static str, String)> {
    let pairs: Vec<String> = fences.iter().map(|(name, fence)| format!("{name}={fence}")).collect();
    let first = fences.first().map(|(_, fence)| fence.to_string()).unwrap_or_default();
    vec![("DOORWAY_FENCE", first), ("DOORWAY_FENCES", pairs.join("\n"))]
}

struct Inside<'a> {
    arguments: &'a Arguments,
    voice: &'a Voice<'a>,
    wakeups: &'a Wakeups,
    session: Session,
    lock: Acquisition,
    deadline: Deadline,
    /// Why the lock is lost, if the daemon said so.
    why: Option<Loss>,
    program: Option<Program>,
    /// How long before the deadline the command is asked to stop.
    margin: Ticks,
    /// Whether the user was warned of a changed uid, and when to check next.
    has_warned: bool,
    looks_at: Ticks,
    /// Whether the user was told that a process of the command runs on without the lock.
    has_told_beyond: bool,
    /// Whether a process of the command had to stop and could not be stopped.
    ran_on: bool,
}

impl Inside<'_> {
    /// Waits for a renewal if the grant came at the end of a lease: otherwise the command would be stopped as soon as it
    /// starts. If the lock is lost by then, the command is not started at all.
    fn wait_for_time(&mut self) -> Result<(), Ending> {
        self.look();
        while !self.is_held() || !self.deadline.has_time(clock::now()) {
            if self.why.is_some() || !self.session.is_connected() {
                return Err(Ending::with(LOST, self.lost_sentence("the command was not started")));
            }
            if !self.is_held() || self.deadline.has_passed(clock::now()) {
                return Err(self.margin_is_long());
            }
            let before = self.deadline.until();
            let _ = self.sleep_until(Some(before));
            self.hear();
            if self.deadline.until() > before && !self.deadline.has_time(clock::now()) {
                return Err(self.margin_is_long());
            }
            while let Some(signal) = self.wakeups.signal() {
                super::waiting::on_signal(signal)?;
            }
        }
        Ok(())
    }

    fn is_held(&self) -> bool {
        matches!(self.lock.state(), LockState::Held(_))
    }

    /// Starts the command, which keeps the connection open.
    fn start(&mut self, variables: &[(&str, String)]) -> Result<(), Ending> {
        let Some(connection) = self.session.socket() else {
            return Err(Ending::with(LOST, self.lost_sentence("the command was not started")));
        };
        let program = Program::start(&self.arguments.command, variables, &*connection);
        self.program = Some(program.map_err(|error| refused_by_system(&error))?);
        Ok(())
    }

    /// The margin is longer than a fresh grant is valid, so the command could never start.
    fn margin_is_long(&self) -> Ending {
        let margin = HumanDuration(clock::span(self.margin));
        Ending::failure(&format_args!("--margin {margin} is longer than a grant is valid: give less"))
    }

    fn sleep(&self) -> Result<(), Ending> {
        let alarm = self.deadline.alarm().filter(|_| self.program.is_some());
        self.sleep_until(alarm)
    }

    fn sleep_until(&self, alarm: Option<Ticks>) -> Result<(), Ending> {
        let alarm = alarm.into_iter().chain(self.session.due()).min();
        let mut polled: Vec<PollFd<'_>> = self.session.poll_fd().into_iter().collect();
        // Until the command must stop, it does not matter whether its cgroup is empty.
        polled.extend(self.program.as_ref().filter(|_| self.must_stop()).and_then(Program::emptied));
        self.wakeups.sleep_for(&mut polled, alarm).map_err(|error| Ending::failure(&error))
    }

    /// Reads what the daemon sent; notes its end if the connection is closed.
    fn hear(&mut self) {
        self.session.drive(clock::now);
        self.look();
    }

    /// Checks the state of the lock. [`Deadline`] keeps its deadline, because the command must react before it passes.
    fn look(&mut self) {
        self.deadline.renew(self.lock.valid_until());
        if let LockState::Lost(Lost::Notified(why)) = self.lock.state()
            && self.why.is_none()
        {
            self.on_lost(why);
        }
    }

    /// After a loss the command must stop at once; if it was only told to stop in good time, it has until its deadline.
    fn on_lost(&mut self, why: Loss) {
        self.why = Some(why);
        let has_time = matches!(why, Loss::Broken | Loss::Leaving);
        self.deadline.end_by(if has_time { Ticks(u64::MAX) } else { clock::now() });
    }

    fn on_time(&mut self) {
        while let Some(step) = self.deadline.due(clock::now()) {
            // A command that was asked to stop needs no more time.
            self.session.let_expire(&self.lock);
            match (step, self.arguments.on_lost) {
                // A command that was stopped until now would go on for a moment if it were asked first.
                (Escalation::Ask, OnLost::Kill) if self.deadline.has_passed(clock::now()) => self.kill_late(),
                (Escalation::Ask, OnLost::Ignore) => self.tell_lost("the command continues without the lock"),
                (Escalation::Ask, OnLost::Kill | OnLost::Signal) => self.ask(),
                (Escalation::Stop, OnLost::Kill) => self.kill_all(),
                (Escalation::Stop, OnLost::Signal | OnLost::Ignore) => {}
            }
        }
    }

    /// Asks the command to stop.
    fn ask(&mut self) {
        let Some(program) = &self.program else { return };
        let beyond = program.beyond_reach();
        let is_killed = self.arguments.on_lost == OnLost::Kill;
        match (program.signal(Signal::TERM), beyond) {
            // It may still end by itself before the deadline.
            (Reach::Beyond, _) if is_killed => self.tell_beyond(COMMAND),
            (_, Some(who)) if is_killed => self.tell_beyond(who),
            (Reach::KillOnly, _) if is_killed => self.tell_lost(KILLED_LATER),
            (Reach::Beyond | Reach::KillOnly, _) => self.on_beyond(COMMAND),
            (Reach::All, _) => self.tell_lost("the command is told to stop"),
        }
    }

    /// Kills the command: the deadline passed before it could be asked to stop.
    fn kill_late(&mut self) {
        let Some(program) = &self.program else { return };
        let beyond = program.beyond_reach();
        match (program.kill_all(), beyond) {
            (_, Some(who)) => self.on_beyond(who),
            (Reach::Beyond, None) => self.on_beyond(PROCESS),
            (Reach::All | Reach::KillOnly, None) => self.tell_lost("the command was stopped"),
        }
    }

    /// Kills all that can be killed.
    fn kill_all(&mut self) {
        let Some(Reach::Beyond) = self.program.as_ref().map(Program::kill_all) else { return };
        self.on_beyond(PROCESS);
    }

    /// A process of the command had to stop and cannot be stopped. This process stays until that one has ended.
    fn on_beyond(&mut self, who: &str) {
        self.ran_on = true;
        self.tell_beyond(who);
    }

    fn tell_beyond(&mut self, who: &str) {
        if !self.has_told_beyond {
            self.tell_lost(&format!("{who} changed its uid, cannot be stopped and runs on without the lock"));
        }
        (self.has_told_beyond, self.has_warned) = (true, true);
    }

    /// Warns of a changed uid as soon as it is seen, not only when the command should be stopped.
    fn warn_of_uid(&mut self) {
        let now = clock::now();
        let is_of_use = self.arguments.on_lost != OnLost::Ignore && !self.deadline.is_over();
        if self.has_warned || !is_of_use || now < self.looks_at {
            return;
        }
        self.looks_at = now + LOOK;
        let Some(who) = self.program.as_ref().and_then(Program::beyond_reach) else { return };
        self.has_warned = true;
        let names = listed(&self.arguments.names);
        self.voice.say(&format!(
            "{who} changed its uid and cannot be stopped: if the lock on {names} is lost, it runs on and only its fence protects"
        ));
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
            None if self.arguments.max_hold.is_some() && self.session.is_connected() => {
                return format!("{names} was held for as long as --max-hold allows: {what}");
            }
            None if self.session.is_connected() => "the daemon does not renew it",
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
                signal => {
                    let passed = is_passed_on(signal).map(|signal| program.signal(signal));
                    if passed.is_some_and(|reach| reach != Reach::All) {
                        self.voice.say(&format!("{signal} cannot be passed on: the command changed its uid"));
                    }
                }
            }
        }
        Ok(())
    }

    /// This process continues after a stop (SIGCONT). If the deadline has passed meanwhile, the command must not continue.
    fn on_cont(&mut self) {
        self.hear();
        self.on_time();
        let is_stopped = self.deadline.has_passed(clock::now()) && self.arguments.on_lost == OnLost::Kill;
        if let Some(program) = self.program.as_mut().filter(|_| !is_stopped) {
            program.go_on();
        }
    }

    /// After the deadline no process of the command may be left, however it was started: orphans become our children, and are
    /// stopped like the others.
    fn stop_what_is_left(&mut self) {
        if self.must_stop() && self.deadline.alarm().is_none() {
            self.kill_all();
        }
    }

    /// Whether the lock is lost and every process of the command must stop.
    fn must_stop(&self) -> bool {
        self.deadline.is_over() && self.arguments.on_lost == OnLost::Kill
    }

    fn is_done(&mut self) -> bool {
        let must_stop = self.must_stop();
        let Some(program) = &mut self.program else { return true };
        let is_left = must_stop && program.look();
        program.end().is_some() && !is_left
    }

    /// The command has ended. If no process of it is left, this releases the lock, which is free when this process ends;
    /// otherwise the remaining processes keep it.
    fn leave(mut self) -> u8 {
        let Some(mut program) = self.program.take() else { return OWN_FAILURE };
        program.take_terminal();
        if !program.look_last() && self.session.is_connected() {
            self.release();
        }
        match program.end() {
            _ if self.ran_on => RAN_ON,
            _ if self.deadline.is_over() && self.arguments.on_lost != OnLost::Ignore => LOST,
            Some(end) => end.code(),
            None => OWN_FAILURE,
        }
    }

    /// Releases the lock, and waits for the daemon to confirm; a daemon that let the deadline pass may not answer.
    fn release(&mut self) {
        let now = clock::now();
        let ends = if self.deadline.has_passed(now) { now } else { now + FAREWELL };
        self.session.leave(&self.lock);
        // The daemon answers in order: when it has told how things stand, it has heard the release.
        let question = self.session.ask_status(self.arguments.names.first().cloned(), false, ends);
        self.session.flush(now);
        while question.answer().is_none() && clock::now() < ends {
            let _ = self.sleep_until(Some(ends));
            while self.wakeups.signal().is_some() {}
            self.session.drive(clock::now);
        }
    }
}
