//! The bank's counters and violations.

use std::collections::BTreeMap;
use std::fmt;

use doorway_core::Ticks;
use doorway_simulator::Samples;
use serde::Serialize;

use super::hall::BankOutcome;
use super::teller::{Ended, Work};

/// All that is counted. Tallies of several runs add up.
#[derive(Clone, Debug, Default)]
pub struct BankTally {
    /// Transfers that moved their money.
    pub transfers: u64,
    /// Transfers for which there was not enough of it.
    pub refused: u64,
    /// Transfers that were given up because an account rejected an order.
    pub abandoned: u64,
    /// Audits that came to a sum.
    pub audits: u64,
    /// Audits that came to none because an account rejected an order.
    pub void_audits: u64,
    /// Orders with a smaller fence than the account had seen.
    pub fenced: u64,
    /// Entries to sections.
    pub entries: u64,
    /// From asking for a section to being in it, in ticks.
    pub waiting_time: Samples,
    /// How many messages of each kind were sent about sections, by the places of the kinds.
    kinds: BTreeMap<u32, (&'static str, u64)>,
    /// The ticks that the run took; of several runs the sum.
    pub time: u64,
    /// How often something wrong was found.
    pub found: BTreeMap<Wrong, u64>,
}

impl BankTally {
    pub(super) fn count_messages(&mut self, place: u32, kind: &'static str, copies: u64) {
        self.kinds.entry(place).or_insert((kind, 0)).1 += copies;
    }

    /// The kinds of messages about sections, in the order of the algorithm, with how many were sent.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.kinds.values().copied()
    }

    /// All messages about sections.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }

    /// Messages about sections for each entry to one.
    #[must_use]
    pub fn messages_per_entry(&self) -> Option<f64> {
        (self.entries > 0).then(|| self.messages() as f64 / self.entries as f64)
    }

    /// How often this was found wrong.
    #[must_use]
    pub fn times(&self, wrong: Wrong) -> u64 {
        self.found.get(&wrong).copied().unwrap_or(0)
    }

    /// Counts how a transfer or an audit has ended. Reports an audit with another sum than this.
    pub fn count_end(&mut self, ended: Ended, total: i64) -> Option<(Wrong, String)> {
        let counted = match ended {
            Ended::Transferred => &mut self.transfers,
            Ended::Refused => &mut self.refused,
            Ended::Fenced(Work::Transfer(_)) => &mut self.abandoned,
            Ended::Fenced(Work::Audit) => &mut self.void_audits,
            Ended::Audited(_) => &mut self.audits,
        };
        *counted += 1;
        let told = |sum| (Wrong::Audit, format!("the auditor counts {sum} in all accounts, not {total}"));
        match ended {
            Ended::Audited(sum) if sum != total => Some(told(sum)),
            _ => None,
        }
    }

    /// Counts a violation, and returns whether it is one of the first of its kind, which are reported.
    pub fn count_wrong(&mut self, wrong: Wrong) -> bool {
        let times = self.found.entry(wrong).or_default();
        *times += 1;
        *times <= BankOutcome::MOST_VIOLATIONS
    }

    /// How many transfers and audits have ended.
    #[must_use]
    pub fn errands(&self) -> u64 {
        self.transfers + self.refused + self.abandoned + self.audits + self.void_audits
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &BankTally) {
        self.transfers += other.transfers;
        self.refused += other.refused;
        self.abandoned += other.abandoned;
        self.audits += other.audits;
        self.void_audits += other.void_audits;
        self.fenced += other.fenced;
        self.entries += other.entries;
        self.waiting_time.merge(&other.waiting_time);
        self.time += other.time;
        for (&place, &(kind, count)) in &other.kinds {
            self.count_messages(place, kind, count);
        }
        for (&wrong, &times) in &other.found {
            *self.found.entry(wrong).or_default() += times;
        }
    }
}

/// What can be wrong in a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// An audit finds another sum than there was at the beginning.
    Audit,
    /// An account has less than nothing.
    NegativeBalance,
    /// At the end there is more or less money than at the beginning.
    FinalSum,
    /// At the end an account has something else than its clients' logs come to.
    FinalLog,
    /// Two are inside one section.
    Exclusion,
    /// An entry has a fence that is not larger than the one before.
    Fence,
    /// The algorithm met what it takes for impossible.
    Contract,
    /// A process waits for ever.
    Stall,
}

impl Wrong {
    /// Whether it is about money, and not only about the lock.
    #[must_use]
    pub fn is_about_money(self) -> bool {
        match self {
            Wrong::Audit | Wrong::NegativeBalance | Wrong::FinalSum | Wrong::FinalLog => true,
            Wrong::Exclusion | Wrong::Fence | Wrong::Contract | Wrong::Stall => false,
        }
    }

    /// As a row of a table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Wrong::Audit => "audit with a wrong sum",
            Wrong::NegativeBalance => "negative balance",
            Wrong::FinalSum => "wrong sum at the end",
            Wrong::FinalLog => "balance at the end against the logs",
            Wrong::Exclusion => "two inside one section",
            Wrong::Fence => "fence that does not rise",
            Wrong::Contract => "contract of the algorithm broken",
            Wrong::Stall => "stall",
        }
    }
}

/// Something wrong, found at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BankViolation {
    /// When.
    pub time: Ticks,
    /// Of which kind it is.
    pub kind: Wrong,
    /// The sentence that tells it.
    pub what: String,
}

/// `time 120: the auditor counts 287 in all accounts, not 300`.
impl fmt::Display for BankViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time {}: {}", self.time, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_counted_once_and_an_audit_with_another_sum_is_told() {
        let mut tally = BankTally::default();
        assert_eq!(tally.count_end(Ended::Transferred, 300), None);
        assert_eq!(tally.count_end(Ended::Refused, 300), None);
        assert_eq!(tally.count_end(Ended::Fenced(Work::Audit), 300), None);
        assert_eq!(tally.count_end(Ended::Audited(300), 300), None);
        let told = "the auditor counts 287 in all accounts, not 300".to_owned();
        assert_eq!(tally.count_end(Ended::Audited(287), 300), Some((Wrong::Audit, told)));
        let BankTally { transfers, refused, abandoned, audits, void_audits, .. } = &tally;
        assert_eq!((*transfers, *refused, *abandoned, *audits, *void_audits), (1, 1, 0, 2, 1));
        assert_eq!(tally.errands(), 5);
    }

    #[test]
    fn of_each_kind_the_first_ten_are_told() {
        let mut tally = BankTally::default();
        let told = std::iter::repeat_with(|| tally.count_wrong(Wrong::Stall)).take(12).filter(|told| *told);
        assert_eq!(told.count(), 10);
        assert!(tally.count_wrong(Wrong::Audit));
        assert_eq!(tally.times(Wrong::Stall), 12);
    }
}
