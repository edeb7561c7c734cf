//! Raymond's algorithm.
//!
//! K. Raymond, "A tree-based algorithm for distributed mutual exclusion", ACM Transactions on Computer Systems 7(1),
//! 1989.
//!
//! The nodes form a tree, and each knows in which direction the token is. A request goes that way, neighbour by
//! neighbour, and each node on the way queues the sender and asks on its own behalf, once. The token comes back
//! along the queues and turns the pointers round.
//!
//! Messages: 0 per entry if the token is here, otherwise twice its distance at light load, so at most 2d, d the diameter of
//! the tree; 4(N − 1)/N saturated, on every tree. The diameter is at most 2⌊log₂ N⌋ for a binary tree, which is the default
//! and what the numbers of a comparison assume; 2 for a star, N − 1 for a chain. Delay: T to dT. Needs: channels of any
//! order. Starvation-free, since every queue is first come, first served.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, NodeId, NodeQueue, Options, Out, Plan, Refusal,
    Scale, Start,
};
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
    /// The sender, or a node behind it, wants in.
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

    /// Asks in the direction of the token, once, while the queue is not empty.
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

mod proof;

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "raymond",
    title: "Raymond 1989",
    family: Family::Token,
    needs: Channels::Any,
    messages: Cost {
        formula: "0 … 2d, ≈ 4 saturated",
        bounds: |Scale { n, .. }| [0.0, 4.0 * n.log2().floor()],
    },
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
