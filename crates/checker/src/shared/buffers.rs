//! The store buffers: the tail of a state's word.
//!
//! First comes the number of buffered stores of each process, then the stores, process by process. Under
//! total store order they are in program order. Under partial store order only the order of stores to the
//! same register matters: they are sorted by register, so that equal states are equal words.

use std::ops::Range;

use super::MemoryModel;

/// The layout of stores in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffers {
    pub(super) model: MemoryModel,
    /// The index of the first length.
    pub(super) head: usize,
    pub(super) n: usize,
    /// The number of registers.
    pub(super) registers: u32,
    /// The most stores of one process.
    pub(super) capacity: usize,
}

impl Buffers {
    #[inline]
    pub(super) fn are_there(self) -> bool {
        self.model != MemoryModel::Sequential
    }

    /// Packs a store into one number.
    #[inline]
    pub(super) fn entry(self, register: u32, value: u32) -> u32 {
        value * self.registers + register
    }

    /// Unpacks the register and the value of a store.
    #[inline]
    pub(super) fn store(self, entry: u32) -> (u32, u32) {
        (entry % self.registers, entry / self.registers)
    }

    /// The number of buffered stores of a process.
    #[inline]
    pub(super) fn len(self, word: &[u32], process: u32) -> usize {
        if self.are_there() { word[self.head + process as usize] as usize } else { 0 }
    }

    /// The range of a process's stores in the word.
    #[inline]
    pub(super) fn range(self, word: &[u32], process: u32) -> Range<usize> {
        let lengths = &word[self.head..][..self.n];
        let before: u32 = lengths[..process as usize].iter().sum();
        let first = self.head + self.n + before as usize;
        first..first + lengths[process as usize] as usize
    }

    /// The queue of a store: stores in one queue reach memory in order.
    pub(super) fn lane(self, process: u32, register: u32) -> u32 {
        match self.model {
            MemoryModel::PartialStoreOrder => process * self.registers + register,
            MemoryModel::Sequential | MemoryModel::TotalStoreOrder => process,
        }
    }

    /// The value that a process reads: its own newest buffered store, or else the value in memory.
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

    /// Buffers a store and returns its index.
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

    /// Removes the store at an index.
    pub(super) fn take(self, word: &mut Vec<u32>, process: u32, place: usize) -> u32 {
        word[self.head + process as usize] -= 1;
        word.remove(place)
    }

    /// Undoes [`Buffers::take`].
    pub(super) fn put_back(self, word: &mut Vec<u32>, process: u32, place: usize, entry: u32) {
        word[self.head + process as usize] += 1;
        word.insert(place, entry);
    }

    /// Whether the store at this index, of those from `first` on, can reach memory next.
    pub(super) fn is_next(self, word: &[u32], first: usize, place: usize) -> bool {
        place == first
            || self.model == MemoryModel::PartialStoreOrder
                && self.store(word[place - 1]).0 != self.store(word[place]).0
    }
}
