//! Several runs of one bank, with seeds that follow each other.

use std::collections::BTreeMap;

use super::hall::Outcome;
use super::report::{BankReport, Found};
use super::settings::Bank;
use super::tally::{Tally, Violation, Wrong};

/// What several runs came to, added up in the order of their seeds.
#[derive(Clone, Debug)]
pub struct BankRuns {
    /// The bank with its first seed.
    pub bank: Bank,
    /// How many runs were added.
    pub runs: u64,
    /// What was counted in all of them.
    pub tally: Tally,
    /// How many had something wrong.
    pub failed: u64,
    /// In how many each thing was wrong.
    failed_by: BTreeMap<Wrong, u64>,
    /// The seed of the first of them, and what was wrong in it.
    pub first_failure: Option<(u64, Vec<Violation>)>,
    /// What each account had at the end of the run that was added last.
    balances: Vec<i64>,
}

impl BankRuns {
    /// No run yet, of a bank whose first seed is its own.
    #[must_use]
    pub fn new(bank: Bank) -> Self {
        Self {
            bank,
            runs: 0,
            tally: Tally::default(),
            failed: 0,
            failed_by: BTreeMap::new(),
            first_failure: None,
            balances: Vec::new(),
        }
    }

    /// Adds the outcome of the run with the next seed.
    pub fn add(&mut self, outcome: Outcome) {
        let seed = self.bank.seed + self.runs;
        self.runs += 1;
        self.tally.merge(&outcome.tally);
        self.failed += u64::from(!outcome.is_right());
        for &wrong in outcome.tally.found.keys() {
            *self.failed_by.entry(wrong).or_default() += 1;
        }
        if !outcome.is_right() && self.first_failure.is_none() {
            self.first_failure = Some((seed, outcome.violations));
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
    pub fn found(&self) -> Vec<Found> {
        let found = |(&kind, &runs): (&Wrong, &u64)| Found { kind, times: self.tally.times(kind), runs };
        self.failed_by.iter().map(found).collect()
    }

    /// What to type to see the first run again that failed, `program` being the name of the command.
    #[must_use]
    pub fn replay(&self, program: &str) -> Option<String> {
        let (seed, _) = self.first_failure.as_ref()?;
        Some(Bank { seed: *seed, ..self.bank.clone() }.command(program))
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
            first_failed_seed: self.first_failure.as_ref().map(|(seed, _)| *seed),
            violations: self.first_failure.as_ref().map(|(_, told)| told.clone()).unwrap_or_default(),
            replay: self.replay(program),
        }
    }
}
