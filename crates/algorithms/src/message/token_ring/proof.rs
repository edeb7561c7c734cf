//! The token ring, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, ONE_TOKEN, Permission, Rule,
};

use super::{Msg, TokenRing};

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

    const RULES: &'static [Rule] = &[
        Rule::new("start", "The token sets out from the last node to the first."),
        Rule::new("forward", "A node that does not want in passes the token to its successor."),
        Rule::new("leave", "A node that leaves passes the token to its successor."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: ONE_TOKEN,
            holds: |cut| cut.tokens(|_, node| node.token, |msg| *msg == Msg::Token) == 1,
        }]
    }
}

impl Hints for TokenRing {
    /// A node that does not want in and never will only passes the token on. Some node must still be about to ask, or else
    /// the checker would follow the token round for ever and explore nothing else.
    fn commutes(&self, _: NodeId, Msg::Token: &Msg, ahead: Ahead) -> bool {
        !self.want && !ahead.mine && ahead.any
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}
