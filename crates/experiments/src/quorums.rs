//! Ratings of a quorum system.

use std::fmt::Display;

use doorway_core::NodeSet;
use doorway_quorums::{Certificate, Failure, Fraction, Overlaps, QuorumSystem, Ratings, SystemLoad};
use serde_json::{Map, Value, json};

/// All ratings of one system.
pub struct Rated<'a> {
    /// Those that need no chance.
    pub ratings: Ratings<'a>,
    /// For each word, and the probability of a crash that it means, the probability of failure.
    pub failures: Vec<(String, f64, Failure)>,
    /// How much quorums have in common, if that was computed.
    pub overlaps: Option<Overlaps>,
}

impl<'a> Rated<'a> {
    /// Rates a system for these probabilities of a crash, each with its word; `lot` is asked where chance is needed.
    pub fn new(system: &'a QuorumSystem, crashes: &[(String, f64)], lot: &mut dyn FnMut() -> f64) -> Self {
        let ratings = Ratings::new(system);
        let probabilities: Vec<f64> = crashes.iter().map(|(_, probability)| *probability).collect();
        let failures = ratings.failures(&probabilities, lot);
        let named = crashes.iter().zip(failures);
        let failures = named.map(|((word, crashed), failure)| (word.clone(), *crashed, failure)).collect();
        let overlaps = ratings.overlaps();
        Self { ratings, failures, overlaps }
    }

    /// Rates the listed quorums of a system, which is [`QuorumSystem::listed`](doorway_quorums::QuorumSystem::listed). The overlaps are those of the quorums of every two
    /// nodes, minimal or not.
    pub fn of_listed(
        listed: &'a QuorumSystem,
        crashes: &[(String, f64)],
        lot: &mut dyn FnMut() -> f64,
    ) -> Self {
        const MOST_COMPARED: usize = 2_048;
        let quorums = listed.assignment().values();
        let overlaps = (quorums.len() <= MOST_COMPARED).then(|| Overlaps::of(quorums));
        Self { overlaps, ..Self::new(listed, crashes, lot) }
    }

    /// The least, the mean and the most nodes that two quorums have in common, if that was computed.
    #[must_use]
    pub fn overlap(&self) -> Option<(usize, f64, usize)> {
        let overlaps = self.overlaps.as_ref()?;
        Some((overlaps.least()?, overlaps.mean()?, overlaps.most()?))
    }

    /// The certificate of the load, unless it would be longer than all the rest.
    #[must_use]
    pub fn shown_certificate(&self) -> Option<&Certificate> {
        const MOST_NODES: usize = 64;
        self.ratings.load().certificate.as_ref().filter(|_| self.ratings.system().n() <= MOST_NODES)
    }

    /// All of it as JSON.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let mut answer = Map::new();
        let mut add = |name: &str, value: Value| answer.insert(name.to_owned(), value);
        let load = self.ratings.load();
        let (capacity, failures) = (capacity(load), || self.failures.iter());
        let probabilities: Map<String, Value> =
            failures().map(|(word, _, failure)| (word.clone(), failure.probability().into())).collect();
        add("load", bounds(load.is_exact(), load.least, load.most));
        add("capacity", bounds(load.is_exact(), capacity.0, capacity.1));
        let resilience = self.ratings.resilience();
        add("resilience", bounds(resilience.exact().is_some(), resilience.least, resilience.most));
        add("failure_probability", probabilities.into());
        add("nondominated", self.ratings.is_nondominated().into());
        add("minimal_nondominated", self.ratings.is_minimal_nondominated().into());
        if failures().any(|(_, _, failure)| matches!(failure, Failure::Drawn { .. })) {
            let intervals =
                failures().filter_map(|(word, _, failure)| Some((word.clone(), interval(failure)?)));
            add("failure_interval", intervals.collect::<Map<_, _>>().into());
        }
        add("minimal_quorums", self.ratings.quorums().map(<[NodeSet]>::len).into());
        let overlap =
            self.overlap().map(|(least, mean, most)| json!({"min": least, "mean": mean, "max": most}));
        add("overlap", overlap.into());
        add("load_fraction", load.exact.map(|load| load.to_string()).into());
        add("certificate", self.shown_certificate().map(certificate).into());
        answer
    }
}

/// The requests that can be served in the time that a node needs for one: at least and at most.
#[must_use]
pub fn capacity(load: &SystemLoad) -> (f64, f64) {
    // One divided by the nearest number to 3/7 is not the nearest to 7/3.
    match load.exact.and_then(Fraction::inverse) {
        Some(capacity) => (capacity.value(), capacity.value()),
        None => (1.0 / load.most, 1.0 / load.least),
    }
}

fn bounds<T: Display + Into<Value>>(is_exact: bool, least: T, most: T) -> Value {
    if is_exact { least.into() } else { json!({"least": least.into(), "most": most.into()}) }
}

fn interval(failure: &Failure) -> Option<Value> {
    match failure {
        Failure::Exact(_) => None,
        Failure::Drawn { least, most, draws, .. } => {
            Some(json!({"least": least, "most": most, "draws": draws}))
        }
    }
}

fn certificate(certificate: &Certificate) -> Value {
    let strategy =
        certificate.strategy.iter().map(|(quorum, share)| json!({"quorum": quorum, "share": number(*share)}));
    let weights = certificate.weights.values().iter().copied().map(number);
    json!({"strategy": strategy.collect::<Vec<_>>(), "weights": weights.collect::<Vec<_>>()})
}

/// A number, in quotes if readers of JSON could not keep all of its digits.
fn number(number: u128) -> Value {
    match u32::try_from(number) {
        Ok(number) => number.into(),
        Err(_) => number.to_string().into(),
    }
}
