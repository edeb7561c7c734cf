//! A tournament of Peterson's algorithm: n processes are the leaves of a binary tree, and the winner of a node goes on to
//! its parent.
//!
//! G. L. Peterson and M. J. Fischer, "Economical solutions for the critical section problem in a distributed system",
//! STOC 1977; as a tree of two-process locks in J. L. W. Kessels, "Arbitration without common modifiable variables", 1982.
//!
//! With d = ⌈log₂ n⌉ levels and 2^d leaves, process i stands at leaf 2^d + i of a heap that is numbered from 1. At the node
//! above it plays for the side of the child that it came from. A process leaves from the root down: a node given back while
//! its parent is still held would let a second process of the same side go to that parent.
//!
//! Alone it costs d barriers and 3d accesses. Starvation-free, but a process may be overtaken any number of times.

use super::{Peterson, Protocol, TryProtocol};
use crate::memory::{AtomicMemory, AtomicRegister};

/// The registers: for each node of the tree, from the root down, `want[node][0]`, `want[node][1]`, `turn[node]`.
pub struct Tournament<const N: usize> {
    /// Node v of the heap is at `[v / 2][v % 2]`: fewer than 2n nodes, and no type can say 2^d.
    nodes: [[Peterson; 2]; N],
}

impl<const N: usize> Protocol<N> for Tournament<N> {
    const NAME: &'static str = "Tournament";

    const GIVES_WAY: bool = true;

    at_rest!(Self { nodes: array!([node_at_rest(), node_at_rest()]) });

    fn registers(&self) -> impl Iterator<Item = &AtomicRegister> {
        (1..Self::LEAVES).flat_map(|node| self.node(node).registers())
    }

    #[inline]
    fn own(&self, me: usize) -> Option<&AtomicRegister> {
        let (leaf, side) = self.place(me, 0);
        if Self::LEVELS > 0 { leaf.own(side) } else { None }
    }

    #[inline(always)]
    fn enter(&self, me: usize, memory: &impl AtomicMemory) {
        for level in 0..Self::LEVELS {
            let (node, side) = self.place(me, level);
            node.enter(side, memory);
        }
    }

    #[inline]
    fn is_wanted(&self, me: usize) -> bool {
        (0..Self::LEVELS).fold(false, |is_wanted, level| {
            let (node, side) = self.place(me, level);
            is_wanted | node.is_wanted(side)
        })
    }

    #[inline]
    fn exit(&self, me: usize, memory: &impl AtomicMemory) {
        self.leave_below(Self::LEVELS, me, memory);
    }
}

impl<const N: usize> TryProtocol<N> for Tournament<N> {
    fn try_enter(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        for level in 0..Self::LEVELS {
            let (node, side) = self.place(me, level);
            if !node.try_enter(side, memory) {
                self.leave_below(level, me, memory);
                return false;
            }
        }
        true
    }
}

impl<const N: usize> Tournament<N> {
    const LEAVES: usize = N.next_power_of_two();
    const LEVELS: u32 = Self::LEAVES.ilog2();

    /// The node at which a process plays on this level, 0 being next to the leaves, and its side there.
    #[inline]
    fn place(&self, me: usize, level: u32) -> (&Peterson, usize) {
        let child = (Self::LEAVES + me) >> level;
        (self.node(child / 2), child & 1)
    }

    #[inline]
    fn node(&self, number: usize) -> &Peterson {
        &self.nodes[number / 2][number % 2]
    }

    /// Gives back the nodes below a level, the one next to the root first.
    #[inline]
    fn leave_below(&self, level: u32, me: usize, memory: &impl AtomicMemory) {
        for level in (0..level).rev() {
            let (node, side) = self.place(me, level);
            node.lower_flag(side, memory);
        }
        memory.wake(2);
    }
}

#[cfg(not(doorway_loom))]
const fn node_at_rest() -> Peterson {
    Peterson::AT_REST
}

#[cfg(doorway_loom)]
fn node_at_rest() -> Peterson {
    Peterson::at_rest()
}
