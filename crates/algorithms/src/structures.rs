//! Which nodes a node asks: the quorums of Maekawa's and Cao and Singhal's algorithms, the structures of Sanders'.
//!
//! A structure in a file is one line per node, `3: ask 1 2 3 inform 3`; `#` begins a comment.

use doorway_core::{
    Algorithm, Factory, Members, NodeId, NodeSet, Options, Parameter, PerNode, Plan, Refusal, Start,
};
use doorway_quorums::{Construction, QuorumSystem};

use crate::message::sanders::Structure;

/// The parameter that chooses a quorum system.
pub const QUORUM: Parameter = Parameter {
    name: "quorum",
    default: "cyclic",
    help: "whom a node asks: singleton, all, majority, weighted:W,…, grid, plane, truncated, cyclic, tree, wall:W,…, \
           triangle, cwlog or file:PATH",
};

/// The parameter that chooses a structure for Sanders' algorithm.
pub const STRUCTURE: Parameter = Parameter {
    name: "structure",
    default: "maekawa",
    help: "whom a node asks and informs: lamport, ricart-agrawala, maekawa (takes a quorum), central, four-node or \
           file:PATH",
};

/// How the quorum of each node is found, once the members are known.
///
/// # Errors
/// If there is no such quorum system.
fn quorums(
    options: &Options,
) -> Result<impl Fn(&Members) -> Result<PerNode<NodeSet>, Refusal> + use<>, Refusal> {
    let choice = options.choice(&QUORUM);
    let construction = Construction::parse(&choice.word, choice.file.as_deref())?;
    Ok(move |members: &Members| Ok(QuorumSystem::build(&construction, members.n())?.assignment().clone()))
}

/// A factory for an algorithm whose nodes need nothing but their quorums.
///
/// # Errors
/// If there is no such quorum system.
pub fn with_quorums<A: Algorithm>(
    options: &Options,
    make: impl Fn(NodeId, &PerNode<NodeSet>, Start) -> A + Copy + Send + Sync + 'static,
) -> Result<Factory<A>, Refusal> {
    let quorums = quorums(options)?;
    Ok(Factory::new(move |members| {
        let assignment = quorums(members)?;
        Ok(Plan::new(move |me, start| make(me, &assignment, start)))
    }))
}

/// How the structure is found, once the members are known.
///
/// # Errors
/// If there is no such structure.
pub fn structures(
    options: &Options,
) -> Result<impl Fn(&Members) -> Result<Structure, Refusal> + use<>, Refusal> {
    structures_by(options, &STRUCTURE)
}

/// The same for a parameter with another default.
///
/// # Errors
/// If there is no such structure.
pub(crate) fn structures_by(
    options: &Options,
    parameter: &Parameter,
) -> Result<impl Fn(&Members) -> Result<Structure, Refusal> + use<>, Refusal> {
    let build = unchecked_by(options, parameter)?;
    Ok(move |members: &Members| build(members)?.checked())
}

/// The same without a check of the theorem's conditions, to show which of them a structure breaks.
///
/// # Errors
/// If there is no such structure.
pub fn unchecked_structures(
    options: &Options,
) -> Result<impl Fn(&Members) -> Result<Structure, Refusal> + use<>, Refusal> {
    unchecked_by(options, &STRUCTURE)
}

fn unchecked_by(
    options: &Options,
    parameter: &Parameter,
) -> Result<impl Fn(&Members) -> Result<Structure, Refusal> + use<>, Refusal> {
    let choice = options.choice(parameter);
    let kind = match (choice.word.as_str(), choice.file) {
        (_, Some(text)) => Kind::Given(text),
        ("lamport", _) => Kind::Lamport,
        ("ricart-agrawala", _) => Kind::RicartAgrawala,
        ("maekawa", _) => Kind::Maekawa,
        ("central", _) => Kind::Central,
        ("four-node", _) => Kind::FourNode,
        (word, _) => {
            let known = "lamport, ricart-agrawala, maekawa, central, four-node or file:PATH";
            return Err(Refusal::new(format!("there is no structure {word:?}: {known}")));
        }
    };
    if kind != Kind::Maekawa && options.iter().any(|(name, _)| name == QUORUM.name) {
        return Err(Refusal::new("only the structure maekawa has a quorum to choose"));
    }
    let quorums = quorums(options)?;
    Ok(move |members: &Members| kind.build(members, &quorums))
}

#[derive(PartialEq, Eq)]
enum Kind {
    Lamport,
    RicartAgrawala,
    Maekawa,
    Central,
    FourNode,
    Given(String),
}

impl Kind {
    fn build(
        &self,
        members: &Members,
        quorums: impl Fn(&Members) -> Result<PerNode<NodeSet>, Refusal>,
    ) -> Result<Structure, Refusal> {
        let n = members.n();
        let everybody = || PerNode::same(n, NodeSet::first(n));
        let (asks, informs) = match self {
            Kind::Lamport => (everybody(), everybody()),
            Kind::RicartAgrawala => (everybody(), PerNode::from_fn(n, |node| [node].into_iter().collect())),
            Kind::Maekawa => {
                let quorums = quorums(members)?;
                (quorums.clone(), quorums)
            }
            Kind::Central => (PerNode::same(n, NodeSet::first(1)), PerNode::same(n, NodeSet::first(1))),
            Kind::FourNode if n == 4 => read(FOUR_NODES, members)?,
            Kind::FourNode => {
                return Err(Refusal::new(format!("the structure four-node has 4 nodes, not {n}")));
            }
            Kind::Given(text) => read(text, members)?,
        };
        Ok(Structure { asks, informs })
    }
}

/// The example with which the lecture shows that nodes need not be treated alike.
const FOUR_NODES: &str = "
    1: ask 1 2    inform 1
    2: ask 1 2    inform 2
    3: ask 1 2 3  inform 1 2 3
    4: ask 1 2 4  inform 1 2 4";

type AsksAndInforms = (PerNode<NodeSet>, PerNode<NodeSet>);

/// Which nodes each node asks and informs, from a file; does not check that the structure is safe.
///
/// # Errors
/// Names the line that cannot be read.
pub(crate) fn read(text: &str, members: &Members) -> Result<AsksAndInforms, Refusal> {
    let mut lines: Vec<Option<(NodeSet, NodeSet)>> = vec![None; members.n()];
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (node, sets) = read_line(line, members).map_err(|what| {
            Refusal::new(format!(
                "line {number} of the structure {what}, expected something like `3: ask 1 2 3 inform 3`"
            ))
        })?;
        if lines[node.index()].replace(sets).is_some() {
            return Err(Refusal::new(format!("line {number} of the structure tells of node {node} again")));
        }
    }
    if let Some(index) = lines.iter().position(Option::is_none) {
        return Err(Refusal::new(format!("the structure does not tell of node {}", NodeId::new(index))));
    }
    let (asks, informs): (Vec<_>, Vec<_>) = lines.into_iter().flatten().unzip();
    Ok((asks.into(), informs.into()))
}

fn read_line(line: &str, members: &Members) -> Result<(NodeId, (NodeSet, NodeSet)), String> {
    let member = |word: &str| {
        let node = word.parse().ok().and_then(NodeId::from_number).filter(|&node| members.contains(node));
        node.ok_or_else(|| format!("names {word:?}, where nodes are 1 to {}", members.n()))
    };
    let members_in = |words: &str| words.split_whitespace().map(member).collect::<Result<NodeSet, _>>();
    let (node, sets) = line.split_once(':').ok_or("has no colon")?;
    let (asks, informs) = sets.split_once("inform").ok_or("says nothing of `inform`")?;
    let asks = asks.trim().strip_prefix("ask").ok_or("says nothing of `ask`")?;
    Ok((member(node.trim())?, (members_in(asks)?, members_in(informs)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(options: &Options, n: usize) -> Result<Structure, String> {
        let members = Members::new(n).map_err(|refusal| refusal.to_string())?;
        let build = structures(options).map_err(|refusal| refusal.to_string())?;
        build(&members).map_err(|refusal| refusal.to_string())
    }

    fn given(text: &str, n: usize) -> String {
        structure(&Options::none().with_file("structure", text), n).expect_err("it breaks the conditions")
    }

    #[test]
    fn every_named_structure_keeps_the_conditions_for_every_n() {
        let words = ["lamport", "ricart-agrawala", "maekawa", "central"];
        for (word, n) in words.into_iter().flat_map(|word| (1..=13).map(move |n| (word, n))) {
            structure(&Options::none().with("structure", word), n).expect("these hold for every N");
        }
        structure(&Options::none().with("structure", "four-node"), 4).expect("it has four nodes");
    }

    #[test]
    fn a_structure_that_breaks_the_theorem_is_refused_with_the_pair_that_breaks_it() {
        let one_sided = given("1: ask 1 2 inform 1\n2: ask 2 inform 2", 2);
        assert!(one_sided.starts_with("nodes 1 and 2 can be inside together"), "{one_sided}");
        let not_in_r = given("1: ask 1 inform 1 2\n2: ask 1 2 inform 2", 2);
        assert_eq!(not_in_r, "node 1 informs a node that it does not ask: I must lie in R");
    }

    #[test]
    fn a_structure_that_cannot_be_read_is_refused_with_its_line() {
        assert_eq!(given("1: ask 1 inform 1", 2), "the structure does not tell of node 2");
        assert!(
            given("1: ask 3 inform 1", 2)
                .starts_with("line 1 of the structure names \"3\", where nodes are 1 to 2")
        );
        assert!(given("\n1 ask 1", 2).starts_with("line 2 of the structure has no colon"));
        assert!(given("1: ask 1 inform 1\n1: ask 1 inform 1", 1).ends_with("tells of node 1 again"));
    }
}
