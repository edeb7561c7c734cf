//! `doorway bank-process`, which nobody types: one account, one client, or the auditor.
//!
//! It is told on its standard input what it is, and tells on its standard output what it does. It dies with the process that
//! started it.

use std::io::{self, BufRead, Write};

use doorway_core::Refusal;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use super::words::{Assignment, Word, hear, say};
use super::{account, teller};
use crate::Answer;

/// The name of this verb.
const VERB: &str = "bank-process";

/// Be one process of the bank
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The process that must live
    #[arg(long, value_name = "PROCESS")]
    parent: i32,
}

/// What is typed to become a process that dies with this one.
pub(super) fn words() -> [String; 3] {
    [VERB.to_owned(), "--parent".to_owned(), getpid().as_raw_nonzero().to_string()]
}

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let is_alive = || getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == arguments.parent);
    // In this order: a parent that ends in between is seen by the second.
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    if bound.is_err() || !is_alive() {
        return Err(Refusal::new("the bank that this process belongs to has ended"));
    }
    let (mut input, mut out) = (io::stdin().lock(), io::stdout());
    if let Err(error) = live(&mut input, &mut out) {
        let _ = say(&mut out, &Word::Failed(error.to_string()));
    }
    Ok(Answer::holds(String::new()))
}

fn live(input: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let assignment: Assignment = hear(input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    match assignment.process < assignment.accounts {
        true => account::serve(&assignment, out),
        false => teller::work(assignment, input, out),
    }
}
