//! An account: a balance in the memory of one process.

use std::collections::BTreeMap;

use doorway_core::{Fence, LamportClock, SectionName};
use serde::Serialize;

use super::message::{Answer, Order, Pass};
use super::settings::Fencing;

/// An account and what it has seen of fences.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Account {
    /// What it has.
    pub balance: i64,
    /// The clock of its process.
    pub clock: LamportClock,
    fencing: Fencing,
    /// The largest fence seen of each section.
    highest: BTreeMap<SectionName, Fence>,
}

/// The result of an order.
pub struct Served {
    /// What it answers.
    pub answer: Answer,
    /// Whether its fence was smaller than one seen before.
    pub is_stale: bool,
    /// The balance, if the order has overdrawn the account further.
    pub overdrawn: Option<i64>,
}

impl Account {
    /// An account that has seen no fence yet.
    #[must_use]
    pub fn new(balance: i64, fencing: Fencing) -> Self {
        Self { balance, clock: LamportClock::default(), fencing, highest: BTreeMap::new() }
    }

    /// Carries out an order, unless its fence is old and fencing is on.
    pub fn serve(&mut self, pass: Pass, order: Order) -> Served {
        let is_stale = self.is_stale(pass);
        if is_stale && self.fencing == Fencing::On {
            return Served { answer: Answer::Fenced, is_stale, overdrawn: None };
        }
        let before = self.balance;
        let answer = self.carry_out(order);
        let sinks = self.balance < before && self.balance < 0;
        Served { answer, is_stale, overdrawn: sinks.then_some(self.balance) }
    }

    fn is_stale(&mut self, pass: Pass) -> bool {
        let highest = self.highest.entry(pass.section).or_default();
        let is_stale = pass.fence < *highest;
        *highest = pass.fence.max(*highest);
        is_stale
    }

    fn carry_out(&mut self, order: Order) -> Answer {
        match order {
            Order::Read => return Answer::Balance(self.balance),
            Order::Debit(amount) => self.balance -= amount,
            Order::Credit(amount) => self.balance += amount,
            Order::Write(balance) => self.balance = balance,
        }
        Answer::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(section: &str, fence: u64) -> Pass {
        Pass { section: SectionName::new(section).expect("a good name"), fence: Fence(fence) }
    }

    #[test]
    fn an_order_with_a_smaller_fence_than_seen_before_is_rejected_and_an_equal_one_is_not() {
        let mut account = Account::new(100, Fencing::On);
        assert_eq!(account.serve(pass("bank", 5), Order::Debit(10)).answer, Answer::Done);
        assert_eq!(account.serve(pass("bank", 5), Order::Read).answer, Answer::Balance(90));
        assert_eq!(account.serve(pass("bank", 4), Order::Credit(10)).answer, Answer::Fenced);
        assert_eq!(account.serve(pass("bank", 4), Order::Read).answer, Answer::Fenced);
        assert_eq!(account.balance, 90);
        assert_eq!(account.serve(pass("other", 1), Order::Credit(1)).answer, Answer::Done);
    }

    #[test]
    fn without_fencing_a_stale_order_is_noticed_and_carried_out() {
        let mut account = Account::new(100, Fencing::Off);
        account.serve(pass("bank", 5), Order::Read);
        let served = account.serve(pass("bank", 4), Order::Debit(130));
        assert_eq!(
            (served.answer, served.is_stale, served.overdrawn, account.balance),
            (Answer::Done, true, Some(-30), -30)
        );
    }
}
