//! The word of a state for the checker: its numbers, most of them below 2^16 because the checker keeps those in two bytes.
//!
//! Four numbers for each of the three first nodes, one for what is on its way and what was decided, one for the client that a crash left
//! behind. Then, only if there are any, two numbers for a set-back disk, or four for a fourth node: a run has never both.

use super::roster::Roster;
use super::state::{
    ClientReport, Evidence, FIRST_NODES, MOST_VIEWS, NODES, Node, Orphan, Sent, SetBack, Standing, State,
};
use super::voters::{Voters, Voting};

/// How many numbers a node takes.
const PER_NODE: usize = 4;
/// The place of the number of what is on its way and what was decided.
const REST: usize = PER_NODE * FIRST_NODES;
/// The place of the number of the client that a crash left behind.
const ORPHAN: usize = REST + 1;
/// Where a set-back disk or a fourth node begins.
const TAIL: usize = ORPHAN + 1;

/// Where the bit is, in the first number of a node, that tells whether its client is inside.
const INSIDE_PLACE: u32 = 8;
/// How many bits the content of a view takes.
const ROSTER_BITS: u32 = 3 * NODES as u32 + 2;
/// How many bits the moment of a sending takes without the voters that have forgotten it.
const SENT_BITS: u32 = NODES as u32 + 3;

/// In the order of their numbers.
const STANDINGS: [Standing; 7] = [
    Standing::Down,
    Standing::Apart,
    Standing::Limbo,
    Standing::Active,
    Standing::Left,
    Standing::Marked,
    Standing::Absent,
];

impl State {
    /// Writes the state as numbers.
    pub(super) fn write(&self, word: &mut Vec<u32>) {
        word.clear();
        self.nodes[..FIRST_NODES].iter().for_each(|node| word.extend(node.numbers()));
        let mut rest = Bits::default();
        self.flights.iter().for_each(|to| rest.push(to.map_or(0, |to| u32::from(to) + 1), 3));
        rest.push(u32::from(self.has_crashed), 1);
        rest.push(u32::from(self.fence), 2);
        rest.push(u32::from(self.configured.unwrap_or_default()), 2);
        word.extend([rest.number, self.orphan.map_or(0, Orphan::code)]);
        if self.nodes[FIRST_NODES].standing != Standing::Absent {
            word.extend(self.nodes[FIRST_NODES].numbers());
        } else if self.set_back.is_some() || self.lost != [None; MOST_VIEWS as usize - 1] {
            let [second, third] = self.lost.map(|view| view.map_or(0, Roster::code));
            word.extend([second, third | self.set_back.map_or(0, SetBack::code) << ROSTER_BITS]);
        }
    }

    /// Whether a client of a node is inside in the state of a word, its own or one that a crash left behind.
    pub(super) fn is_inside(word: &[u32], node: usize) -> bool {
        let place = if node < FIRST_NODES { PER_NODE * node } else { TAIL };
        let orphan = word[ORPHAN];
        word[place] >> INSIDE_PLACE & 1 == 1 || orphan > 0 && (orphan as usize - 1) % NODES == node
    }

    /// The state of a word.
    pub(super) fn of(word: &[u32]) -> Self {
        let mut rest = Bits::of(word[REST]);
        let flights = [(); MOST_VIEWS as usize].map(|()| (rest.take(3) as u8).checked_sub(1));
        let (has_crashed, fence) = (rest.take(1) == 1, rest.take(2) as u8);
        let configured = Some(rest.take(2) as u8).filter(|place| *place > 0);
        let orphan = word[ORPHAN].checked_sub(1).map(Orphan::of);
        let mut state = Self { flights, has_crashed, fence, configured, orphan, ..Self::first(false) };
        for (node, numbers) in state.nodes.iter_mut().zip(word[..REST].chunks_exact(PER_NODE)) {
            *node = Node::of(numbers);
        }
        match &word[TAIL..] {
            [] => {}
            [second, third] => {
                let mut bits = Bits::of(*third);
                state.lost = [*second, bits.take(ROSTER_BITS)].map(Roster::if_any);
                state.set_back = bits.take(32 - ROSTER_BITS).checked_sub(1).map(SetBack::of);
            }
            numbers => state.nodes[FIRST_NODES] = Node::of(numbers),
        }
        state
    }
}

impl Node {
    /// A heartbeat and forgotten acknowledgements are seldom there: above the other bits they make a number long only then.
    fn numbers(&self) -> [u32; PER_NODE] {
        let mut bits = Bits::default();
        bits.push(self.standing as u32, 3);
        bits.push(u32::from(self.life), 3);
        bits.push(u32::from(self.learned), 2);
        debug_assert_eq!(bits.place, INSIDE_PLACE);
        for is_so in [self.is_inside, self.has_permission, self.is_quiet, self.is_stopping] {
            bits.push(u32::from(is_so), 1);
        }
        bits.push(u32::from(self.config.unwrap_or_default()), 2);
        let mut lease = Bits::default();
        self.reports.iter().for_each(|report| lease.push(report.map_or(0, ClientReport::code), 4));
        lease.push(self.lease.map_or(0, |sent| 1 + sent.code()), SENT_BITS + 1);
        let [mut second, mut third] = self.log.map(|view| {
            let mut log = Bits::default();
            log.push(view.map_or(0, Roster::code), ROSTER_BITS);
            log
        });
        if let Some((voters, sent)) = self.heartbeat {
            second.push(u32::from(voters.0), NODES as u32);
            second.push(sent.code(), SENT_BITS);
        }
        let forgotten = |sent: Option<Sent>| sent.map_or(0, |sent| u32::from(sent.forgotten.0));
        third.push(forgotten(self.lease), NODES as u32);
        third.push(forgotten(self.heartbeat.map(|(_, sent)| sent)), NODES as u32);
        [bits.number, lease.number, second.number, third.number]
    }

    fn of(numbers: &[u32]) -> Self {
        let mut bits = Bits::of(numbers[0]);
        let standing = STANDINGS[bits.take(3) as usize];
        let (life, learned) = (bits.take(3) as u8, bits.take(2) as u8);
        let [is_inside, has_permission, is_quiet, is_stopping] = [(); 4].map(|()| bits.take(1) == 1);
        let config = Some(bits.take(2) as u8).filter(|place| *place > 0);
        let mut times = Bits::of(numbers[1]);
        let reports =
            [(); MOST_VIEWS as usize - 1].map(|()| times.take(4).checked_sub(1).map(ClientReport::of));
        let lease = times.take(SENT_BITS + 1).checked_sub(1).map(Sent::of);
        let [mut second, mut third] = [numbers[2], numbers[3]].map(Bits::of);
        let log = [&mut second, &mut third].map(|bits| Roster::if_any(bits.take(ROSTER_BITS)));
        let acknowledged =
            Some(Voters(second.take(NODES as u32) as u8)).filter(|voters| *voters != Voters::NONE);
        let sent = Sent::of(second.take(SENT_BITS));
        let [leased, beaten] = [(); 2].map(|()| Voters(third.take(NODES as u32) as u8));
        let lease = lease.map(|sent| Sent { forgotten: leased, ..sent });
        let heartbeat = acknowledged.map(|voters| (voters, Sent { forgotten: beaten, ..sent }));
        Self {
            standing,
            life,
            learned,
            log,
            reports,
            config,
            is_inside,
            is_stopping,
            has_permission,
            lease,
            heartbeat,
            is_quiet,
        }
    }
}

impl ClientReport {
    /// Its number, which is never 0.
    fn code(self) -> u32 {
        1 + u32::from(self.is_inside) + 2 * u32::from(self.life)
    }

    /// The report whose number is one more than this.
    fn of(code: u32) -> Self {
        Self { life: (code / 2) as u8, is_inside: code % 2 == 1 }
    }
}

impl Sent {
    /// Its number, without the voters that have forgotten it.
    fn code(self) -> u32 {
        let mut bits = Bits::default();
        bits.push(u32::from(self.quiet), NODES as u32);
        bits.push(u32::from(self.is_before_new), 1);
        bits.push(self.voting as u32, 2);
        bits.number
    }

    fn of(code: u32) -> Self {
        let mut bits = Bits::of(code);
        let (quiet, is_before_new) = (bits.take(NODES as u32) as u8, bits.take(1) == 1);
        Self { quiet, is_before_new, voting: Voting::of(bits.take(2)), forgotten: Voters::NONE }
    }
}

impl Orphan {
    /// Its number, which is never 0.
    fn code(self) -> u32 {
        let mut bits = Bits::default();
        bits.push(u32::from(self.life), 3);
        bits.push(self.lease.code(), SENT_BITS);
        bits.push(u32::from(self.lease.forgotten.0), NODES as u32);
        1 + u32::from(self.node) + NODES as u32 * bits.number
    }

    /// The client whose number is one more than this.
    fn of(code: u32) -> Self {
        let mut bits = Bits::of(code / NODES as u32);
        let (life, lease) = (bits.take(3) as u8, Sent::of(bits.take(SENT_BITS)));
        let forgotten = Voters(bits.take(NODES as u32) as u8);
        Self { node: (code % NODES as u32) as u8, life, lease: Sent { forgotten, ..lease } }
    }
}

impl SetBack {
    /// Its number, which is never 0.
    fn code(self) -> u32 {
        let evidence = match self.evidence {
            Evidence::Synced(voters) => voters,
            Evidence::Life => 1 << NODES,
        };
        1 + u32::from(self.node) + NODES as u32 * u32::from(evidence)
    }

    /// The disk whose number is one more than this.
    fn of(code: u32) -> Self {
        let voters = (code / NODES as u32) as u8;
        let evidence = if voters == 1 << NODES { Evidence::Life } else { Evidence::Synced(voters) };
        Self { node: (code % NODES as u32) as u8, evidence }
    }
}

/// Small numbers side by side in one.
#[derive(Default)]
pub(super) struct Bits {
    pub(super) number: u32,
    place: u32,
}

impl Bits {
    /// To take numbers from.
    pub(super) fn of(number: u32) -> Self {
        Self { number, place: 0 }
    }

    pub(super) fn push(&mut self, value: u32, width: u32) {
        debug_assert!(value < 1 << width, "{value} needs more than {width} bits");
        self.number |= value << self.place;
        self.place += width;
    }

    pub(super) fn take(&mut self, width: u32) -> u32 {
        let value = self.number >> self.place & ((1 << width) - 1);
        self.place += width;
        value
    }
}
