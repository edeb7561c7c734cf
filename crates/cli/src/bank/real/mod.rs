//! The bank with processes of the operating system: one for each account and each client, and one for the auditor.
//!
//! The lock is that of a real cluster. This process starts the others, hears what they do and judges it; it takes no part in
//! any transfer. A client that is to be killed gives the first order of a transfer to it, as if the order were under way on a
//! slow network, and is killed inside. The order is delivered after others have been inside.
//!
//! No other program runs broken locks: nodes of a configuration refuse them, and only the bank's own nodes, which listen on this
//! machine alone, are given them.

mod account;
mod books;
mod cluster;
mod hall;
mod page;
pub(crate) mod process;
mod staff;
mod teller;
mod words;

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use doorway_bank::{Bank, Broken, Update};
use doorway_catalog::Catalog;
use doorway_core::{About, Options, Refusal};
use doorway_simulator::Span;

use self::cluster::BankCluster;
use self::hall::Hall;
use super::Arguments;
use crate::typed::Typed;
use crate::{Answer, Exit};

/// Options that are about real processes.
#[derive(clap::Args)]
pub(super) struct Real {
    /// How long transfers and audits go on, in seconds; with --transfers and --audits, the time after which the bank gives up
    ///
    /// 5 unless given, and 60 if --transfers and --audits are.
    #[arg(long, value_name = "S", value_parser = doorway_terminal::whole::<u64>, allow_negative_numbers = true)]
    seconds: Option<u64>,
    /// Number of clients to kill with SIGKILL while they hold the lock and an order of theirs is in flight
    ///
    /// Others must get the lock at once, and the late order must be rejected because of its fence.
    #[arg(
        long,
        value_name = "K",
        default_value = "0",
        value_parser = doorway_terminal::whole::<usize>,
        allow_negative_numbers = true
    )]
    kill: usize,
    #[command(flatten)]
    nodes: Nodes,
}

/// The nodes of a cluster that runs already.
#[derive(clap::Args)]
pub(super) struct Nodes {
    /// Use the node that listens at this socket, instead of three nodes of the bank's own; may be repeated
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub(super) socket: Vec<PathBuf>,
    /// The same by the node's name
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) node: Vec<String>,
}

impl Nodes {
    fn is_empty(&self) -> bool {
        self.socket.is_empty() && self.node.is_empty()
    }
}

/// What was typed, checked.
pub(super) struct Terms {
    bank: Bank,
    /// How many transfers each client tries; until time is over if nothing is said.
    transfers: Option<usize>,
    audits: Option<usize>,
    seconds: Duration,
    kill: usize,
}

/// Options of either bank that mean nothing to the other, and why.
const VIRTUAL: [(&str, &str); 3] = [
    ("latency", "real messages have real latencies"),
    ("runs", "real time cannot be repeated"),
    ("threads", "the operating system schedules real processes"),
];
const REAL: [&str; 4] = ["seconds", "kill", "socket", "node"];

/// What belongs to who founds a cluster.
const FOUNDING: [&str; 7] = ["algorithm", "channels", "quorum", "structure", "tree", "arbitration", "set"];

/// The most processes of a kind; an audit takes the sections of all accounts in one request.
const MOST: usize = 64;
const LONGEST: u64 = 3_600;

/// Refuses options that only mean something in real time.
pub(super) fn check_virtual(typed: &Typed) -> Result<(), Refusal> {
    match REAL.iter().find(|option| typed.has(option)) {
        Some(option) => Err(Refusal::new(format!(
            "--{option} is for real processes: it does not go with --simulated or --trace"
        ))),
        None => Ok(()),
    }
}

pub(super) fn answer(
    catalog: &Catalog,
    arguments: &Arguments,
    bank: Bank,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    let terms = terms(arguments, bank, typed)?;
    // Signals before threads: those that begin later leave them alone.
    let (sender, events) = channel();
    let lock = match arguments.real.nodes.is_empty() {
        true => Some(lock(catalog, &terms.bank)?),
        false => None,
    };
    staff::watch_for_signals(sender.clone())?;
    let cluster = match lock {
        Some(lock) => BankCluster::own(catalog, lock, &terms.bank)?,
        None => BankCluster::existing(&arguments.real.nodes)?,
    };
    let kept = Hall::open(&terms, &cluster, (&sender, events))?.run()?;
    let exit = if kept.tally.found.is_empty() { Exit::Holds } else { Exit::Fails };
    let told = page::BankPage { terms: &terms, kept: &kept, lock, cluster: &cluster };
    let text = if arguments.json { page::json(&told) } else { page::page(&told) };
    let notes = super::notes(&terms.bank, lock).into_iter().chain(page::notes(&kept)).collect();
    Ok(Answer { text, notes, exit })
}

/// What is not typed: right locks are kept busy, and broken ones are given their chance.
fn in_real_time(bank: Bank, typed: &Typed) -> Bank {
    let (think, update) = match bank.broken {
        Broken::Specimen(_) => (Span::Exponential(2_000), Update::Rewrite),
        Broken::None | Broken::NoLock => (Span::Constant(0), Update::Transfer),
    };
    let think = if typed.has("think") { bank.think } else { think };
    let update = if typed.has("update") { bank.update } else { update };
    Bank { think, update, ..bank }
}

fn terms(arguments: &Arguments, bank: Bank, typed: &Typed) -> Result<Terms, Refusal> {
    let bank = in_real_time(bank, typed);
    for (option, why) in VIRTUAL {
        if typed.has(option) {
            return Err(Refusal::new(format!("--{option} is for --simulated: {why}")));
        }
    }
    bank.check()?;
    let given = |option, count| typed.has(option).then_some(count);
    let (transfers, audits) = (given("transfers", bank.transfers), given("audits", bank.audits));
    let usual = if transfers.is_some() && audits.is_some() { 60 } else { 5 };
    let (seconds, kill) = (arguments.real.seconds.unwrap_or(usual), arguments.real.kill);
    let most = bank.accounts.max(bank.clients);
    let is_foreign = !arguments.real.nodes.is_empty();
    if most > MOST {
        return Err(Refusal::new(format!(
            "each account and each client is a process: without --simulated at most {MOST} of each are possible, not {most}"
        )));
    }
    if !(1..=LONGEST).contains(&seconds) {
        return Err(Refusal::new(format!("--seconds must be 1 to {LONGEST}, not {seconds}")));
    }
    if kill > bank.clients {
        let clients = bank.clients;
        return Err(Refusal::new(format!(
            "--kill {kill} needs as many clients, not {clients}: give --clients"
        )));
    }
    if is_foreign && bank.broken != Broken::None {
        return Err(Refusal::new(
            "broken locks run only on nodes that the bank starts itself, on this machine: leave out --socket and --node",
        ));
    }
    if let Some(option) = FOUNDING.iter().find(|option| is_foreign && typed.has(option)) {
        return Err(Refusal::new(format!(
            "--{option} is for nodes that the bank starts itself: leave it out, or --socket and --node"
        )));
    }
    Ok(Terms { bank, transfers, audits, seconds: Duration::from_secs(seconds), kill })
}

fn lock<'a>(catalog: &'a Catalog, bank: &Bank) -> Result<&'a About, Refusal> {
    if bank.broken == Broken::NoLock {
        return Err(Refusal::new(
            "no-lock is for --simulated: real clients ask for a lock, be it a broken one",
        ));
    }
    let options: &Options = &bank.options;
    if options.iter().any(|(_, choice)| choice.word == "elected") {
        return Err(Refusal::new("an elected tree is for --simulated: choose one that all nodes know"));
    }
    bank.lock(&catalog.list())?.ok_or_else(|| Refusal::new("there is no lock"))
}
