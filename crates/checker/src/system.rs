//! What can be explored.

use doorway_core::Phase;

use crate::Property;

/// A system of processes. Its states are words: short lists of numbers whose meaning is its own affair, but equal states must
/// be equal words.
pub trait System {
    /// What it remembers between two calls, if that makes it faster.
    type Memory: Default;

    /// How many processes it has.
    fn processes(&self) -> usize;

    /// The states in which it can begin.
    fn initial(&self, memory: &mut Self::Memory) -> Vec<Vec<u32>>;

    /// Calls `visit` with every step that is possible in a state, and the state after it.
    fn steps(&self, memory: &mut Self::Memory, state: &[u32], visit: &mut impl FnMut(Step, &[u32]));

    /// Where a process stands in a state.
    fn phase(&self, memory: &mut Self::Memory, state: &[u32], process: usize) -> Phase;

    /// What does not hold in a state of all that should, besides exclusion.
    fn flaw(&self, memory: &mut Self::Memory, state: &[u32]) -> Option<String>;

    /// A step in words.
    fn describe(&self, memory: &mut Self::Memory, step: &Step) -> String;
}

/// One step of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who makes it.
    pub process: u32,
    /// What it does, as a number of the system's own.
    pub action: u32,
    /// Whether it only adds a new request: such a step does not help whoever waits.
    pub is_request: bool,
    /// How many messages it sends.
    pub sends: u32,
    /// What it did that must never be, and which property that breaks.
    pub broken: Option<(Property, &'static str)>,
}
