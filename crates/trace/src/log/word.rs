//! The words of a log: four bytes, three bits of which say what the rest means.
//!
//! | tag | the other 29 bits | words behind it |
//! |---|---|---|
//! | `Alone` | 5 bits for what happens by itself, 24 for the node | |
//! | `Seal` | 12 bits for the names, 17 for the length of the message | its length, if it is longer than that |
//! | `Send` | to whom: by the last step, the last sealed message | |
//! | `Deliver` | how many events ago it was sent | that, if it is larger |
//! | `Lost` | the reason, among the names | how many events ago it was sent |
//! | `Enter` | the rule, among the names | the fence |
//! | `Time` | how many ticks later the next event is | the time itself, if it is much later |
//! | `Whole` | the place of an event that is kept whole | |
//!
//! `Seal` and `Time` are no events.

use doorway_core::NodeId;

use crate::What;

/// What a word means.
#[derive(Clone, Copy)]
pub(super) enum Tag {
    Alone,
    Seal,
    Send,
    Deliver,
    Lost,
    Enter,
    Time,
    Whole,
}

const TAGS: [Tag; 8] =
    [Tag::Alone, Tag::Seal, Tag::Send, Tag::Deliver, Tag::Lost, Tag::Enter, Tag::Time, Tag::Whole];

/// A time of three words with a seal of two and a sending, or with an entry of three: no event has more.
pub(super) const MOST_WORDS: usize = 6;

const REST_BITS: u32 = 29;
/// The largest rest of a word: it says that a number too large for one follows.
pub(super) const ESCAPE: u32 = (1 << REST_BITS) - 1;

const NODE_BITS: u32 = 24;
pub(super) const MOST_NODES: usize = 1 << NODE_BITS;

const LENGTH_BITS: u32 = 17;
/// Messages of this length have it in a word of its own.
pub(super) const LONG: u32 = (1 << LENGTH_BITS) - 1;
pub(super) const MOST_NAMES: usize = 1 << (REST_BITS - LENGTH_BITS);

#[inline]
pub(super) fn word(tag: Tag, rest: u32) -> u32 {
    debug_assert!(rest <= ESCAPE, "{rest} does not fit into a word");
    (tag as u32) << REST_BITS | rest
}

pub(super) fn parts(word: u32) -> (Tag, u32) {
    (TAGS[(word >> REST_BITS) as usize], word & ESCAPE)
}

#[inline]
pub(super) fn seal(names: u16, length: u32) -> u32 {
    word(Tag::Seal, u32::from(names) << LENGTH_BITS | length.min(LONG))
}

/// The names of a seal, and the length of its message or [`LONG`].
pub(super) fn unsealed(rest: u32) -> (u16, u32) {
    ((rest >> LENGTH_BITS) as u16, rest & LONG)
}

/// A number of 64 bits in two words.
pub(super) fn halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

pub(super) fn joined([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What happens by itself, and has no more to tell.
#[derive(Clone, Copy)]
pub(super) enum Alone {
    Start,
    Request,
    Release,
    Crash,
    Timer,
    Written,
    Pause,
    Resume,
}

impl Alone {
    pub(super) fn of(what: &What) -> Option<Self> {
        match what {
            What::Start => Some(Alone::Start),
            What::Request => Some(Alone::Request),
            What::Release => Some(Alone::Release),
            What::Crash => Some(Alone::Crash),
            What::Timer => Some(Alone::Timer),
            What::Written => Some(Alone::Written),
            What::Pause => Some(Alone::Pause),
            What::Resume => Some(Alone::Resume),
            _ => None,
        }
    }

    pub(super) fn word(self, node: NodeId) -> u32 {
        word(Tag::Alone, (self as u32) << NODE_BITS | node.index() as u32)
    }

    pub(super) fn read(rest: u32) -> (What, NodeId) {
        let what = match rest >> NODE_BITS {
            0 => What::Start,
            1 => What::Request,
            2 => What::Release,
            3 => What::Crash,
            4 => What::Timer,
            5 => What::Written,
            6 => What::Pause,
            _ => What::Resume,
        };
        (what, NodeId::new(rest as usize % MOST_NODES))
    }
}
