//! Several runs of one bank, with seeds that follow each other.

use std::collections::BTreeMap;

use super::hall::BankOutcome;
use super::report::{BankReport, FoundViolations};
use super::settings::Bank;
use super::tally::{BankTally, BankViolation, Wrong};

/// The results of several runs, added up in the order of their seeds.
#[derive(Clone, Debug)]
pub struct BankRuns {
    /// The bank with its first seed.
    pub bank: Bank,
    /// How many runs were added.
    pub runs: u64,
    /// What was counted in all of them.
    pub tally: BankTally,
    /// How many had something wrong.
    pub failed: u64,
    /// In how many each thing was wrong, and the first seed of those.
    failed_by: BTreeMap<Wrong, (u64, u64)>,
    /// One of them to look at: the first in which money was wrong, or else the first of all.
    pub example: Option<FailedRun>,
    /// What each account had at the end of the run that was added last.
    balances: Vec<i64>,
}

/// A run in which something was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// Its seed.
    pub seed: u64,
    /// What was wrong.
    pub violations: Vec<BankViolation>,
}

impl FailedRun {
    fn is_about_money(&self) -> bool {
        self.violations.iter().any(|violation| violation.kind.is_about_money())
    }
}

impl BankRuns {
    /// No run yet, of a bank whose first seed is its own.
    #[must_use]
    pub fn new(bank: Bank) -> Self {
        Self {
            bank,
            runs: 0,
            tally: BankTally::default(),
            failed: 0,
            failed_by: BTreeMap::new(),
            example: None,
            balances: Vec::new(),
        }
    }

    /// One run, of which nothing was counted.
    #[must_use]
    pub fn one(bank: &Bank) -> Self {
        Self { runs: 1, ..Self::new(bank.clone()) }
    }

    /// Adds the outcome of the run with the next seed.
    pub fn add(&mut self, outcome: BankOutcome) {
        let seed = self.bank.seed + self.runs;
        self.runs += 1;
        self.tally.merge(&outcome.tally);
        self.failed += u64::from(!outcome.is_right());
        for &wrong in outcome.tally.found.keys() {
            self.failed_by.entry(wrong).or_insert((0, seed)).0 += 1;
        }
        if !outcome.is_right() {
            let other = FailedRun { seed, violations: outcome.violations };
            let is_better = |example: &FailedRun| other.is_about_money() && !example.is_about_money();
            if self.example.as_ref().is_none_or(is_better) {
                self.example = Some(other);
            }
        }
        self.balances = outcome.balances;
    }

    /// What each account has at the end, if there was one run.
    #[must_use]
    pub fn balances(&self) -> Option<&[i64]> {
        (self.runs == 1).then_some(&*self.balances)
    }

    /// What was found wrong, by kind.
    #[must_use]
    pub fn found(&self) -> Vec<FoundViolations> {
        let found = |(&kind, &(runs, first_seed)): (&Wrong, &(u64, u64))| FoundViolations {
            kind,
            times: self.tally.times(kind),
            runs,
            first_seed,
        };
        self.failed_by.iter().map(found).collect()
    }

    /// What to type to see the example again, `program` being the name of the command.
    #[must_use]
    pub fn replay(&self, program: &str) -> Option<String> {
        let seed = self.example.as_ref()?.seed;
        Some(Bank { seed, ..self.bank.clone() }.command(program))
    }

    /// The numbers as programs read them.
    #[must_use]
    pub fn report(&self, program: &str) -> BankReport {
        let (bank, tally) = (&self.bank, &self.tally);
        let kinds = tally.kinds().map(|(kind, count)| (kind.to_owned(), count.into()));
        BankReport {
            version: 1,
            algorithm: bank.algorithm.clone(),
            broken: bank.broken.to_string(),
            locks: bank.locks,
            update: bank.update,
            fencing: bank.fencing,
            accounts: bank.accounts,
            clients: bank.clients,
            participants: bank.participant_count(),
            total: bank.total(),
            seed: bank.seed,
            runs: self.runs,
            transfers: tally.transfers,
            refused: tally.refused,
            abandoned: tally.abandoned,
            audits: tally.audits,
            wrong_audits: tally.times(Wrong::Audit),
            void_audits: tally.void_audits,
            negative_balances: tally.times(Wrong::NegativeBalance),
            fenced: tally.fenced,
            entries: tally.entries,
            messages: tally.messages(),
            messages_by_kind: kinds.collect(),
            messages_per_entry: tally.messages_per_entry(),
            mean_waiting_time: tally.waiting_time.mean(),
            time: tally.time,
            balances: self.balances().map(<[i64]>::to_vec),
            failed_runs: self.failed,
            found: self.found(),
            example_seed: self.example.as_ref().map(|example| example.seed),
            violations: self.example.as_ref().map(|example| example.violations.clone()).unwrap_or_default(),
            replay: self.replay(program),
        }
    }
}
