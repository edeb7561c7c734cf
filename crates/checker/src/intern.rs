//! Numbers for things.

use std::collections::HashMap;
use std::hash::Hash;

/// Gives every different thing a number, in the order in which it meets them. The numbers are looked up, never iterated over.
pub(crate) struct Interner<T> {
    numbers: HashMap<T, u32>,
    things: Vec<T>,
}

impl<T: Clone + Eq + Hash> Default for Interner<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), things: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of a thing.
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let number = self.things.len() as u32;
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    /// The thing of a number.
    pub(crate) fn thing(&self, number: u32) -> &T {
        &self.things[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }
}
