//! Stores on their way to memory, as the end of a state's word.
//!
//! First stands for each process how many stores of it are on their way, then they follow, process by process. Under total store order
//! they lie in the order in which they were made. Under partial store order only the order of those into the same register
//! matters: they lie by register, so that equal states are equal words.

use std::ops::Range;

use super::MemoryModel;

/// How stores lie in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffers {
    pub(super) model: MemoryModel,
    /// Where they begin.
    pub(super) head: usize,
    pub(super) n: usize,
    /// How many registers there are.
    pub(super) registers: u32,
    /// How many stores of one process there can be.
    pub(super) capacity: usize,
}

impl Buffers {
    #[inline]
    pub(super) fn are_there(self) -> bool {
        self.model != MemoryModel::Sequential
    }

    /// A store as one number.
    #[inline]
    pub(super) fn entry(self, register: u32, value: u32) -> u32 {
        value * self.registers + register
    }

    /// The register and the value of a store.
    #[inline]
    pub(super) fn store(self, entry: u32) -> (u32, u32) {
        (entry % self.registers, entry / self.registers)
    }

    /// How many stores of a process are on their way.
    #[inline]
    pub(super) fn len(self, word: &[u32], process: u32) -> usize {
        if self.are_there() { word[self.head + process as usize] as usize } else { 0 }
    }

    /// Where the stores of a process lie.
    #[inline]
    pub(super) fn range(self, word: &[u32], process: u32) -> Range<usize> {
        let lengths = &word[self.head..][..self.n];
        let before: u32 = lengths[..process as usize].iter().sum();
        let first = self.head + self.n + before as usize;
        first..first + lengths[process as usize] as usize
    }

    /// Which of all ways to memory a store takes: those on the same way stay in order.
    pub(super) fn lane(self, process: u32, register: u32) -> u32 {
        match self.model {
            MemoryModel::PartialStoreOrder => process * self.registers + register,
            MemoryModel::Sequential | MemoryModel::TotalStoreOrder => process,
        }
    }

    /// What a process sees in a register: its own newest store, or else what memory has.
    #[inline]
    pub(super) fn see(self, word: &[u32], process: u32, register: u32) -> u32 {
        if self.are_there() {
            let own = word[self.range(word, process)].iter().rev().map(|&entry| self.store(entry));
            if let Some((_, value)) = own.into_iter().find(|(other, _)| *other == register) {
                return value;
            }
        }
        word[self.n + register as usize]
    }

    /// Puts a store on its way; gives its place.
    pub(super) fn put(self, word: &mut Vec<u32>, process: u32, entry: u32) -> usize {
        let range = self.range(word, process);
        let place = match self.model {
            MemoryModel::PartialStoreOrder => {
                let register = self.store(entry).0;
                let stores = word[range.clone()].iter();
                range.start + stores.take_while(|other| self.store(**other).0 <= register).count()
            }
            MemoryModel::Sequential | MemoryModel::TotalStoreOrder => range.end,
        };
        word.insert(place, entry);
        word[self.head + process as usize] += 1;
        place
    }

    /// Takes a store from its place.
    pub(super) fn take(self, word: &mut Vec<u32>, process: u32, place: usize) -> u32 {
        word[self.head + process as usize] -= 1;
        word.remove(place)
    }

    /// Undoes [`Buffers::take`].
    pub(super) fn put_back(self, word: &mut Vec<u32>, process: u32, place: usize, entry: u32) {
        word[self.head + process as usize] += 1;
        word.insert(place, entry);
    }

    /// Whether the store at this place, of those that lie from `first` on, can reach memory next.
    pub(super) fn is_next(self, word: &[u32], first: usize, place: usize) -> bool {
        place == first
            || self.model == MemoryModel::PartialStoreOrder
                && self.store(word[place - 1]).0 != self.store(word[place]).0
    }
}
