//! Lamport's fast mutual exclusion: seven accesses without contention, for any number of processes.
//!
//! L. Lamport, "A fast mutual exclusion algorithm", ACM Transactions on Computer Systems 5 (1987).
//!
//! A process writes its number into x, looks whether y is free, writes its number into y, and is inside if x is still its
//! own. Otherwise others came at the same time: it waits until none of them is on its way, and the last that wrote y is in.
//!
//! Alone it costs two barriers, after x and after y. Deadlock-free, but a process may starve. A try that has written y
//! cannot be given up: y may be freed only when the process that it let in has left. So there is no try.

use super::Protocol;
use crate::memory::{AtomicMemory, AtomicRegister};

/// The registers: `x`, `y`, then `want[i]` for each process. Processes stand in x and y as 1 to n; 0 is free.
#[repr(align(64))]
pub struct LamportFast<const N: usize> {
    /// The last that asked.
    x: AtomicRegister,
    /// The process that is inside, or the last that may be; 0 if the section is free.
    y: AtomicRegister,
    /// 1 from before a process writes x until it is out again or steps back.
    want: [AtomicRegister; N],
}

impl<const N: usize> Protocol<N> for LamportFast<N> {
    const NAME: &'static str = "LamportFast";

    const GIVES_WAY: bool = true;

    at_rest!(Self {
        x: AtomicRegister::zero(),
        y: AtomicRegister::zero(),
        want: array!(AtomicRegister::zero())
    });

    fn registers(&self) -> impl Iterator<Item = &AtomicRegister> {
        [&self.x, &self.y].into_iter().chain(&self.want)
    }

    /// None: on the slow path `want` is 0 inside.
    #[inline]
    fn own(&self, _me: usize) -> Option<&AtomicRegister> {
        None
    }

    #[inline(always)]
    fn enter(&self, me: usize, memory: &impl AtomicMemory) {
        let id = me + 1;
        loop {
            memory.store(&self.want[me], 1);
            memory.store(&self.x, id);
            memory.barrier(1);
            if memory.load(&self.y) == 0 {
                memory.store(&self.y, id);
                memory.barrier(2);
                if memory.load(&self.x) == id || self.is_last(me, memory) {
                    return;
                }
            } else {
                self.step_back(me, memory);
            }
            memory.wait_until(move || memory.load(&self.y) == 0);
        }
    }

    #[inline]
    fn is_wanted(&self, me: usize) -> bool {
        self.x.peek() != me + 1
    }

    #[inline]
    fn exit(&self, me: usize, memory: &impl AtomicMemory) {
        memory.store(&self.y, 0);
        memory.store(&self.want[me], 0);
        memory.wake(2);
    }
}

impl<const N: usize> LamportFast<N> {
    /// The slow path, for one that found x overwritten: whether it was the last to write y, once no other wants in.
    #[cold]
    fn is_last(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        self.step_back(me, memory);
        for word in &self.want {
            memory.wait_until(move || memory.load(word) == 0);
        }
        memory.load(&self.y) == me + 1
    }

    #[inline]
    fn step_back(&self, me: usize, memory: &impl AtomicMemory) {
        memory.store(&self.want[me], 0);
        memory.wake(1);
    }
}
