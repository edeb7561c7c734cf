//! Raymond's algorithm.
//!
//! K. Raymond, "A tree-based algorithm for distributed mutual exclusion", ACM Transactions on Computer Systems 7(1),
//! 1989.
//!
//! The nodes form a tree, and each knows in which direction the token is. A request goes that way, neighbour by
//! neighbour, and each node on the way queues whom it came from and asks on its own behalf, once. The token comes back
//! along the queues and turns the pointers round.
//!
//! Messages: at most 2d per entry at light load, d the distance of the token; 4(N − 1)/N saturated; 0 if the token is
//! here. Delay: T to dT. Needs: channels of any order. Nobody starves, since every queue is first come first served.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Raymond {
    me: NodeId,
    /// The neighbour in whose direction the token is, or this node itself.
    holder: NodeId,
    /// Which neighbours, or this node itself, wait for the token here.
    queue: NodeQueue,
    /// Whether the holder was asked for the token and has not sent it yet.
    asked: bool,
    /// Whether this node is inside.
    pub(crate) using: bool,
}

/// The messages, between neighbours alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender, or somebody behind it, wants in.
    Request,
    /// The token itself.
    Token,
}

impl Raymond {
    /// Node `me` with its neighbour towards the token, or itself if the token is here.
    pub fn new(me: NodeId, holder: NodeId, start: Start) -> Self {
        Self { me, holder, queue: NodeQueue::new(), asked: false, using: start.is_inside(me) }
    }

    /// Hands the token that is here and not in use to the first in the queue.
    fn assign_token(&mut self, out: &mut Out<Msg>) {
        if self.holder != self.me || self.using {
            return;
        }
        let Some(first) = self.queue.pop() else { return };
        self.asked = false;
        self.holder = first;
        if first == self.me {
            self.using = true;
            out.enter();
        } else {
            out.rule("hand over");
            out.send(first, Msg::Token);
        }
    }

    /// Asks in the direction of the token, once, while somebody waits here.
    fn ask_for_token(&mut self, out: &mut Out<Msg>) {
        if self.holder != self.me && !self.queue.is_empty() && !self.asked {
            self.asked = true;
            out.rule("ask");
            out.send(self.holder, Msg::Request);
        }
    }
}

impl Algorithm for Raymond {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.queue.push(self.me);
        self.assign_token(out);
        self.ask_for_token(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request => self.queue.push(from),
            Msg::Token if self.holder == from => {
                self.holder = self.me;
                self.asked = false;
            }
            Msg::Token => return out.broken("TOKEN from a node in whose direction it was not"),
        }
        self.assign_token(out);
        self.ask_for_token(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.using = false;
        self.assign_token(out);
        self.ask_for_token(out);
    }
}

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

    fn rules() -> &'static [Rule] {
        &[
            Rule {
                name: "ask",
                text: "A node for which somebody waits asks its neighbour in the direction of the token, once.",
            },
            Rule {
                name: "hand over",
                text: "A node that has the token and is not inside hands it to the first in its queue.",
            },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| cut.tokens(|me, node| node.holder == me, |msg| *msg == Msg::Token) == 1,
            },
            Invariant {
                name: "no queue has the same neighbour twice",
                holds: |cut| {
                    cut.states()
                        .all(|(_, node)| node.queue.iter().collect::<NodeSet>().len() == node.queue.len())
                },
            },
            Invariant {
                name: "a queue has only neighbours and the node itself, so it is no longer than the node's degree + 1",
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
                name: "following the holders from anywhere leads to the token, or to where it arrives next",
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
                name: "who has asked is in its holder's queue, or its REQUEST or the TOKEN is on its way",
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
    /// A TOKEN for another node only passes through: whoever else asks here queues behind the first, and is asked for in
    /// the new direction whether it came before the TOKEN or comes after it.
    fn commutes(&self, _: NodeId, msg: &Msg, _: Ahead) -> bool {
        let first = self.queue.iter().next();
        *msg == Msg::Token && first.is_some_and(|first| first != self.me)
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}

/// What people are told about it.
pub const ABOUT: About = About {
    name: "raymond",
    title: "Raymond 1989",
    family: Family::Token,
    needs: Channels::Any,
    messages: "0 … 2d, ≈ 4 saturated",
    cost: |Scale { n, .. }| [0.0, 4.0 * n.log2().floor()],
    delay: "T … dT",
    parameters: &[crate::trees::TREE],
    source: include_str!("raymond.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Raymond> {
    Entry { about: ABOUT, bind: |options| planted(options, |node| node) }
}

/// A factory for nodes of the tree that was chosen, or for what is made of them.
pub(crate) fn planted<A: Algorithm>(
    options: &Options,
    make: fn(Raymond) -> A,
) -> Result<Factory<A>, Refusal> {
    let kind = crate::trees::TreeKind::chosen(options)?;
    Ok(Factory::new(move |members| {
        let tree = kind.build(members)?;
        Ok(Plan::new(move |me, start| make(Raymond::new(me, tree.towards(me, start.holder()), start))))
    }))
}
