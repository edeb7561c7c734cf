//! What a run comes to, as people and programs read it.

use doorway_core::NodeId;
use serde::{Serialize, Serializer};

use crate::measures::Samples;
use crate::outcome::Outcome;
use crate::stall::Waiting;

/// The numbers of a run, or of several runs together. Times are in ticks, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// The algorithm's name.
    pub algorithm: String,
    /// N.
    pub nodes: usize,
    /// The seed, of the first run if there are several.
    pub seed: u64,
    /// Entries that were measured.
    pub entries: u64,
    /// Messages of the algorithm.
    pub messages: u64,
    /// Messages divided by entries.
    pub messages_per_entry: Option<f64>,
    /// Messages by kind.
    #[serde(serialize_with = "as_map")]
    pub messages_by_kind: Vec<(&'static str, u64)>,
    /// The size of all messages.
    pub bytes: u64,
    /// From request to release.
    pub response_time: Summary,
    /// From request to entry.
    pub waiting_time: Summary,
    /// From a release to the next entry, while somebody waited.
    pub sync_delay: SyncDelay,
    /// Entries per tick between the first entry and the last.
    pub throughput: Option<f64>,
    /// How evenly entries fell, and how far somebody was passed over.
    pub fairness: Fairness,
    /// Entries before which somebody waited whose request had happened before; `null` unless asked for.
    pub out_of_order: Option<u64>,
    /// Messages handled by a node, sent or received.
    pub load: LoadSpread,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that arrived once more than they were sent.
    pub duplicated: u64,
    /// What the retransmission layer added.
    pub retransmission: Retransmission,
    /// When the run ended; of several runs, the sum.
    pub time: u64,
    /// Whether somebody waits for ever.
    pub stalled: bool,
    /// Who waits for whom, if stalled.
    pub waiting: Vec<Waiting>,
    /// Nodes that wait for each other in a ring, if stalled by that.
    pub wait_cycle: Vec<NodeId>,
    /// Requests that nobody was left to make: the nodes that would have made them had crashed.
    pub unissued: u64,
    /// The numbers of messages about which something was decided and that were never sent; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_sent: Vec<u64>,
    /// What must never happen and did.
    pub violations: Vec<String>,
}

/// A distribution in four numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: Option<f64>,
    /// Half of all values do not exceed it.
    pub p50: Option<u64>,
    /// 99 of 100 values do not exceed it.
    pub p99: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// The synchronisation delay, and how often there was one.
#[derive(Clone, Debug, Serialize)]
pub struct SyncDelay {
    /// The delays.
    #[serde(flatten)]
    pub summary: Summary,
    /// How many entries followed a release while somebody waited.
    pub count: u64,
}

/// How evenly entries fell.
#[derive(Clone, Debug, Serialize)]
pub struct Fairness {
    /// Jain's index over the entries of those who asked.
    pub jain: Option<f64>,
    /// The largest number of entries by others that had asked later, while one node waited.
    pub max_bypass: Option<u64>,
}

/// The messages that nodes handled.
#[derive(Clone, Debug, Serialize)]
pub struct LoadSpread {
    /// The least of any node.
    pub min: Option<u64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The most of any node.
    pub max: Option<u64>,
}

/// What the retransmission layer added to the algorithm's messages.
#[derive(Clone, Debug, Serialize)]
pub struct Retransmission {
    /// Messages sent again.
    pub resent: u64,
    /// Acknowledgements.
    pub acknowledgements: u64,
}

impl Report {
    pub(crate) fn new(outcome: &Outcome, algorithm: &str, nodes: usize, seed: u64) -> Self {
        let measures = &outcome.measures;
        let traffic = &measures.traffic;
        let stall = outcome.stall.as_ref();
        Self {
            version: 1,
            algorithm: algorithm.to_owned(),
            nodes,
            seed,
            entries: measures.entries,
            messages: traffic.messages,
            messages_per_entry: ratio(traffic.messages, measures.entries),
            messages_by_kind: traffic.kinds().collect(),
            bytes: traffic.bytes,
            response_time: Summary::new(&measures.response_time),
            waiting_time: Summary::new(&measures.waiting_time),
            sync_delay: SyncDelay {
                summary: Summary::new(&measures.sync_delay),
                count: measures.sync_delay.count(),
            },
            throughput: ratio(measures.throughput.0, measures.throughput.1),
            fairness: Fairness { jain: measures.jain(), max_bypass: measures.bypasses.max() },
            out_of_order: measures.out_of_order,
            load: LoadSpread::new(|| traffic.load()),
            lost: traffic.lost,
            duplicated: traffic.duplicated,
            retransmission: Retransmission {
                resent: traffic.resent,
                acknowledgements: traffic.acknowledgements,
            },
            time: measures.time,
            stalled: stall.is_some(),
            waiting: stall.map(|stall| stall.waiting.clone()).unwrap_or_default(),
            wait_cycle: stall.map(|stall| stall.cycle.clone()).unwrap_or_default(),
            unissued: outcome.unissued,
            never_sent: outcome.never_sent.clone(),
            violations: outcome.violations.clone(),
        }
    }
}

impl Summary {
    fn new(samples: &Samples) -> Self {
        Self {
            mean: samples.mean(),
            p50: samples.quantile(0.5),
            p99: samples.quantile(0.99),
            max: samples.max(),
        }
    }
}

impl LoadSpread {
    fn new<I: Iterator<Item = u64>>(load: impl Fn() -> I) -> Self {
        Self { min: load().min(), mean: ratio(load().sum(), load().count() as u64), max: load().max() }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn as_map<S: Serializer>(kinds: &[(&'static str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(kinds.iter().copied())
}
