//! A part of a sweep for one of several machines.

use std::fmt;
use std::str::FromStr;

use doorway_core::Refusal;

/// The points whose number is `number − 1` modulo `of`: neighbours on the grid cost about the same, so that shards do too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };
    /// More shards are refused: a sweep has no more runs.
    pub const MOST: u64 = super::Points::MOST;

    /// The shard of this number, counted from 1.
    ///
    /// # Errors
    /// If the number is not from 1 to `of`.
    pub fn new(number: u64, of: u64) -> Result<Self, Refusal> {
        match (number, of) {
            (_, 0) => Err(Refusal::new("0 shards are no sweep: give 1 or more, as in 1/8")),
            (_, of) if of > Self::MOST => {
                Err(Refusal::new(format!("{of} shards are too many: give at most {}", Self::MOST)))
            }
            (number, of) if number == 0 || number > of => {
                Err(Refusal::new(format!("there is no shard {number} of {of}: shards are 1 to {of}")))
            }
            (number, of) => Ok(Self { number, of }),
        }
    }

    /// Its number, counted from 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }

    /// How many shards there are.
    #[must_use]
    pub fn of(self) -> u64 {
        self.of
    }

    /// How many of so many points it has.
    #[must_use]
    pub fn size(self, points: u64) -> u64 {
        (points + self.of - self.number) / self.of
    }

    /// The number on the grid of its row, counted from 0.
    #[must_use]
    pub fn point(self, row: u64) -> u64 {
        row * self.of + self.number - 1
    }
}

/// As people type it.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let parts =
            word.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) =
            parts.ok_or_else(|| Refusal::new(format!("{word:?} is not a shard: I/N, as in 1/8")))?;
        Self::new(number, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_exactly_one_shard() {
        for points in [0, 1, 5, 12] {
            for of in 1..=7 {
                let shards = (1..=of).map(|number| Shard::new(number, of).expect("a shard"));
                let all = shards.flat_map(|shard| (0..shard.size(points)).map(move |row| shard.point(row)));
                let mut all: Vec<u64> = all.collect();
                all.sort_unstable();
                assert_eq!(all, (0..points).collect::<Vec<_>>(), "{points} points in {of} shards");
            }
        }
    }

    #[test]
    fn a_shard_outside_the_range_is_refused() {
        let refused = |word: &str| word.parse::<Shard>().expect_err(word).to_string();
        assert_eq!(refused("0/4"), "there is no shard 0 of 4: shards are 1 to 4");
        assert_eq!(refused("5/4"), "there is no shard 5 of 4: shards are 1 to 4");
        assert!(refused("1/0").contains("1 or more"));
        assert!(refused("1/10000001").contains("at most 10000000"));
        for word in ["", "1", "/", "1/", "-1/4", "a/b", "1/99999999999999999999999"] {
            assert!(refused(word).contains("as in 1/8"), "{word}");
        }
        assert_eq!("4/4".parse::<Shard>().expect("a shard").to_string(), "4/4");
    }
}
