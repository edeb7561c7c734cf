//! From the findings of a search to verdicts.

use std::fmt;

use doorway_checker::{Exploration, Property, SchedulerFairness, Violation};

/// The verdict on a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which.
    pub property: Property,
    /// What was decided.
    pub decision: Decision,
    /// The fairness that the scheduler must provide for that.
    pub fairness: Option<SchedulerFairness>,
    /// The same for each node, `None` for one that starves whatever a scheduler owes; of starvation alone, and empty if it is
    /// not known.
    pub each: Vec<Option<SchedulerFairness>>,
    /// The largest number of bypasses.
    pub bound: Option<u32>,
    /// The limits within which it was shown to hold, if any: `for tickets up to 4`.
    pub extent: Option<String>,
    /// A remark.
    pub remark: Option<String>,
}

impl Verdict {
    pub(crate) fn new(property: Property, decision: Decision) -> Self {
        Self { property, decision, fairness: None, each: Vec::new(), bound: None, extent: None, remark: None }
    }
}

/// Whether a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// In every run.
    Holds,
    /// Not in every run.
    Violated,
    /// Not every state was reached, and it holds in those that were.
    NotExhausted,
}

impl Decision {
    /// As it stands in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Decision::Holds => "holds",
            Decision::Violated => "violated",
            Decision::NotExhausted => "not-exhausted",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().replace('-', " "))
    }
}

/// What a verdict depends on besides the search.
pub(crate) struct VerdictContext {
    /// What a scheduler was taken to owe, if that was given.
    pub(crate) fairness: Option<SchedulerFairness>,
    /// Whether a node asks only a limited number of times.
    pub(crate) is_limited: bool,
}

impl VerdictContext {
    /// What a search decided about a property, given its run against it.
    pub(crate) fn verdict(
        &self,
        property: Property,
        violation: Option<&Violation>,
        explored: &Exploration,
    ) -> Verdict {
        let decision = match (violation, explored.is_complete) {
            (Some(_), _) => Decision::Violated,
            (None, true) => Decision::Holds,
            (None, false) => Decision::NotExhausted,
        };
        let mut verdict = Verdict::new(property, decision);
        match property {
            Property::DeadlockFreedom | Property::StarvationFreedom => {
                self.progress(&mut verdict, violation, explored);
            }
            Property::Fifo | Property::BoundedWaiting => self.bound(&mut verdict, explored),
            _ => {}
        }
        verdict
    }

    /// What a scheduler must owe.
    fn progress(&self, verdict: &mut Verdict, violation: Option<&Violation>, explored: &Exploration) {
        let needs = explored.progress.as_ref().and_then(|progress| match verdict.property {
            Property::DeadlockFreedom => progress.any,
            _ => progress.all(),
        });
        if let Some(progress) = &explored.progress
            && verdict.property == Property::StarvationFreedom
        {
            verdict.each = progress.each.clone();
        }
        verdict.fairness = match verdict.decision {
            Decision::Holds => self.fairness.or(needs),
            Decision::Violated if violation.is_some_and(|run| run.loop_start.is_some()) => {
                Some(self.fairness.unwrap_or(SchedulerFairness::Strong))
            }
            Decision::Violated | Decision::NotExhausted => None,
        };
    }

    /// How often one is overtaken, and whether only the number of requests keeps it from being more.
    fn bound(&self, verdict: &mut Verdict, explored: &Exploration) {
        let Some(waiting) = &explored.waiting else { return };
        verdict.bound = waiting.worst();
        if verdict.property == Property::Fifo {
            return;
        }
        if verdict.decision == Decision::Holds && self.is_limited && verdict.bound != Some(0) {
            verdict.decision = Decision::NotExhausted;
            verdict.remark = Some("more requests might show more".to_owned());
        }
    }
}
