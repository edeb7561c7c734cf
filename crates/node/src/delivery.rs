//! Parcels between the members of one view: each arrives once and in order, or its receiver is reported as out of reach.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::{NodeId, Ticks};

use crate::Timing;
use crate::message::{Msg, Parcel};

/// The parcels of one view.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    view: u64,
    timing: Timing,
    channels: BTreeMap<NodeId, Channel>,
    outbox: Vec<(NodeId, Msg)>,
}

/// What goes between this node and one other, both ways.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// How many parcels were sent.
    sent: u64,
    /// Those that were not acknowledged yet, in order.
    unacknowledged: VecDeque<Unacknowledged>,
    /// All parcels up to this number have arrived.
    arrived: u64,
    /// Parcels that overtook others.
    early: BTreeMap<u64, Parcel>,
    early_weight: usize,
    /// By when an acknowledgement must leave.
    owes_ack: Option<Ticks>,
}

#[derive(Clone, Debug)]
struct Unacknowledged {
    seq: u64,
    parcel: Parcel,
    first_sent: Ticks,
    last_sent: Ticks,
}

impl Channel {
    /// How many bytes the parcels that overtook others take at most, roughly.
    const HEAVIEST_EARLY: usize = 4 << 20;

    /// Keeps a parcel until those before it are here. One that there is no room for is lost, and will be sent again.
    fn keep(&mut self, seq: u64, parcel: Parcel) {
        let weight = self.early_weight + parcel.weight();
        let has_room = weight <= Self::HEAVIEST_EARLY || seq == self.arrived + 1;
        if seq > self.arrived && has_room && !self.early.contains_key(&seq) {
            self.early_weight = weight;
            self.early.insert(seq, parcel);
        }
    }
}

impl Delivery {
    /// How far a parcel may be ahead of the next one that is missing.
    const WINDOW: u64 = 4_096;
    /// How many parcels are sent again at once.
    const BURST: usize = 64;

    /// The parcels of a view: none yet.
    pub(crate) fn new(view: u64, timing: Timing) -> Self {
        Self { view, timing, channels: BTreeMap::new(), outbox: Vec::new() }
    }

    /// Sends a parcel; answers with its number.
    pub(crate) fn send(&mut self, to: NodeId, parcel: Parcel, now: Ticks) -> u64 {
        let channel = self.channels.entry(to).or_default();
        channel.sent += 1;
        channel.owes_ack = None;
        // R12: numbered per view and pair
        let (seq, ack) = (channel.sent, channel.arrived);
        self.outbox.push((to, Msg::Parcel { view: self.view, seq, ack, parcel: parcel.clone() }));
        channel.unacknowledged.push_back(Unacknowledged { seq, parcel, first_sent: now, last_sent: now });
        seq
    }

    /// A parcel has come; answers with those that can be opened now, in order.
    pub(crate) fn receive(&mut self, from: NodeId, seq: u64, parcel: Parcel, now: Ticks) -> Vec<Parcel> {
        let due = now + self.timing.ack_delay;
        let channel = self.channels.entry(from).or_default();
        if seq > channel.arrived + Self::WINDOW {
            return Vec::new();
        }
        channel.owes_ack.get_or_insert(due);
        channel.keep(seq, parcel);
        let mut ready = Vec::new();
        while let Some(parcel) = channel.early.remove(&(channel.arrived + 1)) {
            channel.arrived += 1;
            channel.early_weight -= parcel.weight();
            ready.push(parcel);
        }
        ready
    }

    /// Everything up to this number has arrived there; answers whether so much was sent at all.
    pub(crate) fn acknowledged(&mut self, from: NodeId, ack: u64) -> bool {
        let Some(channel) = self.channels.get_mut(&from).filter(|channel| ack <= channel.sent) else {
            return ack == 0;
        };
        while channel.unacknowledged.front().is_some_and(|first| first.seq <= ack) {
            channel.unacknowledged.pop_front();
        }
        true
    }

    /// Resends what was not acknowledged, and sends the acknowledgements that no other message carried.
    pub(crate) fn tick(&mut self, now: Ticks) {
        let Self { view, timing, channels, outbox } = self;
        for (&peer, channel) in channels {
            let is_due = |sent: &Unacknowledged| sent.last_sent + timing.resend <= now;
            if channel.unacknowledged.front().is_some_and(is_due) {
                for sent in channel.unacknowledged.iter_mut().take(Self::BURST).filter(|sent| is_due(sent)) {
                    sent.last_sent = now;
                    let (seq, parcel) = (sent.seq, sent.parcel.clone());
                    outbox.push((peer, Msg::Parcel { view: *view, seq, ack: channel.arrived, parcel }));
                }
                channel.owes_ack = None;
            }
            if channel.owes_ack.take_if(|due| *due <= now).is_some() {
                outbox.push((peer, Msg::Got { view: *view, ack: channel.arrived }));
            }
        }
    }

    /// When [`Delivery::tick`] has something to do.
    pub(crate) fn alarm(&self) -> Option<Ticks> {
        let of = |channel: &Channel| {
            let resend = channel.unacknowledged.front().map(|first| first.last_sent + self.timing.resend);
            resend.into_iter().chain(channel.owes_ack).min()
        };
        self.channels.values().filter_map(of).min()
    }

    /// What is to be sent.
    pub(crate) fn take_outbox(&mut self) -> Vec<(NodeId, Msg)> {
        std::mem::take(&mut self.outbox)
    }

    /// Whether every parcel up to this number has arrived there.
    pub(crate) fn has_arrived(&self, to: NodeId, seq: u64) -> bool {
        let first = self.channels.get(&to).and_then(|channel| channel.unacknowledged.front());
        first.is_none_or(|first| first.seq > seq)
    }

    /// How many parcels have overtaken others.
    pub(crate) fn early_count(&self) -> usize {
        self.channels.values().map(|channel| channel.early.len()).sum()
    }

    /// How many parcels of each member have arrived here.
    pub(crate) fn arrivals(&self) -> Vec<(NodeId, u64)> {
        self.channels.iter().map(|(node, channel)| (*node, channel.arrived)).collect()
    }

    /// The nodes that have left a message unacknowledged for this long.
    pub(crate) fn out_of_reach(&self, now: Ticks, limit: Ticks) -> impl Iterator<Item = NodeId> + '_ {
        let is_old = move |channel: &Channel| {
            channel.unacknowledged.front().is_some_and(|first| first.first_sent + limit <= now)
        };
        self.channels.iter().filter(move |(_, channel)| is_old(channel)).map(|(node, _)| *node)
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::SectionName;

    use super::*;

    const PEER: NodeId = NodeId::new(1);

    fn parcel(number: u64) -> Parcel {
        Parcel::Wanted(SectionName::new(&number.to_string()).expect("a good name"))
    }

    fn delivery() -> Delivery {
        Delivery::new(3, Timing::default())
    }

    #[test]
    fn parcels_are_delivered_once_and_in_order() {
        let mut here = delivery();
        let mut opened = Vec::new();
        for seq in [2, 4, 2, 1, 1, 3, 4, 6, 5] {
            opened.extend(here.receive(PEER, seq, parcel(seq), Ticks(0)));
        }
        assert_eq!(opened, (1..=6).map(parcel).collect::<Vec<_>>());
        assert!(here.receive(PEER, 5_000, parcel(5_000), Ticks(0)).is_empty(), "too far ahead");
        assert_eq!(here.arrivals(), [(PEER, 6)]);
    }

    #[test]
    fn unacknowledged_parcels_are_resent() {
        let mut here = delivery();
        assert_eq!((here.send(PEER, parcel(1), Ticks(0)), here.send(PEER, parcel(2), Ticks(0))), (1, 2));
        assert_eq!(here.take_outbox().len(), 2);
        let resend = Timing::default().resend;
        assert_eq!(here.alarm(), Some(resend));
        here.acknowledged(PEER, 1);
        here.tick(resend);
        let again = Msg::Parcel { view: 3, seq: 2, ack: 0, parcel: parcel(2) };
        assert_eq!(here.take_outbox(), [(PEER, again)]);
        assert!(here.has_arrived(PEER, 1) && !here.has_arrived(PEER, 2));
        assert_eq!(here.out_of_reach(resend, resend).collect::<Vec<_>>(), [PEER]);
        here.acknowledged(PEER, 2);
        assert_eq!((here.alarm(), here.out_of_reach(resend, resend).count()), (None, 0));
    }

    #[test]
    fn an_acknowledgement_waits_for_a_parcel_to_carry_it() {
        let mut here = delivery();
        here.receive(PEER, 1, parcel(1), Ticks(0));
        let due = Timing::default().ack_delay;
        here.tick(due - Ticks(1));
        assert!(here.take_outbox().is_empty());
        here.tick(due);
        assert_eq!(here.take_outbox(), [(PEER, Msg::Got { view: 3, ack: 1 })]);
        here.receive(PEER, 2, parcel(2), due);
        here.send(PEER, parcel(9), due);
        let taken_along = Msg::Parcel { view: 3, seq: 1, ack: 2, parcel: parcel(9) };
        assert_eq!(here.take_outbox(), [(PEER, taken_along)]);
        here.acknowledged(PEER, 1);
        assert_eq!(here.alarm(), None, "nothing is owed any more");
    }
}
