//! All states that were reached, each once, and from which one each was reached first.

/// States by their numbers, in the order in which they were reached.
///
/// The words lie one behind the other; a table with open addressing finds the number of a word.
pub(crate) struct Store {
    words: Vec<u32>,
    /// Where the word of each state ends.
    ends: Vec<u64>,
    parents: Vec<u32>,
    /// Numbers of states plus one; 0 is free.
    table: Vec<u32>,
}

/// No more states fit the numbers.
const MOST_STATES: usize = u32::MAX as usize - 1;

impl Store {
    /// The number of a state that has no parent.
    pub(crate) const NOBODY: u32 = u32::MAX;

    pub(crate) fn new() -> Self {
        Self { words: Vec::new(), ends: Vec::new(), parents: Vec::new(), table: vec![0; 1 << 12] }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn word(&self, state: u32) -> &[u32] {
        let state = state as usize;
        let begin = if state == 0 { 0 } else { self.ends[state - 1] as usize };
        &self.words[begin..self.ends[state] as usize]
    }

    pub(crate) fn parent(&self, state: u32) -> Option<u32> {
        Some(self.parents[state as usize]).filter(|parent| *parent != Self::NOBODY)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let words = self.words.capacity() * 4 + self.ends.capacity() * 8;
        (words + self.parents.capacity() * 4 + self.table.capacity() * 4) as u64
    }

    /// The number of a word, and whether it is new; `None` if no more states can be numbered.
    pub(crate) fn insert(&mut self, word: &[u32], parent: u32) -> Option<(u32, bool)> {
        if (self.len() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut place = hash(word) as usize & mask;
        loop {
            match self.table[place] {
                0 => break,
                found if self.word(found - 1) == word => return Some((found - 1, false)),
                _ => place = (place + 1) & mask,
            }
        }
        if self.len() >= MOST_STATES {
            return None;
        }
        let state = self.len() as u32;
        self.table[place] = state + 1;
        self.words.extend_from_slice(word);
        self.ends.push(self.words.len() as u64);
        self.parents.push(parent);
        Some((state, true))
    }

    #[cold]
    fn grow(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for state in 0..self.len() as u32 {
            let mut place = hash(self.word(state)) as usize & mask;
            while table[place] != 0 {
                place = (place + 1) & mask;
            }
            table[place] = state + 1;
        }
        self.table = table;
    }
}

/// A multiply-and-fold hash; words are short and come from nobody who would choose them to collide.
fn hash(word: &[u32]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sum = word.len() as u64;
    for &number in word {
        let product = u128::from(sum ^ u64::from(number)) * u128::from(ODD | 1);
        sum = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_number_and_knows_its_first_parent() {
        let mut store = Store::new();
        for number in 0..20_000_u32 {
            let word: Vec<u32> = (0..number % 7).map(|place| number / 7 + place).collect();
            let before = store.len() as u32;
            let (state, is_new) =
                store.insert(&word, if before == 0 { Store::NOBODY } else { 0 }).expect("few");
            assert_eq!(store.word(state), word);
            assert_eq!(is_new, state == before);
            assert_eq!(store.insert(&word, 5), Some((state, false)));
        }
        assert_eq!(store.parent(0), None);
        assert_eq!(store.parent(1), Some(0));
    }
}
