//! Hostile bytes from honest ones, always the same from a seed.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A source of hostile bytes.
pub struct Mutator(Pcg64Mcg);

impl Mutator {
    /// One that makes the same bytes whenever it is made from this seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A whole number from 0 to `bound` − 1, or 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// One of the corpus, changed in one to four ways.
    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.pick(corpus).clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, corpus);
        }
        bytes
    }

    /// The same bytes, changed in one way.
    pub fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        match self.below(8) {
            0 | 1 => self.flip(bytes),
            2 => self.overwrite(bytes),
            3 => self.replace_by_number(bytes),
            4 => bytes.truncate(self.below(bytes.len() + 1)),
            5 => self.splice(bytes, corpus),
            6 => self.repeat(bytes),
            _ => self.cut_out(bytes),
        }
    }

    fn flip(&mut self, bytes: &mut [u8]) {
        let bit = 1 << self.below(8);
        let at = self.below(bytes.len());
        bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
    }

    fn overwrite(&mut self, bytes: &mut [u8]) {
        let new = *self.pick(&[0, 1, 2, 3, 4, 8, 0x7f, 0x80, 0xff]);
        let at = self.below(bytes.len());
        bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = new);
    }

    /// A number, which may be the length of something, becomes one of the largest or smallest of its kind.
    fn replace_by_number(&mut self, bytes: &mut Vec<u8>) {
        const EDGES: [u64; 12] = [
            0,
            1,
            127,
            128,
            10_001,
            u32::MAX as u64,
            1 << 36,
            (1 << 48) - 1,
            1 << 48,
            1 << 62,
            u64::MAX - 1,
            u64::MAX,
        ];
        let at = self.below(bytes.len());
        let length = bytes[at..].iter().position(|byte| byte & 0x80 == 0).map_or(0, |last| last + 1);
        let mut number = *self.pick(&EDGES);
        let mut new = Vec::new();
        while number > 0x7f {
            new.push(number as u8 | 0x80);
            number >>= 7;
        }
        new.push(number as u8);
        bytes.splice(at..at + length, new);
    }

    /// The beginning of one and the end of another.
    fn splice(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let other = self.pick(corpus);
        let (from, to) = (self.below(other.len() + 1), self.below(bytes.len() + 1));
        bytes.truncate(to);
        bytes.extend_from_slice(&other[from..]);
    }

    fn repeat(&mut self, bytes: &mut Vec<u8>) {
        let (from, length) = (self.below(bytes.len()), self.below(32));
        let part: Vec<u8> = bytes.iter().skip(from).take(length).copied().collect();
        bytes.splice(from..from, part);
    }

    fn cut_out(&mut self, bytes: &mut Vec<u8>) {
        let (from, length) = (self.below(bytes.len()), self.below(16));
        let to = (from + length).min(bytes.len());
        bytes.drain(from..to);
    }
}
