//! `doorway lock`: a command inside a section.
//!
//! One thread and one loop: it wakes up for the daemon's words, for signals and for the deadline, which it keeps by itself. So a
//! daemon that is stopped or dead cannot make it believe for longer than it was told. What is said to the daemon and heard from it is the
//! business of a [`Session`], the same that is behind every client; this verb drives it and looks after the command.

mod cgroup;
mod deadline;
pub(crate) mod held_run;
mod ignored;
mod inherited;
mod inside;
mod program;
mod waiting;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use doorway_client::session::{Acquisition, Session};
use doorway_client::{clock, refused_by_system};
use doorway_core::{Fence, Refusal, SectionName, Ticks};
use doorway_daemon::config::HumanDuration;
use doorway_protocol::{LONGEST_LABEL, MOST_NAMES};
use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::line::Where;
use crate::typed::Typed;
use crate::wakeups::Wakeups;
use crate::{Answer, Exit};

/// Run a command while holding a lock, on any machine of the cluster
///
/// Acquires the lock, waiting until it is free, runs the command while holding it, releases it, and exits with the command's
/// status. The command finds its fence in DOORWAY_FENCE: a number larger than that of every earlier holder. With several locks,
/// DOORWAY_FENCES has all of them as NAME=FENCE, one on a line. A store that remembers the largest fence it has seen can refuse
/// a writer that comes too late.
///
/// The command runs in a process group of its own, dies with this process, and inherits a file descriptor with a high number
/// that keeps the connection to the daemon open. So the lock is released when this process and everything it started have
/// ended, not before. Programs that close inherited descriptors when they start others (Python's subprocess, Java, sudo) or
/// when they become daemons break this link: do not let them leave processes behind. If this process is killed with SIGKILL,
/// processes that outlive it keep the lock, but nothing stops them if the lock is lost or broken: then only the fence protects.
///
/// Where possible, the command gets a cgroup of its own (version 2; as root, or below a cgroup delegated to you). Then
/// everything that the command started on this machine is stopped with it, also under sudo or setsid. Without a cgroup, only
/// root can stop a command that changes its uid: `doorway lock` warns at once, waits for the command's end if the lock is lost,
/// and exits with 123. Processes started by docker, systemd-run, ssh, at and the like belong to other services and are never
/// stopped: run `doorway lock` inside of them instead.
///
/// Signals that are ignored when this process starts, as under nohup, stay ignored while it waits and while the command runs.
///
/// If this machine is cut off from the cluster, its lock passes on to another node after the lease. The command is stopped
/// before that: SIGTERM a margin before the deadline and SIGKILL at the deadline, whether the daemon still answers or not. The
/// lock is free the cluster's margin after the deadline, or as soon as the command and all its processes have ended.
///
/// If this process itself is stopped (SIGSTOP, Ctrl-Z, a frozen container), it keeps the lock for as long as the daemon renews
/// it; with --ttl it loses the lock after that time and the cluster's margin. In both cases nothing stops the command
/// meanwhile, and only the fence protects; when this process continues and finds the lock lost, it kills the command at once.
/// Processes that are left running when this one ends do not renew either: with --ttl they keep the lock for that time and no
/// longer.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway lock nightly -- ./backup.sh            wait for as long as it takes
  doorway lock nightly --try -- ./backup.sh      or give up at once
  doorway lock nightly --wait 30s -- ./backup.sh or give up after 30 seconds
  doorway lock nightly --max-hold 10m -- ./backup.sh
  doorway lock nightly --ttl 10s -- ./backup.sh  lose it if suspended for 10 s
  doorway lock accounts,orders -- ./migrate.sh   several locks: all or none
  doorway lock demo -- sh -c 'echo my fence is $DOORWAY_FENCE'
  doorway lock demo --node b -- true             through the daemon of node b

Exit status: the command's, 128 and the number of the signal that ended it,
  122 the lock was lost and the command stopped
  123 the lock was lost and the command, which had changed its uid, ran on
  124 timed out waiting for the lock    125 doorway itself failed
  126 the command cannot be run    127 it is not found    2 bad usage")]
pub(crate) struct Arguments {
    /// The lock; with several names, the command holds all of them or none
    #[arg(required = true, value_name = "NAME", value_delimiter = ',', value_parser = SectionName::new)]
    names: Vec<SectionName>,
    /// Give up waiting after this time: 500ms, 30s, 10m, 2h
    #[arg(long, value_name = "TIME", conflicts_with = "try_only")]
    wait: Option<HumanDuration>,
    /// Do not wait for the current holder; asking the other nodes takes up to half a second
    #[arg(long = "try")]
    try_only: bool,
    /// Stop the command after holding the lock for this time
    #[arg(long, value_name = "TIME")]
    max_hold: Option<HumanDuration>,
    /// Lose the lock if this process does not renew it for this time (time-to-live); at least three times the cluster's margin,
    /// and --margin
    #[arg(long, value_name = "TIME")]
    ttl: Option<HumanDuration>,
    /// What to do to the command if the lock is lost
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLost::Kill)]
    on_lost: OnLost,
    /// How long before the deadline the command is asked to stop; at most what a late heartbeat leaves of a lease [default: 200ms, less
    /// with a short lease, --ttl or --max-hold]
    #[arg(long, value_name = "TIME")]
    margin: Option<HumanDuration>,
    /// Description in `doorway status`, instead of the name of the command
    #[arg(long, value_name = "WORDS")]
    label: Option<String>,
    #[command(flatten)]
    daemon: Where,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What to do to the command if the lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OnLost {
    /// SIGTERM, and SIGKILL at the deadline
    Kill,
    /// SIGTERM only: it may take its time, at its own risk
    Signal,
    /// Nothing but a word: whatever it writes to must check its fence
    Ignore,
}

/// How long a try waits for the other nodes to answer.
const TRY: Ticks = Ticks(500_000);

/// The statuses of this verb that are not the command's.
const LOST: u8 = 122;
const RAN_ON: u8 = 123;
const NOT_IN_TIME: u8 = 124;
const OWN_FAILURE: u8 = 125;

pub(crate) fn answer(arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    check(arguments)?;
    let voice = Voice(&typed.program);
    let exit = run(arguments, &voice).unwrap_or_else(|ending| {
        ending.sentence.iter().for_each(|sentence| voice.say(sentence));
        ending.code
    });
    Ok(Answer { text: String::new(), notes: Vec::new(), exit: Exit::Command(exit) })
}

fn check(arguments: &Arguments) -> Result<(), Refusal> {
    let Arguments { names, wait, max_hold, label, .. } = arguments;
    let length = label.as_ref().map_or(0, String::len);
    let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
    let zero = |span: &Option<HumanDuration>| span.is_some_and(|span| span.0.is_zero());
    match twice {
        Some((_, name)) => Err(Refusal::new(format!("{name} is named twice: once is enough"))),
        None if names.len() > MOST_NAMES => {
            Err(Refusal::new(format!("one command holds at most {} locks, not {}", MOST_NAMES, names.len())))
        }
        None if length > LONGEST_LABEL => Err(Refusal::new(format!(
            "--label takes a few words, at most {LONGEST_LABEL} bytes, not {length}"
        ))),
        None if zero(wait) => Err(Refusal::new("--wait must be longer than 0s: --try does not wait")),
        None if zero(max_hold) => Err(Refusal::new("--max-hold must be longer than 0s")),
        None => check_ttl(arguments),
    }
}

/// A sign of life goes out every third of the time-to-live, and may be late by a third, so that a third is left when its answer moves the
/// deadline: that must not be less than the margin, in which the command is asked to stop.
fn check_ttl(arguments: &Arguments) -> Result<(), Refusal> {
    let Arguments { ttl: Some(ttl), margin, max_hold, .. } = arguments else { return Ok(()) };
    if ttl.0.is_zero() {
        return Err(Refusal::new("--ttl must be longer than 0s"));
    }
    if let Some(margin) = margin.filter(|margin| ttl.0 / 3 < margin.0) {
        return Err(Refusal::new(format!(
            "--ttl {ttl} is too short for --margin {margin}: a renewal every third of it would come too late; give at least {}",
            HumanDuration(margin.0 * 3)
        )));
    }
    if let Some(max_hold) = max_hold.filter(|max_hold| max_hold.0 <= ttl.0) {
        return Err(Refusal::new(format!(
            "--ttl {ttl} has no effect, because --max-hold {max_hold} ends earlier: give less, or leave it out"
        )));
    }
    Ok(())
}

/// From the wish to the end, as an exit status.
fn run(arguments: &Arguments, voice: &Voice<'_>) -> Result<u8, Ending> {
    let ignored = ignored::signals();
    let heard: Vec<Signal> = listens().into_iter().filter(|signal| !ignored.contains(signal)).collect();
    let wakeups = Wakeups::new(&heard).map_err(|error| refused_by_system(&error))?;
    let grant = waiting::obtain(arguments, &wakeups, voice)?;
    inside::run(arguments, grant, &wakeups, voice)
}

/// What was obtained, and over what.
struct Grant {
    session: Session,
    lock: Acquisition,
    fences: Vec<(SectionName, Fence)>,
    /// How much of a deadline is left at this node while all is well.
    spare: Ticks,
}

/// How long before its deadline a command is asked to stop, unless the times of its cluster or its own are too short for that.
const MARGIN: Ticks = Ticks(200_000);

/// How long before its deadline this command is asked to stop. A deadline may be as near as `spare` although all is well: a command
/// that is asked earlier than that is asked for nothing. A sign of life, too, leaves a third of the time-to-live.
fn margin(arguments: &Arguments, spare: Ticks) -> Ticks {
    let third = |span: Option<HumanDuration>| span.map(|span| clock::ticks(span.0 / 3));
    let limits = [Some(Ticks(spare.0 / 2)), third(arguments.ttl), third(arguments.max_hold)];
    let usual = limits.into_iter().flatten().fold(MARGIN, Ticks::min);
    arguments.margin.map_or(usual, |given| clock::ticks(given.0))
}

/// What is said of a margin that would stop a healthy command at a node with this spare: nothing is asked of it.
fn margin_too_long(arguments: &Arguments, spare: Ticks) -> Ending {
    let (margin, spare) =
        (HumanDuration(clock::span(margin(arguments, spare))), HumanDuration(clock::span(spare)));
    Ending::failure(&format_args!(
        "--margin {margin} is too long for this cluster: after a late heartbeat {spare} are left until the deadline, and the command would \
         be stopped for nothing; give at most {spare}"
    ))
}

/// The end of a run that does not have the status of its command.
struct Ending {
    code: u8,
    sentence: Option<String>,
}

impl Ending {
    fn with(code: u8, sentence: String) -> Self {
        Self { code, sentence: Some(sentence) }
    }

    fn failure(error: &dyn std::fmt::Display) -> Self {
        Self::with(OWN_FAILURE, error.to_string())
    }
}

impl From<Refusal> for Ending {
    fn from(refusal: Refusal) -> Self {
        Self::failure(&refusal)
    }
}

/// The signals that this process wants to know of rather than be ended or stopped by.
fn listens() -> [Signal; 12] {
    use Signal::*;
    [
        SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
        SIGWINCH,
    ]
}

/// Messages on stderr while the command runs.
struct Voice<'a>(&'a str);

impl Voice<'_> {
    /// Prints a sentence on stderr, unless the pipe is full: a blocked write must not delay the deadline.
    fn say(&self, sentence: &str) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&io::stderr(), PollFlags::OUT)], Some(&now)).is_ok_and(|ready| ready > 0) {
            let _ = io::stderr().write_all(format!("{}: {sentence}\n", self.0).as_bytes());
        }
    }
}

/// The names as the middle of a sentence.
fn listed(names: &[SectionName]) -> String {
    names.iter().map(SectionName::as_str).collect::<Vec<_>>().join(", ")
}

/// The label of the request: the name of the command only, because its arguments may be private.
fn label(arguments: &Arguments) -> String {
    let name = || {
        let program = arguments.command.first().map(|word| Path::new(word).file_name().unwrap_or(word));
        program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    arguments.label.clone().unwrap_or_else(name)
}

/// How long it may take, if not for ever.
fn patience(arguments: &Arguments) -> Option<Ticks> {
    let wait = arguments.wait.map(|span| clock::ticks(span.0));
    if arguments.try_only { Some(TRY) } else { wait }
}
