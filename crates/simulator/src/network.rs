//! What becomes of a message between its sending and its arrival.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use doorway_core::{Channels, NodeId, Ticks};

use crate::faults::{Crash, Faults, Probability};
use crate::intervention::{Change, Intervention};
use crate::random::Random;
use crate::settings::{Latency, Settings, Span};

/// The network: it gives every message its time of arrival, or loses it.
///
/// The faults of a run's settings are known in advance, so the fate of a message is settled when it is sent. Whoever drives an
/// engine by itself may change the network during the run, through [`crate::Engine::network_mut`]: what is changed holds for
/// what is sent from then on; but a cut loses what would arrive while it lasts, too. The retransmission layer does not
/// foresee such changes, and what it has sent is not sent again because of them.
pub struct Wire {
    latency: Latency,
    channels: Channels,
    /// Whether messages must be held back so that none overtakes another.
    fifo: bool,
    /// Before this time none can arrive that must not overtake: until then those are under way of which nobody kept count.
    counted_from: Ticks,
    /// The links that are cut for the time being, each in one direction.
    cut: BTreeSet<(NodeId, NodeId)>,
    /// The links that have a latency of their own for the time being.
    slow: BTreeMap<(NodeId, NodeId), Span>,
    /// How long after the first copy of a message a second one arrives, if that has a span of its own.
    echo: Option<Span>,
    faults: Faults,
    /// How long the retransmission layer waits before it sends again for the first time.
    patience: u64,
    random: Random,
    /// How many messages were sent so far.
    sent: u64,
    /// What is decided about messages that were not sent yet, the next one last.
    interventions: Vec<Intervention>,
    /// The latest arrival so far on each channel, kept only where a later message could be quicker.
    latest: Latest,
}

/// Why a message does not get through where nothing does.
pub(crate) const CUT: &str = "the link was cut";

/// What becomes of one message.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// When it arrives.
    pub arrival: Option<Ticks>,
    /// When a second copy arrives.
    pub duplicate: Option<Ticks>,
    /// Why it never arrives, if so.
    pub lost: &'static str,
    /// What the retransmission layer sent again.
    pub resent: u64,
    /// What the retransmission layer sent in acknowledgement.
    pub acknowledgements: u64,
    /// Copies that the network made and the retransmission layer removed.
    pub removed: u64,
}

impl Wire {
    /// After so many attempts the retransmission layer gives a message up.
    const ATTEMPTS: u32 = 1_000;
    /// Its patience doubles with each attempt, up to this factor.
    const MOST_PATIENCE: u64 = 1_024;

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
            patience: 4 * settings.latency.mean() + 1,
            faults: settings.faults.clone(),
            random: Random::new(settings.seed, 1),
            latest: Latest::new(settings.nodes),
            latency: settings.latency.clone(),
        }
    }

    /// The latency of every message, if it is always the same and nothing can go wrong.
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

    /// Settles what becomes of a message that is sent now. It must not arrive before `not_before`.
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

    /// The messages about which something was decided and that were never sent, in their order.
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

    /// Sends until an acknowledgement arrives. Copies beyond the first are removed at the receiver.
    fn persistent_fate(&mut self, from: NodeId, to: NodeId, now: Ticks) -> Fate {
        let mut fate = Fate { lost: "given up by the retransmission layer", ..Fate::default() };
        let (mut at, mut patience) = (now, self.patience);
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
            at = at + Ticks(patience);
            patience = (patience * 2).min(self.patience * Self::MOST_PATIENCE);
        }
        fate
    }

    /// One copy on the wire: when it arrives, or why it does not.
    fn attempt(&mut self, from: NodeId, to: NodeId, at: Ticks) -> Result<Ticks, &'static str> {
        let arrival = self.draw_latency(from, to, at);
        let cut = |when| self.faults.partitions.iter().any(|partition| partition.cuts(from, to, when));
        match () {
            () if cut(at) || cut(arrival) || self.is_cut(from, to) => Err(CUT),
            () if self.random.happens(self.faults.loss.value()) => Err("drawn by lot"),
            () => Ok(arrival),
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
    /// From now on it may be changed: what could not overtake so far because all messages took the same time is held back
    /// where it must be. Tells until when those are under way of which nobody kept count.
    pub(crate) fn prepare_for_changes(&mut self, now: Ticks) -> Ticks {
        if let Latency::Span(Span::Constant(ticks)) = self.latency
            && !self.fifo
        {
            self.counted_from = now + Ticks(ticks);
            self.fifo = self.channels >= Channels::Fifo;
        }
        self.counted_from
    }

    /// Whether messages must not overtake what was sent before them elsewhere.
    pub(crate) fn is_causal(&self) -> bool {
        self.channels == Channels::Causal
    }

    /// Cuts one direction of a link: until it is healed, what is sent or would arrive is lost.
    pub fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cut.insert((from, to));
    }

    /// Heals one direction of a link: it is neither cut nor has a latency of its own.
    pub fn heal(&mut self, from: NodeId, to: NodeId) {
        self.cut.remove(&(from, to));
        self.slow.remove(&(from, to));
    }

    /// Heals all links.
    pub fn heal_all(&mut self) {
        self.cut.clear();
        self.slow.clear();
    }

    /// Whether one direction of a link is cut for the time being.
    #[must_use]
    pub fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cut.contains(&(from, to))
    }

    /// Gives one direction of a link a latency of its own, until it is healed.
    pub fn slow_down(&mut self, from: NodeId, to: NodeId, latency: Span) {
        self.slow.insert((from, to), latency);
    }

    /// Gives all links but those that have one of their own another latency.
    pub fn set_latency(&mut self, latency: Span) {
        self.latency = Latency::Span(latency);
    }

    /// How likely a message is lost.
    pub fn set_loss(&mut self, loss: Probability) {
        self.faults.loss = loss;
    }

    /// From now on a second copy of a message arrives so long after the first one.
    pub fn set_echo(&mut self, echo: Span) {
        self.echo = Some(echo);
    }

    /// How likely a message arrives twice.
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

/// The latest arrival on each channel: a table where it is small, a map where most pairs never meet.
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

    /// The arrival, put off to the latest one on the same channel so far, and remembered.
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
    fn loss_and_duplication_happen_as_often_as_they_should() {
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
    fn the_retransmission_layer_brings_everything_through_heavy_loss_and_a_healed_partition() {
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
    fn the_retransmission_layer_gives_up_on_a_crashed_receiver_and_on_a_link_that_is_never_healed() {
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
    fn a_cut_loses_what_is_sent_or_would_arrive_while_it_lasts() {
        let mut wire = wire(|settings| settings.faults.partitions = vec![parsed("1|2@100..200")]);
        let mut arrives = |t| wire.fate(ONE, TWO, Ticks(t), Ticks(0)).arrival.is_some();
        assert_eq!([89, 90, 100, 195, 200].map(&mut arrives), [true, false, false, false, true]);
    }
}
