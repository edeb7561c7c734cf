//! Token ring.
//!
//! G. Le Lann, "Distributed systems: towards a formal approach", IFIP Congress, 1977.
//!
//! The nodes form a ring in which one token travels for ever. Whoever wants in keeps it when it comes by, enters, and
//! passes it on when it leaves.
//!
//! Messages: 1 per entry when all want in; N/2 on average for a lone request; without bound when nobody asks.
//! Delay: T to (N − 1)T. Needs: channels of any order, for each node hears from its predecessor alone.
//! Every other node enters at most once before a waiting one; the order of requests is not kept.
//!
//! The token starts at the last node, on its way to the first. A node that is alone keeps it.

use doorway_core::*;
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

impl Explain for TokenRing {
    const WAITS_FOR_ALL: bool = false;

    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("want", self.want),
            Field::new("token", self.token),
            Field::new("successor", self.successor),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        [self.predecessor].into_iter().collect()
    }

    fn permission(&self) -> Permission {
        if self.token { Permission::Token } else { Permission::None }
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "start", text: "The token sets out from the last node to the first." },
            Rule { name: "forward", text: "A node that does not want in passes the token to its successor." },
            Rule { name: "leave", text: "A node that leaves passes the token to its successor." },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: ONE_TOKEN,
            holds: |cut| cut.tokens(|_, node| node.token, |msg| *msg == Msg::Token) == 1,
        }]
    }
}

impl Hints for TokenRing {
    /// A node that does not want in and never will has nothing to do but pass the token on. Somebody must still be about
    /// to ask, or else the token would go round for ever without anything else being looked at.
    fn commutes(&self, _: NodeId, Msg::Token: &Msg, ahead: Ahead) -> bool {
        !self.want && !ahead.mine && ahead.any
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<TokenRing> {
    Entry {
        about: About {
            name: "token-ring",
            title: "Token ring",
            family: Family::Token,
            needs: Channels::Any,
            messages: "1 … ∞",
            cost: |Scale { n, .. }| [(n - 1.0).min(1.0), f64::INFINITY],
            delay: "T … (N−1)T",
            parameters: &[],
            source: include_str!("token_ring.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(TokenRing::new)),
    }
}
