//! What a run is made of: nodes, work, network, each as a person would type it.

use std::fmt;
use std::str::FromStr;

use doorway_core::{Channels, NodeId, NodeSet, PerNode, Refusal, Start, Ticks};

use crate::faults::Faults;
use crate::intervention::Intervention;
use crate::limits::RunLimits;

/// Everything that decides a run, besides the algorithm. The same settings give the same run on every machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many nodes there are: N.
    pub nodes: usize,
    /// How many requests are issued.
    pub entries: u64,
    /// When nodes ask.
    pub load: Load,
    /// How long a node stays inside.
    pub hold: Span,
    /// How long a message is under way.
    pub latency: Latency,
    /// How long a word between an application and its node is under way.
    pub local_latency: Ticks,
    /// How long a write to a node's disk takes, for machines that have one.
    pub disk_latency: Ticks,
    /// In what order channels deliver.
    pub channels: Channels,
    /// What goes wrong.
    pub faults: Faults,
    /// What is decided about single messages.
    pub messages: Vec<Intervention>,
    /// Which node is inside at the start, if any.
    pub start: Start,
    /// How many entries pass before measuring begins.
    pub warmup: u64,
    /// What chance is drawn from.
    pub seed: u64,
    /// Whether the algorithm's own invariants are tested after every step.
    pub invariants: bool,
    /// Whether entries out of happened-before order are counted.
    pub order: bool,
    /// Whether what happens is recorded.
    pub trace: bool,
    /// When the run is to end although it could go on.
    pub limits: RunLimits,
}

// Whatever can be run can be recorded.
const _: () = assert!(Settings::MOST_NODES <= doorway_trace::Log::MOST_NODES);

impl Default for Settings {
    fn default() -> Self {
        Self {
            nodes: 5,
            entries: 1_000,
            load: Load::Saturated,
            hold: Span::Constant(5),
            latency: Latency::Span(Span::Constant(10)),
            local_latency: Ticks(0),
            disk_latency: Ticks(1),
            channels: Channels::Fifo,
            faults: Faults::default(),
            messages: Vec::new(),
            start: Start::Empty,
            warmup: 0,
            seed: 1,
            invariants: false,
            order: false,
            trace: false,
            limits: RunLimits::default(),
        }
    }
}

impl Settings {
    /// The largest number of nodes in a simulation.
    pub const MOST_NODES: usize = 10_000_000;
    /// The largest number of nodes for which happened-before order is counted: it needs a vector clock per message.
    pub const MOST_NODES_IN_ORDER: usize = 64;
    /// The largest number of nodes on causal channels: each message remembers a time for every node.
    pub const MOST_NODES_CAUSAL: usize = 1_024;

    /// # Errors
    /// One sentence about what does not fit together.
    pub fn check(&self) -> Result<(), Refusal> {
        let n = self.nodes;
        let exists = |node: NodeId| node.index() < n;
        let stranger = self.named_nodes().into_iter().find(|&node| !exists(node));
        let refuse = |sentence: String| Err(Refusal::new(sentence));
        match () {
            () if n == 0 => refuse("a system needs at least one node".to_owned()),
            () if n > Self::MOST_NODES => {
                refuse(format!("a simulation has at most {} nodes, not {n}", Self::MOST_NODES))
            }
            () if stranger.is_some() => {
                let stranger = stranger.map_or(0, NodeId::number);
                refuse(format!("there is no node {stranger}: nodes are 1 to {n}"))
            }
            () if self.order && n > Self::MOST_NODES_IN_ORDER => refuse(format!(
                "happened-before order is counted for at most {} nodes, not {n}",
                Self::MOST_NODES_IN_ORDER
            )),
            () if self.channels == Channels::Causal && n > Self::MOST_NODES_CAUSAL => refuse(format!(
                "causal channels are made for at most {} nodes, not {n}",
                Self::MOST_NODES_CAUSAL
            )),
            () if self.warmup > 0 && self.warmup >= self.entries => refuse(format!(
                "a warm-up of {} entries leaves none of {} to measure",
                self.warmup, self.entries
            )),
            () => {
                self.check_times()?;
                self.load.check(n)?;
                self.latency.check(n)?;
                Intervention::check(&self.messages)
            }
        }
    }

    fn check_times(&self) -> Result<(), Refusal> {
        let crashes = self.faults.crashes.iter().chain(&self.faults.suspicions).map(|crash| crash.at);
        let cuts = self.faults.partitions.iter().flat_map(|cut| [Some(cut.from), cut.until]).flatten();
        let arrivals = self.messages.iter().filter_map(|intervention| intervention.time());
        let times = crashes.chain(cuts).chain(arrivals).chain([self.local_latency, self.disk_latency]);
        if let Some(ticks) = times.into_iter().find(|ticks| ticks.0 > Span::LONGEST) {
            return Err(Refusal::new(format!(
                "{ticks} ticks are too long: times are at most {}",
                Span::LONGEST
            )));
        }
        self.faults.detection.check()?;
        self.hold.check()
    }

    fn named_nodes(&self) -> Vec<NodeId> {
        let crashes = self.faults.crashes.iter().chain(&self.faults.suspicions).map(|crash| crash.node);
        let groups = self.faults.partitions.iter().flat_map(|partition| &partition.groups);
        crashes.chain(groups.flat_map(NodeSet::iter)).chain(self.start.holder()).collect()
    }
}

/// When nodes ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Each node asks again as soon as it has left.
    Saturated,
    /// One request at a time, by a node drawn by lot, the next when the system is quiet.
    Isolated,
    /// Each node thinks for an exponentially distributed time before it asks.
    Light(u64),
    /// Only the first nodes, this many, ask; each asks again as soon as it has left.
    Active(usize),
    /// Only these nodes ask, again as soon as they have left.
    Only(NodeSet),
}

impl Load {
    fn check(&self, n: usize) -> Result<(), Refusal> {
        match self {
            Load::Only(nodes) => match nodes.iter().find(|node| node.index() >= n) {
                Some(stranger) => {
                    Err(Refusal::new(format!("there is no node {stranger} to ask: nodes are 1 to {n}")))
                }
                None => Ok(()),
            },
            Load::Active(0) => Err(Refusal::new("a load of active:0 has nobody who asks: give 1 or more")),
            Load::Light(mean) => Span::Exponential(*mean).check(),
            Load::Active(k) if *k > n => Err(Refusal::new(format!("only {n} nodes can be active, not {k}"))),
            Load::Active(_) | Load::Saturated | Load::Isolated => Ok(()),
        }
    }
}

impl FromStr for Load {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let refusal = || {
            Refusal::new(format!(
                "{word:?} is not a load: saturated, isolated, light:MEAN, active:K or only:NODE+NODE+…, as in light:500"
            ))
        };
        match word.split_once(':') {
            None if word == "saturated" => Ok(Load::Saturated),
            None if word == "isolated" => Ok(Load::Isolated),
            Some(("light", mean)) => mean.parse().map(Load::Light).map_err(|_| refusal()),
            Some(("active", k)) => k.parse().map(Load::Active).map_err(|_| refusal()),
            Some(("only", list)) => {
                let node = |digits: &str| digits.trim().parse().ok().and_then(NodeId::from_number);
                list.split('+').map(node).collect::<Option<NodeSet>>().map(Load::Only).ok_or_else(refusal)
            }
            _ => Err(refusal()),
        }
    }
}

/// As people type it.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Saturated => f.write_str("saturated"),
            Load::Isolated => f.write_str("isolated"),
            Load::Light(mean) => write!(f, "light:{mean}"),
            Load::Active(k) => write!(f, "active:{k}"),
            Load::Only(nodes) => {
                let numbers: Vec<String> = nodes.iter().map(|node| node.to_string()).collect();
                write!(f, "only:{}", numbers.join("+"))
            }
        }
    }
}

/// A span of time, fixed or drawn by lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Always so long.
    Constant(u64),
    /// Anything from the first to the second, both included.
    Uniform(u64, u64),
    /// Exponentially distributed with this mean.
    Exponential(u64),
}

impl Span {
    /// The longest span: more than 2⁴⁰ ticks between two events is a typing error.
    const LONGEST: u64 = 1 << 40;

    fn check(self) -> Result<(), Refusal> {
        match self {
            Span::Uniform(from, to) if from > to => {
                Err(Refusal::new(format!("a span cannot end before it begins: uniform:{from}:{to}")))
            }
            Span::Constant(ticks) | Span::Exponential(ticks) | Span::Uniform(_, ticks)
                if ticks > Self::LONGEST =>
            {
                Err(Refusal::new(format!("{ticks} ticks are too long: times are at most {}", Self::LONGEST)))
            }
            Span::Constant(_) | Span::Exponential(_) | Span::Uniform(..) => Ok(()),
        }
    }

    /// Its mean.
    #[must_use]
    pub fn mean(self) -> u64 {
        match self {
            Span::Constant(ticks) | Span::Exponential(ticks) => ticks,
            Span::Uniform(from, to) => from + (to - from) / 2,
        }
    }
}

impl FromStr for Span {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let refusal = || {
            Refusal::new(format!(
                "{word:?} is not a span of time: TICKS, uniform:FROM:TO or exponential:MEAN, as in uniform:5:15"
            ))
        };
        let ticks = |digits: &str| match digits.parse() {
            Ok(ticks) if ticks <= Self::LONGEST => Ok(ticks),
            Ok(_) => {
                Err(Refusal::new(format!("{word:?} is too long: a span is at most {} ticks", Self::LONGEST)))
            }
            Err(_) => Err(refusal()),
        };
        let parts: Vec<&str> = word.split(':').collect();
        match parts[..] {
            [digits] | ["constant", digits] => ticks(digits).map(Span::Constant),
            ["exponential", mean] => ticks(mean).map(Span::Exponential),
            ["uniform", from, to] => {
                let (from, to) = (ticks(from)?, ticks(to)?);
                if from <= to {
                    return Ok(Span::Uniform(from, to));
                }
                Err(Refusal::new(format!(
                    "{word:?} ends before it begins: uniform:{to}:{from} would be right"
                )))
            }
            _ => Err(refusal()),
        }
    }
}

/// As people type it.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Constant(ticks) => write!(f, "{ticks}"),
            Span::Uniform(from, to) => write!(f, "uniform:{from}:{to}"),
            Span::Exponential(mean) => write!(f, "exponential:{mean}"),
        }
    }
}

/// How long messages are under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Latency {
    /// The same for all pairs of nodes.
    Span(Span),
    /// Fixed for all that one node sends, given node by node.
    Senders(PerNode<u64>),
    /// From each node to each other: fixed, given row by row.
    Matrix(PerNode<PerNode<u64>>),
}

impl Latency {
    /// Reads a matrix: a line per sending node, a number per receiving node; `#` begins a comment.
    ///
    /// # Errors
    /// With the line that cannot be read.
    pub fn matrix(text: &str) -> Result<Self, Refusal> {
        let mut rows = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
            let row: Result<Vec<u64>, _> = words.map(str::parse).collect();
            match row {
                Ok(row) if row.is_empty() => {}
                Ok(row) if row.iter().all(|&ticks| ticks <= Span::LONGEST) => rows.push(PerNode::from(row)),
                _ => {
                    return Err(Refusal::new(format!(
                        "line {number} of the latency matrix is not a row of ticks"
                    )));
                }
            }
        }
        Ok(Latency::Matrix(rows.into()))
    }

    /// Whether no message ever takes any time.
    #[must_use]
    pub fn is_always_zero(&self) -> bool {
        match self {
            Latency::Span(Span::Constant(0) | Span::Uniform(_, 0) | Span::Exponential(0)) => true,
            Latency::Span(_) => false,
            Latency::Senders(each) => each.values().iter().all(|&ticks| ticks == 0),
            Latency::Matrix(rows) => {
                rows.values().iter().all(|row| row.values().iter().all(|&ticks| ticks == 0))
            }
        }
    }

    /// Its mean.
    #[must_use]
    pub fn mean(&self) -> u64 {
        match self {
            Latency::Span(span) => span.mean(),
            Latency::Senders(each) => {
                let sum: u128 = each.values().iter().map(|&ticks| u128::from(ticks)).sum();
                (sum / (each.len() as u128).max(1)) as u64
            }
            Latency::Matrix(rows) => {
                let all = || rows.values().iter().flat_map(|row| row.values());
                let sum: u128 = all().map(|&ticks| u128::from(ticks)).sum();
                (sum / (all().count() as u128).max(1)) as u64
            }
        }
    }

    fn check(&self, n: usize) -> Result<(), Refusal> {
        let rows = match self {
            Latency::Span(span) => return span.check(),
            Latency::Senders(each) if each.len() != n => {
                return Err(Refusal::new(format!("senders: has {} latencies for {n} nodes", each.len())));
            }
            Latency::Senders(_) => return Ok(()),
            Latency::Matrix(rows) => rows,
        };
        if rows.len() != n {
            return Err(Refusal::new(format!("the latency matrix has {} rows for {n} nodes", rows.len())));
        }
        match rows.iter().find(|(_, row)| row.len() != n) {
            Some((node, row)) => Err(Refusal::new(format!(
                "row {node} of the latency matrix has {} numbers for {n} nodes",
                row.len()
            ))),
            None => Ok(()),
        }
    }
}

impl FromStr for Latency {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let Some(list) = word.strip_prefix("senders:") else { return word.parse().map(Latency::Span) };
        let ticks = |digits: &str| match digits.trim().parse() {
            Ok(ticks) if ticks <= Span::LONGEST => Ok(ticks),
            _ => Err(Refusal::new(format!(
                "{digits:?} is not the latency of a sender: whole ticks up to {}, as in senders:5,10,15",
                Span::LONGEST
            ))),
        };
        let each: Vec<u64> = list.split(',').map(ticks).collect::<Result<_, _>>()?;
        Ok(Latency::Senders(each.into()))
    }
}

/// As people type it; a matrix, which comes from a file, is only called so.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latency::Span(span) => span.fmt(f),
            Latency::Senders(each) => {
                let ticks: Vec<String> = each.values().iter().map(u64::to_string).collect();
                write!(f, "senders:{}", ticks.join(","))
            }
            Latency::Matrix(_) => f.write_str("matrix"),
        }
    }
}

#[cfg(test)]
mod tests;
