//! Suzuki and Kasami's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Cut, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, ONE_TOKEN, Permission, Phase, Rule,
};

use super::{Msg, SuzukiKasami, Token};

/// Why the token is not sent to a node that did not ask.
pub const NO_UNMADE_REQUEST: &str = "no node has heard of a request that was not made: RN_i[j] ≤ RN_j[j]";
/// Why every waiting node gets the token.
pub const WAITING_NODE_IS_KNOWN: &str = "a waiting node gets the token next, or is in its queue, or its holder knows of the request or will hear of it";

/// The invariant by which the token's holder knows which requests are open.
pub const TOKEN_ONE_BEHIND: &str = "the token is at most one request behind: LN[j] ≤ RN_j[j] ≤ LN[j] + 1";

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

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in and lacks the token asks all others for it."),
        Rule::new("give", "A node that has the token and does not need it gives it to the first requester."),
        Rule::new(
            "pass on",
            "A node that leaves queues all open requests and sends the token to the first in the queue.",
        ),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| {
                    cut.tokens(|_, node| node.token.is_some(), |msg| matches!(msg, Msg::Token(_))) == 1
                },
            },
            Invariant {
                name: NO_UNMADE_REQUEST,
                holds: |cut| {
                    cut.states().all(|(_, node)| {
                        node.requested.iter().all(|(j, &number)| number <= cut.state(j).requested[j])
                    })
                },
            },
            Invariant {
                name: TOKEN_ONE_BEHIND,
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
                name: WAITING_NODE_IS_KNOWN,
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

/// Every token, with the node that has it or gets it next.
fn tokens<'a>(cut: &Cut<'a, SuzukiKasami>) -> impl Iterator<Item = (NodeId, &'a Token)> {
    let here = cut.states().filter_map(|(me, node)| Some((me, node.token.as_ref()?)));
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Token(token) => Some((letter.to, token)),
        Msg::Request(_) => None,
    });
    here.chain(flying)
}

impl Hints for SuzukiKasami {
    /// An old REQUEST changes nothing: a node that has the token and does not need it knows of no open request, or it would
    /// have passed the token on. And a node that will not ask again and lacks the token never gets it, so what it knows
    /// does not matter.
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
