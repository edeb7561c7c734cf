//! `doorway lock`: a command inside a section.
//!
//! One thread and one loop: it wakes up for the daemon's words, for signals and for the deadline, which it keeps by itself. So a
//! daemon that is stopped or dead cannot make it believe for longer than it was told. What is said to the daemon and heard from it is the
//! business of a [`Session`], the same that is behind every client; this verb drives it and looks after the command.

mod cgroup;
pub(crate) mod held_run;
mod ignored;
mod inherited;
mod inside;
mod program;
mod stay;
mod waiting;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use doorway_client::session::{Acquisition, Session};
use doorway_client::{clock, refused_by_system};
use doorway_core::{Fence, Refusal, SectionName, Ticks};
use doorway_daemon::config::Span;
use doorway_protocol::{LONGEST_LABEL, MOST_NAMES};
use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::line::Where;
use crate::typed::Typed;
use crate::wakeups::Wakeups;
use crate::{Answer, Exit};

/// Run a command while no other holds the same lock, on any machine of the cluster
///
/// Waits until the section of this name is free, runs the command inside it, and ends with its status. The command finds its fence, a
/// number that is larger than that of whoever was inside before, in DOORWAY_FENCE; of several names, all in DOORWAY_FENCES as
/// NAME=FENCE, one on a line. A store that remembers the largest fence that it has seen can refuse a writer that comes too late.
///
/// The command runs in a process group of its own, dies with this process, and inherits a descriptor of a high number that keeps the
/// connection to the daemon open: the section is free again when this process and everything that it started are gone, not before. What closes
/// inherited descriptors when it starts something else (Python's subprocess, Java, sudo), or when it becomes a daemon, cuts that thread: do not
/// let it leave anything running behind it. What outlives this process, if that is killed with SIGKILL, keeps the section, but nobody is left
/// to stop it if the lock is lost or broken: then only the fence protects.
///
/// Where it can, this process gives the command a cgroup of its own (version 2, as root or in one that is delegated to you). Then everything that the
/// command started on this machine is stopped with it, also under sudo or setsid. Without a cgroup a command that changes its uid cannot be stopped by
/// anybody but root: this process says so at once, waits for its end if the lock is lost, and exits with 123. What docker, systemd-run, ssh, at and
/// their like start is run by others and is never stopped: hold the lock inside of it instead.
///
/// Signals that are ignored when this process starts, as under nohup, are ignored while it waits and while the command runs.
///
/// If this machine is cut off from the others, its lock passes on to them after a while. The command is stopped before that: it is sent
/// SIGTERM a margin before the deadline, and SIGKILL at it, whether the daemon still answers or not. The lock is free the cluster's
/// margin after the deadline, or earlier, when all of the command is gone.
///
/// If this process itself is stopped (SIGSTOP, Ctrl-Z, a frozen container), it keeps the lock for as long as the daemon renews it. With
/// --ttl it loses the lock after that time and the cluster's margin. In both cases no process stops the command while this one stands
/// still, and only the fence protects; when it goes on and finds that the lock is lost, it kills the command at once. What this process leaves
/// running when it ends gives no signs of life either: with --ttl it keeps the section for that time and no longer.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway lock nightly -- ./backup.sh            wait, as long as it takes
  doorway lock nightly --try -- ./backup.sh      or let it be
  doorway lock nightly --wait 30s -- ./backup.sh or give up after a while
  doorway lock nightly --max-hold 10m -- ./backup.sh
  doorway lock nightly --ttl 10s -- ./backup.sh  lose it if stopped for so long
  doorway lock accounts,orders -- ./migrate.sh   several: all or none
  doorway lock demo -- sh -c 'echo my fence is $DOORWAY_FENCE'
  doorway lock demo --node b -- true             through the daemon of node b

Exit status: the command's, 128 and the number of the signal that ended it,
  122 the lock was lost and the command stopped
  123 the lock was lost and the command ran on, as it had changed its uid
  124 not obtained in time    125 something failed here
  126, 127 the command cannot be run, is not found  2 bad usage")]
pub(crate) struct Arguments {
    /// The section; of several, the command has all or none
    #[arg(required = true, value_name = "NAME", value_delimiter = ',', value_parser = SectionName::new)]
    names: Vec<SectionName>,
    /// Give up after this time: 500ms, 30s, 10m, 2h
    #[arg(long, value_name = "TIME", conflicts_with = "try_only")]
    wait: Option<Span>,
    /// Do not wait for somebody who is inside; asking the other nodes takes up to half a second
    #[arg(long = "try")]
    try_only: bool,
    /// Stop the command after this time
    #[arg(long, value_name = "TIME")]
    max_hold: Option<Span>,
    /// Lose the lock if this process is stopped for this time; at least three times the cluster's margin, and --margin
    #[arg(long, value_name = "TIME")]
    ttl: Option<Span>,
    /// What to do to the command if the lock is lost
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLost::Kill)]
    on_lost: OnLost,
    /// How long before the deadline the command is asked to stop; at most what a late heartbeat leaves of a lease [default: 200ms, less
    /// with a short lease, --ttl or --max-hold]
    #[arg(long, value_name = "TIME")]
    margin: Option<Span>,
    /// What `doorway status` says of it, if not the name of the command
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
    let zero = |span: &Option<Span>| span.is_some_and(|span| span.0.is_zero());
    match twice {
        Some((_, name)) => Err(Refusal::new(format!("{name} is named twice: once is enough"))),
        None if names.len() > MOST_NAMES => Err(Refusal::new(format!(
            "one command holds at most {} sections, not {}",
            MOST_NAMES,
            names.len()
        ))),
        None if length > LONGEST_LABEL => Err(Refusal::new(format!(
            "--label takes a few words, at most {LONGEST_LABEL} bytes, not {length}"
        ))),
        None if zero(wait) => Err(Refusal::new("--wait 0s waits for nobody: that is --try")),
        None if zero(max_hold) => Err(Refusal::new("--max-hold 0s leaves no time for the command")),
        None => check_ttl(arguments),
    }
}

/// A sign of life goes out every third of the time-to-live, and may be late by a third, so that a third is left when its answer moves the
/// deadline: that must not be less than the margin, in which the command is asked to stop.
fn check_ttl(arguments: &Arguments) -> Result<(), Refusal> {
    let Arguments { ttl: Some(ttl), margin, max_hold, .. } = arguments else { return Ok(()) };
    if ttl.0.is_zero() {
        return Err(Refusal::new("--ttl 0s loses the lock at once"));
    }
    if let Some(margin) = margin.filter(|margin| ttl.0 / 3 < margin.0) {
        return Err(Refusal::new(format!(
            "--ttl {ttl} is too short for --margin {margin}: a sign of life every third of it would come too late; give at least {}",
            Span(margin.0 * 3)
        )));
    }
    if let Some(max_hold) = max_hold.filter(|max_hold| max_hold.0 <= ttl.0) {
        return Err(Refusal::new(format!(
            "--ttl {ttl} changes nothing, as --max-hold {max_hold} is over by then: give less, or leave it out"
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
    let third = |span: Option<Span>| span.map(|span| clock::ticks(span.0 / 3));
    let limits = [Some(Ticks(spare.0 / 2)), third(arguments.ttl), third(arguments.max_hold)];
    let usual = limits.into_iter().flatten().fold(MARGIN, Ticks::min);
    arguments.margin.map_or(usual, |given| clock::ticks(given.0))
}

/// What is said of a margin that would stop a healthy command at a node with this spare: nothing is asked of it.
fn margin_too_long(arguments: &Arguments, spare: Ticks) -> Ending {
    let (margin, spare) = (Span(clock::span(margin(arguments, spare))), Span(clock::span(spare)));
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

/// What has to be said before the end, on stderr: the command's own output goes on meanwhile.
struct Voice<'a>(&'a str);

impl Voice<'_> {
    /// Says a sentence, unless nobody takes what was said before: a full pipe must not keep the deadline waiting.
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

/// What the daemon is told of who asks: the command's name and no more, as its arguments may be nobody's business.
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
