//! Ricart and Agrawala's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Explain, Field, Group, Hints, Invariant, LamportClock, NodeId, NodeSet, Rule, Stamp,
};

use super::{Msg, RicartAgrawala, State};

/// Why a node inside owes a REPLY to every other node that wants in.
pub const HELD_DEFERS_WANTED: &str =
    "a node that is HELD has deferred every other WANTED request or will see it arrive";

/// The invariant that leaving keeps.
pub const RELEASED_DEFERS_NOTHING: &str = "nothing is deferred by a node that is RELEASED";

impl Explain for RicartAgrawala {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::new("state", self.state),
            Field::list("missing", &self.missing),
            Field::list("deferred", self.deferred.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.missing.clone()
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in stamps its request and sends it to all others."),
        Rule::new(
            "reply",
            "A node that does not want in, or wants in with a younger request, replies at once.",
        ),
        Rule::new("leave", "A node that leaves replies to every request that it had deferred."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: RELEASED_DEFERS_NOTHING,
                holds: |cut| {
                    cut.states().all(|(_, node)| node.state != State::Released || node.deferred.is_empty())
                },
            },
            Invariant {
                name: HELD_DEFERS_WANTED,
                holds: |cut| {
                    let wanted = || {
                        cut.states().filter_map(|(me, node)| match node.state {
                            State::Wanted(stamp) => Some((me, stamp)),
                            State::Released | State::Held => None,
                        })
                    };
                    let accounted = |holder: NodeId, node: &Self, (from, stamp): (NodeId, Stamp)| {
                        let flying = cut.flying(|letter| {
                            (letter.from, letter.to) == (from, holder) && *letter.msg == Msg::Request(stamp)
                        });
                        node.deferred.contains(stamp) || flying > 0
                    };
                    let held = cut.states().filter(|(_, node)| node.state == State::Held);
                    held.into_iter().all(|(me, node)| wanted().all(|request| accounted(me, node, request)))
                },
            },
        ]
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::Released => f.write_str("RELEASED"),
            State::Wanted(stamp) => write!(f, "WANTED {stamp}"),
            State::Held => f.write_str("HELD"),
        }
    }
}

impl Hints for RicartAgrawala {
    /// A REPLY only strikes its sender off, so while another one is missing the order does not matter; the clock that it
    /// carries must be known already, or be of no use. If no node asks again, nor does the arrival order of REQUESTs matter:
    /// one that is deferred now is answered on leaving, and would be answered at once after that; and one that is answered
    /// now arrives before our entry in any case, because the sender of an older request holds back the REPLY that we need.
    fn commutes(&self, _: NodeId, msg: &Msg, ahead: Ahead) -> bool {
        match msg {
            Msg::Request(_) => !ahead.any,
            Msg::Reply { clock, .. } => self.missing.len() > 1 && (*clock <= self.clock || !ahead.any),
        }
    }

    /// The clock only stamps requests.
    fn forget(&mut self) {
        self.clock = LamportClock::STOPPED;
    }

    fn forget_in(msg: &mut Msg) {
        if let Msg::Reply { clock, .. } = msg {
            *clock = LamportClock::STOPPED;
        }
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        self.state.counters(show);
        self.deferred.counters().for_each(|counter| show(Group::Time, counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(request) => show(Group::Time, &mut request.counter),
            Msg::Reply { counter, clock } => {
                show(Group::Time, counter);
                clock.counter().into_iter().for_each(|count| show(Group::Time, count));
            }
        }
    }
}

impl State {
    pub(in crate::message) fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) {
        if let State::Wanted(stamp) = self {
            show(Group::Time, &mut stamp.counter);
        }
    }
}
