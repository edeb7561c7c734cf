//! The command that runs inside: started, signalled, given the terminal, and seen to its end.
//!
//! It has a process group of its own and, where the machine allows it, a cgroup of its own, so that all of it can be stopped. It dies with the
//! process that watches it, and what it [inherits](super::inherited) keeps the section taken for as long as anything of it lives. It gets the terminal when it wants it: a program
//! that reads the terminal from the background is stopped by the system, which is seen here; then its group becomes the
//! foreground and it goes on. One that never reads leaves Ctrl-C to this process, which passes it on.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;

use nix::sys::signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, geteuid, getpgrp, getpid, kill_current_process_group,
    kill_process, kill_process_group, set_child_subreaper, test_kill_process, wait, waitid,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::cgroup::Cgroup;
use super::{held_run, inherited, listens};

/// This program, also when its file was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";
/// The list of children of this process, which has one thread.
const CHILDREN: &str = "/proc/thread-self/children";

/// The terminal of this process, if it has one.
const TERMINAL: &str = "/dev/tty";

/// The process that has changed its uid, as the subject of a sentence.
pub(super) const COMMAND: &str = "the command";
pub(super) const PROCESS: &str = "a process of the command";
/// Limits of the search for processes with another uid: processes, and threads of them.
const MOST_LOOKED_AT: usize = 64;
const MOST_THREADS: usize = 1_024;

/// How long the kernel may still count a reaped process in its cgroup.
const COUNTED_OUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What this process can signal. After a command changed its uid, as by sudo, only root and that user can signal its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of the command.
    All,
    /// It cannot be signalled, but killed with its cgroup.
    KillOnly,
    /// A process of it cannot be signalled and is in no cgroup of ours.
    Beyond,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramEnd {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl ProgramEnd {
    /// The exit status that a shell would report.
    pub(super) fn code(self) -> u8 {
        let code = match self {
            ProgramEnd::Status(status) => status,
            ProgramEnd::Signal(number) => 128 + number,
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
    end: Option<ProgramEnd>,
    cgroup: Option<Cgroup>,
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
        let cgroup = Cgroup::make();
        hear_of_children()?;
        // Those whose parents end become our children, so that we know whether anything is left.
        set_child_subreaper(Some(getpid()))?;
        let _kept = inherited::keeping_open(connection.as_fd())?;
        let child = process::Command::new(OURSELVES)
            .arg0("doorway")
            .args(held_run::words(cgroup.as_ref(), command))
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .spawn()?;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
        let terminal = File::options().read(true).write(true).open(TERMINAL).ok();
        Ok(Self { leader, terminal, has_terminal: false, end: None, cgroup })
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<ProgramEnd> {
        self.end
    }

    /// Sends a signal to the whole process group. It does not matter whether a process is left.
    pub(super) fn signal(&self, signal: Signal) -> Reach {
        let sent = kill_process_group(self.leader, signal);
        if signal == Signal::TERM || signal == Signal::HUP {
            // One that is stopped would not hear it.
            let _ = kill_process_group(self.leader, Signal::CONT);
        }
        self.reach(sent, self.leader)
    }

    /// Kills its cgroup, its process group, and all processes that have become our children.
    pub(super) fn kill_all(&self) -> Reach {
        self.cgroup.iter().for_each(Cgroup::kill);
        let group = self.reach(kill_process_group(self.leader, Signal::KILL), self.leader);
        let children = listed_in(CHILDREN).into_iter();
        let mut reaches =
            children.map(|child| self.reach(kill_process(child, Signal::KILL), child)).collect::<Vec<_>>();
        reaches.push(group);
        if reaches.contains(&Reach::Beyond) { Reach::Beyond } else { Reach::All }
    }

    /// The process that has changed its uid and cannot be stopped, as far as is known.
    pub(super) fn beyond_reach(&self) -> Option<&'static str> {
        let is_beyond = |process: &Pid| self.reach(test_kill_process(*process), *process) == Reach::Beyond;
        if self.end.is_none() && is_beyond(&self.leader) {
            return Some(COMMAND);
        }
        // Root may signal everybody. A cgroup helps only with what is in it, which `reach` asks.
        let found = !geteuid().is_root() && self.descendants().iter().any(is_beyond);
        found.then_some(PROCESS)
    }

    /// The descendants of the command, up to a limit: the children of this process, which include orphans, and their children.
    fn descendants(&self) -> Vec<Pid> {
        let mut found = listed_in(CHILDREN);
        let (mut next, mut threads) = (0, MOST_THREADS);
        while let Some(parent) = found.get(next).filter(|_| found.len() < MOST_LOOKED_AT) {
            let children = children_of(*parent, &mut threads);
            found.extend(children);
            next += 1;
        }
        found.retain(|process| *process != self.leader);
        found
    }

    fn reach(&self, sent: rustix::io::Result<()>, to: Pid) -> Reach {
        match (sent, &self.cgroup) {
            (Err(Errno::PERM), _) if has_ended(to) => Reach::All,
            (Err(Errno::PERM), Some(cgroup)) if cgroup.holds(to) => Reach::KillOnly,
            (Err(Errno::PERM), _) => Reach::Beyond,
            // No process is left, or it got the signal.
            (Ok(()) | Err(_), _) => Reach::All,
        }
    }

    /// The file that reports, when polled for exceptional conditions, that the cgroup is empty.
    pub(super) fn emptied(&self) -> Option<PollFd<'_>> {
        self.cgroup.as_ref().map(|cgroup| PollFd::new(cgroup, PollFlags::PRI))
    }

    /// Reaps children; returns whether any process of the command is left.
    pub(super) fn look(&mut self) -> bool {
        self.reap() || self.cgroup.as_ref().is_some_and(Cgroup::is_populated)
    }

    /// The same at the end, waiting a moment for a reaped process to leave its cgroup.
    pub(super) fn look_last(&mut self) -> bool {
        let is_left = self.reap();
        let Some(cgroup) = self.cgroup.as_ref().filter(|cgroup| !is_left && cgroup.is_populated()) else {
            return is_left;
        };
        let _ = poll(&mut [PollFd::new(cgroup, PollFlags::PRI)], Some(&COUNTED_OUT));
        cgroup.is_populated()
    }

    /// Reaps all children that have ended or were stopped; returns whether there are others.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if pid == self.leader => {
                    if let Some(signal) = status.stopping_signal() {
                        self.on_stopped(signal);
                    }
                    let exited = status.exit_status().map(ProgramEnd::Status);
                    self.end = exited.or(status.terminating_signal().map(ProgramEnd::Signal)).or(self.end);
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// The command was stopped: because it wants the terminal, or because the user stopped the whole job.
    fn on_stopped(&mut self, number: i32) {
        let wants_terminal = [Signal::TTIN, Signal::TTOU].iter().any(|signal| signal.as_raw() == number);
        if wants_terminal && self.give_terminal() {
            let _ = self.signal(Signal::CONT);
        } else if self.terminal.is_some() && (wants_terminal || number == Signal::TSTP.as_raw()) {
            // The shell must see the whole job stopped. Here the signal is only noted, as all of ours are.
            let _ = kill_current_process_group(Signal::TSTP);
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }

    /// Continues the job, perhaps in the foreground.
    pub(super) fn go_on(&mut self) {
        if self.has_terminal {
            self.give_terminal();
        }
        let _ = self.signal(Signal::CONT);
    }

    /// Makes its process group the foreground if ours is.
    fn give_terminal(&mut self) -> bool {
        let Some(terminal) = &self.terminal else { return false };
        let is_ours = tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp());
        let given = is_ours && tcsetpgrp(terminal, self.leader).is_ok();
        self.has_terminal |= given;
        given
    }

    /// Takes the terminal back after the end of the command. Our own group must also get a Ctrl-C that only the command
    /// received.
    pub(super) fn take_terminal(&self) {
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.has_terminal) else { return };
        if tcgetpgrp(terminal).is_ok_and(|group| group == self.leader) {
            let _ = tcsetpgrp(terminal, getpgrp());
            if self.end == Some(ProgramEnd::Signal(Signal::INT.as_raw())) {
                let _ = kill_current_process_group(Signal::INT);
            }
        }
    }
}

/// The children of a process: each of its threads has a list of those that it started. `threads` counts down those that are looked at.
fn children_of(process: Pid, threads: &mut usize) -> Vec<Pid> {
    let folder = format!("/proc/{}/task", process.as_raw_nonzero());
    let tasks = std::fs::read_dir(folder).into_iter().flatten().flatten().take(*threads);
    let lists: Vec<_> = tasks.map(|task| task.path().join("children")).collect();
    *threads -= lists.len();
    lists.iter().flat_map(listed_in).collect()
}

/// The processes whose numbers are in a file of the system.
fn listed_in(path: impl AsRef<Path>) -> Vec<Pid> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

/// Whether a process is a zombie: another user's zombie cannot be signalled either.
fn has_ended(process: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(process), options).is_ok_and(|status| status.is_some()) || is_zombie(process)
}

/// The same of a process that is not our child: its state follows its name, which may contain anything. A process whose first
/// thread has ended looks the same, and lives while it has other threads.
fn is_zombie(process: Pid) -> bool {
    let process = process.as_raw_nonzero();
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let name_ends = stat.iter().rposition(|byte| *byte == b')');
    let is_over = name_ends.is_some_and(|place| matches!(stat.get(place + 2), Some(b'Z' | b'X')));
    is_over
        && std::fs::read_dir(format!("/proc/{process}/task")).is_ok_and(|threads| threads.take(2).count() < 2)
}

/// If the parent made this process ignore SIGCHLD, the kernel discards the statuses of children and reports no ends. Installing
/// a handler undoes that, although it never runs because the signal is blocked; the runtime's own handler serves.
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_grandchild_without_a_waiting_parent_has_ended() {
        let mut command = process::Command::new("sh");
        // The shell becomes `sleep`, which does not know of its child, before that ends: so it stays a zombie.
        let script = "exec 3<&0; cat <&3 >&2 & echo $!; exec sleep 1000";
        let mut parent = command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut line = String::new();
        let out = parent.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("it speaks");
        let number = |number: &str| number.trim().parse().ok().and_then(Pid::from_raw).expect("a process");
        let (child, own) = (number(&line), number(&parent.id().to_string()));
        let ends = Instant::now() + Duration::from_secs(60);
        let until = |holds: &dyn Fn() -> bool| {
            while !holds() && Instant::now() < ends {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let comm = format!("/proc/{}/comm", parent.id());
        until(&|| std::fs::read_to_string(&comm).is_ok_and(|name| name == "sleep\n"));
        assert!(!has_ended(child), "it reads");
        drop(parent.stdin.take());
        until(&|| has_ended(child));
        let found = (has_ended(child), has_ended(own));
        parent.kill().expect("it lives");
        parent.wait().expect("it ends");
        assert_eq!(found, (true, false));
    }
}
