//! Carvalho and Roucairol's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{Ahead, Explain, Field, Group, Hints, Invariant, LamportClock, NodeId, NodeSet, Rule};

use super::{CarvalhoRoucairol, Msg, State};

/// Why two nodes are not inside at once: each pair shares one permission.
pub const ONE_PERMISSION_PER_PAIR: &str =
    "of two nodes at most one has, or is being sent, the other's permission";

impl Explain for CarvalhoRoucairol {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::new("state", self.state),
            Field::list("without permission of", &self.missing),
            Field::list("deferred", self.deferred.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.missing.clone()
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in asks those whose permission it does not have."),
        Rule::new("reply", "A node that does not go first gives its permission, and loses the asker's."),
        Rule::new("ask back", "A node that gave a permission up while it waits asks for it back."),
        Rule::new("leave", "A node that leaves gives its permission to all requesters that it had deferred."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: ONE_PERMISSION_PER_PAIR,
            holds: |cut| {
                let sent = |from, to| {
                    cut.flying(|letter| {
                        matches!(letter.msg, Msg::Reply(_)) && (letter.from, letter.to) == (from, to)
                    })
                };
                let has = |i: NodeId, j: NodeId| usize::from(!cut.state(i).missing.contains(j));
                cut.states().all(|(i, _)| {
                    NodeId::first(i.index()).all(|j| has(i, j) + has(j, i) + sent(i, j) + sent(j, i) <= 1)
                })
            },
        }]
    }
}

impl Hints for CarvalhoRoucairol {
    /// If no node asks again, a deferred REQUEST is answered on leaving, and one that arrives after that at once, with the
    /// same loss of permission. One that goes before our own is answered now or later alike if we lack the sender's permission: the
    /// sender holds it back until we have answered, so we cannot enter before that.
    fn commutes(&self, from: NodeId, msg: &Msg, ahead: Ahead) -> bool {
        match msg {
            Msg::Request(request) => {
                let waits = matches!(self.state, State::Wanted(_)) && !self.state.goes_before(*request);
                !ahead.any && (!waits || self.missing.contains(from))
            }
            Msg::Reply(_) => false,
        }
    }

    /// The clock only stamps requests.
    fn forget(&mut self) {
        self.clock = LamportClock::STOPPED;
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        self.state.counters(show);
        self.deferred.counters().for_each(|counter| show(Group::Time, counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let (Msg::Request(request) | Msg::Reply(request)) = msg;
        show(Group::Time, &mut request.counter);
    }
}
