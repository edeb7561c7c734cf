//! The measurements of a run: times, fairness, throughput.

use std::collections::BTreeMap;

use crate::traffic::Traffic;

/// The measurements of a run. Those of several runs can be merged.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// The number of measured entries.
    pub entries: u64,
    /// From request to release, in ticks.
    pub response_time: Samples,
    /// From request to entry, in ticks.
    pub waiting_time: Samples,
    /// From a release to the next entry while a node waited, in ticks.
    pub sync_delay: Samples,
    /// For each wait, the number of bypasses: entries of nodes that requested later.
    pub bypasses: Samples,
    /// The number of entries of each node, or [`Measures::NEVER_ASKED`].
    pub entries_by_node: Vec<u32>,
    /// The number of entries ahead of a waiting request that had happened before theirs, if counted.
    pub out_of_order: Option<u64>,
    /// The number of entries after the first, and the ticks from the first to the last.
    pub throughput: (u64, u64),
    /// The message counts.
    pub traffic: Traffic,
    /// The end of the run in ticks; for several runs the sum.
    pub time: u64,
}

impl Measures {
    /// Marks a node that never requested.
    pub const NEVER_ASKED: u32 = u32::MAX;

    /// Adds the measurements of another run.
    pub fn merge(&mut self, other: &Measures) {
        self.entries += other.entries;
        self.response_time.merge(&other.response_time);
        self.waiting_time.merge(&other.waiting_time);
        self.sync_delay.merge(&other.sync_delay);
        self.bypasses.merge(&other.bypasses);
        self.merge_entries_by_node(&other.entries_by_node);
        self.out_of_order = self.out_of_order.zip(other.out_of_order).map(|(mine, theirs)| mine + theirs);
        self.throughput.0 += other.throughput.0;
        self.throughput.1 += other.throughput.1;
        self.traffic.merge(&other.traffic);
        self.time += other.time;
    }

    fn merge_entries_by_node(&mut self, other: &[u32]) {
        self.entries_by_node.resize(self.entries_by_node.len().max(other.len()), Self::NEVER_ASKED);
        for (mine, &theirs) in self.entries_by_node.iter_mut().zip(other) {
            *mine = match (*mine, theirs) {
                (Self::NEVER_ASKED, only) | (only, Self::NEVER_ASKED) => only,
                (mine, theirs) => mine.saturating_add(theirs).min(Self::NEVER_ASKED - 1),
            };
        }
    }

    /// The number of entries of each node that made a request.
    pub fn entries_of_those_who_asked(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries_by_node
            .iter()
            .filter(|&&entries| entries != Self::NEVER_ASKED)
            .map(|&entries| entries.into())
    }

    /// Jain's fairness index over the entries of the nodes that made requests: 1 if all entered equally
    /// often, 1/n if only one did. Over several runs the entries of each node are summed. (R. Jain, D. Chiu,
    /// W. Hawe, "A quantitative measure of fairness and discrimination", 1984.)
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        let entries = || self.entries_of_those_who_asked();
        let (sum, asked) = (entries().sum::<u64>() as f64, entries().count() as f64);
        let squares: f64 = entries().map(|x| x as f64 * x as f64).sum();
        (squares > 0.0).then(|| (sum * sum) / (asked * squares))
    }
}

/// A collection of integers with exact mean, quantiles and maximum. Its memory grows with the number of
/// distinct values, not with the number of samples.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Counts of small values, by value.
    small: Vec<u64>,
    /// Counts of all other values.
    large: BTreeMap<u64, u64>,
    count: u64,
    sum: u128,
}

impl Samples {
    /// Values below this are counted in an array.
    const SMALL: u64 = 4_096;

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    #[inline]
    fn add_times(&mut self, value: u64, times: u64) {
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        if value >= Self::SMALL {
            *self.large.entry(value).or_default() += times;
            return;
        }
        let place = value as usize;
        if place >= self.small.len() {
            self.small.resize(place + 1, 0);
        }
        self.small[place] += times;
    }

    /// Adds all values of another collection.
    pub fn merge(&mut self, other: &Samples) {
        other.values().for_each(|(value, times)| self.add_times(value, times));
    }

    /// The number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of occurrences of this value.
    #[must_use]
    pub fn occurrences(&self, value: u64) -> u64 {
        let table = self.small.get(value as usize).filter(|_| value < Self::SMALL);
        table.or_else(|| self.large.get(&value)).copied().unwrap_or(0)
    }

    /// Their mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value such that at least this share of all values is no larger.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        self.values()
            .find(|(_, times)| {
                seen += times;
                seen >= rank
            })
            .map(|(value, _)| value)
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.large
            .keys()
            .next_back()
            .copied()
            .or_else(|| self.small.iter().rposition(|&times| times > 0).map(|place| place as u64))
    }

    /// Each value with its number of occurrences, in ascending order.
    fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let small = (0..).zip(self.small.iter().copied()).filter(|(_, times)| *times > 0);
        small.chain(self.large.iter().map(|(&value, &times)| (value, times)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_exact_below_and_above_the_table() {
        let mut samples = Samples::default();
        for value in (1..=99).chain([1_000_000]) {
            samples.add(value);
        }
        assert_eq!(samples.count(), 100);
        assert_eq!([0, 7, 5_000, 1_000_000].map(|value| samples.occurrences(value)), [0, 1, 0, 1]);
        assert_eq!(samples.mean(), Some((4_950 + 1_000_000) as f64 / 100.0));
        assert_eq!((samples.quantile(0.5), samples.quantile(0.99)), (Some(50), Some(99)));
        assert_eq!((samples.quantile(1.0), samples.max()), (Some(1_000_000), Some(1_000_000)));
        assert_eq!((Samples::default().quantile(0.5), Samples::default().mean()), (None, None));
    }

    #[test]
    fn merged_samples_are_the_samples_of_both() {
        let (mut low, mut high, mut all) = (Samples::default(), Samples::default(), Samples::default());
        for value in 0..10_000 {
            if value % 3 == 0 {
                low.add(value)
            } else {
                high.add(value)
            }
            all.add(value);
        }
        low.merge(&high);
        assert_eq!((low.count(), low.mean(), low.max()), (all.count(), all.mean(), all.max()));
        assert_eq!(low.quantile(0.37), all.quantile(0.37));
    }

    #[test]
    fn jain_is_one_for_equals_and_one_nth_for_a_single_winner() {
        let with = |entries_by_node| Measures { entries_by_node, ..Measures::default() }.jain();
        assert_eq!(with(vec![5, 5, 5, 5]), Some(1.0));
        assert_eq!(with(vec![20, 0, 0, 0]), Some(0.25));
        assert_eq!(with(vec![7, Measures::NEVER_ASKED, 7]), Some(1.0));
        assert_eq!(with(vec![]), None);
    }

    #[test]
    fn merging_sums_the_entries_of_each_node() {
        let with = |entries_by_node| Measures { entries_by_node, ..Measures::default() };
        let mut pooled = Measures::default();
        pooled.merge(&with(vec![10, 0, Measures::NEVER_ASKED]));
        pooled.merge(&with(vec![0, 10, Measures::NEVER_ASKED]));
        assert_eq!(pooled.entries_by_node, [10, 10, Measures::NEVER_ASKED]);
        assert_eq!(pooled.jain(), Some(1.0));
    }
}
