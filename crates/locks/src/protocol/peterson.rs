//! Peterson's algorithm for two processes.
//!
//! G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12 (1981).
//!
//! Each process has a flag, and both share the turn. A process that wants in raises its flag; if both have, the one that
//! was the later to write the turn waits.
//!
//! This is the variant that writes the turn only if the other's flag is up. Alone it costs one barrier and three accesses;
//! where both are there it needs a second barrier, after the turn. Starvation-free: once a process has written the turn, the
//! other does not enter twice before it.

use super::{Protocol, TryProtocol};
use crate::memory::{AtomicMemory, AtomicRegister};

/// The registers: `flag[0]`, `flag[1]`, `turn`, on one cache line.
#[repr(align(64))]
pub struct Peterson {
    /// 1 if the process wants in or is inside.
    flag: [AtomicRegister; 2],
    /// Who was the last to yield.
    turn: AtomicRegister,
}

impl Protocol<2> for Peterson {
    const NAME: &'static str = "Peterson";

    const GIVES_WAY: bool = true;

    at_rest!(Self { flag: array!(AtomicRegister::zero()), turn: AtomicRegister::zero() });

    fn registers(&self) -> impl Iterator<Item = &AtomicRegister> {
        self.flag.iter().chain([&self.turn])
    }

    #[inline]
    fn own(&self, me: usize) -> Option<&AtomicRegister> {
        Some(&self.flag[me & 1])
    }

    #[inline(always)]
    fn enter(&self, me: usize, memory: &impl AtomicMemory) {
        if self.raise_flag(me, memory) {
            memory.wait_until(move || self.may_enter(me, memory));
        }
    }

    #[inline]
    fn is_wanted(&self, me: usize) -> bool {
        self.flag_of_other(me).peek() != 0
    }

    #[inline]
    fn exit(&self, me: usize, memory: &impl AtomicMemory) {
        self.lower_flag(me, memory);
        memory.wake(2);
    }
}

impl TryProtocol<2> for Peterson {
    #[inline]
    fn try_enter(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        if memory.load(self.flag_of_other(me)) == 1 {
            return false;
        }
        let is_in = !self.raise_flag(me, memory) || self.may_enter(me, memory);
        if !is_in {
            self.exit(me, memory);
        }
        is_in
    }
}

impl Peterson {
    /// Says that the process wants in. If the other does too it yields, and has to wait until it may enter.
    #[inline]
    fn raise_flag(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        memory.store(&self.flag[me & 1], 1);
        memory.barrier(1);
        if memory.load(self.flag_of_other(me)) == 0 {
            return false;
        }
        memory.store(&self.turn, me & 1);
        memory.barrier(2);
        memory.wake(1);
        true
    }

    /// Whether the other does not want in, or was the last to yield.
    #[inline]
    fn may_enter(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        memory.load(self.flag_of_other(me)) == 0 || memory.load(&self.turn) != me & 1
    }

    /// Leaves, without a word to those who sleep.
    #[inline]
    pub(super) fn lower_flag(&self, me: usize, memory: &impl AtomicMemory) {
        memory.store(&self.flag[me & 1], 0);
    }

    #[inline]
    fn flag_of_other(&self, me: usize) -> &AtomicRegister {
        &self.flag[(me & 1) ^ 1]
    }
}
