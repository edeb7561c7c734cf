//! The outcomes of local steps, by the numbers of a node's state and an input.

/// Inputs that are not the number of a message: the application requests or releases, or the node crashes; and
/// [`report`].
pub(super) const REQUEST: u32 = u32::MAX;
pub(super) const RELEASE: u32 = u32::MAX - 1;
pub(super) const CRASH: u32 = u32::MAX - 2;

/// The input, and the action, by which the oracle reports the crash of a process.
pub(super) fn report(crashed: u32) -> u32 {
    CRASH - 1 - crashed
}

/// The process whose crash this input or action reports.
pub(super) fn reported(input: u32) -> Option<u32> {
    (CRASH - MOST_NODES..CRASH).contains(&input).then(|| CRASH - 1 - input)
}

const MOST_NODES: u32 = super::Setting::MOST_NODES as u32;

/// The outcome of a local step. It is stored in the table itself, so that a lookup costs one memory access.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeOutcome {
    key: u64,
    /// The node's state afterwards.
    pub(super) local: u32,
    /// The largest fence that it knows afterwards.
    pub(super) fence: u32,
    /// The first of its messages in the list of sent messages, and their number.
    first: u32,
    count: u16,
    /// The number of its breach of the contract, plus one; 0 for none.
    breach: u8,
    marks: u8,
}

/// The outcome of a local step, without its messages.
#[derive(Clone, Copy)]
pub(super) struct Ending {
    /// The node's state afterwards.
    pub(super) local: u32,
    pub(super) broken: Option<&'static str>,
    /// Whether the node enters.
    pub(super) enters: bool,
    /// Whether it enters although it knew, when it made its request, of one that is still open.
    pub(super) overtakes: bool,
    /// The largest fence that it knows afterwards.
    pub(super) fence: u32,
    /// Whether it can be taken eagerly, without exploring alternatives.
    pub(super) is_eager: bool,
}

const USED: u8 = 1;
const ENTERS: u8 = 2;
const OVERTAKES: u8 = 4;
const IS_EAGER: u8 = 8;

impl NodeOutcome {
    #[inline]
    pub(super) fn enters(&self) -> bool {
        self.marks & ENTERS != 0
    }

    pub(super) fn overtakes(&self) -> bool {
        self.marks & OVERTAKES != 0
    }

    #[inline]
    pub(super) fn is_eager(&self) -> bool {
        self.marks & IS_EAGER != 0
    }

    fn is_used(&self) -> bool {
        self.marks & USED != 0
    }
}

/// All computed outcomes.
pub(super) struct Outcomes {
    /// A hash table with open addressing; at most half full.
    table: Vec<NodeOutcome>,
    count: usize,
    sent: Vec<u32>,
    breaches: Vec<&'static str>,
}

impl Default for Outcomes {
    fn default() -> Self {
        let table = vec![NodeOutcome::default(); 1 << 8];
        Self { table, count: 0, sent: Vec::new(), breaches: Vec::new() }
    }
}

#[inline]
fn key(local: u32, input: u32) -> u64 {
    u64::from(local) << 32 | u64::from(input)
}

#[inline]
fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (slots - 1)
}

impl Outcomes {
    #[inline]
    pub(super) fn find(&self, local: u32, input: u32) -> Option<&NodeOutcome> {
        let key = key(local, input);
        let mut slot = slot(key, self.table.len());
        loop {
            let found = &self.table[slot];
            if found.key == key && found.is_used() {
                return Some(found);
            }
            if !found.is_used() {
                return None;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.table.capacity() * size_of::<NodeOutcome>() + self.sent.capacity() * 4) as u64
    }

    /// The messages that a step sends.
    #[inline]
    pub(super) fn sends(&self, outcome: &NodeOutcome) -> &[u32] {
        &self.sent[outcome.first as usize..][..usize::from(outcome.count)]
    }

    /// The breach of the contract by a step.
    #[inline]
    pub(super) fn breach(&self, outcome: &NodeOutcome) -> Option<&'static str> {
        match outcome.breach {
            0 => None,
            number => self.breaches.get(usize::from(number) - 1).copied(),
        }
    }

    pub(super) fn insert(&mut self, local: u32, input: u32, ending: Ending, sends: &[u32]) {
        if (self.count + 1) * 2 > self.table.len() {
            let mut table = vec![NodeOutcome::default(); self.table.len() * 2];
            self.table
                .iter()
                .filter(|outcome| outcome.is_used())
                .for_each(|outcome| put(&mut table, *outcome));
            self.table = table;
        }
        self.count += 1;
        let marks = [(ending.enters, ENTERS), (ending.overtakes, OVERTAKES), (ending.is_eager, IS_EAGER)];
        let outcome = NodeOutcome {
            key: key(local, input),
            local: ending.local,
            fence: ending.fence,
            first: self.sent.len() as u32,
            count: sends.len() as u16,
            breach: ending.broken.map_or(0, |what| self.number(what)),
            marks: marks.iter().filter(|(is_so, _)| *is_so).fold(USED, |marks, (_, mark)| marks | mark),
        };
        self.sent.extend(sends);
        put(&mut self.table, outcome);
    }

    fn number(&mut self, what: &'static str) -> u8 {
        let place = self.breaches.iter().position(|other| *other == what).unwrap_or_else(|| {
            self.breaches.push(what);
            self.breaches.len() - 1
        });
        place.min(usize::from(u8::MAX) - 1) as u8 + 1
    }
}

fn put(table: &mut [NodeOutcome], outcome: NodeOutcome) {
    let mut slot = slot(outcome.key, table.len());
    while table[slot].is_used() {
        slot = (slot + 1) & (table.len() - 1);
    }
    table[slot] = outcome;
}
