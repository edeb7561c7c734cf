//! The bank: transfers between accounts under a lock, and an auditor who counts the money.
//!
//! Every account is in the memory of a process of its own and is reached by messages alone: READ, DEBIT, CREDIT, and WRITE
//! for those who rather rewrite a balance. Clients move money from one account to another, which takes several messages;
//! the auditor reads all accounts and adds them up. Money does not come from nowhere: if the lock is right, every audit
//! comes to the same sum and no account is overdrawn, whatever the algorithm, the network and the seed. If it is wrong,
//! an auditor meets money that has left one account and not reached the other, and two clients spend the same money.
//!
//! Clients and auditor take part in one section `bank`, or in a section for each account, `acct-1`, `acct-2` and so on,
//! which they take in the order of the accounts so that they never wait for each other in a ring. An account
//! sees the fence of the section with every order, and rejects an order whose fence is smaller than one that it has seen.
//!
//! A [`Bank`] is one run as a person would type it; all of it happens in virtual time, and a run is a seed. Its parts that
//! know nothing of time serve the bank of real processes as well: an [`Account`], orders and answers, and what there is to do.

mod account;
mod detour;
mod hall;
mod message;
mod no_lock;
mod process;
mod report;
mod runs;
mod settings;
mod story;
mod tally;
mod teller;

pub use account::{Account, Served};
pub use detour::{Detour, Routed};
pub use hall::BankOutcome;
pub use message::{Answer, Order, Pass};
pub use report::{BankReport, FoundViolations};
pub use runs::{BankRuns, FailedRun};
pub use settings::{Bank, Broken, Fencing, Locks, Update};
pub use story::{Episode, SectionState, Story, Window};
pub use tally::{BankTally, BankViolation, Wrong};
pub use teller::{Ended, Errand, Transfer, Work};
