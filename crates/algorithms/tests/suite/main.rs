//! What algorithms promise and what they say of themselves, held against random schedules and small full searches.

mod formulas;
mod hostile;
mod interleavings;
mod invariants;
mod lemmas;
mod promises;
mod shared;
mod textbook;
mod world;
