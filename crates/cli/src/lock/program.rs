//! The command that runs inside: started, signalled, given the terminal, and seen to its end.
//!
//! It has a process group of its own, so that all of it can be stopped. It dies with the process that watches it, and its copy of the
//! connection keeps the section taken for as long as anything of it lives. It gets the terminal when it wants it: a program
//! that reads the terminal from the background is stopped by the system, which is seen here; then its group becomes the
//! foreground and it goes on. One that never reads leaves Ctrl-C to this process, which passes it on.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process;

use nix::sys::signal;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_current_process_group, kill_process, kill_process_group,
    set_child_subreaper, wait,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::{held_run, listens};

/// This program, also when its file was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";
/// Where Linux tells who the children of this process are: it has one thread.
const CHILDREN: &str = "/proc/thread-self/children";

/// The terminal of this process, if it has one.
const TERMINAL: &str = "/dev/tty";

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl End {
    /// The status that a shell would tell.
    pub(super) fn code(self) -> u8 {
        let code = match self {
            End::Status(status) => status,
            End::Signal(number) => 128 + number,
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// A running command.
pub(super) struct Program {
    leader: Pid,
    terminal: Option<File>,
    /// Whether its group was made the foreground.
    has_terminal: bool,
    end: Option<End>,
}

impl Program {
    /// Starts a command that keeps a connection open, with these variables.
    ///
    /// # Errors
    /// If no process can be made.
    pub(super) fn start(
        command: &[OsString],
        variables: &[(&str, String)],
        connection: &impl AsFd,
    ) -> io::Result<Self> {
        hear_of_children()?;
        // Those whose parents end become our children, so that we know whether anything is left.
        set_child_subreaper(Some(getpid()))?;
        fcntl_setfd(connection, FdFlags::empty())?;
        let child = process::Command::new(OURSELVES)
            .arg0("doorway")
            .args(held_run::words(command))
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .spawn()?;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
        let terminal = File::options().read(true).write(true).open(TERMINAL).ok();
        Ok(Self { leader, terminal, has_terminal: false, end: None })
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// Sends a signal to all of its group. Whether anybody is left does not matter.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
        if signal == Signal::TERM || signal == Signal::HUP {
            // One that is stopped would not hear it.
            let _ = kill_process_group(self.leader, Signal::CONT);
        }
    }

    /// Kills its group, and all that has become our child.
    pub(super) fn kill_all(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
        let children = std::fs::read_to_string(CHILDREN).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?));
        children.for_each(|child| {
            let _ = kill_process(child, Signal::KILL);
        });
    }

    /// Learns what became of it and of those that it left behind; tells whether any process is left.
    pub(super) fn look(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if pid == self.leader => {
                    if let Some(signal) = status.stopping_signal() {
                        self.on_stopped(signal);
                    }
                    let exited = status.exit_status().map(End::Status);
                    self.end = exited.or(status.terminating_signal().map(End::Signal)).or(self.end);
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// It was stopped: because it wants the terminal, or because somebody wants the whole job stopped.
    fn on_stopped(&mut self, number: i32) {
        let wants_terminal = [Signal::TTIN, Signal::TTOU].iter().any(|signal| signal.as_raw() == number);
        if wants_terminal && self.give_terminal() {
            self.signal(Signal::CONT);
        } else if self.terminal.is_some() && (wants_terminal || number == Signal::TSTP.as_raw()) {
            // The shell must see the whole job stopped. Here the signal is only noted, as all of ours are.
            let _ = kill_current_process_group(Signal::TSTP);
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }

    /// The job goes on, perhaps in the foreground.
    pub(super) fn go_on(&mut self) {
        if self.has_terminal {
            self.give_terminal();
        }
        self.signal(Signal::CONT);
    }

    /// Makes its group the foreground if ours is.
    fn give_terminal(&mut self) -> bool {
        let Some(terminal) = &self.terminal else { return false };
        let is_ours = tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp());
        let given = is_ours && tcsetpgrp(terminal, self.leader).is_ok();
        self.has_terminal |= given;
        given
    }

    /// Takes the terminal back when it has ended. Whoever started us must hear of a Ctrl-C that only it heard.
    pub(super) fn take_terminal(&self) {
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.has_terminal) else { return };
        if tcgetpgrp(terminal).is_ok_and(|group| group == self.leader) {
            let _ = tcsetpgrp(terminal, getpgrp());
            if self.end == Some(End::Signal(Signal::INT.as_raw())) {
                let _ = kill_current_process_group(Signal::INT);
            }
        }
    }
}

/// Whoever started this process may have had it ignore the ends of its children: then the system forgets their statuses, and tells
/// nobody. A handler ends that, though it never runs, as the signal is kept; the one of the runtime is there for the asking.
fn hear_of_children() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::child()).map(drop)
}

/// Signals that are passed on, as the command would have had them from a shell.
pub(super) fn is_passed_on(signal: signal::Signal) -> Option<Signal> {
    use signal::Signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH};
    debug_assert!(listens().contains(&signal));
    let passed = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH];
    passed.contains(&signal).then(|| Signal::from_named_raw(signal as i32)).flatten()
}
