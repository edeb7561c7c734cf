//! Token ring.
//!
//! G. Le Lann, "Distributed systems: towards a formal approach", IFIP Congress, 1977.
//!
//! The nodes form a ring in which one token travels for ever. A node that wants in keeps it when it comes by, enters,
//! and passes it on when it leaves.
//!
//! Messages: 1 per entry when all want in; N/2 on average for a lone request; without bound when no node asks.
//! Delay: T to (N − 1)T. Needs: channels of any order, for each node hears from its predecessor alone.
//! Every other node enters at most once before a waiting one; the order of requests is not kept.
//!
//! The token starts at the last node, on its way to the first. A node that is alone keeps it.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, Out, Scale, Start,
};
use serde::{Deserialize, Serialize};

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct TokenRing {
    me: NodeId,
    /// The node from which the token comes.
    predecessor: NodeId,
    /// The node to which it goes from here.
    successor: NodeId,
    /// Whether this node waits for the token or uses it.
    want: bool,
    /// Whether the token is here.
    token: bool,
}

/// The only message there is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The right to enter.
    Token,
}

impl TokenRing {
    /// Node `me` of a ring in the order of the nodes' numbers.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let n = members.n();
        let [predecessor, successor] = [n - 1, 1].map(|step| NodeId::new((me.index() + step) % n));
        let token = me == start.holder().unwrap_or(NodeId::new(n - 1));
        Self { me, predecessor, successor, want: start.is_inside(me), token }
    }

    fn pass_on(&mut self, out: &mut Out<Msg>) {
        if self.successor != self.me {
            self.token = false;
            out.send(self.successor, Msg::Token);
        }
    }
}

impl Algorithm for TokenRing {
    type Msg = Msg;

    const PERPETUAL: bool = true;

    fn on_start(&mut self, out: &mut Out<Msg>) {
        if self.token && !self.want {
            out.rule("start");
            self.pass_on(out);
        }
    }

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.want = true;
        if self.token {
            out.enter();
        }
    }

    fn on_message(&mut self, _: NodeId, Msg::Token: Msg, out: &mut Out<Msg>) {
        if std::mem::replace(&mut self.token, true) {
            return out.broken("a second TOKEN");
        }
        if self.want {
            out.enter();
        } else {
            out.rule("forward");
            self.pass_on(out);
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.want = false;
        out.rule("leave");
        self.pass_on(out);
    }
}

mod proof;

/// Its place in the catalog.
pub fn entry() -> Entry<TokenRing> {
    Entry {
        about: About {
            name: "token-ring",
            title: "Token ring",
            family: Family::Token,
            needs: Channels::Any,
            messages: Cost {
                formula: "1 … ∞",
                bounds: |Scale { n, .. }| [(n - 1.0).min(1.0), f64::INFINITY],
            },
            delay: "T … (N−1)T",
            parameters: &[],
            source: include_str!("token_ring.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(TokenRing::new)),
    }
}
