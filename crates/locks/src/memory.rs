//! Shared memory as the protocols see it: words that are read and written whole, and barriers between accesses.
//!
//! Every protocol is written once, over [`AtomicMemory`]. Real locks run it on [`Atomics`], where each call is one instruction or
//! none; with `--cfg doorway_loom` the same atomics are loom's; the recorder of `recorded` writes each access down.
//!
//! Loads acquire and stores release. An access is never `SeqCst`: where a store must be seen before a later load looks, a
//! barrier stands between them, and nothing else is needed. (Loom reads a `SeqCst` access as a weaker one, so that locks
//! which relied on it could not be checked.)

#[cfg(not(doorway_loom))]
use core::sync::atomic::{AtomicUsize, Ordering, fence};
#[cfg(doorway_loom)]
use loom::sync::atomic::{AtomicUsize, Ordering, fence};

use crate::Wait;

/// What a protocol can do with shared memory.
pub trait AtomicMemory {
    /// Reads a word.
    fn load(&self, word: &AtomicRegister) -> usize;

    /// Writes a word.
    fn store(&self, word: &AtomicRegister, value: usize);

    /// The last value that this process wrote into a word that only it writes. It stands for a local variable, and is no
    /// access to shared memory.
    fn recall(&self, word: &AtomicRegister) -> usize;

    /// A process that passes a barrier later sees all stores before this one. The number tells a protocol's barriers apart,
    /// from 1, so that a test can leave one out.
    fn barrier(&self, number: usize);

    /// Returns when the condition has been found true. A condition should own what it needs (`move`): what it only borrows
    /// must lie in memory, and is written there even by those that need not wait.
    fn wait_until(&self, ready: impl FnMut() -> bool);

    /// Stands after every store that can make a condition true for which a process waits. The number tells a protocol's
    /// wake-ups apart: 1 on the way in or back, 2 on leaving.
    fn wake(&self, number: usize);
}

/// One register.
pub struct AtomicRegister(AtomicUsize);

/// A word, or what it is given, on a cache line of its own.
#[repr(align(64))]
pub struct Padded<V>(pub V);

/// The memory of this machine, and how to wait in it. It is a part of the lock, so that a reference to it is a place in the
/// lock; if it were made for each entry, each entry would write it to the stack.
pub struct Atomics<W>(pub W);

impl AtomicRegister {
    at_rest_fn! {
        /// A word that holds 0.
        pub fn zero() -> Self {
            Self(AtomicUsize::new(0))
        }
    }

    /// Reads the word where no other process writes it at the same time.
    #[inline]
    pub fn peek(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Writes the word where no other process uses it at the same time.
    #[inline]
    pub fn put(&self, value: usize) {
        self.0.store(value, Ordering::Relaxed);
    }
}

impl<W: Wait> Atomics<W> {
    /// Asks on after a first no, away from the path of those that need not wait. The loop is here and not in `Wait`, so
    /// that no way of waiting can let a process through too early.
    #[cold]
    #[inline(never)]
    fn wait_longer(&self, mut ready: impl FnMut() -> bool) {
        let on_its_way = OnItsWay;
        let mut tries = 0;
        loop {
            self.0.pause(tries, &mut ready);
            if ready() {
                break;
            }
            tries = tries.saturating_add(1);
        }
        core::mem::forget(on_its_way);
    }
}

/// A process that others can see. It cannot be abandoned there, as no other could clear up after it without harm to those
/// inside; so a way to wait that panics ends the program: a panic while another unwinds aborts.
struct OnItsWay;

impl Drop for OnItsWay {
    fn drop(&mut self) {
        // Under loom a test may end a process there, and does not use it again.
        #[cfg(not(doorway_loom))]
        panic!("the way to wait of a lock panicked while a process was on its way; the program cannot go on");
    }
}

impl<W: Wait> AtomicMemory for Atomics<W> {
    #[inline]
    fn load(&self, word: &AtomicRegister) -> usize {
        word.0.load(Ordering::Acquire)
    }

    #[inline]
    fn store(&self, word: &AtomicRegister, value: usize) {
        word.0.store(value, Ordering::Release);
    }

    #[inline]
    fn recall(&self, word: &AtomicRegister) -> usize {
        word.peek()
    }

    #[inline]
    fn barrier(&self, number: usize) {
        #[cfg(doorway_loom)]
        if self.0.omits(number) {
            return;
        }
        let _ = number;
        fence(Ordering::SeqCst);
    }

    #[inline]
    fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        if !ready() {
            self.wait_longer(ready);
        }
    }

    #[inline]
    fn wake(&self, number: usize) {
        #[cfg(doorway_loom)]
        if self.0.omits_wake(number) {
            return;
        }
        let _ = number;
        let on_its_way = OnItsWay;
        self.0.wake();
        core::mem::forget(on_its_way);
    }
}
