//! Shorthands for the results of an exploration.

use doorway_checker::{Exploration, Property, Violation};

/// The numbers of states and transitions.
pub fn size(found: &Exploration) -> (u64, u64) {
    (found.states, found.transitions)
}

/// The counterexample to a property.
pub fn against(found: &Exploration, property: Property) -> Option<&Violation> {
    found.violations.iter().find(|violation| violation.property == property)
}

/// The violated properties, in order.
pub fn broken(found: &Exploration) -> Vec<Property> {
    let mut broken: Vec<Property> = found.violations.iter().map(|violation| violation.property).collect();
    broken.sort_unstable();
    broken.dedup();
    broken
}

/// The largest number of overtakings; `None` if there is no bound.
pub fn worst(found: &Exploration) -> Option<u32> {
    found.waiting.as_ref().expect("the analysis was requested").worst()
}
