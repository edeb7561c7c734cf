//! Logical times as people read them.

use std::str::FromStr;

use doorway_core::{NodeId, Refusal};

use super::{LogicalTime, Vector};

/// Which logical clocks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// Lamport time, a number: `44`.
    Lamport,
    /// Vector time, a number for each node: `[3 0 1]`.
    Vector,
    /// Both.
    Both,
}

impl ClockKind {
    /// Every kind by the word that people type.
    pub const LIST: [(&'static str, ClockKind); 3] =
        [("lamport", ClockKind::Lamport), ("vector", ClockKind::Vector), ("both", ClockKind::Both)];
    /// With more nodes, a vector names the nodes whose count is not zero: `{7:3 40:1}`.
    const MOST_DENSE: usize = 16;

    /// Whether Lamport time is shown.
    #[must_use]
    pub fn has_lamport(self) -> bool {
        self != ClockKind::Vector
    }

    /// Whether vector time is shown.
    #[must_use]
    pub fn has_vector(self) -> bool {
        self != ClockKind::Lamport
    }

    /// The time of one event in a run of so many nodes.
    #[must_use]
    pub fn label(self, time: &LogicalTime, nodes: usize) -> String {
        self.text(time.lamport.to_string(), || vector(&time.vector, nodes, |_, count| count.to_string()))
    }

    /// The times of events that node `of` makes one after the other in one step, from the first to the last: `44–46`, `[3–5 0 1]`.
    #[must_use]
    pub fn span(self, of: NodeId, [first, last]: [&LogicalTime; 2], nodes: usize) -> String {
        let from_to = |first: u64, last: u64| match first == last {
            true => last.to_string(),
            false => format!("{first}–{last}"),
        };
        // Within a step nothing arrives, so that the node's own count alone can change.
        let own = first.vector.count(of);
        let number = |node, count| if node == of { from_to(own, count) } else { count.to_string() };
        self.text(from_to(first.lamport, last.lamport), || vector(&last.vector, nodes, number))
    }

    fn text(self, lamport: String, vector: impl FnOnce() -> String) -> String {
        match self {
            ClockKind::Lamport => lamport,
            ClockKind::Vector => vector(),
            ClockKind::Both => format!("{lamport} {}", vector()),
        }
    }
}

fn vector(vector: &Vector, nodes: usize, number: impl Fn(NodeId, u64) -> String) -> String {
    if nodes <= ClockKind::MOST_DENSE {
        let counts = NodeId::first(nodes).map(|node| number(node, vector.count(node)));
        return format!("[{}]", counts.collect::<Vec<_>>().join(" "));
    }
    let counts = vector.iter().map(|(node, count)| format!("{node}:{}", number(node, count)));
    format!("{{{}}}", counts.collect::<Vec<_>>().join(" "))
}

impl FromStr for ClockKind {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let known = Self::LIST.iter().find(|(name, _)| *name == word);
        known.map(|&(_, kind)| kind).ok_or_else(|| {
            Refusal::new(format!("{word:?} is not a logical clock: the clocks are lamport, vector and both"))
        })
    }
}
