//! The agenda: a priority queue of events by tick, first in first out within a tick.
//!
//! A timing wheel (G. Varghese, A. Lauck, "Hashed and hierarchical timing wheels", 1987) for the near future
//! and a sorted map for the rest. Events of one tick always come in the order of scheduling: when a tick
//! comes within the wheel's reach, all its events move from the map to the wheel at once.

use std::collections::BTreeMap;

use doorway_core::Ticks;

/// The reach of the wheel in ticks; a power of two.
const REACH: u64 = 1_024;
const WORDS: usize = (REACH / 64) as usize;

/// Events by tick.
pub struct Agenda<T> {
    now: u64,
    /// The events due now, in reverse order.
    current: Vec<T>,
    /// Events scheduled for now since the tick began.
    added: Vec<T>,
    /// The events of each of the next ticks, by tick modulo [`REACH`].
    wheel: Vec<Vec<T>>,
    /// One bit per slot of the wheel, set if it is not empty.
    filled: [u64; WORDS],
    /// Events beyond the wheel's reach.
    far: BTreeMap<u64, Vec<T>>,
    /// Empty slots that keep their capacity, so that a burst allocates once, not once per tick.
    spare: Vec<Vec<T>>,
}

impl<T> Agenda<T> {
    /// An empty agenda at tick 0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            now: 0,
            current: Vec::new(),
            added: Vec::new(),
            wheel: (0..REACH).map(|_| Vec::new()).collect(),
            filled: [0; WORDS],
            far: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// The current tick.
    #[must_use]
    pub fn now(&self) -> Ticks {
        Ticks(self.now)
    }

    /// Schedules an event for the tick `at`, or for now if that is past.
    #[inline(always)]
    pub fn put(&mut self, at: Ticks, what: T) {
        self.list_for(at).push(what);
    }

    /// Schedules an event for now, before all others that are due now.
    pub fn put_first(&mut self, what: T) {
        self.current.push(what);
    }

    #[inline]
    fn list_for(&mut self, at: Ticks) -> &mut Vec<T> {
        match at.0.saturating_sub(self.now) {
            0 => &mut self.added,
            1..REACH => {
                let slot = (at.0 % REACH) as usize;
                let list = &mut self.wheel[slot];
                if list.is_empty() {
                    self.filled[slot / 64] |= 1 << (slot % 64);
                    if list.capacity() == 0 {
                        *list = self.spare.pop().unwrap_or_default();
                    }
                }
                list
            }
            _ => self.far.entry(at.0).or_insert_with(|| self.spare.pop().unwrap_or_default()),
        }
    }

    /// The tick of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        if self.is_something_due_now() {
            return Some(Ticks(self.now));
        }
        self.later_time()
    }

    /// Whether an event is due at the current tick.
    #[inline]
    #[must_use]
    pub fn is_something_due_now(&self) -> bool {
        !self.current.is_empty() || !self.added.is_empty()
    }

    fn later_time(&self) -> Option<Ticks> {
        let near = self
            .next_filled()
            .map(|slot| self.next_tick() + (slot + REACH - self.next_tick() % REACH) % REACH);
        near.or_else(|| self.far.keys().next().copied()).map(Ticks)
    }

    fn next_tick(&self) -> u64 {
        self.now.saturating_add(1)
    }

    /// The first filled slot after the current one, wrapping around.
    fn next_filled(&self) -> Option<u64> {
        let start = self.next_tick() % REACH;
        let (word, bit) = ((start / 64) as usize, start % 64);
        let slot_in = |word: usize, bits: u64| (word * 64) as u64 + u64::from(bits.trailing_zeros());
        let rest = self.filled[word] & (u64::MAX << bit);
        if rest != 0 {
            return Some(slot_in(word, rest));
        }
        let words = (1..=WORDS).map(|step| (word + step) % WORDS);
        words
            .map(|word| (word, self.filled[word]))
            .find(|(_, bits)| *bits != 0)
            .map(|(w, bits)| slot_in(w, bits))
    }

    /// Removes the next event and advances to its tick.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        let next = self.current.pop();
        if next.is_some() { next } else { self.take_later() }
    }

    fn take_later(&mut self) -> Option<T> {
        if self.added.is_empty() {
            let next = self.later_time()?;
            self.advance(next);
        } else {
            std::mem::swap(&mut self.current, &mut self.added);
            self.current.reverse();
        }
        self.current.pop()
    }

    /// Advances to the tick `to`; no event may be due before.
    pub fn advance(&mut self, to: Ticks) {
        if to.0 <= self.now {
            return;
        }
        debug_assert!(!self.is_something_due_now(), "an event is still due at {}", self.now);
        self.now = to.0;
        while let Some(entry) = self.far.first_entry()
            && *entry.key() - self.now < REACH
        {
            let (at, list) = entry.remove_entry();
            let slot = (at % REACH) as usize;
            self.filled[slot / 64] |= 1 << (slot % 64);
            self.wheel[slot] = list;
        }
        let slot = (self.now % REACH) as usize;
        self.filled[slot / 64] &= !(1 << (slot % 64));
        let due = std::mem::take(&mut self.wheel[slot]);
        let spare = std::mem::replace(&mut self.current, due);
        self.current.reverse();
        if spare.capacity() > 0 {
            self.spare.push(spare);
        }
    }

    /// The number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        let lists = self.wheel.iter().chain(self.far.values());
        self.current.len() + self.added.len() + lists.map(Vec::len).sum::<usize>()
    }

    /// All events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.current
            .iter()
            .chain(&self.added)
            .chain(self.wheel.iter().flatten())
            .chain(self.far.values().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_agrees_with_a_sorted_list() {
        let mut random = Random::new(3, 0);
        let (mut agenda, mut list) = (Agenda::new(), Vec::new());
        let mut number = 0_u64;
        for _ in 0..20_000 {
            for _ in 0..random.below(4) {
                let ahead = [0, 3, 100, 1_023, 1_024, 5_000][random.below(6) as usize];
                let at = agenda.now() + Ticks(random.below(ahead + 1));
                agenda.put(at, number);
                list.push((at, number));
                number += 1;
            }
            list.sort_unstable();
            assert_eq!(agenda.next_time(), list.first().map(|due| due.0));
            let taken = agenda.take();
            assert_eq!(taken, (!list.is_empty()).then(|| list.remove(0).1));
            assert_eq!((agenda.iter().count(), agenda.len()), (list.len(), list.len()));
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_length_of_a_run() {
        let mut agenda = Agenda::new();
        for _ in 0..100_000 {
            let now = agenda.now();
            [2, 700, 1_500, 5_000].into_iter().for_each(|ahead| agenda.put(now + Ticks(ahead), ahead));
            assert!([(); 4].map(|()| agenda.take()).iter().all(Option::is_some));
        }
        assert!(agenda.spare.len() <= REACH as usize, "{} spare slots", agenda.spare.len());
    }

    #[test]
    fn put_first_comes_before_all_events_of_its_tick() {
        let mut agenda = Agenda::new();
        ["a", "c", "d"].into_iter().for_each(|what| agenda.put(Ticks(7), what));
        assert_eq!(agenda.take(), Some("a"));
        agenda.put(Ticks(7), "e");
        agenda.put_first("b");
        assert_eq!([(); 5].map(|()| agenda.take()), [Some("b"), Some("c"), Some("d"), Some("e"), None]);
    }

    #[test]
    fn events_of_one_tick_keep_their_order_from_wheel_and_map() {
        let mut agenda = Agenda::new();
        agenda.put(Ticks(3_000), "from afar");
        agenda.put(Ticks(2_500), "a step closer");
        assert_eq!(agenda.take(), Some("a step closer"));
        agenda.put(Ticks(3_000), "from near");
        assert_eq!(
            (agenda.take(), agenda.take(), agenda.take()),
            (Some("from afar"), Some("from near"), None)
        );
    }
}
