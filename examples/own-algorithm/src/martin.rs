//! Martin's algorithm.
//!
//! A. J. Martin, "Distributed mutual exclusion on a ring of processes", Science of Computer Programming 5, 1985.
//!
//! The nodes form a ring in which one token moves, but only when a node wants it: requests travel against the
//! token's direction until they meet it, and the token comes back the same way. A node that has already asked for the
//! token asks no second time on behalf of the nodes behind it.
//!
//! Messages: 2d per entry for a lone request, where d is the way from the token to the node, 0 to N − 1; 2 per entry
//! when all want in. Delay: T to (N − 1)T. Needs: channels of any order.
//! Once its request has met the token, every other node enters at most once before a waiting one; the order of
//! requests is not kept.
//!
//! It is written from the idea, not from the paper's program, which is one of communicating processes: here a node is
//! one machine. The token starts at the first node.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Explain, Factory, Family, Field, Hints, Invariant, Members,
    NodeId, NodeSet, ONE_TOKEN, Out, Permission, Rule, Start,
};
use serde::{Deserialize, Serialize};

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Martin {
    /// The node from which the token comes, and to which requests go.
    predecessor: NodeId,
    /// The node to which the token goes, and from which requests come.
    successor: NodeId,
    /// Whether this node waits for the token or uses it.
    want: bool,
    /// Whether the token is here.
    token: bool,
    /// Whether the predecessor was asked for the token and has not sent it yet.
    asked: bool,
    /// Whether the successor has asked for the token and was not sent it yet.
    owed: bool,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender, or a node behind it, wants in.
    Request,
    /// The right to enter.
    Token,
}

impl Martin {
    /// Node `me` of a ring in the order of the nodes' numbers; the token starts at the first, or at the one inside.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let n = members.n();
        let [predecessor, successor] = [n - 1, 1].map(|step| NodeId::new((me.index() + step) % n));
        let (want, token) = (start.is_inside(me), me == start.holder_or_first());
        Self { predecessor, successor, want, token, asked: false, owed: false }
    }

    fn ask_unless_asked(&mut self, out: &mut Out<Msg>) {
        if !self.asked {
            self.asked = true;
            out.send(self.predecessor, Msg::Request);
        }
    }

    fn pass_on(&mut self, out: &mut Out<Msg>) {
        (self.token, self.owed) = (false, false);
        out.send(self.successor, Msg::Token);
    }
}

impl Algorithm for Martin {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.want = true;
        if self.token {
            return out.enter();
        }
        out.rule("ask");
        self.ask_unless_asked(out);
    }

    fn on_message(&mut self, _: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request if self.owed => out.broken("REQUEST from a node that has asked already"),
            Msg::Request => {
                self.owed = true;
                match (self.token, self.want) {
                    (true, true) => {}
                    (true, false) => {
                        out.rule("give");
                        self.pass_on(out);
                    }
                    (false, _) => {
                        out.rule("forward");
                        self.ask_unless_asked(out);
                    }
                }
            }
            Msg::Token if !self.asked => out.broken("TOKEN that was not asked for"),
            Msg::Token => {
                (self.token, self.asked) = (true, false);
                if self.want {
                    return out.enter();
                }
                out.rule("bring");
                self.pass_on(out);
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.want = false;
        if self.owed {
            out.rule("leave");
            self.pass_on(out);
        }
    }
}

impl Explain for Martin {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("want", self.want),
            Field::new("token", self.token),
            Field::new("asked", self.asked),
            Field::new("owed", self.owed),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        [self.predecessor].into_iter().collect()
    }

    fn permission(&self) -> Permission {
        if self.token { Permission::Token } else { Permission::None }
    }

    const RULES: &'static [Rule] = &[
        Rule::new(
            "ask",
            "A node that wants in and lacks the token asks its predecessor, unless it has already.",
        ),
        Rule::new(
            "forward",
            "A node that is asked and lacks the token asks its predecessor, unless it has already.",
        ),
        Rule::new("give", "A node that has the token and does not need it gives it to the node that asks."),
        Rule::new("bring", "A node that asked for another one only passes the token on."),
        Rule::new("leave", "A node that leaves passes the token on if its successor has asked."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| {
                    let held = cut.states().filter(|(_, node)| node.token).count();
                    held + cut.flying(|letter| *letter.msg == Msg::Token) == 1
                },
            },
            Invariant {
                name: "a node that has asked has one REQUEST in flight, is owed the token, or the token is in flight to it: exactly one of these",
                holds: |cut| {
                    cut.states().all(|(me, node)| {
                        let before = node.predecessor;
                        let traces = cut.flying(|letter| match letter.msg {
                            Msg::Request => (letter.from, letter.to) == (me, before),
                            Msg::Token => (letter.from, letter.to) == (before, me),
                        });
                        traces + usize::from(cut.state(before).owed) == usize::from(node.asked)
                    })
                },
            },
        ]
    }
}

impl Hints for Martin {}

/// Its place in the catalog.
pub fn entry() -> Entry<Martin> {
    Entry {
        about: About {
            name: "martin",
            title: "Martin 1985",
            family: Family::Token,
            needs: Channels::Any,
            messages: Cost { formula: "0 … 2(N−1)", bounds: |scale| [0.0, 2.0 * (scale.n - 1.0)] },
            delay: "T … (N−1)T",
            parameters: &[],
            source: include_str!("martin.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(Martin::new)),
    }
}
