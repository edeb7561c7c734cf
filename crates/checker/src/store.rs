//! The store of all visited states, each with the parent from which it was first reached.
//!
//! A word is stored as 16-bit numbers, and everything else in packed numbers:
//!
//! ```text
//! word       u32 below 0xFFFF: one u16.  Larger: 0xFFFF │ low half │ high half
//! hash       shard (bits 63–58) │ … │ tag (47–40) │ … │ first slot (low bits, as many as the table needs)
//! slot       tag (bits 31–24) │ place + 1 (23–0);  0 is a free slot
//! StateId    place (bits 31–6) │ shard (5–0)
//! ```
//!
//! The hash distributes the states over shards: each has a hash table that fits into the cache, and two
//! threads never touch the same one.

/// The number of a state: `place * SHARDS + shard`.
pub(crate) type StateId = u32;

/// The number of shards.
pub(crate) const SHARDS: usize = 64;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// The bits of a table slot for the place; the other 8 are the tag.
const PLACE_BITS: u32 = 24;
/// The most states of a shard: places plus one must fit into a slot.
const MOST_STATES: usize = (1 << PLACE_BITS) - 2;

/// The number of lookups whose memory is prefetched together.
pub(crate) const BLOCK: usize = 32;

/// Smaller tables are cached anyway and need no prefetching.
const SMALL_TABLE: usize = 1 << 12;

/// The parent of an initial state.
pub(crate) const NO_PARENT: StateId = StateId::MAX;

/// What is stored of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visited {
    /// The whole state: distinct states never collide.
    #[default]
    Exact,
    /// A 64-bit fingerprint: a state may be missed because of a collision.
    Fingerprints,
}

/// States by their numbers.
pub(crate) struct Store {
    pub(crate) shards: Vec<Shard>,
}

/// The states whose hashes have the same top bits.
pub(crate) struct Shard {
    visited: Visited,
    words: Vec<u16>,
    /// The end of each state's word in `words`, without those dropped.
    ends: Vec<u32>,
    /// The number of states whose words were dropped; they are the first ones.
    gone: usize,
    parents: Vec<StateId>,
    fingerprints: Vec<u64>,
    /// The hash table, with open addressing: tag and place plus one; 0 is free.
    table: Vec<u32>,
}

/// The shard of a hash.
#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> (64 - SHARD_BITS)) as usize
}

fn split(state: StateId) -> (usize, usize) {
    (state as usize % SHARDS, state as usize / SHARDS)
}

impl Store {
    pub(crate) fn new(visited: Visited) -> Self {
        Self { shards: (0..SHARDS).map(|_| Shard::new(visited)).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.parents.len()).sum()
    }

    pub(crate) fn parent(&self, state: StateId) -> Option<StateId> {
        let (shard, place) = split(state);
        Some(self.shards[shard].parents[place]).filter(|parent| *parent != NO_PARENT)
    }

    /// Reads the word of a state.
    pub(crate) fn read(&self, state: StateId, word: &mut Vec<u32>) {
        let (shard, place) = split(state);
        decode(self.shards[shard].encoded(place), word);
    }

    pub(crate) fn fingerprint(&self, state: StateId) -> u64 {
        let (shard, place) = split(state);
        match self.shards[shard].visited {
            Visited::Exact => hash(self.shards[shard].encoded(place)),
            Visited::Fingerprints => self.shards[shard].fingerprints[place],
        }
    }

    /// Its memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(Shard::bytes).sum()
    }

    /// Drops the words of the first `before` states of each shard, if only fingerprints are stored.
    pub(crate) fn drop_words(&mut self, before: &[usize]) {
        for (shard, &before) in self.shards.iter_mut().zip(before) {
            shard.drop_words(before);
        }
    }
}

impl Shard {
    fn new(visited: Visited) -> Self {
        Self {
            visited,
            words: Vec::new(),
            ends: Vec::new(),
            gone: 0,
            parents: Vec::new(),
            fingerprints: Vec::new(),
            table: vec![0; 256],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    fn bytes(&self) -> u64 {
        let halves = self.words.capacity() * 2 + self.fingerprints.capacity() * 8;
        (halves + (self.ends.capacity() + self.parents.capacity() + self.table.capacity()) * 4) as u64
    }

    #[inline]
    pub(crate) fn encoded(&self, place: usize) -> &[u16] {
        let place = place - self.gone;
        let begin = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        &self.words[begin..self.ends[place] as usize]
    }

    #[inline]
    fn is_at(&self, place: usize, encoded: &[u16], hash: u64) -> bool {
        match self.visited {
            Visited::Exact => self.encoded(place) == encoded,
            Visited::Fingerprints => self.fingerprints[place] == hash,
        }
    }

    /// The place of a word, or else the free slot for it.
    #[inline]
    fn find(&self, encoded: &[u16], hash: u64) -> Result<usize, usize> {
        let mask = self.table.len() - 1;
        let (tag, places) = (tag(hash), (1 << PLACE_BITS) - 1);
        let mut slot = hash as usize & mask;
        loop {
            let found = self.table[slot];
            if found == 0 {
                return Err(slot);
            }
            if found >> PLACE_BITS == tag && self.is_at((found & places) as usize - 1, encoded, hash) {
                return Ok((found & places) as usize - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Prefetches the memory for looking up these hashes: the reads are independent, so they overlap. Most of
    /// a search's time is memory latency.
    pub(crate) fn prefetch(&self, hashes: impl Iterator<Item = u64>) {
        if self.table.len() < SMALL_TABLE {
            return;
        }
        let (mask, places) = (self.table.len() - 1, (1 << PLACE_BITS) - 1);
        let mut found = [0_u32; BLOCK];
        let mut count = 0;
        for (slot, hash) in found.iter_mut().zip(hashes) {
            let first = self.table[hash as usize & mask];
            *slot = if first >> PLACE_BITS == tag(hash) { first & places } else { 0 };
            count += 1;
        }
        if self.visited == Visited::Fingerprints {
            let sum = found[..count].iter().fold(0, |sum, place| match *place {
                0 => sum,
                place => sum ^ self.fingerprints[place as usize - 1],
            });
            std::hint::black_box(sum);
            return;
        }
        let mut begins = [0_u32; BLOCK];
        for (begin, place) in begins.iter_mut().zip(&found[..count]) {
            *begin = if *place < 2 { 0 } else { self.ends[*place as usize - 2] };
        }
        let sum = begins[..count]
            .iter()
            .fold(0, |sum, begin| sum ^ self.words.get(*begin as usize).copied().unwrap_or(0));
        std::hint::black_box(sum);
    }

    /// Inserts a word: returns its place and whether it is new, or `None` if the shard is full.
    #[inline]
    pub(crate) fn insert(&mut self, encoded: &[u16], hash: u64, parent: StateId) -> Option<(usize, bool)> {
        if (self.parents.len() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let slot = match self.find(encoded, hash) {
            Ok(place) => return Some((place, false)),
            Err(slot) => slot,
        };
        let end = u32::try_from(self.words.len() + encoded.len()).ok()?;
        if self.parents.len() >= MOST_STATES {
            return None;
        }
        let place = self.parents.len();
        self.table[slot] = (tag(hash) << PLACE_BITS) | (place as u32 + 1);
        reserve(&mut self.words, encoded.len()).extend_from_slice(encoded);
        reserve(&mut self.ends, 1).push(end);
        reserve(&mut self.parents, 1).push(parent);
        if self.visited == Visited::Fingerprints {
            reserve(&mut self.fingerprints, 1).push(hash);
        }
        Some((place, true))
    }

    #[cold]
    fn grow(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for place in 0..self.parents.len() {
            let hash = match self.visited {
                Visited::Exact => hash(self.encoded(place)),
                Visited::Fingerprints => self.fingerprints[place],
            };
            let mut slot = hash as usize & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = (tag(hash) << PLACE_BITS) | (place as u32 + 1);
        }
        self.table = table;
    }

    fn drop_words(&mut self, before: usize) {
        if self.visited == Visited::Exact || before <= self.gone {
            return;
        }
        let gone = before - self.gone;
        let begin = self.ends[gone - 1];
        self.words.drain(..begin as usize);
        self.ends.drain(..gone);
        self.ends.iter_mut().for_each(|end| *end -= begin);
        self.gone = before;
    }
}

/// Reserves space: doubles small lists but grows large ones by an eighth, so that little memory stays unused.
#[inline]
fn reserve<T>(list: &mut Vec<T>, more: usize) -> &mut Vec<T> {
    const SMALL: usize = 1 << 13;
    if list.len() + more > list.capacity() && list.len() > SMALL {
        list.reserve_exact(more.max(list.len() / 8));
    }
    list
}

/// Eight bits of a hash that neither the shard nor the slot uses.
#[inline]
fn tag(hash: u64) -> u32 {
    ((hash >> 40) & 0xFF) as u32
}

/// The escape before a number that does not fit into 16 bits.
const LONG: u16 = u16::MAX;

/// Encodes a word as 16-bit numbers.
#[inline]
pub(crate) fn encode(word: &[u32], encoded: &mut Vec<u16>) {
    if word.iter().fold(0, |all, number| all | number) < u32::from(LONG) {
        encoded.extend(word.iter().map(|number| *number as u16));
        return;
    }
    for &number in word {
        if number < u32::from(LONG) {
            encoded.push(number as u16);
        } else {
            encoded.extend([LONG, number as u16, (number >> 16) as u16]);
        }
    }
}

#[inline]
pub(crate) fn decode(encoded: &[u16], word: &mut Vec<u32>) {
    word.clear();
    if encoded.iter().fold(0, |most, number| (*number).max(most)) != LONG {
        word.extend(encoded.iter().map(|number| u32::from(*number)));
        return;
    }
    let mut numbers = encoded.iter();
    while let Some(&number) = numbers.next() {
        let number = match number {
            LONG => {
                let low = numbers.next().copied().unwrap_or_default();
                let high = numbers.next().copied().unwrap_or_default();
                u32::from(low) | u32::from(high) << 16
            }
            short => u32::from(short),
        };
        word.push(number);
    }
}

/// A 64-bit hash. Each round is a bijection, so words of one length up to four numbers never collide, and
/// longer ones only by chance; the inputs are trusted, so it need not resist chosen collisions.
#[inline]
pub(crate) fn hash(encoded: &[u16]) -> u64 {
    let mut sum = (encoded.len() as u64).wrapping_mul(0x2D35_8DCC_AA6C_78A5);
    let mut fours = encoded.chunks_exact(4);
    for four in &mut fours {
        let four = u64::from(four[0])
            | u64::from(four[1]) << 16
            | u64::from(four[2]) << 32
            | u64::from(four[3]) << 48;
        sum = round(sum ^ four);
    }
    let rest = fours.remainder().iter().fold(0, |rest, &number| rest << 16 | u64::from(number));
    let sum = round(sum ^ rest);
    round(sum ^ sum >> 29)
}

#[inline]
fn round(sum: u64) -> u64 {
    let product = sum.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ product >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(25)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> impl Iterator<Item = Vec<u32>> {
        (0..20_000_u32).map(|number| (0..number % 7).map(|place| number / 7 * 40 + place).collect())
    }

    #[test]
    fn every_word_has_one_number_and_can_be_read_back() {
        for visited in [Visited::Exact, Visited::Fingerprints] {
            let mut store = Store::new(visited);
            let mut seen = std::collections::HashMap::new();
            for word in words() {
                let mut encoded = Vec::new();
                encode(&word, &mut encoded);
                let (hash, parent) = (hash(&encoded), seen.len() as u32);
                let shard = &mut store.shards[shard_of(hash)];
                let (place, is_new) = shard.insert(&encoded, hash, parent).expect("few");
                assert_eq!(is_new, !seen.contains_key(&word));
                let state = (place * SHARDS + shard_of(hash)) as StateId;
                assert_eq!(*seen.entry(word.clone()).or_insert(state), state);
                let mut read = Vec::new();
                store.read(state, &mut read);
                assert_eq!(read, word);
            }
            assert_eq!(store.len(), seen.len());
        }
    }

    #[test]
    fn fingerprints_find_states_whose_words_were_dropped() {
        let mut store = Store::new(Visited::Fingerprints);
        let all: Vec<Vec<u16>> = words()
            .map(|word| {
                let mut encoded = Vec::new();
                encode(&word, &mut encoded);
                encoded
            })
            .collect();
        for (number, encoded) in all.iter().enumerate() {
            let hash = hash(encoded);
            store.shards[shard_of(hash)].insert(encoded, hash, NO_PARENT);
            if number % 5_000 == 4_999 {
                let before: Vec<usize> = store.shards.iter().map(Shard::len).collect();
                store.drop_words(&before);
            }
        }
        let is_known =
            |encoded: &Vec<u16>| store.shards[shard_of(hash(encoded))].find(encoded, hash(encoded)).is_ok();
        assert!(all.iter().all(is_known));
    }
}
