//! Singhal's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Algorithm, Cut, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, ONE_TOKEN, PerNode,
    Permission, Rule,
};

use super::{Arbitration, Known, Msg, Singhal, State};

/// What the token says of a node is never older than its request.
pub const TOKEN_KNOWS_REQUESTS: &str = "a node that the token takes for requesting waits or is inside";
/// Why the token is not sent to a node that did not ask.
pub const NO_UNMADE_REQUEST: &str = "no node, nor the token, has heard of a request that was not made";
/// Why no news about a finished request is lost when the token leaves.
pub const TOKEN_KNOWS_WHAT_IS_OVER: &str =
    "a node inside does not know a request to be over unless the token does";

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

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in asks the nodes it takes for requesting."),
        Rule::new(
            "ask and chase",
            "It also asks where it last passed the token, to be handed on from there.",
        ),
        Rule::new(
            "chase",
            "A node that neither waits nor has the token forwards a chasing request along the token's track.",
        ),
        Rule::new("ask in turn", "A node that waits and hears of a new rival asks it as well."),
        Rule::new("give", "A node that holds the idle token gives it to the first requester."),
        Rule::new(
            "pass on",
            "A node that leaves exchanges news with the token and passes it to a requester.",
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
                name: TOKEN_KNOWS_REQUESTS,
                holds: |cut| {
                    let is_true = |(node, known): (NodeId, &Known)| {
                        known.state != State::R
                            || matches!(cut.state(node).known[node].state, State::R | State::E)
                    };
                    tokens(cut, |node| node).all(|token| token.iter().all(is_true))
                },
            },
            Invariant {
                name: NO_UNMADE_REQUEST,
                holds: |cut| {
                    let was_made =
                        |(node, known): (NodeId, &Known)| known.number <= cut.state(node).known[node].number;
                    let known = cut.states().map(|(_, node)| &node.known);
                    known.chain(tokens(cut, |node| node)).all(|vector| vector.iter().all(was_made))
                },
            },
            Invariant {
                name: TOKEN_KNOWS_WHAT_IS_OVER,
                holds: |cut| cut.states().all(|(_, node)| node.exchanges_case_by_case()),
            },
        ]
    }
}

/// Every token, at a node or in flight; `of` finds Singhal's state in a node.
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
    /// Whether the exchange of news on leaving has the same result case by case as by the larger number. Asked while inside.
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

/// What node and token both know of another node after the exchange, by what each of them knew before; `None` in the
/// three impossible cases. News that a node has and the token has not is always a request.
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
    /// An old REQUEST is ignored, and stays so, since numbers never fall; but a chasing one that is noted here as open may
    /// still have to be forwarded.
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
