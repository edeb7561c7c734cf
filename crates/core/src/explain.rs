//! An algorithm's description of itself. Nothing here is used to run it.

use std::fmt::Display;

use crate::{Algorithm, Node, NodeId, NodeSet, Phase};

/// How an algorithm explains its state to people: tables, the wait-for graph, the ribbon of the studio, and the
/// invariants that a checker can test in every state.
pub trait Explain: Algorithm {
    /// The state in the textbook's words.
    fn fields(&self) -> Vec<Field>;

    /// Whether a waiting node needs something from every node it waits for. A waiter for a token needs only
    /// one of them, so a cycle in its wait-for graph is no deadlock.
    const WAITS_FOR_ALL: bool = true;

    /// The nodes that this node waits for. Called only while it waits.
    fn waits_for(&self) -> NodeSet;

    /// The holder of this node's vote, or whether this node has the token.
    fn permission(&self) -> Permission {
        Permission::None
    }

    /// The rules of the algorithm: every name that it passes to [`crate::Out::rule`], with its meaning.
    const RULES: &'static [Rule];

    /// Predicates over all nodes and the messages in flight that hold in every reachable state.
    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }
}

/// One line of a node's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the textbook.
    pub name: &'static str,
    /// Its current value.
    pub value: String,
}

impl Field {
    /// A field with any printable value.
    pub fn new(name: &'static str, value: impl Display) -> Self {
        Self { name, value: value.to_string() }
    }

    /// A field that may be empty, shown as a dash.
    pub fn optional(name: &'static str, value: Option<impl Display>) -> Self {
        Self { name, value: value.map_or_else(|| "–".to_owned(), |value| value.to_string()) }
    }

    /// A field with several values.
    pub fn list<T: Display>(name: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        Self { name, value: if values.is_empty() { "–".to_owned() } else { values.join(" ") } }
    }
}

/// What a node can grant: its vote, or the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The algorithm has neither, or this node has nothing to grant now.
    None,
    /// The vote is here and free.
    Free,
    /// The vote was given to this node.
    GivenTo(NodeId),
    /// The token is here.
    Token,
}

/// A rule by its name, with one sentence that says what it does and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name passed to [`crate::Out::rule`].
    pub name: &'static str,
    /// What it does, as a sentence.
    pub text: &'static str,
}

impl Rule {
    /// A rule.
    #[must_use]
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text }
    }
}

/// The name of the invariant that all algorithms with one token share.
pub const ONE_TOKEN: &str = "there is exactly one token";

/// A predicate that holds in every reachable state of a correct algorithm.
pub struct Invariant<A: Algorithm> {
    /// What it says, as a sentence.
    pub name: &'static str,
    /// Whether it holds in a given state.
    pub holds: fn(&Cut<'_, A>) -> bool,
}

/// A global state: all nodes and the messages in flight between them.
pub struct Cut<'a, A: Algorithm> {
    /// The nodes in order.
    pub nodes: Vec<&'a Node<A>>,
    /// Every message sent and not yet delivered.
    pub in_flight: Vec<InFlightMessage<'a, A::Msg>>,
}

/// A message in flight.
pub struct InFlightMessage<'a, M> {
    /// The sender.
    pub from: NodeId,
    /// The recipient.
    pub to: NodeId,
    /// The message.
    pub msg: &'a M,
}

impl<'a, A: Algorithm> Cut<'a, A> {
    /// Each node's number with its algorithm's state.
    pub fn states(&self) -> impl Iterator<Item = (NodeId, &'a A)> + '_ {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId::new(index), node.algorithm()))
    }

    /// The state of one node.
    #[must_use]
    pub fn state(&self, node: NodeId) -> &'a A {
        self.nodes[node.index()].algorithm()
    }

    /// The phase of one node.
    #[must_use]
    pub fn phase(&self, node: NodeId) -> Phase {
        self.nodes[node.index()].phase()
    }

    /// The number of tokens, at nodes and in flight.
    pub fn tokens(&self, has_one: impl Fn(NodeId, &A) -> bool, is_one: impl Fn(&A::Msg) -> bool) -> usize {
        let held = self.states().filter(|(node, state)| has_one(*node, state)).count();
        held + self.flying(|letter| is_one(letter.msg))
    }

    /// The number of messages in flight that satisfy `matches`.
    pub fn flying(&self, matches: impl Fn(&InFlightMessage<'a, A::Msg>) -> bool) -> usize {
        self.in_flight.iter().filter(|letter| matches(letter)).count()
    }
}
