//! What can be explored.

use doorway_core::Phase;

use crate::Property;

/// A system of processes. Its states are words: short lists of numbers whose meaning is its own affair, but equal states must
/// be equal words.
///
/// A system may find out what its steps do as it goes, and remember it: [`System::steps`] is asked by several threads at
/// once and must not change anything; when it meets something new it says so, and [`System::learn`] is called, alone.
pub trait System: Sync {
    /// How many processes it has.
    fn processes(&self) -> usize;

    /// What people call its processes: one of them, and several.
    fn nouns(&self) -> [&'static str; 2] {
        ["node", "nodes"]
    }

    /// The states in which it can begin.
    fn initial(&mut self) -> Vec<Vec<u32>>;

    /// Calls `visit` with every step that is possible in a state, and the state after it. If it answers [`Known::No`], what it
    /// visited does not count, and it is asked again after [`System::learn`].
    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> Known;

    /// Finds out all that [`System::steps`] needs to know about a state.
    fn learn(&mut self, _state: &[u32]) {}

    /// Forgets all that it has learned, so that it takes no room; states and steps from before mean nothing any more.
    fn restart(&mut self) {}

    /// Where a process stands in a state.
    fn phase(&self, state: &[u32], process: usize) -> Phase;

    /// Whether a process that waits is past its doorway, so that whoever comes later should not be served before it.
    fn is_past_doorway(&self, _state: &[u32], _process: usize) -> bool {
        true
    }

    /// What does not hold in a state of all that should, besides exclusion.
    fn flaws(&self, _state: &[u32]) -> Vec<(Property, String)> {
        Vec::new()
    }

    /// The single steps of a step: more than one if the system makes several at once where their order does not matter.
    fn unfold(&self, _state: &[u32], step: &Step) -> Vec<Step> {
        vec![*step]
    }

    /// The bytes that it takes for what it has learned.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether it had to leave out something since the last [`System::restart`], so that nothing can be said of what was found.
    fn is_cut(&self) -> bool {
        false
    }

    /// A step in words.
    fn describe(&self, step: &Step) -> String;
}

/// Whether a system knew all that it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Known {
    /// All steps were visited.
    All,
    /// It has to learn about the state first.
    No,
}

/// One step of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Who makes it.
    pub process: u32,
    /// What it does, as a number of the system's own.
    pub action: u32,
    /// Which steps fairness takes for one: a class that is possible again and again is taken in the end. `None` for what need
    /// never happen: a new request, a fault. It does not help whoever waits.
    pub owed: Option<u32>,
    /// What carries it out (a channel, an application, a process): random walks give each lane a speed of its own.
    pub lane: u32,
    /// How many messages it sends.
    pub sends: u32,
    /// What it did that must never be, and which property that breaks.
    pub broken: Option<(Property, &'static str)>,
}
