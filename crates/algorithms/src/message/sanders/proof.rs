//! Sanders' algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{Ahead, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, Permission, Rule};

use super::Sanders;
use crate::message::maekawa::{Msg, proof as maekawa};

/// Why the nodes that will be informed keep others out meanwhile.
pub const INSIDE_HAS_ALL_VOTES: &str = "a node inside has the vote of every node that it will inform";

impl Explain for Sanders {
    fn fields(&self) -> Vec<Field> {
        maekawa::fields(&self.clock, &self.requester, &self.arbiter)
    }

    fn waits_for(&self) -> NodeSet {
        self.requester.missing()
    }

    fn permission(&self) -> Permission {
        self.arbiter.permission()
    }

    const RULES: &'static [Rule] = maekawa::RULES;

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: INSIDE_HAS_ALL_VOTES,
            holds: |cut| {
                cut.states().filter(|(_, node)| node.requester.inside).all(|(_, node)| {
                    let is_locked = |member| cut.state(member).arbiter.lock == node.requester.request;
                    node.informs.iter().all(is_locked)
                })
            },
        }]
    }
}

/// The hints are those of Maekawa's algorithm, since both halves of a node are the same.
impl Hints for Sanders {
    fn commutes(&self, from: NodeId, msg: &Msg, _: Ahead) -> bool {
        self.requester.ignores(from, msg)
    }

    fn forget(&mut self) {
        maekawa::forget(&mut self.clock, &mut self.requester);
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        maekawa::counters(&mut self.clock, &mut self.requester, &mut self.arbiter, show)
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        maekawa::counters_in(msg, show);
    }
}
