//! What a soak goes through: sizes of clusters and seeds, in batches that are one command each.

use crate::stop::ChoreError;

/// Stands for every algorithm that is right.
pub const ALL: &str = "all";
/// The sizes of clusters, unless others are asked for.
const SIZES: [u64; 8] = [3, 4, 5, 6, 7, 8, 9, 16];

/// What a soak goes through, batch after batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// The first seed.
    pub first: u64,
    /// The seeds of each algorithm and size; without a number there is always one more.
    pub seeds: Option<u64>,
    /// The sizes of clusters, one after the other.
    pub sizes: Vec<u64>,
    /// The algorithm, or [`ALL`].
    pub algorithm: String,
}

/// Some runs: one size, a few seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub nodes: u64,
    pub seed: u64,
    pub seeds: u64,
    algorithm: String,
}

impl Campaign {
    /// All algorithms and sizes, without an end.
    pub fn new(first: u64) -> Self {
        Self { first, seeds: None, sizes: SIZES.to_vec(), algorithm: ALL.to_owned() }
    }

    /// The batch with this number, from 0; none if all seeds are made.
    ///
    /// # Errors
    /// If there are no larger seeds.
    pub fn batch(&self, number: u64) -> Result<Option<Batch>, ChoreError> {
        let none = || ChoreError::Failed("There are no larger seeds: begin with a smaller one.".to_owned());
        let count = self.sizes.len() as u64;
        let made = (number / count).checked_mul(self.step()).ok_or_else(none)?;
        let seeds = self.seeds.map_or(self.step(), |all| all.saturating_sub(made).min(self.step()));
        if seeds == 0 {
            return Ok(None);
        }
        let seed = self.first.checked_add(made).filter(|seed| seed.checked_add(seeds - 1).is_some());
        let nodes = self.sizes[(number % count) as usize];
        let algorithm = self.algorithm.clone();
        Ok(Some(Batch { nodes, seed: seed.ok_or_else(none)?, seeds, algorithm }))
    }

    /// How many runs it has, if that can be told: only the command knows how many algorithms there are.
    pub fn runs(&self) -> Option<u64> {
        let seeds = self.seeds.filter(|_| self.algorithm != ALL)?;
        seeds.checked_mul(self.sizes.len() as u64)
    }

    /// The seeds of a batch: few, so that a soak stops soon after its time is over.
    fn step(&self) -> u64 {
        if self.algorithm == ALL { 2 } else { 24 }
    }

    /// The sizes as they are typed.
    pub fn typed_sizes(&self) -> String {
        self.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The words that ask for it.
    pub fn words(&self) -> String {
        let Self { first, seeds, algorithm, .. } = self;
        let usual = Self::new(*first);
        let mut words = String::new();
        if self.sizes != usual.sizes {
            words += &format!(" --nodes {}", self.typed_sizes());
        }
        if *algorithm != usual.algorithm {
            words += &format!(" --algorithm {algorithm}");
        }
        words += &seeds.map(|seeds| format!(" --seeds {seeds}")).unwrap_or_default();
        format!("cargo xtask soak{words} --seed {first}")
    }
}

impl Batch {
    /// The words after `doorway` that make it.
    pub fn arguments(&self) -> Vec<String> {
        let Self { nodes, seed, seeds, algorithm } = self;
        let line =
            format!("chaos --algorithm {algorithm} --nodes {nodes} --seeds {seeds} --seed {seed} --json");
        line.split(' ').map(str::to_owned).collect()
    }
}

/// Sizes of clusters as they are typed, `7,9`.
pub fn sizes(word: &str) -> Option<Vec<u64>> {
    let size = |part: &str| part.parse().ok().filter(|nodes| (1..=16).contains(nodes));
    word.split(',').map(size).collect()
}

/// The name of an algorithm: whether there is one of that name is the command's affair.
pub fn algorithm(word: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let is_name = !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain);
    is_name.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(campaign: &Campaign) -> Vec<(u64, u64, u64)> {
        let batches = (0..12).map_while(|number| campaign.batch(number).ok().flatten());
        batches.map(|batch| (batch.nodes, batch.seed, batch.seeds)).collect()
    }

    #[test]
    fn sizes_change_first_and_seeds_count_up() {
        let sizes = [3, 4, 5, 6, 7, 8, 9, 16].map(|nodes| (nodes, 40, 2));
        assert_eq!(made(&Campaign::new(40))[..8], sizes);
        assert_eq!(made(&Campaign::new(40))[8..10], [(3, 42, 2), (4, 42, 2)]);
        assert!(Campaign::new(u64::MAX - 1).batch(0).is_ok());
        assert!(Campaign::new(u64::MAX).batch(0).is_err(), "there are no larger seeds");
    }

    #[test]
    fn a_campaign_has_every_seed_of_every_size_once() {
        let raymond = |seeds| Campaign {
            seeds: Some(seeds),
            sizes: vec![7, 9],
            algorithm: "raymond".to_owned(),
            ..Campaign::new(5)
        };
        let batches = [(7, 5, 24), (9, 5, 24), (7, 29, 24), (9, 29, 24), (7, 53, 2), (9, 53, 2)];
        assert_eq!((made(&raymond(50)), raymond(50).runs()), (batches.to_vec(), Some(100)));
        assert_eq!((made(&raymond(1)), raymond(1).runs()), (vec![(7, 5, 1), (9, 5, 1)], Some(2)));
        let all = Campaign { seeds: Some(3), sizes: vec![1], ..Campaign::new(u64::MAX - 2) };
        assert_eq!((made(&all), all.runs()), (vec![(1, u64::MAX - 2, 2), (1, u64::MAX, 1)], None));
        assert_eq!(all.batch(2), Ok(None));
    }

    #[test]
    fn a_batch_is_a_command() {
        let arguments = |campaign: &Campaign| {
            let batch = campaign.batch(0).expect("there are seeds").expect("there is a batch");
            batch.arguments().join(" ")
        };
        let usual = "chaos --algorithm all --nodes 3 --seeds 2 --seed 5 --json";
        assert_eq!(arguments(&Campaign::new(5)), usual);
        let one = Campaign { seeds: Some(9), algorithm: "raymond".to_owned(), ..Campaign::new(5) };
        assert_eq!(arguments(&one), "chaos --algorithm raymond --nodes 3 --seeds 9 --seed 5 --json");
    }

    #[test]
    fn the_words_of_a_campaign_ask_for_it_again() {
        assert_eq!(Campaign::new(5).words(), "cargo xtask soak --seed 5");
        let sizes = sizes("7,9").expect("two sizes");
        let named =
            Campaign { seeds: Some(1_500), sizes, algorithm: "raymond".to_owned(), ..Campaign::new(5) };
        let words = "cargo xtask soak --nodes 7,9 --algorithm raymond --seeds 1500 --seed 5";
        assert_eq!(named.words(), words);
    }

    #[test]
    fn sizes_and_names_are_read_with_care() {
        assert_eq!(sizes("16"), Some(vec![16]));
        for word in ["", ",", "7,", "0", "17", "7 9", "seven"] {
            assert_eq!(sizes(word), None, "{word}");
        }
        assert_eq!(algorithm("naimi-trehel").as_deref(), Some("naimi-trehel"));
        for word in ["", "--resume", "two words", "line\nbreak"] {
            assert_eq!(algorithm(word), None, "{word}");
        }
    }
}
