//! The five protocols: what a process does before it is inside, and after. Each is written once, here, over `AtomicMemory`, and
//! nothing else in the crate knows how any of them works.
//!
//! A process is a number below `N`. The words of a protocol are its registers, in an order that `recorded` and the checker
//! share; all hold 0 at rest.
//!
//! A process that is alone should be fast in every program, however the compiler divides that program into parts. So `enter`
//! is always compiled into its caller, and a bakery does out of line (`#[cold]`, `#[inline(never)]`) what it does only if
//! another process is there. Such a function takes numbers and references into the lock, which travel in registers. A
//! condition or anything else on the stack travels by its address: a process would write it to the stack on every entry,
//! even if it never makes the call.

mod bakery;
mod black_white;
mod lamport_fast;
mod peterson;
mod tournament;

pub use bakery::Bakery;
pub use black_white::BlackWhiteBakery;
pub use lamport_fast::LamportFast;
pub use peterson::Peterson;
pub use tournament::Tournament;

use core::ops::Range;

use crate::memory::{AtomicMemory, AtomicRegister};
use crate::sealed::Sealed;

/// A protocol for `N` processes. Sealed: only those of this crate.
pub trait Protocol<const N: usize>: Sealed {
    /// What people call it.
    const NAME: &'static str;

    /// Its words at rest.
    #[cfg(not(doorway_loom))]
    const AT_REST: Self;

    /// Its words at rest.
    #[cfg(doorway_loom)]
    fn at_rest() -> Self;

    /// Its registers in the order of their numbers.
    fn registers(&self) -> impl Iterator<Item = &AtomicRegister>;

    /// The word that only process `me` writes and that is 0 exactly if it is neither inside nor on its way; nothing if there
    /// is no such word.
    fn own(&self, me: usize) -> Option<&AtomicRegister>;

    /// What process `me` does to get inside; it is inside when this returns.
    fn enter(&self, me: usize, memory: &impl AtomicMemory);

    /// Whether a process that leaves while another wants in gives way to it before it asks again. Where processes are
    /// served in the order in which they came it need not.
    const GIVES_WAY: bool;

    /// Whether process `me`, which is inside, finds at a glance that another wants in. Manners depend on it and nothing
    /// else, so it is none of the protocol's accesses, and it may err.
    #[inline]
    fn is_wanted(&self, _me: usize) -> bool {
        false
    }

    /// What process `me` does to leave.
    fn exit(&self, me: usize, memory: &impl AtomicMemory);
}

impl Sealed for Peterson {}
impl<const N: usize> Sealed for Tournament<N> {}
impl<const N: usize> Sealed for LamportFast<N> {}
impl<const N: usize> Sealed for Bakery<N> {}
impl<const N: usize> Sealed for BlackWhiteBakery<N> {}

/// A protocol that a process can begin and give up again within a number of accesses that depends on `N` alone.
pub trait TryProtocol<const N: usize>: Protocol<N> {
    /// Gets inside, or finds that another process was there or on its way; then nothing of the try is left.
    ///
    /// It first reads whether another process is there, and writes only if not. So a process that tries again and again
    /// does not delay the one that waits. (In a tournament that holds node by node: it may have written below the node at
    /// which it finds another process.)
    fn try_enter(&self, me: usize, memory: &impl AtomicMemory) -> bool;
}

/// What the word of a process of a bakery held. Smaller words go first; if two are equal, the smaller process does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    word: usize,
    process: usize,
}

/// All of these processes but one, in order.
#[inline]
fn others(me: usize, processes: Range<usize>) -> impl Iterator<Item = usize> {
    processes.filter(move |&other| other != me)
}
