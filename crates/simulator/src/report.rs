//! The report of a run for people and programs.

use doorway_core::NodeId;
use serde::{Serialize, Serializer};

use crate::measures::Samples;
use crate::outcome::Outcome;
use crate::stall::WaitingNode;

/// The numbers of a run, or of several runs together. Times are in ticks, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format.
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
    /// From a release to the next entry while a node waited.
    pub sync_delay: SyncDelay,
    /// Entries per tick between the first entry and the last.
    pub throughput: Option<f64>,
    /// How evenly nodes entered, and the largest number of bypasses.
    pub fairness: RunFairness,
    /// Entries ahead of a waiting request that had happened before theirs; `null` unless counted.
    pub out_of_order: Option<u64>,
    /// Messages handled by a node, sent or received.
    pub load: LoadSpread,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that arrived twice.
    pub duplicated: u64,
    /// What the retransmission layer added.
    pub retransmission: Retransmission,
    /// The end of the run; for several runs, the sum.
    pub time: u64,
    /// Whether a node waits for ever.
    pub stalled: bool,
    /// The waiting nodes and what they wait for, if stalled.
    pub waiting: Vec<WaitingNode>,
    /// A cycle of nodes that wait for each other, if that caused the stall.
    pub wait_cycle: Vec<NodeId>,
    /// Requests not issued because the nodes that would have made them had crashed.
    pub unissued: u64,
    /// The numbers of messages that have an intervention but were never sent; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_sent: Vec<u64>,
    /// The violations.
    pub violations: Vec<String>,
}

/// A distribution in four numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// The synchronisation delays.
#[derive(Clone, Debug, Serialize)]
pub struct SyncDelay {
    /// The delays.
    #[serde(flatten)]
    pub summary: Summary,
    /// The number of entries that followed a release while a node waited.
    pub count: u64,
}

/// The fairness of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunFairness {
    /// Jain's index over the entries of the nodes that made requests.
    pub jain: Option<f64>,
    /// The largest number of entries of later requests while one node waited.
    pub max_bypass: Option<u64>,
}

/// The messages that nodes handled.
#[derive(Clone, Debug, Serialize)]
pub struct LoadSpread {
    /// The minimum over all nodes.
    pub min: Option<u64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The maximum over all nodes.
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
            fairness: RunFairness { jain: measures.jain(), max_bypass: measures.bypasses.max() },
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
