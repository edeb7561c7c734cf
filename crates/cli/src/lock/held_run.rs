//! `doorway held-run`, which nobody types: between `doorway lock` and its command.
//!
//! It makes sure that the command dies with `doorway lock`, puts signals back as they were, and becomes the command.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::SigSet;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use super::listens;
use crate::{Answer, Exit};

/// The name of this verb.
const VERB: &str = "held-run";

/// Become a command that dies with the process that started it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The process that must live
    #[arg(long, value_name = "PROCESS")]
    parent: i32,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What is typed to become a command that dies with this process.
pub(super) fn words(command: &[OsString]) -> Vec<OsString> {
    let parent = getpid().as_raw_nonzero().to_string();
    let own = [VERB, "--parent", &parent, "--"].map(OsString::from);
    own.into_iter().chain(command.iter().cloned()).collect()
}

pub(crate) fn answer(arguments: &Arguments) -> Answer {
    let is_alive = || getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == arguments.parent);
    // In this order: a parent that ends in between is seen by the second.
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    if bound.is_err() || !is_alive() {
        return refused("the process that held the lock has ended".to_owned(), super::OWN_FAILURE);
    }
    if let Err(error) = listens().iter().copied().collect::<SigSet>().thread_unblock() {
        return refused(format!("signals cannot be put back: {error}"), super::OWN_FAILURE);
    }
    let Some((program, words)) = arguments.command.split_first() else {
        return refused("there is no command".to_owned(), super::OWN_FAILURE);
    };
    let error = Command::new(program).args(words).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    refused(format!("{} cannot be run: {}", program.to_string_lossy(), reason(&error)), code)
}

/// What shells say of a command that is not there, and of one that cannot be run.
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
