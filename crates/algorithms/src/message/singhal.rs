//! Singhal's heuristically aided algorithm, repaired.
//!
//! M. Singhal, "A heuristically-aided algorithm for mutual exclusion in distributed systems", IEEE Transactions on
//! Computers 38(5), 1989.
//!
//! A token algorithm in which a node asks only the nodes that, as far as it knows, have the token or will soon have it:
//! those that are requesting. A node learns about the others from their requests and from the token, which carries
//! the news from holder to holder. At the start node i takes every node before it for requesting, so of any two nodes
//! one asks the other.
//!
//! Messages: about N/2 at light load, N when saturated, and about 2 for the chase. Delay: T. Needs: channels of any
//! order. Starvation-free with the arbitration round-robin, the default, or smallest-number, but not with nearest.
//!
//! As printed it can deadlock unless delivery is causal: a node forgets a peer while its own request to it is still
//! in flight. The chase repairs that: one copy of each request also goes to where its sender last passed the token,
//! and is forwarded from there along the token's track until it meets a node that waits or is inside. And a node
//! that enters with the idle token is then executing, so that a request cannot take the token away from it.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, NodeSet, Options, Out,
    Parameter, PerNode, Plan, Refusal, Scale, Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Singhal {
    pub(crate) me: NodeId,
    arbitration: Arbitration,
    /// P: what this node knows of each node, itself included.
    pub(crate) known: PerNode<Known>,
    /// The node it last passed the token to, or else the node where the token started.
    pub(crate) to: NodeId,
    /// T, if the token is here: what the token knows of each node.
    pub(crate) token: Option<PerNode<Known>>,
}

/// What is known of a node: its state, and the number of its latest request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Known {
    pub(crate) state: State,
    pub(crate) number: u64,
}

/// The states of the paper; a node knows E and H only of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum State {
    /// Requesting.
    R,
    /// Executing: inside.
    E,
    /// Holding the idle token.
    H,
    /// None of these.
    N,
}

/// Which requester gets the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Arbitration {
    /// The first after the one that leaves.
    RoundRobin,
    /// The one that has asked the least often.
    SmallestNumber,
    /// The one whose number is nearest. Two neighbours that always want in starve all other nodes.
    Nearest,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// A node's request of this number; a chasing one is forwarded along the token's track.
    Request {
        /// The requester.
        node: NodeId,
        /// Which of its requests.
        number: u64,
        /// Whether it is forwarded.
        chase: bool,
    },
    /// The token itself.
    Token(PerNode<Known>),
}

impl Singhal {
    /// Node `me`; in the order of the ring that begins with the first holder, it takes all before it for requesting.
    pub fn new(me: NodeId, members: &Members, start: Start, arbitration: Arbitration) -> Self {
        let (n, first) = (members.n(), start.holder_or_first());
        let rank = |node: NodeId| (node.index() + n - first.index()) % n;
        let state_at_start = |node: NodeId| match start {
            Start::Inside(_) if node == me && me == first => State::E,
            Start::Empty if node == me && me == first => State::H,
            _ if rank(node) < rank(me) => State::R,
            _ => State::N,
        };
        Self {
            me,
            arbitration,
            known: PerNode::from_fn(n, |node| Known { state: state_at_start(node), number: 0 }),
            to: first,
            token: (me == first).then(|| PerNode::same(n, Known { state: State::N, number: 0 })),
        }
    }

    pub(crate) fn requesting(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.me.around(self.known.len()).filter(|&node| self.known[node].state == State::R)
    }

    pub(crate) fn my_request(&self, chase: bool) -> Msg {
        Msg::Request { node: self.me, number: self.known[self.me].number, chase }
    }

    fn on_peer_request(&mut self, node: NodeId, number: u64, chase: bool, out: &mut Out<Msg>) {
        let asked = Known { state: State::R, number };
        let is_news = self.known[node].number < number;
        let my_state = self.known[self.me].state;
        if chase
            && my_state == State::N
            && (is_news || self.known[node] == asked)
            && self.to != self.me
            && self.to != node
        {
            out.rule("chase");
            out.send(self.to, Msg::Request { node, number, chase });
        }
        match my_state {
            _ if !is_news => {}
            State::N | State::E => self.known[node] = asked,
            State::R => {
                if self.known[node].state != State::R {
                    out.rule("ask in turn");
                    out.send(node, self.my_request(false));
                }
                self.known[node] = asked;
            }
            State::H => {
                self.known[node] = asked;
                if let Some(token) = &mut self.token {
                    token[node] = asked;
                }
                out.rule("give");
                self.pass_token(node, out);
            }
        }
    }

    fn pass_token(&mut self, to: NodeId, out: &mut Out<Msg>) {
        self.known[self.me].state = State::N;
        self.to = to;
        match self.token.take() {
            Some(token) => out.send(to, Msg::Token(token)),
            None => out.broken("passed on a token that was not here"),
        }
    }

    /// The larger number is the later news, for the node and for the token alike.
    fn exchange_news(&mut self) {
        let Some(token) = &mut self.token else { return };
        token[self.me] = Known { state: State::N, ..self.known[self.me] };
        for (node, known) in self.known.iter_mut() {
            if known.number > token[node].number {
                token[node] = *known;
            } else {
                *known = token[node];
            }
        }
    }
}

impl Algorithm for Singhal {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.known[self.me].number += 1;
        if self.known[self.me].state == State::H {
            self.known[self.me].state = State::E;
            return out.enter();
        }
        self.known[self.me].state = State::R;
        let likely: NodeSet = self.requesting().filter(|&node| node != self.to).collect();
        out.rule("ask");
        out.multicast(&likely, self.my_request(false));
        if self.to != self.me {
            out.rule("ask and chase");
            out.send(self.to, self.my_request(true));
        }
    }

    fn on_message(&mut self, _: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request { node, number, chase } => self.on_peer_request(node, number, chase, out),
            Msg::Token(token) => {
                self.token = Some(token);
                self.known[self.me].state = State::E;
                out.enter();
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.known[self.me].state = State::N;
        self.exchange_news();
        self.known[self.me].state = State::H;
        let next = match self.arbitration {
            Arbitration::RoundRobin => self.requesting().next(),
            Arbitration::SmallestNumber => self.requesting().min_by_key(|&node| self.known[node].number),
            Arbitration::Nearest => {
                self.requesting().min_by_key(|node| (node.index().abs_diff(self.me.index()), *node))
            }
        };
        if let Some(next) = next {
            out.rule("pass on");
            self.pass_token(next, out);
        }
    }
}

pub(crate) mod proof;

/// Chooses the [`Arbitration`].
const ARBITRATION: Parameter = Parameter {
    name: "arbitration",
    default: "round-robin",
    help: "who gets the token of those that ask: round-robin, smallest-number, or nearest, which is unfair",
};

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "singhal",
    title: "Singhal 1989, repaired",
    family: Family::Token,
    needs: Channels::Any,
    messages: Cost {
        formula: "≈ N/2 … N, + 2",
        bounds: |Scale { n, .. }| if n > 1.0 { [0.0, n + 2.0] } else { [0.0; 2] },
    },
    delay: "T",
    parameters: &[ARBITRATION],
    source: include_str!("singhal.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Singhal> {
    Entry { about: ABOUT, bind: |options| arbitrated(options, |node| node) }
}

/// A factory for nodes with the chosen arbitration, or for what `make` builds from them.
pub(crate) fn arbitrated<A: Algorithm>(
    options: &Options,
    make: fn(Singhal) -> A,
) -> Result<Factory<A>, Refusal> {
    let arbitration = match options.choice(&ARBITRATION).word.as_str() {
        "round-robin" => Arbitration::RoundRobin,
        "smallest-number" => Arbitration::SmallestNumber,
        "nearest" => Arbitration::Nearest,
        word => {
            let known = "round-robin, smallest-number or nearest";
            return Err(Refusal::new(format!("{word:?} is not an arbitration: {known}")));
        }
    };
    Ok(Factory::new(move |&members| {
        Ok(Plan::new(move |me, start| make(Singhal::new(me, &members, start, arbitration))))
    }))
}
