//! The claims of the literature, each held against runs, or against every interleaving of a small system.
//!
//! A claim has a sentence, a formula, an expected verdict, and a test: a function that makes runs, or has a checker explore all
//! of them, and gathers [`Evidence`]. The verdict follows from the evidence alone, so a wrong expectation shows as such. There
//! is one file for each group of claims.

mod bakery;
mod bench;
mod central;
mod charged;
mod clocks;
mod evidence;
mod exhaustive;
mod fairness;
mod faults;
mod gates;
mod maekawa;
mod memory;
mod overtaking;
mod permission;
mod quorums;
mod sanders;
mod saturated;
mod singhal;
mod source;
mod survival;
mod tokens;

use std::fmt;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_simulator::parallel::{JobEvent, in_order};
use serde::Serialize;

pub use bench::Bench;
pub use charged::Charged;
pub use evidence::{Check, Evidence};
pub use exhaustive::{Asked, Searched};
use source::Sources;
pub use source::{ClaimListing, Document, Source, by_source};

/// A statement of the literature or the lecture about an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Its number: `C27`.
    pub id: &'static str,
    /// Where it is made.
    pub source: Sources,
    /// What is claimed, as a sentence.
    pub claim: &'static str,
    /// The same as a formula, or what to look at.
    pub formula: &'static str,
    /// The expected verdict.
    pub expected: Verdict,
    test: fn(&Bench<'_>) -> Result<Evidence, Refusal>,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It holds under a condition and not without it.
    HoldsIf(&'static str),
    /// There is a run that contradicts it.
    Refuted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::HoldsIf(condition) => write!(f, "holds if {condition}"),
            Verdict::Refuted => f.write_str("refuted"),
        }
    }
}

/// A claim that was tested.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The claim's number.
    pub id: &'static str,
    /// Where the claim is made.
    pub source: Sources,
    /// What is claimed.
    pub claim: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The verdict that was expected.
    pub expected: String,
    /// What was measured.
    pub measured: String,
    /// The verdict.
    pub verdict: String,
    /// The command that reproduces it.
    pub command: String,
    /// For a claim that holds under a condition: the command that reproduces a run outside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

impl Row {
    /// Whether the verdict is the one that was expected.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.verdict == self.expected
    }
}

impl Claim {
    /// Makes the runs and gives the verdict.
    ///
    /// # Errors
    /// If a run cannot be made: the catalog lacks an algorithm, or the sizes asked for do not fit it.
    pub fn test(&self, bench: &Bench<'_>) -> Result<Row, Refusal> {
        let evidence = (self.test)(bench)
            .map_err(|refusal| Refusal::new(format!("{} cannot be tested: {refusal}", self.id)))?;
        let verdict = evidence.verdict(self.expected);
        Ok(Row {
            id: self.id,
            source: self.source,
            claim: self.claim,
            formula: self.formula,
            expected: self.expected.to_string(),
            measured: evidence.measured(),
            verdict: verdict.to_string(),
            command: evidence.command(),
            outside: evidence.outside_command(),
        })
    }
}

/// All claims that runs or a checker can decide, in the order of their numbers; after them the theorems
/// and lemmas of the lecture, S4.1 and on.
#[must_use]
pub fn list() -> Vec<Claim> {
    let groups: &[&[Claim]] = &[
        permission::CLAIMS,
        central::CLAIMS,
        fairness::CLAIMS,
        quorums::CLAIMS,
        maekawa::CLAIMS,
        overtaking::CLAIMS,
        sanders::CLAIMS,
        tokens::CLAIMS,
        singhal::CLAIMS,
        memory::CLAIMS,
        bakery::CLAIMS,
        clocks::CLAIMS,
        faults::CLAIMS,
        survival::CLAIMS,
    ];
    let mut claims = groups.concat();
    claims.sort_by_key(|claim| number(claim.id));
    claims
}

/// The number of a claim, for its place in the list: 20 for both C20a and C20b. Theorems and lemmas come last.
fn number(id: &str) -> u32 {
    id.trim_start_matches('C').trim_end_matches(char::is_alphabetic).parse().unwrap_or(u32::MAX)
}

/// Tests claims on this many threads and hands each row to `take`, in order.
///
/// # Errors
/// The first claim that cannot be tested, or the error of `take`.
pub fn test_all(
    claims: &[Claim],
    catalog: &Catalog,
    sizes: &[usize],
    program: &str,
    threads: usize,
    mut take: impl FnMut(JobEvent<Row>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let test = |place: u64| claims[place as usize].test(&Bench::new(catalog, sizes, program));
    in_order(0..claims.len() as u64, threads, test, |step| match step {
        JobEvent::Done(place, row) => take(JobEvent::Done(place, row?)),
        JobEvent::Waiting(done) => take(JobEvent::Waiting(done)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_claim_is_listed_twice() {
        let ids: Vec<&str> = list().iter().map(|claim| claim.id).collect();
        let mut once = ids.clone();
        once.dedup();
        assert_eq!(ids, once);
    }
}
