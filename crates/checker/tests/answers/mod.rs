//! What tests ask of an exploration.

use doorway_checker::{Exploration, Property, Violation};

/// How many states and transitions there are.
pub fn size(found: &Exploration) -> (u64, u64) {
    (found.states, found.transitions)
}

/// The run against a property.
pub fn against(found: &Exploration, property: Property) -> Option<&Violation> {
    found.violations.iter().find(|violation| violation.property == property)
}

/// The properties that do not hold, in the order in which they are told.
pub fn broken(found: &Exploration) -> Vec<Property> {
    let mut broken: Vec<Property> = found.violations.iter().map(|violation| violation.property).collect();
    broken.sort_unstable();
    broken.dedup();
    broken
}

/// How often one can be overtaken; `None` if there is no bound.
pub fn worst(found: &Exploration) -> Option<u32> {
    found.waiting.as_ref().expect("it was asked for").worst()
}
