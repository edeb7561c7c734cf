//! The messages between the processes of the bank.

use doorway_core::{Fence, Named, SectionName};
use serde::{Deserialize, Serialize};

/// A message between two processes of the bank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg<M> {
    /// The lock's business.
    Section(Named<M>),
    /// From a client or the auditor to an account.
    Order(Pass, Order),
    /// From an account to the sender of the order.
    Answer(Answer),
}

impl<M> From<Named<M>> for Msg<M> {
    fn from(named: Named<M>) -> Self {
        Msg::Section(named)
    }
}

/// The section that the sender of an order is in, and the fence of its entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pass {
    /// The section that guards the account.
    pub section: SectionName,
    /// The fence of the entry.
    pub fence: Fence,
}

/// An order to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Order {
    /// Tell the balance.
    Read,
    /// Take this amount away, even if the account is overdrawn by it.
    Debit(i64),
    /// Add this amount.
    Credit(i64),
    /// Replace the balance, whatever it is.
    Write(i64),
}

/// An account's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Answer {
    /// The balance that was asked for.
    Balance(i64),
    /// It is done.
    Done,
    /// It is not done: a larger fence was seen before.
    Fenced,
}
