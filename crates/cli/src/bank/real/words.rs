//! What the processes of the bank tell each other: lines of JSON, on pipes and on Unix sockets.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_bank::{Answer, Bank, Ended, Fencing, Locks, Order, Pass, Update};
use doorway_core::{NodeId, SectionName, Ticks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a process is told first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// Its number: accounts first, then clients, then the auditor.
    pub(super) process: usize,
    pub(super) accounts: usize,
    pub(super) clients: usize,
    pub(super) balance: u64,
    pub(super) locks: Locks,
    pub(super) update: Update,
    pub(super) fencing: Fencing,
    /// How long to think, as a person writes it; a tick is a microsecond.
    pub(super) think: String,
    pub(super) seed: u64,
    /// Where the accounts' sockets are.
    pub(super) folder: PathBuf,
    /// The daemon to ask for the lock.
    pub(super) daemon: PathBuf,
    /// How many errands there are; without end if nothing is said.
    pub(super) errands: Option<usize>,
    /// When no other errand is begun.
    pub(super) until: Ticks,
    /// After how many transfers it waits inside to be killed, if it is to be.
    pub(super) killed_after: Option<usize>,
}

impl Assignment {
    /// The bank as all of its processes know it.
    pub(super) fn bank(&self) -> Bank {
        Bank {
            accounts: self.accounts,
            clients: self.clients,
            balance: self.balance,
            locks: self.locks,
            update: self.update,
            fencing: self.fencing,
            think: self.think.parse().unwrap_or(Bank::default().think),
            seed: self.seed,
            ..Bank::default()
        }
    }

    pub(super) fn me(&self) -> NodeId {
        NodeId::new(self.process)
    }
}

/// The socket of an account.
pub(super) fn socket_of(folder: &Path, account: usize) -> PathBuf {
    folder.join(format!("account-{}.sock", account + 1))
}

/// What a process tells the one that started it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ProcessMsg {
    /// An account that can be reached.
    Ready,
    /// It is inside since this moment, after this wait.
    Entered { at: Ticks, waited: Ticks, passes: Vec<Pass> },
    /// An order that takes the slow way: its client is inside and does nothing more.
    Posted { account: usize, pass: Pass, order: Order },
    /// It was inside up to this moment.
    Left { at: Ticks, ended: Ended, changes: Vec<(usize, i64)>, lost: Option<String> },
    /// It has waited for these sections for too long.
    Stalled { sections: Vec<SectionName> },
    /// It cannot go on.
    Failed(String),
}

/// What an account is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum AccountMsg {
    Order(Pass, Order),
    /// Tell what there is in the books.
    Close,
}

/// What an account answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum AccountReply {
    Answer(Answer),
    Closed(Extract),
}

/// What an account has at the end, and what it has seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Extract {
    pub(super) balance: i64,
    /// How many orders came with a smaller fence than one before.
    pub(super) fenced: u64,
    /// How often it was overdrawn, and what it had then, the first few times.
    pub(super) overdrawn: u64,
    pub(super) first_overdrawn: Vec<(Ticks, i64)>,
}

/// Writes a line.
///
/// # Errors
/// If no process can read it.
pub(super) fn say(out: &mut impl Write, word: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(word).map_err(io::Error::other)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// Reads a line; nothing if there are no more.
///
/// # Errors
/// If it is something else.
pub(super) fn hear<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Ok(None),
        _ => serde_json::from_str(&line).map(Some).map_err(io::Error::other),
    }
}

/// A line to an account.
pub(super) struct AccountConnection {
    stream: BufReader<UnixStream>,
}

impl AccountConnection {
    /// # Errors
    /// If the account cannot be reached.
    pub(super) fn open(folder: &Path, account: usize) -> io::Result<Self> {
        Ok(Self { stream: BufReader::new(UnixStream::connect(socket_of(folder, account))?) })
    }

    /// Gives an order and waits for the answer.
    ///
    /// # Errors
    /// If the account is gone.
    pub(super) fn order(&mut self, pass: &Pass, order: Order) -> io::Result<Answer> {
        match self.ask(&AccountMsg::Order(pass.clone(), order))? {
            AccountReply::Answer(answer) => Ok(answer),
            AccountReply::Closed(_) => Err(io::Error::other("the books in place of an answer")),
        }
    }

    /// What the account has in its books.
    ///
    /// # Errors
    /// If the account is gone.
    pub(super) fn close(&mut self) -> io::Result<Extract> {
        match self.ask(&AccountMsg::Close)? {
            AccountReply::Closed(extract) => Ok(extract),
            AccountReply::Answer(_) => Err(io::Error::other("an answer in place of the books")),
        }
    }

    fn ask(&mut self, letter: &AccountMsg) -> io::Result<AccountReply> {
        say(self.stream.get_mut(), letter)?;
        hear(&mut self.stream)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
