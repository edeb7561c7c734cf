//! The messages in flight: the tail of a state's word.
//!
//! On unordered channels they are sorted by number; on FIFO channels they are sorted by channel and then by
//! the order of sending. Causal channels need more: the messages that each node knows to be sent, and those
//! sent before each message.

use doorway_core::Channels;

use super::tables::Tables;

/// The layout of messages in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) channels: Channels,
    /// The index of the first of them.
    pub(super) head: usize,
    pub(super) n: usize,
}

/// The most messages in flight on causal channels: one bit each in a mask.
const MOST_CAUSAL: usize = 64;

impl Flight {
    /// Appends an empty tail.
    pub(super) fn clear(self, word: &mut Vec<u32>) {
        if self.channels == Channels::Causal {
            let past = Past { letters: Vec::new(), heard: vec![0; self.n], before: Vec::new() };
            past.write(word, self.head);
        }
    }

    /// The messages in flight.
    #[inline]
    pub(super) fn letters(self, word: &[u32]) -> &[u32] {
        match self.channels {
            Channels::Any | Channels::Fifo => &word[self.head..],
            Channels::Causal => &word[self.head + 1..][..word[self.head] as usize],
        }
    }

    /// Whether the message at this place can arrive next, and does not duplicate the delivery of an equal one
    /// before it.
    #[inline]
    pub(super) fn can_arrive(self, tables: &Tables, word: &[u32], place: usize) -> bool {
        let letters = self.letters(word);
        match self.channels {
            Channels::Any => place == 0 || letters[place - 1] != letters[place],
            Channels::Fifo => {
                place == 0 || tables.route(letters[place - 1]).lane != tables.route(letters[place]).lane
            }
            Channels::Causal => {
                let (past, to) = (Past::read(word, self), tables.route(letters[place]).to);
                let comes_before = |other: usize| {
                    past.before[place] >> other & 1 == 1 && tables.route(letters[other]).to == to
                };
                !(0..letters.len()).any(comes_before)
            }
        }
    }

    /// Removes the message at this place; `arrives` says whether it is delivered or lost.
    #[inline]
    pub(super) fn take(self, tables: &Tables, word: &mut Vec<u32>, place: usize, arrives: bool) {
        match self.channels {
            Channels::Any | Channels::Fifo => {
                word.remove(self.head + place);
            }
            Channels::Causal => {
                let mut past = Past::read(word, self);
                let to = tables.route(past.letters[place]).to as usize;
                if arrives {
                    past.heard[to] |= past.before[place];
                }
                past.remove(place);
                past.write(word, self.head);
            }
        }
    }

    /// Adds a message that a step sends after `sent_before`; returns `false` if there is no room.
    #[inline]
    pub(super) fn put(
        self,
        tables: &Tables,
        word: &mut Vec<u32>,
        from: u32,
        letter: u32,
        sent_before: &[u32],
    ) -> bool {
        let letters = self.letters(word);
        match self.channels {
            Channels::Any => {
                let place = letters.partition_point(|other| *other < letter);
                word.insert(self.head + place, letter);
            }
            Channels::Fifo => {
                let lane = tables.route(letter).lane;
                let place = letters.partition_point(|other| tables.route(*other).lane <= lane);
                word.insert(self.head + place, letter);
            }
            Channels::Causal => {
                if letters.len() >= MOST_CAUSAL {
                    return false;
                }
                let mut past = Past::read(word, self);
                let to = tables.route(letter).to;
                let place = past.insert(letter, from as usize);
                // The messages of one step are sent at once: the receiver of one knows of all. Only messages
                // to the same node are ordered.
                for other in sent_before.iter().filter(|other| tables.route(**other).to != to) {
                    if let Some(earlier) = past.letters.iter().position(|flying| flying == other) {
                        past.before[earlier] |= 1 << place;
                    }
                }
                past.write(word, self.head);
            }
        }
        true
    }

    /// One application tells another all that its node knows.
    pub(super) fn tell(self, word: &mut Vec<u32>, from: u32, to: u32) {
        if self.channels == Channels::Causal {
            let mut past = Past::read(word, self);
            past.heard[to as usize] |= past.heard[from as usize];
            past.write(word, self.head);
        }
    }

    /// Replaces the messages in flight by others, place by place.
    pub(super) fn replace(self, word: &mut Vec<u32>, with: &[u32]) {
        match self.channels {
            Channels::Any => {
                word.truncate(self.head);
                word.extend_from_slice(with);
                word[self.head..].sort_unstable();
            }
            Channels::Fifo => {
                word.truncate(self.head);
                word.extend_from_slice(with);
            }
            Channels::Causal => {
                let mut past = Past::read(word, self);
                past.letters.copy_from_slice(with);
                past.sort();
                past.write(word, self.head);
            }
        }
    }
}

/// The messages in flight on causal channels, sorted by number, with their causal order.
struct Past {
    letters: Vec<u32>,
    /// For each node, a mask of the messages in flight that it knows to be sent.
    heard: Vec<u64>,
    /// For each message, a mask of those sent before it.
    before: Vec<u64>,
}

impl Past {
    fn read(word: &[u32], flight: Flight) -> Self {
        let count = word[flight.head] as usize;
        let (letters, masks) = word[flight.head + 1..].split_at(count);
        let mask = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
        let mut masks: Vec<u64> = masks.chunks_exact(2).map(mask).collect();
        let before = masks.split_off(flight.n);
        Self { letters: letters.to_vec(), heard: masks, before }
    }

    fn write(&self, word: &mut Vec<u32>, head: usize) {
        word.truncate(head);
        word.push(self.letters.len() as u32);
        word.extend(&self.letters);
        let masks = self.heard.iter().chain(&self.before);
        word.extend(masks.flat_map(|mask| [*mask as u32, (mask >> 32) as u32]));
    }

    fn masks(&mut self) -> impl Iterator<Item = &mut u64> {
        self.heard.iter_mut().chain(&mut self.before)
    }

    fn remove(&mut self, place: usize) {
        self.letters.remove(place);
        self.before.remove(place);
        let low = (1_u64 << place) - 1;
        self.masks().for_each(|mask| *mask = *mask & low | *mask >> 1 & !low);
    }

    /// Inserts a message and returns its place.
    fn insert(&mut self, letter: u32, from: usize) -> usize {
        let place = self.letters.partition_point(|other| *other <= letter);
        let low = (1_u64 << place) - 1;
        self.masks().for_each(|mask| *mask = *mask & low | (*mask & !low) << 1);
        self.letters.insert(place, letter);
        self.before.insert(place, self.heard[from]);
        self.heard[from] |= 1 << place;
        place
    }

    /// Restores the order by number.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.letters.len()).collect();
        order.sort_by_key(|place| self.letters[*place]);
        let moved = |mask: u64| {
            let places = order.iter().enumerate();
            places.fold(0, |sum, (new, old)| sum | (mask >> old & 1) << new)
        };
        self.heard = self.heard.iter().map(|mask| moved(*mask)).collect();
        self.before = order.iter().map(|place| moved(self.before[*place])).collect();
        self.letters = order.iter().map(|place| self.letters[*place]).collect();
    }
}
