//! How good the quorum system is, on paper and as JSON.

use std::str::FromStr;

use doorway_core::Refusal;
use doorway_quorums::{Failure, Interval, QuorumSystem, SystemLoad};
use doorway_simulator::{Probability, Random};
use doorway_terminal::{ProgressLine, text};
use serde_json::{Map, Value};

/// The probabilities of a crash that were typed, each with its word.
#[derive(Clone, Debug)]
pub(super) struct Crashes(Vec<(String, f64)>);

impl Crashes {
    /// More are refused.
    const MOST: usize = 32;
}

impl FromStr for Crashes {
    type Err = Refusal;

    fn from_str(words: &str) -> Result<Self, Refusal> {
        let count = words.split(',').count();
        if count > Self::MOST {
            return Err(Refusal::new(format!(
                "{count} probabilities are too many: give at most {}",
                Self::MOST
            )));
        }
        let mut crashes: Vec<(String, f64)> = Vec::with_capacity(count);
        for word in words.split(',').map(str::trim) {
            let probability = word.parse::<Probability>()?.value();
            if crashes.iter().any(|(earlier, _)| earlier == word) {
                return Err(Refusal::new(format!("{word} is there twice: once is enough")));
            }
            crashes.push((word.to_owned(), probability));
        }
        Ok(Self(crashes))
    }
}

/// Which quorums of a construction are rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Those that are assigned to nodes.
    Listed,
    /// All of them.
    Family,
}

/// Whether the overlaps of quorums are among the ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    Told,
    InTheTable,
}

/// All ratings of one system.
pub(super) struct RatedSystem<'a>(doorway_experiments::quorums::Rated<'a>);

impl<'a> RatedSystem<'a> {
    pub(super) fn new(system: &'a QuorumSystem, of: Of, crashes: &Crashes, seed: u64) -> Self {
        let mut progress = ProgressLine::new(1, "rating");
        let mut random = Random::new(seed, 0);
        let mut drawn = 0_u64;
        let mut lot = || {
            drawn += 1;
            if drawn.is_multiple_of(1 << 16) {
                progress.show(0);
            }
            random.fraction()
        };
        Self(match of {
            Of::Listed => doorway_experiments::quorums::Rated::of_listed(system, &crashes.0, &mut lot),
            Of::Family => doorway_experiments::quorums::Rated::new(system, &crashes.0, &mut lot),
        })
    }

    /// The least, the mean and the most nodes that two quorums have in common, if that was computed.
    pub(super) fn overlap(&self) -> Option<(usize, f64, usize)> {
        self.0.overlap()
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        self.0.json()
    }

    /// A line for each rating; with the overlap, unless the table above has it.
    pub(super) fn as_text(&self, with_overlap: Overlap) -> String {
        let load = self.0.ratings.load();
        let mut lines = vec![
            ("minimal quorums".to_owned(), self.count()),
            ("load".to_owned(), self.load()),
            ("capacity".to_owned(), capacity_text(load)),
            ("resilience".to_owned(), resilience_text(self.0.ratings.resilience())),
        ];
        if let (Overlap::Told, Some((least, mean, most))) = (with_overlap, self.overlap()) {
            let told = format!(
                "{} on average, {least} to {most} (nodes that two minimal quorums share)",
                text::decimal(mean)
            );
            lines.insert(1, ("overlap".to_owned(), told));
        }
        let failure = |(word, crashed, failure): &(String, f64, Failure)| {
            (format!("failure at {word}"), failure_text(*failure, *crashed))
        };
        lines.extend(self.0.failures.iter().map(failure));
        lines.push(("non-dominated".to_owned(), self.nondominated().to_owned()));
        let column = 4 + lines.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0);
        let width = text::prose_width();
        lines.iter().map(|(term, meaning)| text::item(term, meaning, column, width) + "\n").collect()
    }

    fn count(&self) -> String {
        match self.0.ratings.quorums() {
            Some(quorums) => quorums.len().to_string(),
            None => format!("more than {}, not listed", QuorumSystem::MOST_QUORUMS),
        }
    }

    fn load(&self) -> String {
        let load = self.0.ratings.load();
        if !load.is_exact() {
            return format!("{} (bounds: the system is too large for more)", range(load.least, load.most));
        }
        let proof = match (&load.certificate, self.0.shown_certificate()) {
            (Some(_), Some(_)) => "exact; --json has a certificate",
            (Some(_), None) => "exact: each assigned quorum equally often",
            (None, _) => "exact, by the shape of the system",
        };
        let value = digits(load.least, f64::round);
        match load.exact.filter(|fraction| (2..1_000_000).contains(&fraction.denominator())) {
            Some(fraction) => format!("{fraction}, about {value} ({proof})"),
            None => format!("{value} ({proof})"),
        }
    }

    fn nondominated(&self) -> &'static str {
        let ratings = &self.0.ratings;
        match ratings.is_nondominated() {
            _ if !ratings.system().is_coterie() && ratings.is_minimal_nondominated() == Some(true) => {
                "no: this is not a coterie, because some quorums contain others; its minimal quorums alone are non-dominated"
            }
            Some(true) => "yes: of every set of nodes and its complement one contains a quorum",
            Some(false) => "no: another system has a quorum alive whenever this one has, and more often",
            None => "unknown: there are too many sets of nodes to look at",
        }
    }
}

fn capacity_text(load: &SystemLoad) -> String {
    let (least, most) = doorway_experiments::quorums::capacity(load);
    let number = if load.is_exact() { digits(least, f64::round) } else { range(least, most) };
    format!("{number} (requests in the time that a node needs for one)")
}

fn resilience_text(resilience: Interval) -> String {
    match resilience.exact() {
        Some(0) => "0 (the crash of one node can leave no quorum)".to_owned(),
        Some(1) => "1 (any one node may crash)".to_owned(),
        Some(crashes) => format!("{crashes} (any {crashes} nodes may crash)"),
        None => format!("from {} to {} (bounds: the search was too long)", resilience.least, resilience.most),
    }
}

fn failure_text(failure: Failure, crashed: f64) -> String {
    match failure {
        Failure::Exact(probability) if probability < 1e-300 && crashed > 0.0 => "below 1e-300".to_owned(),
        Failure::Exact(probability) => format!("{} (exact)", small(probability)),
        Failure::Drawn { probability, least, most, draws } => {
            let (probability, least, most) = (small(probability), small(least), small(most));
            format!("{probability} ({least} to {most} with 95 % confidence, from {draws} draws)")
        }
    }
}

/// A probability that may be very small.
fn small(probability: f64) -> String {
    match probability {
        1e-4..1.0 => format!("{probability:.4}"),
        1e-300..1e-4 => format!("{probability:.2e}"),
        _ => probability.to_string(),
    }
}

/// Two bounds, which still hold as they are written.
fn range(least: f64, most: f64) -> String {
    format!("from {} to {}", digits(least, f64::floor), digits(most, f64::ceil))
}

/// A number with four digits that count, or with four decimals from 1 on.
fn digits(number: f64, rounded: fn(f64) -> f64) -> String {
    let zeros = if number > 0.0 && number < 1.0 { (-number.log10()).floor() as i32 } else { 0 };
    let places = zeros + 4;
    let scale = 10_f64.powi(places);
    let written = format!("{:.*}", places as usize, rounded(number * scale) / scale);
    written.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_as_they_are_written() {
        assert_eq!(range(0.500_04, 0.500_06), "from 0.5 to 0.5001");
        assert_eq!(range(0.031_249, 0.031_251), "from 0.03124 to 0.03126");
        assert_eq!(range(1.0, 19.999_99), "from 1 to 20");
        assert_eq!(digits(3.0 / 7.0, f64::round), "0.4286");
    }

    #[test]
    fn probabilities_show_what_is_known_of_them() {
        let exact = |probability| failure_text(Failure::Exact(probability), 0.1);
        assert_eq!(exact(0.006_84), "0.0068 (exact)");
        assert_eq!([exact(1.15e-8), exact(0.0)], ["1.15e-8 (exact)", "below 1e-300"]);
        assert_eq!(failure_text(Failure::Exact(0.0), 0.0), "0 (exact)");
        let drawn = Failure::Drawn { probability: 0.25, least: 0.2, most: 0.3, draws: 100 };
        assert_eq!(
            failure_text(drawn, 0.1),
            "0.2500 (0.2000 to 0.3000 with 95 % confidence, from 100 draws)"
        );
    }

    #[test]
    fn a_list_of_probabilities_is_read_or_refused() {
        let refused = |words: &str| words.parse::<Crashes>().expect_err(words).to_string();
        let read = "0.1, 0.50,1".parse::<Crashes>().expect("probabilities").0;
        assert_eq!(read, [("0.1".to_owned(), 0.1), ("0.50".to_owned(), 0.5), ("1".to_owned(), 1.0)]);
        for words in ["", "0.1,", "2", "-0.1", "NaN", "inf", "0,1x"] {
            assert!(
                refused(words).ends_with("is not a probability: a number from 0 to 1, as in 0.05"),
                "{words}"
            );
        }
        assert_eq!(refused("0.1,0.1"), "0.1 is there twice: once is enough");
        assert_eq!(refused(&vec!["0"; 33].join(",")), "33 probabilities are too many: give at most 32");
    }
}
