//! Every algorithm of the catalog against every property, as far as that goes in a short time.
//!
//! For each algorithm the instances grow until one has more states than the budget allows; the largest that was finished is reported.
//! Because states are counted and not seconds, the table is the same on every machine.

use doorway_catalog::Catalog;
use doorway_checker::{Property, Setting};
use doorway_core::{About, Channels, Refusal, Stop};

use super::{Checked, Decision, Effort, Instance, Verdict};

/// How far one algorithm was checked, and what was decided.
#[derive(Clone, Debug)]
pub struct Row {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The channels.
    pub channels: Channels,
    /// What a lock must be.
    pub lock: CheckedInstance,
    /// Whether requests are served in happened-before order.
    pub order: CheckedInstance,
    /// The bypasses.
    pub waiting: CheckedInstance,
}

/// The largest instance that was finished, with what was decided.
#[derive(Clone, Debug)]
pub struct CheckedInstance {
    /// How often each node asked.
    pub requests: Vec<u32>,
    /// What was decided.
    pub checked: Checked,
}

impl CheckedInstance {
    fn is_violated(&self) -> bool {
        self.checked.decision() == Decision::Violated
    }

    /// Whether all states were reached, or enough of them to decide.
    fn is_finished(&self) -> bool {
        let is_cut =
            |verdict: &Verdict| verdict.decision == Decision::NotExhausted && verdict.remark.is_none();
        self.is_violated() || !self.checked.verdicts.iter().any(is_cut)
    }
}

/// How many states a pass may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub u64);

impl Default for Budget {
    fn default() -> Self {
        Self(350_000)
    }
}

/// How often two or three nodes ask, in the order in which that is tried.
const LADDER: [&[u32]; 6] = [&[1, 1], &[2, 2], &[1, 1, 1], &[2, 1, 1], &[2, 2, 1], &[2, 2, 2]];

impl Row {
    /// Checks one algorithm.
    ///
    /// # Errors
    /// If it cannot run among three nodes.
    pub fn of(
        about: &About,
        catalog: &Catalog,
        Budget(states): Budget,
        stop: &Stop,
    ) -> Result<Self, Refusal> {
        let ask = |requests: &[u32], properties: &[Property]| -> Result<CheckedInstance, Refusal> {
            let instance = Instance::new(about.name, requests, about.needs).deciding(properties);
            let effort = Effort { stop: stop.clone(), ..Effort::of_states(states) };
            let checked = Instance { effort, ..instance }.check(catalog, &mut |_| ())?;
            Ok(CheckedInstance { requests: requests.to_vec(), checked })
        };
        let largest = |properties: &[Property]| -> Result<CheckedInstance, Refusal> {
            let mut largest = ask(LADDER[0], properties)?;
            for requests in &LADDER[1..] {
                if largest.is_violated() && !properties.contains(&Property::BoundedWaiting) {
                    break;
                }
                let more = ask(requests, properties)?;
                if !more.is_finished() {
                    break;
                }
                largest = more;
            }
            Ok(largest)
        };
        let waiting = [Property::StarvationFreedom, Property::Fifo, Property::BoundedWaiting];
        let mut overtaking = None;
        for n in [3, 2] {
            let asked = ask(&vec![Setting::UNBOUNDED; n], &waiting)?;
            overtaking = overtaking.or(Some(asked).filter(CheckedInstance::is_finished));
        }
        let overtaking = match overtaking {
            Some(asked) => asked,
            None => largest(&waiting)?,
        };
        Ok(Self {
            algorithm: about.name,
            channels: about.needs,
            lock: largest(&Instance::OF_A_LOCK)?,
            order: largest(&[Property::HappenedBeforeOrder])?,
            waiting: overtaking,
        })
    }

    /// Whether it fails to be a lock.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.lock.checked.decision() == Decision::Violated
    }

    /// Whether all that a lock must be was decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.lock.checked.decision() != Decision::NotExhausted
    }
}
