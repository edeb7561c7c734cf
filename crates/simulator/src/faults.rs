//! The faults of a run, as typed on the command line.

use std::fmt;
use std::str::FromStr;

use doorway_core::{NodeId, NodeSet, Refusal, Ticks};

use crate::settings::Span;

/// The faults of a run.
#[derive(Clone, Debug)]
pub struct Faults {
    /// The share of messages that are lost.
    pub loss: Probability,
    /// The share of messages that arrive twice.
    pub duplicate: Probability,
    /// Whether a layer below the algorithm resends lost messages and removes duplicates.
    pub retransmit: bool,
    /// Nodes that stop for good.
    pub crashes: Vec<Crash>,
    /// The time from a crash until the oracle reports it to a node, drawn for each node. It reports to nodes of
    /// an algorithm that [watches crashes](doorway_core::Algorithm::WATCHES_CRASHES) only.
    pub detection: Span,
    /// Reports of crashes that did not happen, to all other nodes: the oracle errs.
    pub suspicions: Vec<Crash>,
    /// Times during which groups of nodes cannot reach each other.
    pub partitions: Vec<Partition>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            loss: Probability::default(),
            duplicate: Probability::default(),
            retransmit: false,
            crashes: Vec::new(),
            detection: Span::Constant(30),
            suspicions: Vec::new(),
            partitions: Vec::new(),
        }
    }
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Probability(f64);

impl Probability {
    /// This number, if it is from 0 to 1.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The probability as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for Probability {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let refusal =
            || Refusal::new(format!("{word:?} is not a probability: a number from 0 to 1, as in 0.05"));
        word.parse().ok().and_then(Self::new).ok_or_else(refusal)
    }
}

/// As typed on the command line.
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A node that stops for good, or is said to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The node.
    pub node: NodeId,
    /// The time of the crash.
    pub at: Ticks,
}

impl FromStr for Crash {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let parsed = word.split_once('@').and_then(|(node, at)| {
            Some(Crash {
                node: NodeId::from_number(node.trim().parse().ok()?)?,
                at: Ticks(at.trim().parse().ok()?),
            })
        });
        parsed.ok_or_else(|| Refusal::new(format!("{word:?} is not a crash: NODE@TIME, as in 3@500")))
    }
}

/// As typed on the command line.
impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.node, self.at)
    }
}

/// A period in which groups of nodes cannot reach each other; nodes in no group reach all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The groups; nodes of one group can reach each other.
    pub groups: Vec<NodeSet>,
    /// When it starts.
    pub from: Ticks,
    /// When it heals, if ever.
    pub until: Option<Ticks>,
}

impl Partition {
    /// Whether it separates two nodes at time `now`.
    #[must_use]
    pub fn cuts(&self, a: NodeId, b: NodeId, now: Ticks) -> bool {
        let group = |node| self.groups.iter().position(|group| group.contains(node));
        let lasts = self.from <= now && self.until.is_none_or(|until| now < until);
        lasts && matches!((group(a), group(b)), (Some(a), Some(b)) if a != b)
    }
}

/// As typed on the command line.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, group) in self.groups.iter().enumerate() {
            let numbers: Vec<String> = group.iter().map(|node| node.to_string()).collect();
            write!(f, "{}{}", if place > 0 { "|" } else { "" }, numbers.join(","))?;
        }
        write!(f, "@{}..", self.from)?;
        self.until.map_or(Ok(()), |until| until.fmt(f))
    }
}

impl FromStr for Partition {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let refusal = || {
            Refusal::new(format!(
                "{word:?} is not a partition: GROUP|GROUP@FROM..UNTIL, as in \"1,2|3,4,5@100..200\""
            ))
        };
        let node =
            |digits: &str| digits.trim().parse().ok().and_then(NodeId::from_number).ok_or_else(refusal);
        let (groups, times) = word.split_once('@').ok_or_else(refusal)?;
        let (from, until) = times.split_once("..").ok_or_else(refusal)?;
        let groups: Result<Vec<NodeSet>, _> =
            groups.split('|').map(|group| group.split(',').map(node).collect()).collect();
        let groups = groups?;
        let time = |digits: &str| digits.trim().parse().map(Ticks).map_err(|_| refusal());
        let (from, until) = (time(from)?, if until.trim().is_empty() { None } else { Some(time(until)?) });
        let twice = groups.iter().enumerate().any(|(i, a)| groups[..i].iter().any(|b| a.intersects(b)));
        if groups.len() < 2 || twice || until.is_some_and(|until| until <= from) {
            return Err(refusal());
        }
        Ok(Self { groups, from, until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_and_partitions_parse() {
        let crash: Crash = "3@500".parse().expect("a crash");
        assert_eq!((crash.node.number(), crash.at), (3, Ticks(500)));
        let partition: Partition = "1,2|3,4,5@100..200".parse().expect("a partition");
        let [one, two, three, six] = [0, 1, 2, 5].map(NodeId::new);
        assert!(partition.cuts(one, three, Ticks(100)) && partition.cuts(three, one, Ticks(199)));
        assert!(!partition.cuts(one, three, Ticks(200)) && !partition.cuts(one, three, Ticks(99)));
        assert!(!partition.cuts(one, two, Ticks(150)) && !partition.cuts(one, six, Ticks(150)));
    }

    #[test]
    fn printed_faults_parse_again() {
        assert_eq!("3@500".parse::<Crash>().expect("a crash").to_string(), "3@500");
        assert_eq!("0.05".parse::<Probability>().expect("a share").to_string(), "0.05");
        for word in ["1,2|3,4,5@100..200", "1|2@5.."] {
            assert_eq!(word.parse::<Partition>().expect(word).to_string(), word);
        }
    }

    #[test]
    fn errors_show_a_correct_example() {
        for word in ["", "1,2@1..2", "1|1@1..2", "1|2@5..5", "1|0@1..2", "1|2", "1|x@1..2"] {
            let sentence = word.parse::<Partition>().expect_err("nonsense").to_string();
            assert!(sentence.contains("as in \"1,2|3,4,5@100..200\""), "{sentence}");
        }
        for word in ["1.5", "-0.1", "NaN", "x"] {
            word.parse::<Probability>().expect_err("nonsense");
        }
    }
}
