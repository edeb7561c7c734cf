//! `doorway bank`: transfers between accounts under a lock, and an auditor who counts the money.

mod page;
pub(crate) mod real;
mod story;

use doorway_bank::{Bank, BankRuns, Broken, Fencing, Locks, Update};
use doorway_catalog::Catalog;
use doorway_core::{About, Channels, Options, Refusal};
use doorway_simulator::Span;
use doorway_simulator::parallel::{JobEvent, in_order};
use doorway_terminal::{ProgressLine, text, whole};

use crate::flags::Choices;
use crate::typed::Typed;
use crate::{Answer, Exit, files, names, repetition};

/// Move money between accounts under a lock, and audit it
///
/// Clients transfer money between accounts, and an auditor adds up all accounts, each while holding the lock. Every account is
/// a process of its own that is reached by messages only, so a transfer takes several messages. Under a correct lock every
/// audit finds the same sum and no account is overdrawn. Under a broken lock the auditor sees money that has left one account
/// and not reached the other, and two clients spend the same money.
///
/// All of them are operating-system processes, and the lock is that of a real cluster: three nodes that the bank starts on this
/// machine, or a running cluster named with --socket or --node. With --simulated everything happens in virtual time, where a
/// run can be repeated. Broken locks run on a real network nowhere but here.
///
/// With real processes a broken lock needs help to show its fault: on one machine messages arrive at once and in order, so E1
/// and E14 would hardly ever fail. With --broken the messages between the bank's own nodes therefore take detours from node to
/// node, as they may on a wide network, and clients rewrite balances. To run a correct lock under the same conditions:
/// --channels any --update rewrite --think exponential:2000.
///
/// The bank also checks that no lock ever has two holders and that fences increase. At the end, whatever the audits saw, it
/// checks that no money is missing and that the balances match what the clients did.
///
/// Exits 0 if no run had a fault, 1 if one had.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway bank                                3 accounts, 3 clients, an auditor
  doorway bank --algorithm raymond --locks per-account
  doorway bank --broken E1                    money appears and vanishes, mostly
  doorway bank --kill 1                       kill -9 in mid-transfer: no harm
  doorway bank --kill 1 --fencing off         the late order does harm
  doorway bank --node a,b,c                   over the nodes of a cluster
  doorway bank --simulated
  doorway bank --simulated --algorithm maekawa --locks per-account
  doorway bank --simulated --broken E1        deferred peers are never forgotten
  doorway bank --simulated --broken E14       requests are stamped too early
  doorway bank --simulated --broken no-lock --update rewrite --fencing off
  doorway bank --simulated --broken E14 --seed 3 --runs 1 --json
  doorway bank --trace                        one run, event by event
  doorway bank --trace --locks per-account --from 100 --to 200
  doorway bank --trace --broken E1 --seed 10 --from 1900 --to 2100")]
pub(crate) struct Arguments {
    /// Run in virtual time, where a run is a seed, instead of with real processes
    #[arg(long)]
    simulated: bool,
    /// Number of accounts
    #[arg(long, value_name = "A", default_value = "3", value_parser = whole::<usize>, allow_negative_numbers = true)]
    accounts: usize,
    /// Number of clients
    #[arg(long, value_name = "C", default_value = "3", value_parser = whole::<usize>, allow_negative_numbers = true)]
    clients: usize,
    /// Initial balance of each account; a transfer moves 1 to this amount
    #[arg(long, value_name = "B", default_value = "100", value_parser = whole::<u64>, allow_negative_numbers = true)]
    balance: u64,
    /// Transfers that each client tries; without --simulated, as many as there is time for unless given
    #[arg(long, value_name = "T", default_value = "50", value_parser = whole::<usize>, allow_negative_numbers = true)]
    transfers: usize,
    /// Number of audits; without --simulated, as many as there is time for unless given, and one at the end
    #[arg(long, value_name = "N", default_value = "50", value_parser = whole::<usize>, allow_negative_numbers = true)]
    audits: usize,
    /// How clients move money
    ///
    /// transfer: the client sends DEBIT to one account and CREDIT to the other. rewrite: the client READs both balances and
    /// replaces both with WRITE, so updates are lost for good if two clients do it at once; the default under a broken lock
    /// without --simulated.
    #[arg(long, value_name = "transfer|rewrite", default_value = "transfer")]
    update: Update,
    /// Ticks that clients and auditor wait before each request of the lock
    ///
    /// Without --simulated a tick is a microsecond, and the default is 0 under a correct lock and exponential:2000 under a
    /// broken one.
    #[arg(long, value_name = "TICKS", default_value = "exponential:50", allow_negative_numbers = true)]
    think: Span,

    /// The algorithm of the lock, as `doorway algorithms` lists it
    #[arg(long, value_name = "NAME", default_value = "ricart-agrawala", help_heading = LOCK)]
    algorithm: String,
    /// The fault of the lock: none, no-lock, or the number of a specimen of the algorithm, as in E1
    #[arg(long, value_name = "ID|no-lock|none", default_value = "none", help_heading = LOCK)]
    broken: String,
    /// One lock for all accounts, or one for each
    ///
    /// one: all clients use the lock `bank`. per-account: the lock `acct-k` guards account k; a transfer takes two locks and an
    /// audit all of them, in the order of the accounts, so that no deadlock is possible. Few faults of a broken lock then touch
    /// money, since both locks must fail at once: more do with --clients 8 --think 0 --update rewrite.
    #[arg(long, value_name = "one|per-account", default_value = "one", help_heading = LOCK)]
    locks: Locks,
    /// Whether accounts reject orders with a smaller fence than they have seen, or only count them
    #[arg(long, value_name = "on|off", default_value = "on", help_heading = LOCK)]
    fencing: Fencing,
    #[command(flatten)]
    choices: Choices,

    /// With --simulated, message latency in ticks: TICKS, uniform:FROM:TO or exponential:MEAN
    #[arg(
        long,
        value_name = "TICKS",
        default_value = "exponential:10",
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    latency: Span,
    /// Delivery order of the channels; by default the weakest order that the lock needs
    ///
    /// Without --simulated correct locks have fifo channels unless `any` is given; then the messages between the bank's own
    /// nodes take detours, as those of broken locks do.
    #[arg(long, value_name = "fifo|any|causal", help_heading = RUNS)]
    channels: Option<Channels>,
    /// Seed of all random choices; of the first run, if there are several
    #[arg(
        long,
        value_name = "S",
        default_value = "1",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    seed: u64,
    /// With --simulated, number of runs, with the seeds S, S + 1, …
    #[arg(
        long,
        value_name = "R",
        default_value = "100",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    runs: u64,
    /// With --simulated, number of threads, one per processor unless given; the output does not depend on it
    #[arg(
        long,
        value_name = "T",
        value_parser = whole::<usize>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    threads: Option<usize>,
    /// Print JSON
    #[arg(long, help_heading = RUNS)]
    json: bool,
    /// Tell one simulated run event by event, with the state and the queue of each section
    ///
    /// Each event is a step of one client, account or the auditor. Below it stand the sections that it is about, as they are
    /// after it: who is inside and with which fence, who waits, and what the algorithm knows at the process that took the step.
    /// Implies --simulated, with one run.
    #[arg(long, help_heading = RUNS)]
    trace: bool,
    /// With --trace, leave out what happens before this time
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        requires = "trace",
        help_heading = RUNS
    )]
    from: u64,
    /// With --trace, stop after this time
    #[arg(
        long,
        value_name = "TIME",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        requires = "trace",
        help_heading = RUNS
    )]
    to: Option<u64>,
    /// With --trace, stop after this many events
    #[arg(
        long,
        value_name = "N",
        default_value = "40",
        value_parser = whole::<usize>,
        allow_negative_numbers = true,
        requires = "trace",
        help_heading = RUNS
    )]
    events: usize,

    #[command(flatten, next_help_heading = "Real processes")]
    real: real::Real,
}

const LOCK: &str = "Lock";
const RUNS: &str = "Network, runs and output";

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    names::find(catalog, typed, &arguments.algorithm)?;
    let bank = bank(arguments)?;
    if arguments.trace {
        return story::answer(catalog, arguments, &bank, typed);
    }
    if !arguments.simulated {
        return real::answer(catalog, arguments, bank, typed);
    }
    real::check_virtual(typed)?;
    bank.check()?;
    let lock = bank.lock(&catalog.list())?;
    let notes = notes(&bank, lock);
    let runs = run_all(catalog, arguments, bank)?;
    let exit = if runs.failed == 0 { Exit::Holds } else { Exit::Fails };
    let text = match arguments.json {
        true => as_json(&runs, typed),
        false => page::page(&runs, lock, typed),
    };
    Ok(Answer { text, notes, exit })
}

fn bank(arguments: &Arguments) -> Result<Bank, Refusal> {
    Ok(Bank {
        algorithm: arguments.algorithm.clone(),
        options: options(arguments)?,
        broken: Broken::from(arguments.broken.as_str()),
        accounts: arguments.accounts,
        clients: arguments.clients,
        balance: arguments.balance,
        transfers: arguments.transfers,
        audits: arguments.audits,
        locks: arguments.locks,
        update: arguments.update,
        fencing: arguments.fencing,
        think: arguments.think,
        latency: arguments.latency,
        channels: arguments.channels,
        seed: arguments.seed,
    })
}

fn options(arguments: &Arguments) -> Result<Options, Refusal> {
    files::choices(arguments.choices.words())
}

/// What should be said although it is no error.
fn notes(bank: &Bank, lock: Option<&About>) -> Vec<String> {
    let note = |(about, given): (&About, Channels)| {
        let (needed, given_ones) = (text::channels(about.needs), text::channels(given));
        let note = || format!("{} needs {needed} and runs on {given_ones}: it may fail", about.name);
        (given < about.needs).then(note)
    };
    lock.zip(bank.channels).and_then(note).into_iter().collect()
}

fn run_all(catalog: &Catalog, arguments: &Arguments, bank: Bank) -> Result<BankRuns, Refusal> {
    let first = *repetition::seeds(arguments.seed, arguments.runs)?.start();
    let threads = repetition::threads(arguments.threads, arguments.runs)?;
    let mut progress = ProgressLine::new(arguments.runs, "runs");
    let mut runs = BankRuns::new(bank.clone());
    let job = |run| catalog.run_bank(&Bank { seed: first + run, ..bank.clone() });
    let take = |step| -> Result<(), Refusal> {
        match step {
            JobEvent::Done(run, outcome) => {
                runs.add(outcome?);
                progress.show(run);
            }
            JobEvent::Waiting(done) => progress.show(done),
        }
        Ok(())
    };
    in_order(0..arguments.runs, threads, job, take)?;
    drop(progress);
    Ok(runs)
}

fn as_json(runs: &BankRuns, typed: &Typed) -> String {
    let text = serde_json::to_string(&runs.report(&typed.program));
    text.expect("a report has nothing that JSON cannot say") + "\n"
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn what_is_not_typed_is_as_the_laboratory_has_it() {
        let arguments = Parsed::try_parse_from(["doorway"]).expect("nothing must be typed").arguments;
        let bank = bank(&arguments).expect("no file is named");
        assert_eq!(format!("{bank:?}"), format!("{:?}", Bank::default()));
    }
}
