//! Rounds: the contestants take turns, A B C A B C and so on, so that a change of the machine's speed hits all of them.

use std::time::{Duration, Instant};

use super::control::control;

/// How long one turn lasts: until either is used up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) time: Duration,
    /// The most passes of one thread.
    pub(super) passes: u64,
}

/// How many rounds there are. They end early when the time is over, but never before the first is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    pub(super) most: u32,
    pub(super) time: Duration,
    pub(super) turn: Turn,
}

/// Runs one turn of a contestant.
pub(super) type OneTurn<'a, S> = Box<dyn Fn(Turn) -> Sample<S> + 'a>;

/// The result of one turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample<S> {
    pub(super) value: S,
    /// How little it was disturbed: 1 if not at all.
    pub(super) quiet: f64,
}

/// The results of all turns.
pub(super) struct Turns<S> {
    /// For each contestant the result of each round.
    pub(super) samples: Vec<Vec<Sample<S>>>,
    /// For each round how fast the control was.
    pub(super) control: Vec<Sample<f64>>,
}

impl Rounds {
    /// Rounds of the contestants and the control that take about `time`; each turn lasts as long as `turn` says, or shorter
    /// if that would leave fewer than `least` rounds.
    pub(super) fn within(time: Duration, contestants: usize, turn: Turn, least: u32) -> Self {
        let turns = u32::try_from(contestants + 1).unwrap_or(u32::MAX);
        let longest = time / turns.saturating_mul(least).max(1);
        let turn = Turn { time: turn.time.min(longest).max(Duration::from_micros(100)), ..turn };
        let most = time.as_nanos() / (turn.time * turns).as_nanos().max(1);
        Self { most: u32::try_from(most).unwrap_or(u32::MAX).max(1), time, turn }
    }

    /// Lets each contestant take a turn in each round, after the control. Calls `told` after each turn.
    pub(super) fn run<S>(&self, contestants: &[OneTurn<'_, S>], told: &mut dyn FnMut()) -> Turns<S> {
        let begun = Instant::now();
        let mut turns =
            Turns { samples: contestants.iter().map(|_| Vec::new()).collect(), control: Vec::new() };
        for round in 0..self.most {
            if round > 0 && begun.elapsed() > self.time {
                break;
            }
            turns.control.push(control(self.turn));
            told();
            for (contestant, samples) in contestants.iter().zip(&mut turns.samples) {
                samples.push(contestant(self.turn));
                told();
            }
        }
        turns
    }
}

/// The median of the quieter half of the turns.
pub(super) fn typical<S>(samples: &[Sample<S>], value: impl Fn(&S) -> f64) -> f64 {
    let sample = |sample: &Sample<S>| Sample { value: value(&sample.value), quiet: sample.quiet };
    quieter_half(&samples.iter().map(sample).collect::<Vec<_>>())
}

/// The ratio of one contestant to another in the same round: the median over the quieter half of the rounds.
pub(super) fn ratio(mine: &[Sample<f64>], theirs: &[Sample<f64>]) -> f64 {
    let ratio = |(mine, theirs): (&Sample<f64>, &Sample<f64>)| Sample {
        value: mine.value / theirs.value,
        quiet: mine.quiet.min(theirs.quiet),
    };
    quieter_half(&mine.iter().zip(theirs).map(ratio).collect::<Vec<_>>())
}

fn quieter_half(samples: &[Sample<f64>]) -> f64 {
    let least = quantile(samples.iter().map(|sample| sample.quiet), 0.5);
    quantile(samples.iter().filter(|sample| sample.quiet >= least).map(|sample| sample.value), 0.5)
}

/// The number below which such a share of all numbers is; 0 of none.
pub(super) fn quantile(numbers: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let place = sorted.len().saturating_sub(1) as f64 * share;
    sorted.get(place.round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const TURN: Turn = Turn { time: Duration::from_millis(1), passes: 10 };

    fn sample<S>(value: S, quiet: f64) -> Sample<S> {
        Sample { value, quiet }
    }

    #[test]
    fn contestants_take_turns() {
        let order = RefCell::new(Vec::new());
        let contestant = |number: usize| {
            let order = &order;
            Box::new(move |_: Turn| {
                order.borrow_mut().push(number);
                sample(number, 1.0)
            }) as OneTurn<'_, usize>
        };
        let contestants: Vec<OneTurn<'_, usize>> = (0..3).map(contestant).collect();
        let mut told = 0;
        let rounds = Rounds { most: 2, time: Duration::MAX, turn: TURN };
        let turns = rounds.run(&contestants, &mut || told += 1);
        assert_eq!(*order.borrow(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(turns.samples, [0, 1, 2].map(|number| vec![sample(number, 1.0); 2]));
        assert_eq!((turns.control.len(), told), (2, 8));
    }

    #[test]
    fn when_the_time_is_over_the_first_round_is_still_complete() {
        let rounds = Rounds { most: 9, time: Duration::ZERO, turn: TURN };
        let contestants: Vec<OneTurn<'_, u8>> =
            vec![Box::new(|_| sample(7, 1.0)), Box::new(|_| sample(8, 1.0))];
        let turns = rounds.run(&contestants, &mut || ());
        assert_eq!(turns.samples, [[sample(7, 1.0)], [sample(8, 1.0)]]);
    }

    #[test]
    fn rounds_fill_the_time_and_turns_get_shorter_where_it_is_short() {
        let planned = |millis, least| {
            let rounds = Rounds::within(Duration::from_millis(millis), 9, TURN, least);
            (rounds.most, rounds.turn.time.as_micros())
        };
        assert_eq!(planned(200, 5), (20, 1000));
        assert_eq!(planned(20, 5), (5, 400));
        assert_eq!(planned(1, 5), (1, 100), "no turn is shorter than a tenth of a millisecond");
        assert_eq!(planned(0, 5), (1, 100), "and there is always one");
    }

    #[test]
    fn quantiles_are_numbers_that_were_there() {
        let numbers = || [5.0, 1.0, 4.0, 2.0, 3.0].into_iter();
        assert_eq!([0.0, 0.5, 0.75, 1.0].map(|share| quantile(numbers(), share)), [1.0, 3.0, 4.0, 5.0]);
        assert_eq!(quantile(std::iter::empty(), 0.5), 0.0);
    }

    #[test]
    fn what_was_disturbed_most_does_not_count() {
        let samples =
            [sample(1.0, 1.0), sample(9.0, 0.3), sample(2.0, 0.9), sample(8.0, 0.2), sample(3.0, 1.0)];
        assert_eq!(typical(&samples, |value| *value), 2.0);
        let alike = [1.0, 5.0, 9.0].map(|value| sample(value, 1.0));
        assert_eq!(typical(&alike, |value| *value), 5.0, "if all were as quiet all count");
    }

    #[test]
    fn a_ratio_is_taken_within_a_round() {
        let (slow, fast) = (1.0, 5.0);
        let mine = [slow, fast, slow].map(|mode| sample(3.0 * mode, 1.0));
        let theirs = [slow, fast, slow].map(|mode| sample(2.0 * mode, 1.0));
        assert_eq!(ratio(&mine, &theirs), 1.5);
    }
}
