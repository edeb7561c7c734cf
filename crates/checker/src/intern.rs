//! Interning: equal values get equal numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Numbers distinct values in the order of first use. The map is never iterated, so its order cannot
/// influence a run.
pub(crate) struct Interner<T> {
    numbers: HashMap<T, u32, BuildHasherDefault<Mixer>>,
    things: Vec<T>,
}

impl<T: Clone + Eq + Hash> Default for Interner<T> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), things: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of a value.
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let number = self.things.len() as u32;
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    /// The value of a number.
    pub(crate) fn thing(&self, number: u32) -> &T {
        &self.things[number as usize]
    }
}

/// A fast multiply-and-fold hash. Its inputs are trusted, so it need not resist chosen collisions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let number = eight.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            self.write_u64(number);
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x2D35_8DCC_AA6C_78A5) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
