//! Naimi and Tréhel's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, ONE_TOKEN, Permission, Phase, Rule,
};

use super::{Msg, NaimiTrehel};

/// Why the token serves every waiting node, and each only once per request.
pub const SUCCESSORS_WAIT_ONCE: &str =
    "the successors from the token on are nodes that wait, each of them once";
/// Why a REQUEST that is passed on arrives: the fathers have no cycle.
pub const FATHERS_END: &str = "following the fathers from anywhere ends";

impl Explain for NaimiTrehel {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::optional("father", self.father),
            Field::optional("next", self.next),
            Field::new("token", self.token),
            Field::new("requesting", self.requesting),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.asked.into_iter().collect()
    }

    fn permission(&self) -> Permission {
        if self.token { Permission::Token } else { Permission::None }
    }

    const RULES: &'static [Rule] = &[
        Rule::new(
            "ask",
            "A node that wants in sends its request towards the last requester, and is now the last.",
        ),
        Rule::new(
            "forward",
            "A request is forwarded towards the last requester, and its sender becomes the father.",
        ),
        Rule::new("give", "A node that has the token and does not need it gives it to the requester."),
        Rule::new("pass on", "A node that leaves passes the token to its successor."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| cut.tokens(|_, node| node.token, |msg| *msg == Msg::Token) == 1,
            },
            Invariant {
                name: SUCCESSORS_WAIT_ONCE,
                holds: |cut| {
                    let here = cut.states().find(|(_, node)| node.token).map(|(me, _)| me);
                    let token = cut.in_flight.iter().find(|letter| *letter.msg == Msg::Token);
                    let holder = here.or(token.map(|letter| letter.to));
                    let successors = std::iter::successors(holder, |&node| cut.state(node).next);
                    let chain: Vec<NodeId> = successors.take(cut.nodes.len() + 1).collect();
                    chain.iter().copied().collect::<NodeSet>().len() == chain.len()
                        && chain.iter().skip(1).all(|&node| cut.phase(node) == Phase::Waiting)
                },
            },
            Invariant {
                name: FATHERS_END,
                holds: |cut| {
                    let step = |node: NodeId| cut.state(node).father;
                    cut.states().all(|(me, _)| {
                        std::iter::successors(Some(me), |&node| step(node)).take(cut.nodes.len() + 1).count()
                            <= cut.nodes.len()
                    })
                },
            },
        ]
    }
}

impl Hints for NaimiTrehel {
    /// No rule reads where a request went first.
    fn forget(&mut self) {
        self.asked = None;
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}
