//! Reports on their way: in parts, each acknowledged, so that a slow link carries each part once.
//!
//! The sender has few parts under way at a time, more as answers come, fewer when answers get late, because heartbeats share the link and
//! would wait behind the parts. It repeats a part only when its answer is later than that of the parts before it would suggest. The receiver puts the parts together; a view is installed when all members' reports are whole.

use std::collections::BTreeMap;

use doorway_core::{Effects, NodeId, SectionName, Ticks};

use super::LockNode;
use crate::message::{MemberReport, Msg, ReportPart};
use crate::{Flaw, Incarnation, Rules};

/// A report that is on its way to one member.
#[derive(Debug)]
pub(super) struct Outgoing {
    count: u16,
    /// The first part that was never sent.
    next: u16,
    /// The parts that were sent and not acknowledged.
    under_way: BTreeMap<u16, Sending>,
    /// How many parts may be under way.
    window: usize,
    /// How long an answer takes, as far as is known.
    round_trip: Ticks,
    /// The shortest time that an answer has taken. What a later answer takes beyond it, it or its part spent in a queue.
    shortest: Ticks,
    /// When the member last acknowledged a part for the first time.
    progress: Ticks,
}

#[derive(Debug)]
struct Sending {
    first: Ticks,
    again: Ticks,
    repeats: u32,
}

impl Outgoing {
    /// The most parts that are under way to one member, and so the most that one keeps of a view that it has not learned of.
    pub(super) const LARGEST_WINDOW: usize = 16;
    /// How many times the pause between repeats doubles.
    const DOUBLINGS: u32 = 2;

    pub(super) fn new(count: u16, round_trip: Ticks) -> Self {
        // One part alone first: on a slow link a second one would wait behind it, and look as if it were lost.
        let (under_way, shortest) = (BTreeMap::new(), Ticks(u64::MAX));
        Self { count, next: 0, under_way, window: 1, round_trip, shortest, progress: Ticks(0) }
    }

    /// The parts to send now.
    fn due(&mut self, now: Ticks, resend: Ticks) -> Vec<u16> {
        // While the window grows, a part may wait behind twice as many others as the one that was answered last, and so may its answer.
        // An answer that was late because its node stood still says nothing about the link.
        let patience = (resend + Ticks(self.round_trip.0.saturating_mul(4))).min(Ticks(resend.0 * 20));
        let mut due = Vec::new();
        for (number, sending) in self.under_way.iter_mut().filter(|(_, sending)| now >= sending.again) {
            sending.repeats += 1;
            sending.again = now + Ticks(patience.0 << sending.repeats.min(Self::DOUBLINGS));
            due.push(*number);
        }
        if !due.is_empty() {
            self.window = (self.window / 2).max(1);
        }
        while self.next < self.count && self.under_way.len() < self.window {
            self.under_way.insert(self.next, Sending { first: now, again: now + patience, repeats: 0 });
            due.push(self.next);
            self.next += 1;
        }
        due
    }

    /// The member has got a part; tells whether that can be.
    fn acknowledge(&mut self, number: u16, now: Ticks, resend: Ticks) -> bool {
        if let Some(sending) = self.under_way.remove(&number) {
            self.round_trip = now - sending.first;
            self.shortest = self.shortest.min(self.round_trip);
            self.window = self.next_window(resend);
            self.progress = now;
        }
        number < self.next
    }

    /// One part more, or one less if answers spend more than half of a resend pause in queues: heartbeats of this node wait in the same
    /// queues, and with them its lease.
    fn next_window(&self, resend: Ticks) -> usize {
        let is_queueing = self.round_trip - self.shortest > Ticks(resend.0 / 2);
        if is_queueing { (self.window - 1).max(1) } else { (self.window + 1).min(Self::LARGEST_WINDOW) }
    }

    fn is_done(&self) -> bool {
        self.next == self.count && self.under_way.is_empty()
    }

    /// When something of it is to be sent.
    pub(super) fn alarm(&self) -> Ticks {
        if self.next < self.count && self.under_way.len() < self.window {
            return Ticks(0);
        }
        self.under_way.values().map(|sending| sending.again).min().unwrap_or(Ticks(u64::MAX))
    }

    /// When the member last acknowledged something new.
    pub(super) fn progress(&self) -> Ticks {
        self.progress
    }
}

/// The parts of a member's report that have arrived.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    count: u16,
    age: Option<Ticks>,
    parts: BTreeMap<u16, Vec<SectionName>>,
    /// When a part last came that was not there yet.
    progress: Ticks,
}

/// What a part is to those that came before it.
#[derive(Debug, PartialEq, Eq)]
enum Arrival {
    /// It was missing.
    New,
    /// It was there.
    Known,
    /// It contradicts them.
    Other,
}

impl Incoming {
    fn take(&mut self, part: &ReportPart, now: Ticks) -> Arrival {
        if self.parts.is_empty() {
            (self.count, self.age) = (part.count, part.age);
        }
        if (part.count, part.age) != (self.count, self.age) {
            return Arrival::Other;
        }
        match self.parts.get(&part.number) {
            Some(known) if *known == part.inside => Arrival::Known,
            Some(_) => Arrival::Other,
            None => {
                self.parts.insert(part.number, part.inside.clone());
                self.progress = now;
                Arrival::New
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.parts.len() == usize::from(self.count)
    }

    /// All names, if they are in order: then no part repeats what another one says, and there are no more than a node can be inside of.
    fn inside(&self) -> Option<Vec<SectionName>> {
        let names: Vec<SectionName> = self.parts.values().flatten().cloned().collect();
        let is_in_order = names.is_sorted_by(|one, next| one < next);
        (is_in_order && names.len() <= crate::wire::MOST_INSIDE).then_some(names)
    }

    /// When something of it last arrived.
    pub(super) fn progress(&self) -> Ticks {
        self.progress
    }
}

/// Parts of reports of a view that this node has not learned of yet, by sender. They are not acknowledged before it has.
#[derive(Debug, Default)]
pub(super) struct Early(BTreeMap<NodeId, BTreeMap<u16, ReportPart>>);

impl Early {
    /// Keeps a part if there is room: of each sender those of its newest view, as many as it has under way.
    fn keep(&mut self, from: NodeId, part: ReportPart) {
        let kept = self.0.entry(from).or_default();
        let newest = kept.values().next().map_or(0, |known| known.view);
        if part.view > newest {
            kept.clear();
        }
        if part.view >= newest && kept.len() < Outgoing::LARGEST_WINDOW {
            kept.insert(part.number, part);
        }
    }

    /// All of them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (NodeId, ReportPart)> + use<> {
        let senders = std::mem::take(&mut self.0).into_iter();
        senders.flat_map(|(from, parts)| parts.into_values().map(move |part| (from, part)))
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}

impl<R: Rules> LockNode<R> {
    /// A member tells where it was inside when it learned of a view.
    pub(super) fn hear_report(&mut self, from: NodeId, part: ReportPart, effects: &mut Effects<Self>) {
        let newest = self.membership.as_ref().map_or(0, |membership| membership.view.number);
        if part.view > newest {
            // R9: early parts wait, unacknowledged
            self.early_reports.keep(from, part);
        } else if part.view == newest && self.is_of_member(from, &part) {
            let heard = Msg::Heard { view: newest, reporter: part.incarnation, part: part.number };
            if self.take_part(from, part) {
                effects.out.send(from, heard);
                self.try_to_install();
            }
        }
    }

    /// Whether a part of a report is from the life that is in the adopted view.
    fn is_of_member(&mut self, from: NodeId, part: &ReportPart) -> bool {
        let is_by_name = self.has(Flaw::LeftOutByName);
        let round_trip = self.round_trip(from);
        let Some(membership) = &mut self.membership else { return false };
        let Some(listed) = membership.view.members.get(&from) else { return false };
        if *listed != part.incarnation && is_by_name {
            // A node that is taken for its earlier life gets what that life was sent.
            let count = membership.report.len() as u16;
            membership.outgoing.insert(from, Outgoing::new(count, round_trip));
        }
        // R11: from the listed incarnation
        *listed == part.incarnation || is_by_name
    }

    /// Keeps a part of a report, and the whole when it is complete; tells whether the sender may know that it arrived.
    fn take_part(&mut self, from: NodeId, part: ReportPart) -> bool {
        let (now, is_rebuilt) = (self.now, self.has(Flaw::ReportRebuilt));
        let Some(membership) = &mut self.membership else { return false };
        let incoming = membership.incoming.entry(from).or_default();
        match incoming.take(&part, now) {
            Arrival::Known => return true,
            Arrival::New => {}
            Arrival::Other => {
                self.breach = Some("a report was changed after it was made");
                if !is_rebuilt {
                    self.sections.suspect(from, "a report that was changed after it was made");
                }
                if !is_rebuilt || membership.is_active {
                    return false;
                }
                *incoming = Incoming::default();
                incoming.take(&part, now);
                membership.reports.remove(&from);
            }
        }
        if incoming.is_whole() {
            let Some(inside) = incoming.inside() else {
                membership.incoming.remove(&from);
                self.sections.suspect(from, "a report that names a section twice, or not in order");
                return false;
            };
            let (view, incarnation, age) = (part.view, part.incarnation, part.age);
            membership.reports.insert(from, (MemberReport { view, incarnation, inside, age }, now));
        }
        true
    }

    /// A member has got a part of this node's report.
    pub(super) fn note_heard(
        &mut self,
        from: NodeId,
        view: u64,
        reporter: Incarnation,
        part: u16,
        effects: &mut Effects<Self>,
    ) {
        let (now, me, resend) = (self.now, self.incarnation, self.setup.timing.resend);
        let Some(membership) = &mut self.membership else { return };
        if membership.view.number != view || reporter != me {
            return;
        }
        let Some(outgoing) = membership.outgoing.get_mut(&from) else { return };
        if !outgoing.acknowledge(part, now, resend) {
            return self.sections.suspect(from, "an acknowledgement of a part of a report that was not sent");
        }
        if outgoing.is_done() {
            membership.outgoing.remove(&from);
        }
        self.send_report(effects);
    }

    /// Sends the parts of the report that are due.
    pub(super) fn send_report(&mut self, effects: &mut Effects<Self>) {
        let (now, resend, is_rebuilt) = (self.now, self.setup.timing.resend, self.has(Flaw::ReportRebuilt));
        let Some(membership) = &mut self.membership else { return };
        let due: Vec<(NodeId, u16)> = membership
            .outgoing
            .iter_mut()
            .flat_map(|(node, outgoing)| outgoing.due(now, resend).into_iter().map(|number| (*node, number)))
            .collect();
        if is_rebuilt && !due.is_empty() {
            membership.rebuild_report(self.sections.inside());
        }
        for (node, number) in due {
            let part = membership.report.get(usize::from(number)).cloned();
            part.into_iter().for_each(|part| effects.out.send(node, Msg::Report(part)));
        }
    }

    /// How long a member takes to answer a heartbeat, if it does that.
    pub(super) fn round_trip(&self, node: NodeId) -> Ticks {
        self.round_trips.get(&node).copied().unwrap_or_default().min(self.setup.timing.resend)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::timing::milliseconds;
    use crate::{DiskId, Nonce};

    const RESEND: Ticks = milliseconds(100);

    /// A link that takes this long for a part, and so long again until the answer is there.
    struct Link {
        per_part: Ticks,
        latency: Ticks,
        free: Ticks,
        /// The longest time that a heartbeat would have waited behind the parts.
        longest_queue: Ticks,
        answers: VecDeque<(Ticks, u16)>,
        sent: Vec<u32>,
        /// One of this many parts is lost.
        loses: Option<usize>,
        lost: u32,
    }

    impl Link {
        fn of(per_part: Ticks, latency: Ticks, parts: usize) -> Self {
            let (answers, sent) = (VecDeque::new(), vec![0; parts]);
            let (free, longest_queue) = (Ticks(0), Ticks(0));
            Self { per_part, latency, free, longest_queue, answers, sent, loses: None, lost: 0 }
        }

        fn send(&mut self, number: u16, now: Ticks) {
            self.sent[usize::from(number)] += 1;
            self.free = self.free.max(now) + self.per_part;
            self.longest_queue = self.longest_queue.max(self.free - now);
            let total: u32 = self.sent.iter().sum();
            if self.loses.is_some_and(|every| (total as usize).is_multiple_of(every)) {
                self.lost += 1;
            } else {
                self.answers.push_back((self.free + self.latency, number));
            }
        }

        /// Carries a report; answers with how long it took.
        fn carry(&mut self, known: Ticks) -> Ticks {
            let mut outgoing = Outgoing::new(self.sent.len() as u16, known);
            let mut now = Ticks(0);
            while !outgoing.is_done() {
                assert!(now < milliseconds(600_000), "it never arrives");
                for number in outgoing.due(now, RESEND) {
                    self.send(number, now);
                }
                while self.answers.front().is_some_and(|(at, _)| *at <= now) {
                    let answer = self.answers.pop_front();
                    assert!(answer.is_some_and(|(_, number)| outgoing.acknowledge(number, now, RESEND)));
                }
                if !outgoing.is_done() {
                    let next = self.answers.front().map_or(Ticks(u64::MAX), |(at, _)| *at);
                    now = next.min(outgoing.alarm()).max(now);
                }
            }
            now
        }
    }

    #[test]
    fn on_a_slow_link_each_part_is_sent_once() {
        // 8 KiB at 1 Mbit/s, an answer after 20 ms, and 2.5 MB in all.
        let mut slow = Link::of(milliseconds(66), milliseconds(20), 313);
        let span = slow.carry(milliseconds(20));
        assert!(slow.sent.iter().all(|sent| *sent == 1), "{:?}", slow.sent);
        assert!(span < milliseconds(313 * 66 + 500), "the link is never idle for long: {span} µs");
        assert!(slow.longest_queue < milliseconds(200), "heartbeats waited for {} µs", slow.longest_queue);
        let mut far = Link::of(Ticks(100), milliseconds(400), 313);
        let span = far.carry(milliseconds(400));
        assert!(span < milliseconds(10_000), "distance is no queue: {span} µs");
        assert!(far.sent.iter().all(|sent| *sent == 1), "{:?}", far.sent);
    }

    #[test]
    fn where_nothing_is_known_of_a_link_few_parts_are_sent_twice() {
        let mut slow = Link::of(milliseconds(66), milliseconds(300), 313);
        slow.carry(Ticks(0));
        assert!(slow.sent.iter().sum::<u32>() <= 315, "{:?}", slow.sent);
    }

    #[test]
    fn only_lost_parts_are_repeated() {
        let mut link = Link::of(milliseconds(20), milliseconds(50), 100);
        link.loses = Some(7);
        link.carry(milliseconds(50));
        assert!(link.lost > 10);
        assert_eq!(link.sent.iter().sum::<u32>(), 100 + link.lost, "{:?}", link.sent);
    }

    #[test]
    fn an_acknowledgement_of_a_part_that_was_not_sent_cannot_be() {
        let mut outgoing = Outgoing::new(3, Ticks(0));
        assert_eq!(outgoing.due(Ticks(0), RESEND), [0]);
        let mut acknowledge = |number, at| outgoing.acknowledge(number, Ticks(at), RESEND);
        assert!(acknowledge(0, 5) && acknowledge(0, 6), "it may come twice");
        assert!(!acknowledge(1, 7));
        assert_eq!(outgoing.due(Ticks(8), RESEND), [1, 2]);
    }

    fn part(view: u64, number: u16, count: u16, names: &[&str]) -> ReportPart {
        let incarnation = Incarnation { disk: DiskId(1), boot: 1, tenure: 0, nonce: Nonce(0) };
        let inside = names.iter().map(|name| SectionName::new(name).expect("a good name")).collect();
        ReportPart { view, incarnation, age: None, number, count, inside }
    }

    #[test]
    fn parts_of_a_report_arrive_in_any_order_and_must_fit() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.take(&part(3, 1, 2, &["c"]), Ticks(1)), Arrival::New);
        assert_eq!(incoming.take(&part(3, 1, 2, &["c"]), Ticks(2)), Arrival::Known);
        assert_eq!((incoming.is_whole(), incoming.progress()), (false, Ticks(1)));
        assert_eq!(incoming.take(&part(3, 1, 2, &["d"]), Ticks(3)), Arrival::Other, "it was changed");
        assert_eq!(incoming.take(&part(3, 0, 3, &["a"]), Ticks(3)), Arrival::Other, "of another whole");
        assert_eq!(incoming.take(&part(3, 0, 2, &["a", "b"]), Ticks(4)), Arrival::New);
        assert!(incoming.is_whole());
        assert_eq!(incoming.inside().map(|names| names.len()), Some(3));
        let mut overlapping = Incoming::default();
        overlapping.take(&part(3, 0, 2, &["a", "b"]), Ticks(1));
        overlapping.take(&part(3, 1, 2, &["b", "c"]), Ticks(1));
        assert!(overlapping.is_whole() && overlapping.inside().is_none());
    }

    #[test]
    fn of_a_view_that_is_not_known_yet_few_parts_are_kept() {
        let (mut early, from) = (Early::default(), NodeId::new(1));
        (0..100).for_each(|number| early.keep(from, part(3, number, 100, &["a"])));
        assert_eq!(early.len(), Outgoing::LARGEST_WINDOW);
        early.keep(from, part(2, 0, 1, &[]));
        assert_eq!(early.len(), Outgoing::LARGEST_WINDOW, "of an earlier view none");
        early.keep(from, part(4, 0, 1, &[]));
        assert_eq!(early.take().map(|(_, part)| part.view).collect::<Vec<_>>(), [4]);
    }
}
