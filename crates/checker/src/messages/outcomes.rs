//! What comes of a local step: looked up by the numbers of a node's state and of what it is told.

use std::ops::Range;

/// In place of the number of a message: the application asks, or leaves, or the node stops for good.
pub(super) const REQUEST: u32 = u32::MAX;
pub(super) const RELEASE: u32 = u32::MAX - 1;
pub(super) const CRASH: u32 = u32::MAX - 2;

/// What comes of a local step.
#[derive(Clone)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    sends: Range<u32>,
}

/// What comes of a local step, besides what is sent.
#[derive(Clone, Copy)]
pub(super) struct Ending {
    /// The node's state afterwards.
    pub(super) local: u32,
    pub(super) broken: Option<&'static str>,
    /// Whether the node enters by it.
    pub(super) enters: bool,
    /// Whether it enters although it knew, when it asked, of a request that is still open.
    pub(super) overtakes: bool,
    /// The fence that it knows afterwards.
    pub(super) fence: u32,
    /// Whether it can be made at once, and nothing else need be tried.
    pub(super) is_eager: bool,
}

/// All outcomes that are known.
pub(super) struct Outcomes {
    /// Pairs of numbers with the place of their outcome plus one; 0 is free.
    table: Vec<(u64, u32)>,
    all: Vec<Outcome>,
    sent: Vec<u32>,
}

impl Default for Outcomes {
    fn default() -> Self {
        Self { table: vec![(0, 0); 1 << 8], all: Vec::new(), sent: Vec::new() }
    }
}

fn key(local: u32, input: u32) -> u64 {
    u64::from(local) << 32 | u64::from(input)
}

fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (slots - 1)
}

impl Outcomes {
    pub(super) fn find(&self, local: u32, input: u32) -> Option<&Outcome> {
        let key = key(local, input);
        let mut slot = slot(key, self.table.len());
        loop {
            match self.table[slot] {
                (_, 0) => return None,
                (found, place) if found == key => return Some(&self.all[place as usize - 1]),
                _ => slot = (slot + 1) & (self.table.len() - 1),
            }
        }
    }

    /// The messages that a step sends.
    pub(super) fn sends(&self, outcome: &Outcome) -> &[u32] {
        &self.sent[outcome.sends.start as usize..outcome.sends.end as usize]
    }

    pub(super) fn insert(&mut self, local: u32, input: u32, ending: Ending, sends: &[u32]) {
        if (self.all.len() + 1) * 2 > self.table.len() {
            let mut table = vec![(0, 0); self.table.len() * 2];
            for &(key, place) in self.table.iter().filter(|(_, place)| *place != 0) {
                put(&mut table, key, place);
            }
            self.table = table;
        }
        let first = self.sent.len() as u32;
        self.sent.extend(sends);
        self.all.push(Outcome { ending, sends: first..self.sent.len() as u32 });
        put(&mut self.table, key(local, input), self.all.len() as u32);
    }
}

fn put(table: &mut [(u64, u32)], key: u64, place: u32) {
    let mut slot = slot(key, table.len());
    while table[slot].1 != 0 {
        slot = (slot + 1) & (table.len() - 1);
    }
    table[slot] = (key, place);
}
