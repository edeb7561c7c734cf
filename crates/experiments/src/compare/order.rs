//! The order in which an algorithm serves requests, decided on small systems.

use std::fmt;

use doorway_catalog::Catalog;
use doorway_checker::Property;
use doorway_core::{About, Refusal};
use serde::Serialize;

use crate::check::{Decision, Effort, Instance};

/// The order in which requests are served, the stronger the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptOrder {
    /// None that is known: a request can be served before one that was made before it.
    None,
    /// In the order in which requests have arrived where they must.
    Arrival,
    /// A request that happened before another is served before it.
    HappenedBefore,
}

impl fmt::Display for KeptOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeptOrder::None => "none",
            KeptOrder::Arrival => "arrival",
            KeptOrder::HappenedBefore => "happened-before",
        })
    }
}

/// The requests of each node in the systems that are explored, in this order.
const SYSTEMS: [&[u32]; 5] = [&[1, 1], &[2, 2], &[1, 1, 1], &[2, 1, 1], &[2, 2, 1]];

/// The most states of a search.
const MOST_STATES: u64 = 120_000;

impl KeptOrder {
    /// The strongest order that an algorithm keeps in every system that can be explored.
    ///
    /// # Errors
    /// If it can run neither among two nodes nor among three.
    pub fn of(about: &About, catalog: &Catalog) -> Result<Self, Refusal> {
        if keeps(about, Property::HappenedBeforeOrder, catalog)? {
            return Ok(KeptOrder::HappenedBefore);
        }
        let is_fifo = keeps(about, Property::Fifo, catalog)?;
        Ok(if is_fifo { KeptOrder::Arrival } else { KeptOrder::None })
    }
}

/// Whether no run of any system is against it. Larger systems are left out once one has too many states.
fn keeps(about: &About, property: Property, catalog: &Catalog) -> Result<bool, Refusal> {
    for requests in SYSTEMS {
        let instance = Instance::new(about.name, requests, about.needs).deciding(&[property]);
        let instance = Instance { effort: Effort::of_states(MOST_STATES), ..instance };
        let checked = instance.check(catalog, &mut |_| ())?;
        match checked.decision() {
            Decision::Violated => return Ok(false),
            Decision::NotExhausted => return Ok(true),
            Decision::Holds => {}
        }
    }
    Ok(true)
}
