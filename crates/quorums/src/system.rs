//! A built quorum system.

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

use crate::coterie::{Disjoint, coterie, first_disjoint, is_coterie};
use crate::grid::Grid;
use crate::plane::is_projective_plane;
use crate::ratings::{Lightest, Structure};
use crate::shape::Shape;
use crate::tree::Tree;
use crate::wall::Wall;
use crate::weighted::Votes;
use crate::{Construction, all, cwlog, cyclic, file, majority, plane, singleton, triangle, truncated};

/// The quorums of N nodes, every two of which meet.
#[derive(Clone, Debug)]
pub struct QuorumSystem {
    construction: Construction,
    /// The quorum that each node asks while no node has crashed.
    assignment: PerNode<NodeSet>,
    rule: Rule,
}

/// How to find the other quorums.
#[derive(Clone, Debug)]
enum Rule {
    /// There are only the assigned ones.
    Assigned,
    Votes(Votes),
    Grid(Grid),
    Tree(Tree),
    Wall(Wall),
}

/// The minimum, mean and maximum of a number over all nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The minimum.
    pub least: usize,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub most: usize,
}

impl QuorumSystem {
    /// The largest number of nodes.
    pub const MOST_NODES: usize = 4096;

    /// The most quorums that [`QuorumSystem::quorums`] lists.
    pub const MOST_QUORUMS: usize = 1 << 16;

    /// Builds the quorums of `n` nodes and makes sure that every two meet.
    ///
    /// # Errors
    /// If the construction does not exist for this number of nodes, or the weights, widths or file are wrong.
    pub fn build(construction: &Construction, n: usize) -> Result<Self, Refusal> {
        match n {
            0 => return Err(Refusal::new("a quorum system needs at least one node")),
            1..=Self::MOST_NODES => (),
            _ => {
                return Err(Refusal::new(format!(
                    "a quorum system has at most {} nodes, not {n}",
                    Self::MOST_NODES
                )));
            }
        }
        let (assignment, rule) = assignment_and_rule(construction, n)?;
        let system = Self { construction: construction.clone(), assignment, rule };
        if !meets_by_arithmetic(construction) {
            system.verify()?;
        }
        Ok(system)
    }

    /// Its construction.
    #[must_use]
    pub fn construction(&self) -> &Construction {
        &self.construction
    }

    /// The number of nodes: N.
    #[must_use]
    pub fn n(&self) -> usize {
        self.assignment.len()
    }

    /// The quorum that is assigned to `node`.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn quorum_of(&self, node: NodeId) -> &NodeSet {
        &self.assignment[node]
    }

    /// The quorum that is assigned to each node.
    #[must_use]
    pub fn assignment(&self) -> &PerNode<NodeSet> {
        &self.assignment
    }

    /// Compares every two assigned quorums.
    ///
    /// # Errors
    /// The first two nodes whose quorums do not meet. A system that was built has none.
    pub fn verify(&self) -> Result<(), Disjoint> {
        first_disjoint(&self.assignment).map_or(Ok(()), Err)
    }

    /// The sizes of the assigned quorums.
    #[must_use]
    pub fn sizes(&self) -> Spread {
        Spread::of(self.assignment.values().iter().map(NodeSet::len))
    }

    /// Whether every node is in its own quorum: i ∈ S_i.
    #[must_use]
    pub fn contains_every_owner(&self) -> bool {
        self.assignment.iter().all(|(node, quorum)| quorum.contains(node))
    }

    /// For each node, the number of assigned quorums that contain it.
    #[must_use]
    pub fn responsibilities(&self) -> PerNode<usize> {
        let mut responsibilities = PerNode::same(self.n(), 0);
        for node in self.assignment.values().iter().flatten() {
            responsibilities[node] += 1;
        }
        responsibilities
    }

    /// The spread of [`QuorumSystem::responsibilities`].
    #[must_use]
    pub fn responsibility(&self) -> Spread {
        Spread::of(self.responsibilities().values().iter().copied())
    }

    /// The listed quorums alone: those that are assigned to nodes, without the others of the same construction.
    #[must_use]
    pub fn listed(&self) -> Self {
        Self { rule: Rule::Assigned, ..self.clone() }
    }

    /// Whether the listed quorums are the whole family: every minimal quorum of the construction is assigned to a node.
    #[must_use]
    pub fn lists_every_quorum(&self) -> bool {
        if matches!(self.rule, Rule::Assigned) {
            return true;
        }
        // A family with more minimal quorums than nodes cannot be listed.
        let listed = coterie(self.assignment.values().to_vec());
        self.quorums_up_to(self.n()).is_some_and(|quorums| coterie(quorums) == listed)
    }

    /// Whether the system is a coterie as it is defined: no quorum contains another. Dropping the larger ones makes it one.
    #[must_use]
    pub fn is_coterie(&self) -> bool {
        match &self.rule {
            Rule::Assigned => is_coterie(self.assignment.values().to_vec()),
            Rule::Grid(grid) => is_coterie(grid.crosses().collect()),
            // Only the minimal sets count as quorums of votes, and those of a tree never contain each other.
            Rule::Votes(_) | Rule::Tree(_) => true,
            // The rows above a row of one node are needless.
            Rule::Wall(wall) => wall.widths().skip(1).all(|width| width >= 2),
        }
    }

    /// A quorum of live nodes by the construction's own rule, or `None` if the crashes leave none. It meets
    /// every assigned and every chosen quorum.
    #[must_use]
    pub fn choose(&self, alive: &NodeSet) -> Option<NodeSet> {
        match &self.rule {
            Rule::Assigned => self.assignment.values().iter().find(|quorum| quorum.is_subset(alive)).cloned(),
            Rule::Votes(votes) => votes.choose(alive),
            Rule::Grid(grid) => grid.choose(alive),
            Rule::Tree(tree) => tree.choose(alive),
            Rule::Wall(wall) => wall.choose(alive),
        }
    }

    /// All quorums that contain no other, or `None` if there are more than [`QuorumSystem::MOST_QUORUMS`].
    ///
    /// [`QuorumSystem::choose`] finds a quorum exactly if one of these is alive, and each quorum it returns
    /// contains one of these.
    #[must_use]
    pub fn quorums(&self) -> Option<Vec<NodeSet>> {
        self.quorums_up_to(Self::MOST_QUORUMS)
    }

    /// The same, with another limit.
    pub(crate) fn quorums_up_to(&self, most: usize) -> Option<Vec<NodeSet>> {
        match &self.rule {
            Rule::Assigned => Some(coterie(self.assignment.values().to_vec())),
            Rule::Votes(votes) => votes.quorums(most),
            Rule::Grid(grid) => Some(grid.quorums()),
            Rule::Tree(tree) => tree.quorums(most),
            Rule::Wall(wall) => wall.quorums(most),
        }
    }

    /// The size of the smallest quorum.
    #[must_use]
    pub fn smallest_quorum(&self) -> usize {
        self.structure().map_or_else(|| self.sizes().least, Structure::smallest_quorum)
    }

    /// How the nodes are arranged.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match &self.rule {
            Rule::Assigned if is_projective_plane(self.assignment.values()) => Shape::Plane,
            Rule::Assigned | Rule::Votes(_) => Shape::Sets,
            Rule::Grid(grid) => Shape::Grid((0..grid.height()).map(|row| grid.row(row).collect()).collect()),
            Rule::Wall(wall) => {
                Shape::Wall((0..wall.widths().len()).map(|row| wall.nodes(row).collect()).collect())
            }
            Rule::Tree(tree) => Shape::Tree(PerNode::from_fn(self.n(), |node| {
                let children = [tree.left(node.index()), tree.right(node.index())];
                children.into_iter().flatten().map(NodeId::new).collect()
            })),
        }
    }

    /// The rule's knowledge of all its quorums; `None` if only the assigned ones are quorums.
    pub(crate) fn structure(&self) -> Option<&dyn Structure> {
        match &self.rule {
            Rule::Assigned => None,
            Rule::Votes(votes) => Some(votes),
            Rule::Grid(grid) => Some(grid),
            Rule::Tree(tree) => Some(tree),
            Rule::Wall(wall) => Some(wall),
        }
    }

    /// A quorum of small weight: the lightest assigned one, or for votes a nearly lightest one.
    pub(crate) fn lightest_quorum(&self, weights: &[f64]) -> Lightest {
        if let Rule::Votes(votes) = &self.rule {
            return Lightest { quorum: votes.light_quorum(weights), is_lightest: false };
        }
        let weigh = |quorum: &NodeSet| -> f64 { quorum.iter().map(|node| weights[node.index()]).sum() };
        let weighed = self.assignment.values().iter().map(|quorum| (weigh(quorum), quorum));
        let lightest = weighed.min_by(|(one, _), (other, _)| one.total_cmp(other));
        let quorum = lightest.map(|(_, quorum)| quorum.clone()).unwrap_or_default();
        Lightest { quorum, is_lightest: matches!(self.rule, Rule::Assigned) }
    }

    /// The approximate number of steps of [`QuorumSystem::lightest_quorum`].
    pub(crate) fn work_of_lightest(&self) -> usize {
        match &self.rule {
            Rule::Votes(_) => 16 * self.n(),
            _ => self.n() + self.assignment.values().iter().map(NodeSet::len).sum::<usize>(),
        }
    }
}

fn assignment_and_rule(construction: &Construction, n: usize) -> Result<(PerNode<NodeSet>, Rule), Refusal> {
    Ok(match construction {
        Construction::Singleton(keeper) => (singleton::assignment(n, *keeper)?, Rule::Assigned),
        Construction::All => (all::assignment(n), Rule::Assigned),
        Construction::Majority => by_votes(majority::votes(n)?),
        Construction::Weighted(weights) => by_votes(Votes::new(weights, n)?),
        Construction::Grid => (Grid::new(n).assignment(), Rule::Grid(Grid::new(n))),
        Construction::Plane => (plane::assignment(n)?, Rule::Assigned),
        Construction::Truncated => (truncated::assignment(n)?, Rule::Assigned),
        Construction::Cyclic => (cyclic::assignment(n), Rule::Assigned),
        Construction::Tree => (Tree::new(n).assignment(), Rule::Tree(Tree::new(n))),
        Construction::Wall(widths) => by_wall(Wall::new(widths, n)?),
        Construction::Triangle => by_wall(triangle::wall(n)),
        Construction::Cwlog => by_wall(cwlog::wall(n)),
        Construction::File(text) => (file::assignment(text, n)?, Rule::Assigned),
    })
}

fn by_votes(votes: Votes) -> (PerNode<NodeSet>, Rule) {
    (votes.assignment(), Rule::Votes(votes))
}

fn by_wall(wall: Wall) -> (PerNode<NodeSet>, Rule) {
    (wall.assignment(), Rule::Wall(wall))
}

/// Whether every two quorums meet by construction, so that comparing millions of pairs would only cost time:
/// all are the same set, or each has more than half of the votes, or the cover was checked for every
/// difference.
fn meets_by_arithmetic(construction: &Construction) -> bool {
    match construction {
        Construction::Singleton(_) | Construction::All => true,
        Construction::Majority | Construction::Weighted(_) | Construction::Cyclic => true,
        Construction::Grid | Construction::Plane | Construction::Truncated | Construction::Tree => false,
        Construction::Wall(_) | Construction::Triangle | Construction::Cwlog | Construction::File(_) => false,
    }
}

impl Spread {
    fn of(numbers: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let sum: usize = numbers.clone().sum();
        Self {
            least: numbers.clone().min().unwrap_or(0),
            mean: sum as f64 / numbers.len().max(1) as f64,
            most: numbers.max().unwrap_or(0),
        }
    }
}
