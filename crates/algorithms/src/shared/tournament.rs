//! The tournament of Peterson and Fischer.
//!
//! G. L. Peterson, M. J. Fischer, "Economical solutions for the critical section problem in a distributed system", STOC
//! 1977.
//!
//! The processes are the leaves of a binary tree, and at each of its nodes a lock for two is played: the winner goes
//! up, and the winner of the root is inside. On its way out a process gives the nodes back in the other order, root
//! first: if it began at its leaf, it would let the next process up from below, and then take that one's flag down at a
//! node above.
//!
//! Registers: those of the lock for two, at each of 2^d − 1 nodes, where d is ⌈log₂ n⌉ and at least 1. Alone: what the
//! lock costs, d times: 3d writes and d reads with Peterson's. It is free of starvation if its lock is; but not first
//! come, first served, and while one waits, others from the other half of the tree may go in any number of times. Total
//! store order: the barriers of the lock, at every level.
//!
//! Here the lock can be chosen: Peterson's, its variant for processes that are often alone, or one in which a process
//! can starve. If n is no power of two, some leaves stay empty.
//!
//! The program is that of the chosen lock, played at each node from the leaf up, and left from the root down: what it
//! calls flag and turn are `want[v]` and `turn[v]` at node v of the tree. Lines 1 to 6 are Peterson's, 7 to 14 those
//! of unless-alone, 15 to 29 those of Lamport's fast algorithm, over which the tournament lets one starve.

use std::ops::Range;

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Snapshot,
    Team,
};
use doorway_core::{Field, Members, NodeId, Options, Refusal};
use serde::Serialize;

use super::two_process::{Game, LOCK, TwoProcess};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Tournament<P> {
    /// Its leaf: the root is 1, and below v are 2v and 2v + 1.
    leaf: usize,
    /// How many registers a node has.
    width: usize,
    /// Its part in the game at each node on its way, the lowest first.
    parts: Vec<P>,
    /// The level at which it plays, or which it gives back next.
    pub(crate) level: usize,
    /// Whether it has won the root.
    pub(crate) has_won: bool,
}

impl<P: Program> Tournament<P> {
    /// Process `me` in a tree of `levels`, with `width` registers at each node; `side` makes the player of either side.
    pub fn new(me: NodeId, levels: usize, width: usize, side: impl Fn(NodeId) -> P) -> Self {
        let leaf = (1 << levels) + me.index();
        let parts = (0..levels).map(|level| side(NodeId::new(leaf >> level & 1))).collect();
        Self { leaf, width, parts, level: 0, has_won: false }
    }

    /// How many games it must win.
    pub(crate) fn levels(&self) -> usize {
        self.parts.len()
    }

    /// The node at which it plays at a level.
    fn node(&self, level: usize) -> usize {
        self.leaf >> (level + 1)
    }

    /// The next step of its game at a level.
    pub(crate) fn play(&mut self, level: usize, memory: &mut impl Memory) -> Progress {
        let first = (self.node(level) - 1) * self.width;
        self.parts[level].step(&mut AtNode { memory, first })
    }

    /// Whether it has the node of this level and another above.
    fn has_passed(&self, node: usize) -> bool {
        (0..self.level).any(|level| self.node(level) == node)
    }
}

impl<P: Program> Program for Tournament<P> {
    const LINES: &'static [&'static str] = P::LINES;

    fn line(&self) -> usize {
        self.parts[self.level].line()
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let progress = self.play(self.level, memory);
        match progress {
            Progress::Enter if self.level + 1 < self.levels() => {
                self.level += 1;
                Progress::Doorway
            }
            Progress::Exit if self.level > 0 => {
                self.level -= 1;
                Progress::Step
            }
            Progress::Enter | Progress::Exit => {
                self.has_won = progress == Progress::Enter;
                progress
            }
            Progress::Step | Progress::Wait | Progress::Doorway => progress,
        }
    }

    fn fields(&self) -> Vec<Field> {
        let place = [Field::new("level", self.level), Field::new("node", self.node(self.level))];
        place.into_iter().chain(self.parts[self.level].fields()).collect()
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant { name: NODES_PASSED_ALONE, holds: are_apart }]
    }
}

/// The invariant of every tournament.
pub const NODES_PASSED_ALONE: &str = "no two processes have passed the same node of the tree";

fn are_apart<P: Program>(snapshot: &Snapshot<'_, Tournament<P>>) -> bool {
    let nodes = 1..snapshot.processes.first().map_or(1, |first| first.program().leaf);
    let passed =
        |node: usize| snapshot.processes.iter().filter(|process| process.program().has_passed(node)).count();
    nodes.into_iter().all(|node| passed(node) <= 1)
}

/// The registers of one node of the tree, as if there were no others.
struct AtNode<'a, M> {
    memory: &'a mut M,
    /// The first of them.
    first: usize,
}

impl<M: Memory> Memory for AtNode<'_, M> {
    fn load(&mut self, register: Register) -> u64 {
        self.memory.load(Register::new(self.first + register.index()))
    }

    fn store(&mut self, register: Register, value: u64) {
        self.memory.store(Register::new(self.first + register.index()), value);
    }

    fn barrier(&mut self) {
        self.memory.barrier();
    }

    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        let among = self.first + among.start..self.first + among.end;
        self.memory.store_next(among, Register::new(self.first + into.index()))
    }
}

/// The levels of a tree for `n` processes. One process alone plays against an empty place: it would have no access to make.
pub(crate) fn levels(n: usize) -> usize {
    n.max(2).next_power_of_two().ilog2() as usize
}

/// The registers of all nodes, node by node: `flag[0]` is `want[3][0]` at node 3, and `turn` is `turn[3]`.
fn registers(levels: usize, of_node: &[Cell]) -> Vec<Cell> {
    let at = |node: usize, cell: &Cell| {
        let name = cell.name.replace("flag", "want");
        let end = name.find('[').unwrap_or(name.len());
        Cell::new(format!("{}[{node}]{}", &name[..end], &name[end..]), cell.values)
    };
    (1..1 << levels).flat_map(|node| of_node.iter().map(move |cell| at(node, cell))).collect()
}

/// The team for the chosen lock.
pub(crate) fn team<P: Program>(
    options: &Options,
    members: &Members,
    make: impl Fn(Tournament<TwoProcess>) -> P + Send + Sync + 'static,
) -> Result<Team<P>, Refusal> {
    let Game { registers: of_node, make: side } = Game::chosen(options)?;
    let (levels, width) = (levels(members.n()), of_node.len());
    let registers = registers(levels, &of_node);
    Ok(Team::new(members, registers, move |me| make(Tournament::new(me, levels, width, side))))
}

/// Its description in the catalog.
pub(crate) const ABOUT: AboutProgram = AboutProgram {
    name: "tournament",
    title: "Tournament",
    promise: Fairness::NobodyStarves,
    parameters: &[LOCK],
    variants: &[(LOCK.name, "unless-alone"), (LOCK.name, "lamport-fast")],
    source: include_str!("tournament.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<Tournament<TwoProcess>> {
    ProgramEntry { about: ABOUT, bind: |options, members| team(options, members, |tournament| tournament) }
}
