//! The trees on which Raymond's algorithm can run.
//!
//! A tree in a file is one edge a line, two node numbers with a blank between them; `#` begins a comment.

use doorway_core::{Members, NodeId, NodeSet, Options, Parameter, Refusal};

/// The parameter that chooses a tree.
pub const TREE: Parameter = Parameter {
    name: "tree",
    default: "binary",
    help: "who is whose neighbour: star, chain, binary, random[:SEED], elected or file:PATH",
};

/// A way to make a tree of any number of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// The first node is the neighbour of all others.
    Star,
    /// Each node is the neighbour of the next.
    Chain,
    /// Node i is the parent of 2i and 2i + 1, as in a heap.
    Binary,
    /// Each node has a neighbour among those before it, drawn from a seed.
    Random(u64),
    /// The edges of a file.
    Given(String),
}

impl TreeKind {
    /// The tree that was chosen, or a binary one.
    ///
    /// # Errors
    /// If there is no such tree.
    pub fn chosen(options: &Options) -> Result<Self, Refusal> {
        let choice = options.choice(&TREE);
        if let Some(text) = choice.file {
            return Ok(TreeKind::Given(text));
        }
        match choice.word.split_once(':').unwrap_or((&choice.word, "")) {
            ("star", "") => Ok(TreeKind::Star),
            ("chain", "") => Ok(TreeKind::Chain),
            ("binary", "") => Ok(TreeKind::Binary),
            ("random", "") => Ok(TreeKind::Random(1)),
            ("random", seed) => {
                let refusal =
                    |_| Refusal::new(format!("{seed:?} is not a seed for a random tree: give a number"));
                seed.parse().map(TreeKind::Random).map_err(refusal)
            }
            _ => {
                let known = "star, chain, binary, random[:SEED], elected or file:PATH";
                Err(Refusal::new(format!("there is no tree {:?}: {known}", choice.word)))
            }
        }
    }

    /// The tree for these members.
    ///
    /// # Errors
    /// If the edges of a file are not a tree of these members.
    pub fn build(&self, members: &Members) -> Result<Tree, Refusal> {
        let parent = |index: usize| match self {
            TreeKind::Star => 0,
            TreeKind::Chain => index - 1,
            TreeKind::Binary => (index - 1) / 2,
            TreeKind::Random(seed) => (scramble(*seed, index) % index as u64) as usize,
            TreeKind::Given(_) => unreachable!("a given tree is read from its edges"),
        };
        if let TreeKind::Given(text) = self {
            return Tree::from_edges(text, members);
        }
        let parent_of = |index| (index > 0).then(|| NodeId::new(parent(index)));
        Ok(Tree { parents: (0..members.n()).map(parent_of).collect() })
    }
}

/// A rooted tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    parents: Box<[Option<NodeId>]>,
}

impl Tree {
    /// The neighbour of `me` in the direction of `target`, or of the root if there is none; `me` itself if it is that.
    #[must_use]
    pub fn towards(&self, me: NodeId, target: Option<NodeId>) -> NodeId {
        let parent = |node: NodeId| self.parents[node.index()];
        if target == Some(me) {
            return me;
        }
        let mut path = std::iter::successors(target, |&node| parent(node));
        let child_on_path = path.find(|&node| parent(node) == Some(me));
        child_on_path.or(parent(me)).unwrap_or(me)
    }

    /// The parent of a node; none if it is the root.
    #[must_use]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.parents[node.index()]
    }

    /// The children of a node.
    #[must_use]
    pub fn children(&self, node: NodeId) -> NodeSet {
        NodeId::first(self.parents.len()).filter(|&child| self.parent(child) == Some(node)).collect()
    }

    /// The number of edges from a node to the root.
    #[must_use]
    pub fn depth(&self, node: NodeId) -> usize {
        self.path_to_root(node).count() - 1
    }

    /// The number of edges between two nodes.
    #[must_use]
    pub fn distance(&self, from: NodeId, to: NodeId) -> usize {
        let above: Vec<NodeId> = self.path_to_root(to).collect();
        let meet = |(up, node): (usize, NodeId)| Some(up + above.iter().position(|&other| other == node)?);
        self.path_to_root(from).enumerate().find_map(meet).unwrap_or(0)
    }

    /// The distance from a node to the farthest one.
    #[must_use]
    pub fn eccentricity(&self, node: NodeId) -> usize {
        NodeId::first(self.parents.len()).map(|other| self.distance(node, other)).max().unwrap_or(0)
    }

    /// The largest distance between two nodes.
    #[must_use]
    pub fn diameter(&self) -> usize {
        NodeId::first(self.parents.len()).map(|node| self.eccentricity(node)).max().unwrap_or(0)
    }

    fn path_to_root(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(node), |&node| self.parent(node))
    }

    fn from_edges(text: &str, members: &Members) -> Result<Self, Refusal> {
        let n = members.n();
        let mut neighbours = vec![Vec::new(); n];
        let mut edges = 0;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => continue,
                [from, to] => {
                    let (from, to) = (member(from, members, number)?, member(to, members, number)?);
                    neighbours[from.index()].push(to);
                    neighbours[to.index()].push(from);
                    edges += 1;
                }
                _ => {
                    let sentence = format!("line {number} of the tree is not an edge: two node numbers are");
                    return Err(Refusal::new(sentence));
                }
            }
        }
        if edges != n - 1 {
            return Err(Refusal::new(format!("a tree of {n} nodes has {} edges, not {edges}", n - 1)));
        }
        Self::rooted(&neighbours)
    }

    /// The tree with these edges and the first node as its root.
    fn rooted(neighbours: &[Vec<NodeId>]) -> Result<Self, Refusal> {
        let root = NodeId::new(0);
        let mut parents = vec![None; neighbours.len()];
        let mut reached = vec![root];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &child in &neighbours[node.index()] {
                if child != root && parents[child.index()].is_none() {
                    parents[child.index()] = Some(node);
                    reached.push(child);
                }
            }
        }
        match NodeId::first(neighbours.len()).skip(1).find(|node| parents[node.index()].is_none()) {
            Some(node) => {
                Err(Refusal::new(format!("the edges are no tree: node {node} cannot be reached from node 1")))
            }
            None => Ok(Self { parents: parents.into_boxed_slice() }),
        }
    }
}

fn member(word: &str, members: &Members, line: usize) -> Result<NodeId, Refusal> {
    let node = word.parse().ok().and_then(NodeId::from_number).filter(|&node| members.contains(node));
    node.ok_or_else(|| {
        Refusal::new(format!("line {line} of the tree names {word:?}: nodes are 1 to {}", members.n()))
    })
}

/// A number that looks drawn by lot and depends on nothing but the seed and the place (splitmix64: G. L. Steele,
/// D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014).
fn scramble(seed: u64, place: usize) -> u64 {
    let mut mixed = seed.wrapping_add((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(n: usize) -> Members {
        Members::new(n).expect("at least one node")
    }

    fn node(number: u32) -> NodeId {
        NodeId::from_number(number).expect("numbers count from 1")
    }

    #[test]
    fn from_every_node_the_steps_towards_any_target_lead_there() {
        let kinds = [TreeKind::Star, TreeKind::Chain, TreeKind::Binary, TreeKind::Random(7)];
        for (kind, n) in kinds.iter().flat_map(|kind| [1, 2, 7, 20].map(|n| (kind, n))) {
            let tree = kind.build(&members(n)).expect("these exist for every N");
            for (from, target) in NodeId::first(n).flat_map(|from| NodeId::first(n).map(move |to| (from, to)))
            {
                let mut at = from;
                let steps = (0..n).take_while(|_| {
                    at = tree.towards(at, Some(target));
                    at != target
                });
                assert!(steps.count() < n, "{kind:?} of {n}: {from} does not reach {target}");
            }
        }
    }

    #[test]
    fn a_given_tree_is_read_from_its_edges() {
        let tree =
            TreeKind::Given("3 1 # the root need not come first\n\n2 3\n".to_owned()).build(&members(3));
        let tree = tree.expect("two edges join three nodes");
        assert_eq!(tree.towards(node(2), None), node(3));
        assert_eq!(tree.towards(node(1), Some(node(2))), node(3));
    }

    #[test]
    fn distances_are_counted_in_edges() {
        let tree = TreeKind::Binary.build(&members(7)).expect("it exists for every N");
        let far: Vec<usize> = NodeId::first(7).map(|other| tree.distance(node(4), other)).collect();
        assert_eq!(far, [2, 1, 3, 0, 2, 4, 4]);
        assert_eq!((tree.parent(node(5)), tree.depth(node(5))), (Some(node(2)), 2));
        assert_eq!(tree.children(node(3)), [node(6), node(7)].into_iter().collect());
        assert_eq!((tree.eccentricity(node(1)), tree.diameter()), (2, 4));
    }

    #[test]
    fn edges_that_are_no_tree_are_refused_in_one_sentence() {
        let refusal = |text: &str| {
            TreeKind::Given(text.to_owned()).build(&members(3)).expect_err("not a tree").to_string()
        };
        assert_eq!(refusal("1 2"), "a tree of 3 nodes has 2 edges, not 1");
        assert_eq!(refusal("1 2\n2 1"), "the edges are no tree: node 3 cannot be reached from node 1");
        assert_eq!(refusal("1 2\n2 4"), "line 2 of the tree names \"4\": nodes are 1 to 3");
        assert_eq!(refusal("1 0"), "line 1 of the tree names \"0\": nodes are 1 to 3");
        assert_eq!(refusal("1 2 3"), "line 1 of the tree is not an edge: two node numbers are");
    }
}
