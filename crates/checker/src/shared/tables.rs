//! What is known of each state of a single process, by its number: all that a step of the system needs.

use doorway_core::shared::{Place, Progress};

/// The state of a process of which nothing is known any more, because the run went beyond the limit or broke the contract.
pub(super) const GONE: u32 = 0;

/// What a step needs to know of a process's state.
#[derive(Clone, Copy)]
pub(super) struct Face {
    pub(super) place: Place,
    pub(super) access: Access,
    /// Where what comes of it lies, for each value that it can load, and how many those are.
    first: u32,
    values: u32,
}

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing any more.
    Rest,
    /// It goes on without an access.
    Idle,
    Load {
        register: u32,
    },
    Store {
        register: u32,
        value: u32,
    },
    /// It begins a store that takes time.
    Begin {
        register: u32,
        value: u32,
    },
    /// It stores one more than the largest of some registers into one.
    Next {
        first: u32,
        count: u32,
        into: u32,
    },
    Barrier,
}

/// What comes of a step of a single process.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    /// The state of the process before it.
    pub(super) before: u32,
    /// What was loaded, if anything.
    pub(super) value: u32,
    /// The line that was carried out.
    pub(super) line: u32,
    /// The state of the process afterwards.
    pub(super) after: u32,
    pub(super) progress: Progress,
    pub(super) ending: Ending,
}

/// Whether a step leads anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It does.
    Goes,
    /// It stores a value beyond the limit.
    Beyond,
    /// It breaks the contract.
    Broken(&'static str),
}

/// All that was met.
pub(super) struct Tables {
    faces: Vec<Face>,
    /// The number of the outcome of each state with each value that it can load.
    slots: Vec<u32>,
    outcomes: Vec<Outcome>,
    /// Whether a step went beyond the limit.
    pub(super) is_beyond: bool,
    /// Whether a step broke the contract.
    pub(super) is_broken: bool,
}

/// In a slot: not known yet.
const UNKNOWN: u32 = u32::MAX;

impl Default for Tables {
    fn default() -> Self {
        let gone = Face { place: Place::Remainder, access: Access::Rest, first: 0, values: 0 };
        Self {
            faces: vec![gone],
            slots: Vec::new(),
            outcomes: Vec::new(),
            is_beyond: false,
            is_broken: false,
        }
    }
}

impl Tables {
    #[inline]
    pub(super) fn face(&self, local: u32) -> &Face {
        &self.faces[local as usize]
    }

    /// How many states of single processes are known.
    pub(super) fn len(&self) -> usize {
        self.faces.len()
    }

    /// What comes of it if a process in this state loads this value; 0 if it loads nothing.
    #[inline]
    pub(super) fn find(&self, local: u32, value: u32) -> Option<u32> {
        let number = self.slots[self.face(local).first as usize + value as usize];
        (number != UNKNOWN).then_some(number)
    }

    /// The values that a process in this state can load and of which nothing is known yet.
    pub(super) fn unknown(&self, local: u32) -> Vec<u32> {
        (0..self.face(local).values).filter(|value| self.find(local, *value).is_none()).collect()
    }

    #[inline]
    pub(super) fn outcome(&self, number: u32) -> &Outcome {
        &self.outcomes[number as usize]
    }

    /// Takes in a state of a process that can load values up to `largest`.
    pub(super) fn push(&mut self, place: Place, access: Access, largest: u64) {
        let first = self.slots.len() as u32;
        self.slots.resize(self.slots.len() + largest as usize + 1, UNKNOWN);
        self.faces.push(Face { place, access, first, values: largest as u32 + 1 });
    }

    /// Takes in what comes of a step.
    pub(super) fn insert(&mut self, outcome: Outcome) {
        let slot = self.face(outcome.before).first as usize + outcome.value as usize;
        self.slots[slot] = self.outcomes.len() as u32;
        self.is_beyond |= outcome.ending == Ending::Beyond;
        self.is_broken |= matches!(outcome.ending, Ending::Broken(_));
        self.outcomes.push(outcome);
    }

    pub(super) fn bytes(&self) -> u64 {
        let faces = self.faces.capacity() * size_of::<Face>();
        (faces + self.slots.capacity() * 4 + self.outcomes.capacity() * size_of::<Outcome>()) as u64
    }
}
