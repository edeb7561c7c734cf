//! Singhal's heuristically aided algorithm, repaired.
//!
//! M. Singhal, "A heuristically-aided algorithm for mutual exclusion in distributed systems", IEEE Transactions on
//! Computers 38(5), 1989.
//!
//! A token algorithm in which a node asks only those who, for all it knows, have the token or will soon have it: the
//! ones that are requesting. What each node knows of the others it learns from their requests and from the token,
//! which carries the news from holder to holder. At the start node i takes every node before it for requesting, so of
//! any two nodes one asks the other.
//!
//! Messages: about N/2 at light load, N when saturated, and about 2 for the chase. Delay: T. Needs: channels of any
//! order. Nobody starves with the arbitration round-robin, the default, or smallest-number; with nearest one can.
//!
//! As printed it can deadlock unless delivery is causal: a node forgets a peer while its own request to it is still
//! under way. The chase repairs that: one copy of each request also goes to where its sender last passed the token,
//! and is handed on from there along the token's track until it meets somebody who waits or is inside. And a node
//! that enters with the idle token is then executing, so that a request cannot take the token away from it.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Singhal {
    pub(crate) me: NodeId,
    arbitration: Arbitration,
    /// P: what this node knows of each node, itself included.
    pub(crate) known: PerNode<Known>,
    /// Where it last passed the token, or else where the token started.
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

/// Who gets the token of those that ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Arbitration {
    /// The first after the one that leaves.
    RoundRobin,
    /// The one that has asked the least often.
    SmallestNumber,
    /// The one whose number is nearest. Two neighbours that always want in starve everybody else.
    Nearest,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// A node's request of this number; a chasing one is handed on along the token's track.
    Request {
        /// Who asks.
        node: NodeId,
        /// Which of its requests.
        number: u64,
        /// Whether it is handed on.
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

impl Explain for Singhal {
    const WAITS_FOR_ALL: bool = false;

    fn fields(&self) -> Vec<Field> {
        vec![
            Field::list("P", self.known.values()),
            Field::list("T", self.token.iter().flat_map(|token| token.values())),
            Field::new("token last passed to", self.to),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.requesting().chain([self.to]).filter(|&node| node != self.me).collect()
    }

    fn permission(&self) -> Permission {
        if self.token.is_some() { Permission::Token } else { Permission::None }
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "ask", text: "A node that wants in asks those it takes for requesting." },
            Rule {
                name: "ask and chase",
                text: "It also asks where it last passed the token, to be handed on from there.",
            },
            Rule {
                name: "chase",
                text: "Who neither waits nor has the token hands a chasing request on along the token's track.",
            },
            Rule { name: "ask in turn", text: "Who waits and hears of a new rival asks it as well." },
            Rule { name: "give", text: "Who holds the idle token gives it to the first who asks." },
            Rule {
                name: "pass on",
                text: "Who leaves exchanges news with the token and passes it to one that asks.",
            },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| {
                    cut.tokens(|_, node| node.token.is_some(), |msg| matches!(msg, Msg::Token(_))) == 1
                },
            },
            Invariant {
                name: "whom the token takes for requesting waits or is inside",
                holds: |cut| {
                    let is_true = |(node, known): (NodeId, &Known)| {
                        known.state != State::R
                            || matches!(cut.state(node).known[node].state, State::R | State::E)
                    };
                    tokens(cut, |node| node).all(|token| token.iter().all(is_true))
                },
            },
            Invariant {
                name: "nobody, nor the token, has heard of a request that was not made",
                holds: |cut| {
                    let was_made =
                        |(node, known): (NodeId, &Known)| known.number <= cut.state(node).known[node].number;
                    let known = cut.states().map(|(_, node)| &node.known);
                    known.chain(tokens(cut, |node| node)).all(|vector| vector.iter().all(was_made))
                },
            },
            Invariant {
                name: "who is inside does not know a request to be over that the token does not know to be over",
                holds: |cut| cut.states().all(|(_, node)| node.exchanges_case_by_case()),
            },
        ]
    }
}

/// Every token, where it is or in flight, of nodes that are Singhal's or made of them.
pub(crate) fn tokens<'a, A: Algorithm<Msg = Msg>>(
    cut: &Cut<'a, A>,
    of: fn(&'a A) -> &'a Singhal,
) -> impl Iterator<Item = &'a PerNode<Known>> {
    let here = cut.states().filter_map(move |(_, node)| of(node).token.as_ref());
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Token(token) => Some(token),
        Msg::Request { .. } => None,
    });
    here.chain(flying)
}

impl Singhal {
    /// Whether the exchange of news on leaving can be told case by case, and comes to the same. It is asked while inside.
    pub(crate) fn exchanges_case_by_case(&self) -> bool {
        let Some(token) = self.token.as_ref().filter(|_| self.known[self.me].state == State::E) else {
            return true;
        };
        let agrees = |node: NodeId| {
            let (known, told) = (self.known[node], token[node]);
            let larger = if known.number > told.number { known } else { told };
            case_by_case(known, told) == Some(larger)
        };
        self.me.around(token.len()).all(agrees)
    }
}

/// What node and token both know of another node after the exchange, by what each of them knew before; nothing, in the
/// three cases that cannot be. What a node has heard and the token has not is always a request.
fn case_by_case(known: Known, told: Known) -> Option<Known> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (known.state, told.state, known.number.cmp(&told.number)) {
        (_, State::R | State::N, Less) => Some(told),
        (State::R, State::R | State::N, Greater) => Some(known),
        (State::R, State::R, Equal) | (State::N, State::N, Equal) => Some(known),
        (State::R, State::N, Equal) => Some(told),
        (State::N, State::N | State::R, Greater) | (State::N, State::R, Equal) => None,
        (State::E | State::H, ..) | (_, State::E | State::H, _) => None,
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}{}", self.state, self.number)
    }
}

impl Hints for Singhal {
    /// A REQUEST that is no news is ignored, and stays so, since numbers never fall; but a chasing one that is noted here
    /// as open may still have to be handed on.
    fn commutes(&self, _: NodeId, msg: &Msg, _: Ahead) -> bool {
        match msg {
            Msg::Request { node, number, chase } => {
                let known = self.known[*node];
                let may_be_handed_on = *chase && known == Known { state: State::R, number: *number };
                *number <= known.number && !may_be_handed_on
            }
            Msg::Token(_) => false,
        }
    }

    /// Only the arbitration by the smallest number compares the numbers of different nodes.
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        counters(&mut self.known, show);
        self.token.iter_mut().for_each(|token| counters(token, show));
        self.arbitration != Arbitration::SmallestNumber
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request { node, number, .. } => show(Group::Requests(*node), number),
            Msg::Token(token) => counters(token, show),
        }
    }
}

fn counters(vector: &mut PerNode<Known>, show: &mut dyn FnMut(Group, &mut u64)) {
    vector.iter_mut().for_each(|(node, known)| show(Group::Requests(node), &mut known.number));
}

/// Who of those that ask gets the token.
const ARBITRATION: Parameter = Parameter {
    name: "arbitration",
    default: "round-robin",
    help: "who gets the token of those that ask: round-robin, smallest-number, or nearest, which is unfair",
};

/// What people are told about it.
pub const ABOUT: About = About {
    name: "singhal",
    title: "Singhal 1989, repaired",
    family: Family::Token,
    needs: Channels::Any,
    messages: "≈ N/2 … N, + 2",
    cost: |Scale { n, .. }| if n > 1.0 { [0.0, n + 2.0] } else { [0.0; 2] },
    delay: "T",
    parameters: &[ARBITRATION],
    source: include_str!("singhal.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Singhal> {
    Entry { about: ABOUT, bind: |options| arbitrated(options, |node| node) }
}

/// A factory for nodes with the arbitration that was chosen, or for what is made of them.
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
