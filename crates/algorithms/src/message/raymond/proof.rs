//! Raymond's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, ONE_TOKEN, Permission, Rule,
};

use super::{Msg, Raymond};

/// Why a neighbour is served once for all requests behind it.
pub const NO_NEIGHBOUR_TWICE: &str = "no queue has the same neighbour twice";
/// Why the memory of a node does not grow with N.
pub const QUEUES_ARE_SHORT: &str =
    "a queue has only neighbours and the node itself, so it is no longer than the node's degree + 1";
/// Why a REQUEST that is passed on finds the token.
pub const HOLDERS_LEAD_TO_TOKEN: &str =
    "following the holders from anywhere leads to the token, or to where it arrives next";
/// Why a node that has asked need not ask again.
pub const ASKING_NODE_IS_QUEUED: &str =
    "a node that has asked is in its holder's queue, or its REQUEST or the TOKEN is in flight";

impl Explain for Raymond {
    fn fields(&self) -> Vec<Field> {
        let holder = if self.holder == self.me { "me".to_owned() } else { self.holder.to_string() };
        vec![
            Field::new("holder", holder),
            Field::list("queue", self.queue.iter()),
            Field::new("asked", self.asked),
            Field::new("using", self.using),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        [self.holder].into_iter().filter(|&holder| holder != self.me).collect()
    }

    fn permission(&self) -> Permission {
        if self.holder == self.me { Permission::Token } else { Permission::None }
    }

    const RULES: &'static [Rule] = &[
        Rule::new(
            "ask",
            "A node whose queue is not empty asks its neighbour in the direction of the token, once.",
        ),
        Rule::new(
            "hand over",
            "A node that has the token and is not inside hands it to the first in its queue.",
        ),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| cut.tokens(|me, node| node.holder == me, |msg| *msg == Msg::Token) == 1,
            },
            Invariant {
                name: NO_NEIGHBOUR_TWICE,
                holds: |cut| {
                    cut.states()
                        .all(|(_, node)| node.queue.iter().collect::<NodeSet>().len() == node.queue.len())
                },
            },
            Invariant {
                name: QUEUES_ARE_SHORT,
                holds: |cut| {
                    cut.states().all(|(me, node)| {
                        let is_neighbour = |other| node.holder == other || cut.state(other).holder == me;
                        let degree =
                            cut.states().filter(|(other, _)| *other != me && is_neighbour(*other)).count();
                        node.queue.len() <= degree + 1
                            && node.queue.iter().all(|queued| queued == me || is_neighbour(queued))
                    })
                },
            },
            Invariant {
                name: HOLDERS_LEAD_TO_TOKEN,
                holds: |cut| {
                    let gets_it = |from, to| {
                        cut.flying(|letter| {
                            (letter.from, letter.to) == (from, to) && *letter.msg == Msg::Token
                        }) > 0
                    };
                    let holder = |node: NodeId| cut.state(node).holder;
                    let ends = |node: NodeId| holder(node) == node || gets_it(holder(node), node);
                    cut.states().all(|(me, _)| {
                        let path = std::iter::successors(Some(me), |&node| Some(holder(node)));
                        path.take(cut.nodes.len()).any(ends)
                    })
                },
            },
            Invariant {
                name: ASKING_NODE_IS_QUEUED,
                holds: |cut| {
                    cut.states().filter(|(_, node)| node.asked).all(|(me, node)| {
                        let queued = cut.state(node.holder).queue.contains(me);
                        let between =
                            |from, to, msg| cut.flying(|l| (l.from, l.to) == (from, to) && *l.msg == msg) > 0;
                        queued
                            || between(me, node.holder, Msg::Request)
                            || between(node.holder, me, Msg::Token)
                    })
                },
            },
        ]
    }
}

impl Hints for Raymond {
    /// A TOKEN for another node only passes through: another REQUEST here queues behind the first, and this node asks in the
    /// new direction on its behalf whether it arrived before the TOKEN or after it.
    fn commutes(&self, _: NodeId, msg: &Msg, _: Ahead) -> bool {
        let first = self.queue.iter().next();
        *msg == Msg::Token && first.is_some_and(|first| first != self.me)
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}
