//! What a page asks for, in the words of the command line: a run, a check, a comparison, a quorum system.

mod chart;
mod check;
mod compare;
mod files;
mod quorum;
mod run;

use doorway_core::{Refusal, Stop};
use doorway_simulator::RunLimits;

pub use chart::{ComparisonChartSpec, FailureChartSpec};
pub use check::{CheckBounds, CheckRequest};
pub use compare::ComparisonSpec;
pub use doorway_catalog::settings::RawValue;
pub use files::Files;
pub use quorum::QuorumSpec;
pub use run::RunRequest;

/// How much a page may ask for.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The most nodes.
    pub nodes: usize,
    /// The most entries.
    pub entries: u64,
    /// When the run itself has to end.
    pub limits: RunLimits,
    /// Said when nobody wants the run any more, not even the part that there is.
    pub cancelled: Option<Stop>,
}

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// What was sent makes no sense.
    Unreadable(Refusal),
    /// It makes sense and cannot be run.
    Impossible(Refusal),
}

impl Trouble {
    /// The sentence.
    #[must_use]
    pub fn refusal(&self) -> &Refusal {
        match self {
            Trouble::Unreadable(refusal) | Trouble::Impossible(refusal) => refusal,
        }
    }
}

impl Bounds {
    /// That so much may be asked for.
    pub(crate) fn check(&self, nodes: usize, entries: u64) -> Result<(), Trouble> {
        if nodes > self.nodes {
            return Err(impossible(format!("a run here has at most {} nodes, not {nodes}", self.nodes)));
        }
        if entries > self.entries {
            return Err(impossible(format!(
                "a run here has at most {} entries, not {entries}",
                self.entries
            )));
        }
        Ok(())
    }
}

fn impossible(sentence: String) -> Trouble {
    Trouble::Impossible(Refusal::new(sentence))
}
