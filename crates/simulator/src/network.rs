//! The network between sending and arrival: latency, loss, duplication, order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use doorway_core::{Channels, NodeId, Ticks};

use crate::faults::{Crash, Faults, Probability};
use crate::intervention::{Change, Intervention};
use crate::random::Random;
use crate::settings::{Latency, Settings, Span};

/// The network: it decides when each message arrives, or loses it.
///
/// The faults in the settings are known in advance, so the fate of a message is decided when it is sent. A
/// driver may change the network during the run with [`crate::Engine::network_mut`]: a change applies to
/// messages sent afterwards; a cut also loses messages that would arrive while it lasts. The retransmission
/// layer does not react to such changes.
pub struct Wire {
    latency: Latency,
    channels: Channels,
    /// Whether messages must be delayed so that none overtakes another.
    fifo: bool,
    /// The earliest arrival of messages that must not overtake: until then untracked earlier messages are in
    /// flight.
    counted_from: Ticks,
    /// The links that are currently cut, each in one direction.
    cut: BTreeSet<(NodeId, NodeId)>,
    /// The links that currently have their own latency.
    slow: BTreeMap<(NodeId, NodeId), Span>,
    /// The delay between the first and the second copy of a message, if set.
    echo: Option<Span>,
    faults: Faults,
    /// The first timeout of the retransmission layer.
    first_timeout: u64,
    random: Random,
    /// The number of messages sent so far.
    sent: u64,
    /// Interventions on messages not sent yet, in reverse order.
    interventions: Vec<Intervention>,
    /// The latest arrival so far on each channel, used only where a later message could be faster.
    latest: Latest,
}

/// The reason for a loss on a cut link.
pub(crate) const CUT: &str = "the link was cut";

/// The fate of one message.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// When it arrives.
    pub arrival: Option<Ticks>,
    /// When a second copy arrives.
    pub duplicate: Option<Ticks>,
    /// The reason if it is lost.
    pub lost: &'static str,
    /// The number of copies that the retransmission layer sent again.
    pub resent: u64,
    /// The number of acknowledgements of the retransmission layer.
    pub acknowledgements: u64,
    /// Copies that the network made and the retransmission layer removed.
    pub removed: u64,
}

impl Wire {
    /// The most attempts of the retransmission layer for one message.
    const ATTEMPTS: u32 = 1_000;
    /// Its timeout doubles with each attempt, up to this factor.
    const MOST_BACKOFF: u64 = 1_024;

    /// The network of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let uneven = !matches!(settings.latency, Latency::Span(Span::Constant(_)))
            || settings.faults.retransmit
            || !settings.messages.is_empty();
        let mut interventions = settings.messages.clone();
        interventions.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            sent: 0,
            interventions,
            channels: settings.channels,
            fifo: uneven && settings.channels >= Channels::Fifo,
            counted_from: Ticks(0),
            cut: BTreeSet::new(),
            slow: BTreeMap::new(),
            echo: None,
            first_timeout: 4 * settings.latency.mean() + 1,
            faults: settings.faults.clone(),
            random: Random::new(settings.seed, 1),
            latest: Latest::new(settings.nodes),
            latency: settings.latency.clone(),
        }
    }

    /// The latency of every message, if it is constant and there are no faults.
    #[must_use]
    pub fn plain_latency(&self) -> Option<Ticks> {
        let Faults { loss, duplicate, retransmit, partitions, .. } = &self.faults;
        let calm = loss.value() == 0.0 && duplicate.value() == 0.0 && !retransmit && partitions.is_empty();
        let calm = calm && self.interventions.is_empty();
        match self.latency {
            Latency::Span(Span::Constant(ticks)) if calm => Some(Ticks(ticks)),
            _ => None,
        }
    }

    /// Decides the fate of a message that is sent now. It must not arrive before `not_before`.
    pub fn fate(&mut self, from: NodeId, to: NodeId, now: Ticks, not_before: Ticks) -> Fate {
        let mut fate = if self.faults.retransmit {
            self.persistent_fate(from, to, now)
        } else {
            self.raw_fate(from, to, now)
        };
        self.sent += 1;
        while let Some(due) = self.interventions.pop_if(|next| next.message.get() == self.sent) {
            fate.change(due.change, now);
        }
        for arrival in [&mut fate.arrival, &mut fate.duplicate].into_iter().flatten() {
            *arrival = (*arrival).max(not_before);
            if self.fifo {
                *arrival = self.latest.no_earlier(from, to, (*arrival).max(self.counted_from));
            }
        }
        fate
    }

    /// The numbers of messages that have an intervention but were never sent, in order.
    pub(crate) fn never_sent(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.interventions.iter().rev().map(|left| left.message.get()).collect();
        numbers.dedup();
        numbers
    }

    fn raw_fate(&mut self, from: NodeId, to: NodeId, now: Ticks) -> Fate {
        let arrival = self.attempt(from, to, now);
        let twice = arrival.ok().filter(|_| self.random.happens(self.faults.duplicate.value()));
        Fate {
            arrival: arrival.ok(),
            duplicate: twice.map(|first| match self.echo {
                Some(span) => first + Ticks(self.random.ticks(span)),
                None => self.draw_latency(from, to, now),
            }),
            lost: arrival.err().unwrap_or_default(),
            ..Fate::default()
        }
    }

    /// Retries until an acknowledgement arrives. The receiver removes duplicates.
    fn persistent_fate(&mut self, from: NodeId, to: NodeId, now: Ticks) -> Fate {
        let mut fate = Fate { lost: "given up by the retransmission layer", ..Fate::default() };
        let (mut at, mut timeout) = (now, self.first_timeout);
        let mut acknowledged = Ticks(u64::MAX);
        for attempt in 0..Self::ATTEMPTS {
            if attempt > 0 && (acknowledged <= at || self.is_crashed(from, at) || self.is_crashed(to, at)) {
                break;
            }
            fate.resent += u64::from(attempt > 0);
            let attempt = self.attempt(from, to, at).ok();
            if let Some(arrival) = attempt.filter(|&arrival| !self.is_crashed(to, arrival)) {
                fate.arrival = Some(fate.arrival.map_or(arrival, |first| first.min(arrival)));
                fate.acknowledgements += 1;
                if self.random.happens(self.faults.duplicate.value()) {
                    fate.removed += 1;
                    fate.acknowledgements += 1;
                }
                if let Ok(heard) = self.attempt(to, from, arrival) {
                    acknowledged = acknowledged.min(heard);
                }
            }
            at = at + Ticks(timeout);
            timeout = (timeout * 2).min(self.first_timeout * Self::MOST_BACKOFF);
        }
        fate
    }

    /// One copy on the wire: its arrival time, or the reason for its loss.
    fn attempt(&mut self, from: NodeId, to: NodeId, at: Ticks) -> Result<Ticks, &'static str> {
        let arrival = self.draw_latency(from, to, at);
        let cut = |when| self.faults.partitions.iter().any(|partition| partition.cuts(from, to, when));
        if cut(at) || cut(arrival) || self.is_cut(from, to) {
            Err(CUT)
        } else if self.random.happens(self.faults.loss.value()) {
            Err("drawn by lot")
        } else {
            Ok(arrival)
        }
    }

    fn draw_latency(&mut self, from: NodeId, to: NodeId, now: Ticks) -> Ticks {
        let ticks = match (self.slow.get(&(from, to)), &self.latency) {
            (Some(span), _) | (None, Latency::Span(span)) => self.random.ticks(*span),
            (None, Latency::Senders(each)) => each[from],
            (None, Latency::Matrix(rows)) => rows[from][to],
        };
        now + Ticks(ticks)
    }

    fn is_crashed(&self, node: NodeId, now: Ticks) -> bool {
        self.faults.crashes.iter().any(|&Crash { node: crashed, at }| crashed == node && at <= now)
    }
}

/// Changes during a run.
impl Wire {
    /// Prepares for changes: with a constant latency no message could overtake another so far, so arrivals
    /// were not tracked; from now on they are. Returns the time until which untracked messages are in flight.
    pub(crate) fn prepare_for_changes(&mut self, now: Ticks) -> Ticks {
        if let Latency::Span(Span::Constant(ticks)) = self.latency
            && !self.fifo
        {
            self.counted_from = now + Ticks(ticks);
            self.fifo = self.channels >= Channels::Fifo;
        }
        self.counted_from
    }

    /// Whether channels deliver in causal order.
    pub(crate) fn is_causal(&self) -> bool {
        self.channels == Channels::Causal
    }

    /// Cuts one direction of a link: until it heals, messages sent or due to arrive on it are lost.
    pub fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cut.insert((from, to));
    }

    /// Heals one direction of a link: removes a cut and its own latency.
    pub fn heal(&mut self, from: NodeId, to: NodeId) {
        self.cut.remove(&(from, to));
        self.slow.remove(&(from, to));
    }

    /// Heals all links.
    pub fn heal_all(&mut self) {
        self.cut.clear();
        self.slow.clear();
    }

    /// Whether one direction of a link is currently cut.
    #[must_use]
    pub fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cut.contains(&(from, to))
    }

    /// Gives one direction of a link its own latency until it heals.
    pub fn slow_down(&mut self, from: NodeId, to: NodeId, latency: Span) {
        self.slow.insert((from, to), latency);
    }

    /// Changes the latency of all links that do not have their own.
    pub fn set_latency(&mut self, latency: Span) {
        self.latency = Latency::Span(latency);
    }

    /// Sets the probability that a message is lost.
    pub fn set_loss(&mut self, loss: Probability) {
        self.faults.loss = loss;
    }

    /// Sets the delay between the first and the second copy of a message.
    pub fn set_echo(&mut self, echo: Span) {
        self.echo = Some(echo);
    }

    /// Sets the probability that a message arrives twice.
    pub fn set_duplication(&mut self, duplicate: Probability) {
        self.faults.duplicate = duplicate;
    }
}

impl Fate {
    fn change(&mut self, change: Change, now: Ticks) {
        match change {
            Change::Lose => {
                (self.arrival, self.duplicate, self.lost) = (None, None, "lost by intervention");
            }
            Change::Double(at) if self.arrival.is_some() => self.duplicate = Some(at.max(now)),
            Change::Arrive(at) | Change::Double(at) => self.arrival = Some(at.max(now)),
        }
    }
}

/// The latest arrival on each channel: a table for few nodes, a map where most pairs never communicate.
enum Latest {
    Table { n: usize, times: Vec<u64> },
    Map(HashMap<(NodeId, NodeId), u64>),
}

impl Latest {
    const LARGEST_TABLE: usize = 1_024;

    fn new(n: usize) -> Self {
        if n <= Self::LARGEST_TABLE {
            Latest::Table { n, times: Vec::new() }
        } else {
            Latest::Map(HashMap::new())
        }
    }

    /// Delays the arrival to the latest one on the same channel so far, and records it.
    fn no_earlier(&mut self, from: NodeId, to: NodeId, arrival: Ticks) -> Ticks {
        let latest = match self {
            Latest::Table { n, times } => {
                times.resize(*n * *n, 0);
                &mut times[from.index() * *n + to.index()]
            }
            Latest::Map(map) => map.entry((from, to)).or_default(),
        };
        *latest = (*latest).max(arrival.0);
        Ticks(*latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: NodeId = NodeId::new(0);
    const TWO: NodeId = NodeId::new(1);

    fn wire(change: impl Fn(&mut Settings)) -> Wire {
        let mut settings = Settings { nodes: 2, ..Settings::default() };
        change(&mut settings);
        settings.check().expect("it fits together");
        Wire::new(&settings)
    }

    fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
        word.parse().expect("what people type")
    }

    #[test]
    fn fifo_channels_keep_the_order_and_any_order_channels_do_not() {
        let overtakes = |channels| {
            let mut wire = wire(|settings| {
                settings.channels = channels;
                settings.latency = Latency::Span(parsed("uniform:1:50"));
            });
            let mut arrivals = (0..200).map(|t| wire.fate(ONE, TWO, Ticks(t), Ticks(0)).arrival);
            let mut last = None;
            arrivals.any(|arrival| arrival < std::mem::replace(&mut last, arrival))
        };
        assert!(!overtakes(Channels::Fifo));
        assert!(overtakes(Channels::Any));
    }

    #[test]
    fn loss_and_duplication_have_their_probabilities() {
        let mut wire = wire(|settings| {
            settings.faults.loss = parsed("0.2");
            settings.faults.duplicate = parsed("0.1");
        });
        let fates: Vec<Fate> = (0..10_000).map(|_| wire.fate(ONE, TWO, Ticks(0), Ticks(0))).collect();
        let lost = fates.iter().filter(|fate| fate.arrival.is_none()).count();
        let twice = fates.iter().filter(|fate| fate.duplicate.is_some()).count();
        assert!((1_900..2_100).contains(&lost) && (720..880).contains(&twice), "{lost} lost, {twice} twice");
    }

    #[test]
    fn retransmission_survives_heavy_loss_and_a_healed_partition() {
        let mut wire = wire(|settings| {
            settings.faults.loss = parsed("0.5");
            settings.faults.duplicate = parsed("0.2");
            settings.faults.retransmit = true;
            settings.faults.partitions = vec![parsed("1|2@0..100000")];
        });
        let (mut resent, mut removed) = (0, 0);
        for t in 0..1_000 {
            let fate = wire.fate(ONE, TWO, Ticks(t), Ticks(0));
            assert!(fate.arrival.is_some_and(|arrival| arrival >= Ticks(100_000)), "{fate:?}");
            assert_eq!(fate.duplicate, None, "copies are removed");
            resent += fate.resent;
            removed += fate.removed;
        }
        assert!(resent > 1_000 && removed > 200, "{resent} resent, {removed} removed");
    }

    #[test]
    fn retransmission_gives_up_on_a_crash_or_a_permanent_cut() {
        let mut crashed = wire(|settings| {
            settings.faults.retransmit = true;
            settings.faults.loss = parsed("1");
            settings.faults.crashes = vec![parsed("2@50")];
        });
        let fate = crashed.fate(ONE, TWO, Ticks(0), Ticks(0));
        assert_eq!((fate.arrival, fate.lost), (None, "given up by the retransmission layer"));
        assert!(fate.resent < 5);
        let mut cut = wire(|settings| {
            settings.faults.retransmit = true;
            settings.faults.partitions = vec![parsed("1|2@0..")];
        });
        assert_eq!(cut.fate(ONE, TWO, Ticks(0), Ticks(0)).arrival, None);
    }

    #[test]
    fn a_cut_loses_messages_sent_or_due_while_it_lasts() {
        let mut wire = wire(|settings| settings.faults.partitions = vec![parsed("1|2@100..200")]);
        let mut arrives = |t| wire.fate(ONE, TWO, Ticks(t), Ticks(0)).arrival.is_some();
        assert_eq!([89, 90, 100, 195, 200].map(&mut arrives), [true, false, false, false, true]);
    }
}
