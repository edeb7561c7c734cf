//! The interface to a system that can be explored.

use doorway_core::Phase;

use crate::Property;

/// A system of processes. Its states are words: short lists of numbers. Each system defines its own layout
/// ([`crate::Messages`] and [`crate::SharedMemory`] draw theirs), but equal states must be equal words.
///
/// A system may compute its local steps lazily and cache them: several threads call [`System::steps`] at
/// once, so it must not change anything. If an entry is missing it returns [`StepsKnown::No`], and the checker
/// calls [`System::learn`] on one thread.
pub trait System: Sync {
    /// The number of processes.
    fn processes(&self) -> usize;

    /// The noun for its processes, singular and plural.
    fn nouns(&self) -> [&'static str; 2] {
        ["node", "nodes"]
    }

    /// The initial states.
    fn initial(&mut self) -> Vec<Vec<u32>>;

    /// Calls `visit` with every enabled step of a state and its successor. If it returns [`StepsKnown::No`], the
    /// visits do not count, and it is called again after [`System::learn`].
    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown;

    /// Computes all that [`System::steps`] needs for a state.
    fn learn(&mut self, _state: &[u32]) {}

    /// Drops all that it has learned, to free memory; earlier states and steps become meaningless.
    fn restart(&mut self) {}

    /// The phase of a process in a state.
    fn phase(&self, state: &[u32], process: usize) -> Phase;

    /// Whether a waiting process is past its doorway, so that later processes should not enter before it.
    fn is_past_doorway(&self, _state: &[u32], _process: usize) -> bool {
        true
    }

    /// The violated properties in a state, besides mutual exclusion.
    fn flaws(&self, _state: &[u32]) -> Vec<(Property, String)> {
        Vec::new()
    }

    /// The single steps of a step: more than one if the system merges steps whose order does not matter.
    fn unfold(&self, _state: &[u32], step: &Step) -> Vec<Step> {
        vec![*step]
    }

    /// The memory in bytes of what it has learned.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether it had to drop steps since the last [`System::restart`], so that results are not valid.
    fn is_cut(&self) -> bool {
        false
    }

    /// A step in words.
    fn describe(&self, step: &Step) -> String;
}

/// Whether a system knew all steps of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StepsKnown {
    /// All steps were visited.
    All,
    /// It must learn the state first.
    No,
}

/// One step of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The process that takes it.
    pub process: u32,
    /// What it does, as a number defined by the system.
    pub action: u32,
    /// Its fairness class: the scheduler must treat the class fairly. `None` for a step that need never
    /// happen, such as a new request or a fault; it does not count as progress for waiting processes.
    pub owed: Option<u32>,
    /// The channel, application or process that carries it out: random walks give each lane its own speed.
    pub lane: u32,
    /// The number of messages that it sends.
    pub sends: u32,
    /// The property that it violates, and how.
    pub broken: Option<(Property, &'static str)>,
}
