//! What a step of the system needs to know of each state of a process, by its number.

use doorway_core::shared::{Place, Progress};

/// The state of every process in the sink, after a step beyond the limit or a broken contract.
pub(super) const GONE: u32 = 0;

/// The facts about a process's state.
#[derive(Clone, Copy)]
pub(super) struct ProcessFacts {
    pub(super) place: Place,
    pub(super) access: NextAccess,
    /// The first of its slots, and their number: one for each value that it can load.
    first: u32,
    values: u32,
}

/// The next access of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextAccess {
    /// None: the process has no requests left.
    Rest,
    /// A step without an access.
    Idle,
    Load {
        register: u32,
    },
    Store {
        register: u32,
        value: u32,
    },
    /// The start of a non-atomic store.
    Begin {
        register: u32,
        value: u32,
    },
    /// An atomic store of one more than the maximum of some registers.
    Next {
        first: u32,
        count: u32,
        into: u32,
    },
    Barrier,
}

/// The outcome of a step of a single process.
#[derive(Clone, Copy)]
pub(super) struct ProcessOutcome {
    /// The state of the process before it.
    pub(super) before: u32,
    /// The loaded value, or the one that overlapping stores leave, or 0.
    pub(super) value: u32,
    /// The executed line.
    pub(super) line: u32,
    /// The state of the process afterwards.
    pub(super) after: u32,
    pub(super) progress: Progress,
    pub(super) ending: Ending,
}

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// To a normal successor.
    Goes,
    /// To the sink: it stores a value beyond the limit.
    Beyond,
    /// To the sink: it breaks the contract.
    Broken(&'static str),
}

/// All facts computed so far.
pub(super) struct Tables {
    facts: Vec<ProcessFacts>,
    /// The outcome of each state with each value that it can load.
    slots: Vec<u32>,
    outcomes: Vec<ProcessOutcome>,
    /// Whether a step went beyond the limit.
    pub(super) is_beyond: bool,
    /// Whether a step broke the contract.
    pub(super) is_broken: bool,
}

/// A slot whose outcome is not computed yet.
const UNKNOWN: u32 = u32::MAX;

impl Default for Tables {
    fn default() -> Self {
        let gone = ProcessFacts { place: Place::Remainder, access: NextAccess::Rest, first: 0, values: 0 };
        Self {
            facts: vec![gone],
            slots: Vec::new(),
            outcomes: Vec::new(),
            is_beyond: false,
            is_broken: false,
        }
    }
}

impl Tables {
    #[inline]
    pub(super) fn facts(&self, local: u32) -> &ProcessFacts {
        &self.facts[local as usize]
    }

    /// The number of interned states.
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    /// The outcome if a process in this state loads this value; the value is 0 if it loads nothing.
    #[inline]
    pub(super) fn find(&self, local: u32, value: u32) -> Option<u32> {
        let number = self.slots[self.facts(local).first as usize + value as usize];
        (number != UNKNOWN).then_some(number)
    }

    /// The values that a process in this state can load and whose outcome is not computed yet.
    pub(super) fn unknown(&self, local: u32) -> Vec<u32> {
        (0..self.facts(local).values).filter(|value| self.find(local, *value).is_none()).collect()
    }

    #[inline]
    pub(super) fn outcome(&self, number: u32) -> &ProcessOutcome {
        &self.outcomes[number as usize]
    }

    /// Adds a state of a process that can load values up to `largest`.
    pub(super) fn push(&mut self, place: Place, access: NextAccess, largest: u64) {
        let first = self.slots.len() as u32;
        self.slots.resize(self.slots.len() + largest as usize + 1, UNKNOWN);
        self.facts.push(ProcessFacts { place, access, first, values: largest as u32 + 1 });
    }

    /// Adds the outcome of a step.
    pub(super) fn insert(&mut self, outcome: ProcessOutcome) {
        let slot = self.facts(outcome.before).first as usize + outcome.value as usize;
        self.slots[slot] = self.outcomes.len() as u32;
        self.is_beyond |= outcome.ending == Ending::Beyond;
        self.is_broken |= matches!(outcome.ending, Ending::Broken(_));
        self.outcomes.push(outcome);
    }

    pub(super) fn bytes(&self) -> u64 {
        let facts = self.facts.capacity() * size_of::<ProcessFacts>();
        (facts + self.slots.capacity() * 4 + self.outcomes.capacity() * size_of::<ProcessOutcome>()) as u64
    }
}
