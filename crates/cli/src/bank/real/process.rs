//! `doorway bank-process`, which is not for users: one account, one client, or the auditor.
//!
//! It is told on its standard input what it is, and tells on its standard output what it does. It dies with the process that
//! started it.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};

use doorway_core::Refusal;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use super::words::{Assignment, ProcessMsg, hear, say};
use super::{account, teller};
use crate::Answer;

/// The first word.
const VERB: &str = "bank-process";

/// What is typed to become a process that dies with this one.
pub(super) fn words() -> [String; 2] {
    [VERB.to_owned(), getpid().as_raw_nonzero().to_string()]
}

/// Is that process, if that is what was typed. It is no verb of the definitions, so that no help or completion shows it.
pub(crate) fn answer(words: &[OsString]) -> Option<Result<Answer, Refusal>> {
    let [_, verb, parent] = words else { return None };
    let parent: i32 = (verb == VERB).then(|| parent.to_str()?.parse().ok()).flatten()?;
    let is_alive = || getppid().is_some_and(|found| found.as_raw_nonzero().get() == parent);
    // In this order: a parent that ends in between is seen by the second.
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    if bound.is_err() || !is_alive() {
        return Some(Err(Refusal::new("the bank that this process belongs to has ended")));
    }
    let (mut input, mut out) = (io::stdin().lock(), io::stdout());
    if let Err(error) = live(&mut input, &mut out) {
        let _ = say(&mut out, &ProcessMsg::Failed(error.to_string()));
    }
    Some(Ok(Answer::holds(String::new())))
}

fn live(input: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let assignment: Assignment = hear(input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    match assignment.process < assignment.accounts {
        true => account::serve(&assignment, out),
        false => teller::work(assignment, input, out),
    }
}
