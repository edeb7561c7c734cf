//! The numbers of the bank as programs read them.

use serde::Serialize;

use super::settings::{Fencing, Locks, Update};
use super::tally::{BankViolation, Wrong};

/// The numbers of one or several runs.
#[derive(Clone, Debug, Serialize)]
pub struct BankReport {
    /// Of this form.
    pub version: u32,
    /// The algorithm that was asked for.
    pub algorithm: String,
    /// What is wrong with the lock: `none`, `no-lock` or the number of a specimen.
    pub broken: String,
    /// Whether one section guards all accounts.
    pub locks: Locks,
    /// How money is moved.
    pub update: Update,
    /// Whether accounts reject orders with old fences.
    pub fencing: Fencing,
    /// How many accounts there are.
    pub accounts: usize,
    /// How many clients there are.
    pub clients: usize,
    /// How many take part in every section: clients and auditor.
    pub participants: usize,
    /// What all accounts have together.
    pub total: i64,
    /// The first seed.
    pub seed: u64,
    /// How many runs there were.
    pub runs: u64,
    /// Transfers that moved their money.
    pub transfers: u64,
    /// Transfers for which there was not enough of it.
    pub refused: u64,
    /// Transfers that were given up because an account rejected an order.
    pub abandoned: u64,
    /// Audits that came to a sum.
    pub audits: u64,
    /// Those of them that came to a wrong one.
    pub wrong_audits: u64,
    /// Audits that came to none because an account rejected an order.
    pub void_audits: u64,
    /// How often an account was overdrawn.
    pub negative_balances: u64,
    /// Orders with a smaller fence than the account had seen; rejected if fencing is on.
    pub fenced: u64,
    /// Entries to sections.
    pub entries: u64,
    /// Messages about sections.
    pub messages: u64,
    /// The same by kind.
    pub messages_by_kind: serde_json::Map<String, serde_json::Value>,
    /// The same for each entry.
    pub messages_per_entry: Option<f64>,
    /// From asking for a section to being in it, in ticks.
    pub mean_waiting_time: Option<f64>,
    /// The ticks that the runs took.
    pub time: u64,
    /// What each account has at the end, if there was one run.
    pub balances: Option<Vec<i64>>,
    /// How many runs had something wrong.
    pub failed_runs: u64,
    /// What was found wrong, by kind.
    pub found: Vec<FoundViolations>,
    /// The seed of the first run in which money was wrong, or else of the first that failed.
    pub example_seed: Option<u64>,
    /// What was wrong in it: the first ten of each kind.
    pub violations: Vec<BankViolation>,
    /// What to type to see it again.
    pub replay: Option<String>,
}

/// How often something was found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FoundViolations {
    /// What.
    pub kind: Wrong,
    /// How often.
    pub times: u64,
    /// In how many runs.
    pub runs: u64,
    /// The first seed of those.
    pub first_seed: u64,
}
