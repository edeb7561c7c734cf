//! `doorway held-run`, which is not for users: the step between `doorway lock` and its command.
//!
//! It makes sure that the command dies with `doorway lock`, enters the command's cgroup, puts signals back as they were, and becomes the
//! command.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::SigSet;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use super::cgroup::{self, Cgroup};
use super::listens;
use crate::{Answer, Exit};

/// The verb, which no help shows.
const VERB: &str = "held-run";

/// The arguments that run a command that dies with this process, in a cgroup if there is one.
pub(super) fn words(cgroup: Option<&Cgroup>, command: &[OsString]) -> Vec<OsString> {
    let folder = cgroup.map_or_else(OsString::new, |cgroup| cgroup.folder().into());
    let own = [VERB.into(), getpid().as_raw_nonzero().to_string().into(), folder];
    own.into_iter().chain(command.iter().cloned()).collect()
}

/// Becomes the command, if these are its arguments. The verb is not defined in clap, so no help or completion shows it.
pub(crate) fn answer(words: &[OsString]) -> Option<Answer> {
    let [_, verb, parent, folder, program, words @ ..] = words else { return None };
    let parent: i32 = (verb == VERB).then(|| parent.to_str()?.parse().ok()).flatten()?;
    let is_alive = || getppid().is_some_and(|found| found.as_raw_nonzero().get() == parent);
    // In this order: a parent that ends in between is seen by the second.
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    if bound.is_err() || !is_alive() {
        return Some(refused("the process that held the lock has ended".to_owned(), super::OWN_FAILURE));
    }
    if !folder.is_empty() {
        // Where this is not allowed the command is stopped in the ways that need no cgroup.
        let _ = cgroup::enter(Path::new(folder));
    }
    if let Err(error) = listens().iter().copied().collect::<SigSet>().thread_unblock() {
        return Some(refused(format!("signals cannot be put back: {error}"), super::OWN_FAILURE));
    }
    let error = Command::new(program).args(words).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    Some(refused(format!("{} cannot be run: {}", program.to_string_lossy(), reason(&error)), code))
}

/// The exit statuses of shells for a command that is not found and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such command".to_owned(),
        ErrorKind::PermissionDenied => "it is not executable".to_owned(),
        _ => error.to_string(),
    }
}

fn refused(sentence: String, code: u8) -> Answer {
    Answer { text: String::new(), notes: vec![sentence], exit: Exit::Command(code) }
}
