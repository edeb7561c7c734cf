//! Lamport's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{Ahead, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, Rule, Stamp};

use super::{Lamport, Msg};

/// The invariant that entry in the order of stamps rests on.
pub const OLDEST_INSIDE: &str = "a node inside has the oldest of all live requests";

impl Explain for Lamport {
    fn fields(&self) -> Vec<Field> {
        let mut queue: Vec<Stamp> = self.requests.values().iter().flatten().copied().collect();
        queue.sort();
        vec![
            Field::new("clock", self.clock.count()),
            Field::list("queue", queue),
            Field::list("last heard", self.others.iter().map(|node| self.last[node])),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        let Some(mine) = self.requests[self.me] else { return NodeSet::new() };
        let is_ahead = |node: &NodeId| {
            self.last[*node] < mine || self.requests[*node].is_some_and(|theirs| theirs < mine)
        };
        self.others.iter().filter(is_ahead).collect()
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in queues its stamped request and sends it to all others."),
        Rule::new("reply", "Every REQUEST is queued and answered at once with a younger stamp."),
        Rule::new("leave", "A node that leaves takes its request from every queue."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: OLDEST_INSIDE,
            holds: |cut| {
                let live = || cut.states().filter_map(|(me, node)| node.requests[me]);
                cut.states()
                    .filter(|(_, node)| node.inside)
                    .all(|(me, node)| node.requests[me] == live().min())
            },
        }]
    }
}

impl Hints for Lamport {
    /// A REPLY that is no news to the clock, and that the open request does not need, changes nothing but `last`: our next
    /// request is younger than it, so no rule ever sees the difference. (The REPLY that is needed could, on channels of
    /// any order, let us in before an older REQUEST that would have kept us out; and a RELEASE does not name the request
    /// that it ends.)
    fn commutes(&self, from: NodeId, msg: &Msg, _: Ahead) -> bool {
        match msg {
            Msg::Reply(stamp) => {
                let open = self.requests[self.me].filter(|_| !self.inside);
                let is_needed = open.is_some_and(|mine| self.last[from] < mine && mine < *stamp);
                stamp.counter <= self.clock.count() && !is_needed
            }
            Msg::Request(_) | Msg::Release(_) => false,
        }
    }

    /// The other nodes compare their requests with this clock's stamps, so the clock stays. What a node knows of the others
    /// matters only while it waits, and then only whether it is older or younger than its own request.
    fn forget(&mut self) {
        let open = self.requests[self.me].filter(|_| !self.inside);
        for node in &self.others {
            let last = &mut self.last[node].counter;
            match open {
                None => {
                    self.requests[node] = None;
                    *last = self.clock.count();
                }
                Some(mine) => {
                    self.requests[node].take_if(|theirs| *theirs > mine);
                    let is_younger = Stamp { counter: *last, node } > mine;
                    *last = mine.counter;
                    *last += u64::from(is_younger && node < self.me);
                    *last -= u64::from(!is_younger && node > self.me);
                }
            }
        }
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        let requests = self.requests.iter_mut().filter_map(|(_, request)| request.as_mut());
        requests.for_each(|request| show(Group::Time, &mut request.counter));
        // No node hears from itself: its own entry is never read.
        let heard = self.last.iter_mut().filter(|(node, _)| *node != self.me);
        heard.for_each(|(_, stamp)| show(Group::Time, &mut stamp.counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let (Msg::Request(stamp) | Msg::Reply(stamp) | Msg::Release(stamp)) = msg;
        show(Group::Time, &mut stamp.counter);
    }
}
