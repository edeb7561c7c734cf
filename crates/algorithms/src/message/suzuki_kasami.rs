//! Suzuki and Kasami's algorithm.
//!
//! I. Suzuki, T. Kasami, "A distributed mutual exclusion algorithm", ACM Transactions on Computer Systems 3(4), 1985.
//!
//! Who has the token may enter. Whoever lacks it asks everybody for it, with a number that counts its requests; the
//! token remembers which request of each node was served last, so its holder knows which of the requests that it has
//! heard of are still open, and a queue of these travels with it.
//!
//! Messages: N per entry (N − 1 REQUEST, 1 TOKEN); 0 if the token is here. Delay: T. Needs: channels of any order.
//! Nobody starves: who leaves queues all open requests, beginning after itself, behind those that wait already.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SuzukiKasami {
    pub(crate) me: NodeId,
    /// Everybody else.
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
    /// Who gets the token next.
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

impl Explain for SuzukiKasami {
    const WAITS_FOR_ALL: bool = false;

    fn fields(&self) -> Vec<Field> {
        let token = self.token.as_ref();
        vec![
            Field::list("RN", self.requested.values()),
            Field::list("LN", token.iter().flat_map(|token| token.served.values())),
            Field::list("queue", token.iter().flat_map(|token| token.queue.iter())),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.others.clone()
    }

    fn permission(&self) -> Permission {
        if self.token.is_some() { Permission::Token } else { Permission::None }
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "ask", text: "A node that wants in and has not the token asks everybody for it." },
            Rule {
                name: "give",
                text: "Who has the token and does not need it gives it to the first who asks.",
            },
            Rule {
                name: "pass on",
                text: "Who leaves queues all open requests and sends the token to the first in the queue.",
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
                name: "nobody has heard of a request that was not made: RN_i[j] ≤ RN_j[j]",
                holds: |cut| {
                    cut.states().all(|(_, node)| {
                        node.requested.iter().all(|(j, &number)| number <= cut.state(j).requested[j])
                    })
                },
            },
            Invariant {
                name: "the token is at most one request behind: LN[j] ≤ RN_j[j] ≤ LN[j] + 1",
                holds: |cut| {
                    tokens(cut).all(|(_, token)| {
                        token.served.iter().all(|(j, &served)| {
                            let made = cut.state(j).requested[j];
                            served <= made && made <= served + 1
                        })
                    })
                },
            },
            Invariant {
                name: "who waits gets the token next, or is in its queue, or its holder knows of the request or will hear of it",
                holds: |cut| {
                    let is_open = |holder: NodeId, token: &Token, j: NodeId| {
                        let request = Msg::Request(cut.state(j).requested[j]);
                        let will_hear =
                            cut.flying(|l| (l.from, l.to) == (j, holder) && *l.msg == request) > 0;
                        let knows = cut.state(holder).requested[j] == token.served[j] + 1;
                        holder == j || token.queue.contains(j) || knows || will_hear
                    };
                    let waiting = || cut.states().filter(|(_, node)| node.phase == Phase::Waiting);
                    tokens(cut).all(|(holder, token)| waiting().all(|(j, _)| is_open(holder, token, j)))
                },
            },
        ]
    }
}

/// Every token, with the node where it is or which it reaches next.
fn tokens<'a>(cut: &Cut<'a, SuzukiKasami>) -> impl Iterator<Item = (NodeId, &'a Token)> {
    let here = cut.states().filter_map(|(me, node)| Some((me, node.token.as_ref()?)));
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Token(token) => Some((letter.to, token)),
        Msg::Request(_) => None,
    });
    here.chain(flying)
}

impl Hints for SuzukiKasami {
    /// A REQUEST that is no news changes nothing: who has the token and does not need it knows of no open request, or it
    /// would have passed it on. And a node that will not ask again and has not the token never gets it, so it does not
    /// matter what it knows.
    fn commutes(&self, from: NodeId, msg: &Msg, ahead: Ahead) -> bool {
        match msg {
            Msg::Request(number) => {
                let is_done = !ahead.mine && self.phase == Phase::Outside && self.token.is_none();
                is_done || *number <= self.requested[from]
            }
            Msg::Token(_) => false,
        }
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.requested.iter_mut().for_each(|(node, number)| show(Group::Requests(node), number));
        self.token.iter_mut().for_each(|token| token.counters(show));
        true
    }

    fn counters_in(from: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(number) => show(Group::Requests(from), number),
            Msg::Token(token) => token.counters(show),
        }
    }
}

impl Token {
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) {
        self.served.iter_mut().for_each(|(node, number)| show(Group::Requests(node), number));
    }
}

/// What people are told about it.
pub const ABOUT: About = About {
    name: "suzuki-kasami",
    title: "Suzuki–Kasami 1985",
    family: Family::Token,
    needs: Channels::Any,
    messages: "0 or N",
    cost: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] },
    delay: "T",
    parameters: &[],
    source: include_str!("suzuki_kasami.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<SuzukiKasami> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(SuzukiKasami::new)) }
}
