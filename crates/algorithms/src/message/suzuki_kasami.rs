//! Suzuki and Kasami's algorithm.
//!
//! I. Suzuki, T. Kasami, "A distributed mutual exclusion algorithm", ACM Transactions on Computer Systems 3(4), 1985.
//!
//! The node with the token may enter. A node without it asks all others, with a number that counts its requests. The
//! token remembers which request of each node was served last, so its holder knows which of the requests that it has
//! heard of are still open, and a queue of these travels with the token.
//!
//! Messages: N per entry (N − 1 REQUEST, 1 TOKEN); 0 if the token is here. Delay: T. Needs: channels of any order.
//! Starvation-free: a node that leaves queues all open requests, beginning after itself, behind those already queued.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, NodeQueue, NodeSet, Out,
    PerNode, Phase, Scale, Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SuzukiKasami {
    pub(crate) me: NodeId,
    /// All nodes but this one.
    others: NodeSet,
    pub(crate) phase: Phase,
    /// RN: the number of the latest request heard from each node.
    pub(crate) requested: PerNode<u64>,
    /// The token, if it is here.
    pub(crate) token: Option<Token>,
}

/// The right to enter, and what must be known to pass it on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Token {
    /// LN: the number of the latest request of each node that was served.
    pub(crate) served: PerNode<u64>,
    /// The nodes that get the token next, in order.
    pub(crate) queue: NodeQueue,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender's request of this number.
    Request(u64),
    /// The token itself.
    Token(Token),
}

impl SuzukiKasami {
    /// Node `me` among these members; the token starts at the first node, or at the one inside.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let n = members.n();
        let fresh = || Token { served: PerNode::same(n, 0), queue: NodeQueue::new() };
        Self {
            me,
            others: members.others(me),
            phase: if start.is_inside(me) { Phase::Inside } else { Phase::Outside },
            requested: PerNode::from_fn(n, |node| u64::from(node == me && start.is_inside(me))),
            token: (me == start.holder_or_first()).then(fresh),
        }
    }

    fn enter(&mut self, out: &mut Out<Msg>) {
        self.phase = Phase::Inside;
        out.enter();
    }

    /// Sends the token to the first in its queue.
    pub(crate) fn pass_on(&mut self, out: &mut Out<Msg>) {
        let next = self.token.as_mut().and_then(|token| token.queue.pop());
        if let Some((next, token)) = next.zip(self.token.take_if(|_| next.is_some())) {
            out.rule("pass on");
            out.send(next, Msg::Token(token));
        }
    }
}

impl Algorithm for SuzukiKasami {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.requested[self.me] += 1;
        self.phase = Phase::Waiting;
        if self.token.is_some() {
            return self.enter(out);
        }
        out.rule("ask");
        out.multicast(&self.others, Msg::Request(self.requested[self.me]));
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(number) => {
                self.requested[from] = self.requested[from].max(number);
                let idle = self.phase == Phase::Outside;
                let open = |token: &mut Token| self.requested[from] == token.served[from] + 1;
                if let Some(token) = self.token.take_if(|token| idle && open(token)) {
                    out.rule("give");
                    out.send(from, Msg::Token(token));
                }
            }
            Msg::Token(token) => {
                self.token = Some(token);
                self.enter(out);
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.phase = Phase::Outside;
        let Some(token) = &mut self.token else { return out.broken("left without the token") };
        token.served[self.me] = self.requested[self.me];
        for node in self.me.around(self.requested.len()) {
            if !token.queue.contains(node) && self.requested[node] == token.served[node] + 1 {
                token.queue.push(node);
            }
        }
        self.pass_on(out);
    }
}

pub mod proof;

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "suzuki-kasami",
    title: "Suzuki–Kasami 1985",
    family: Family::Token,
    needs: Channels::Any,
    messages: Cost { formula: "0 or N", bounds: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] } },
    delay: "T",
    parameters: &[],
    source: include_str!("suzuki_kasami.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<SuzukiKasami> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(SuzukiKasami::new)) }
}
