//! How a process waits: a type parameter of every lock, never a cargo feature.
//!
//! A process that cannot go on asks again and again. [`Wait::pause`] says what it does between two questions. The protocol
//! calls [`Wait::wake`] after every store that can change an answer, so that a process may also sleep.

#[cfg(not(doorway_loom))]
use core::hint::spin_loop;
#[cfg(doorway_loom)]
use loom::hint::spin_loop;

/// How a process waits. Exclusion does not depend on it: whatever `pause` does, the process asks again before it goes on.
///
/// Neither `pause` nor `wake` may panic: a process that is on its way cannot be abandoned, so the program is aborted.
pub trait Wait {
    /// What to do after the answer was no for the `tries`-th time in a row, counted from 0. It may ask `ready` itself,
    /// and must return when that is true.
    fn pause(&self, tries: u32, ready: impl FnMut() -> bool);

    /// Called after every store by which a process that waits may become able to go on.
    fn wake(&self) {}

    /// What a process does before it asks again, if another wanted in when it left; the number counts how often it has
    /// been so for this process, from 1. Unless one says otherwise it hesitates for as long as a cache line travels.
    ///
    /// Otherwise it would take the line back while the other is reading that it may enter, and the other would learn it a
    /// transfer later. Only the locks that do not serve in the order of coming call it, and never for a try.
    fn give_way(&self, _courtesies: u32) {
        hesitate();
    }

    /// Whether the lock leaves out its wake-up of this number, which a proof wants to see fail.
    #[cfg(doorway_loom)]
    #[doc(hidden)]
    fn omits_wake(&self, _number: usize) -> bool {
        false
    }

    /// Whether the lock leaves out its barrier of this number, which a proof wants to see fail.
    #[cfg(doorway_loom)]
    #[doc(hidden)]
    fn omits(&self, _barrier: usize) -> bool {
        false
    }
}

/// How many of the processor's pauses a cache line takes to travel. Under loom every pause is a longer proof.
const JOURNEY: u32 = if cfg!(doorway_loom) { 0 } else { 3 };

fn hesitate() {
    for _ in 0..JOURNEY {
        spin_loop();
    }
}

/// What a lock does unless one says otherwise: [`SpinThenYield`] with `std`, else [`Spin`].
#[cfg(feature = "std")]
pub type DefaultWait = SpinThenYield;
/// What a lock does unless one says otherwise: `SpinThenYield` with `std`, else [`Spin`].
#[cfg(not(feature = "std"))]
pub type DefaultWait = Spin;

/// Asks without end, with the processor's hint between two questions. Right if every process has a processor of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin;

impl Wait for Spin {
    #[inline]
    fn pause(&self, _tries: u32, _ready: impl FnMut() -> bool) {
        spin_loop();
    }
}

#[cfg(feature = "std")]
pub use with_threads::{Park, SpinThenYield};

/// The ways that need an operating system.
#[cfg(feature = "std")]
mod with_threads {
    #[cfg(doorway_loom)]
    use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    #[cfg(doorway_loom)]
    use loom::sync::{Condvar, Mutex};
    #[cfg(doorway_loom)]
    use loom::thread::yield_now;
    use std::fmt;
    use std::sync::PoisonError;
    #[cfg(not(doorway_loom))]
    use std::sync::atomic::{AtomicUsize, Ordering, fence};
    #[cfg(not(doorway_loom))]
    use std::sync::{Condvar, Mutex};
    #[cfg(not(doorway_loom))]
    use std::thread::yield_now;

    use super::{Wait, hesitate, spin_loop};

    /// How often a process asks before it lets others use its processor: long enough for a hand-over between two
    /// processors, short enough to be nothing beside a time slice. Under loom every question more is a longer proof.
    const SPINS: u32 = if cfg!(doorway_loom) { 0 } else { 100 };

    /// Whether to keep the processor after this many tries.
    #[inline]
    fn is_early(tries: u32) -> bool {
        (0..SPINS).contains(&tries)
    }

    /// How often a process that gives way only hesitates, until it offers its processor once: so seldom that the offer costs
    /// little where every process has a processor of its own, and so often that elsewhere no process waits for the end of
    /// another's time slice.
    const CUSTOM: u32 = 64;

    /// Those who find the lock free again and again never wait, and so never yield; here they do, now and then.
    fn hesitate_or_yield(courtesies: u32) {
        if is_time_to_yield(courtesies) { yield_now() } else { hesitate() }
    }

    fn is_time_to_yield(courtesies: u32) -> bool {
        courtesies.is_multiple_of(CUSTOM)
    }

    /// Asks a hundred times, then offers the processor to another thread before each question. Right in most programs,
    /// and the default with `std`.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SpinThenYield;

    impl Wait for SpinThenYield {
        #[inline]
        fn pause(&self, tries: u32, _ready: impl FnMut() -> bool) {
            if is_early(tries) { spin_loop() } else { yield_now() }
        }

        fn give_way(&self, courtesies: u32) {
            hesitate_or_yield(courtesies);
        }
    }

    /// Asks a hundred times, then sleeps until another process changes what it waits for. Right where waits are long.
    ///
    /// It costs every store that may wake others a barrier, and the sleep itself is the operating system's: with this way
    /// of waiting a lock no longer stands on reads and writes alone.
    ///
    /// No wake-up is lost. A process that goes to sleep counts itself, passes a barrier and asks once more; one that
    /// changes something passes a barrier and then reads the count. One of the two barriers comes first, so either the
    /// sleeper sees the change or the other sees the sleeper, and then waits at the gate until the sleeper sleeps.
    pub struct Park {
        /// How many sleep or are about to; written only by who holds the gate.
        sleepers: AtomicUsize,
        gate: Mutex<()>,
        bell: Condvar,
        /// The barrier that a proof leaves out: 1 before sleep, 2 before a wake-up.
        #[cfg(doorway_loom)]
        omitted: usize,
    }

    impl Park {
        at_rest_fn! {
            /// A way to wait without sleepers.
            #[must_use]
            pub fn new() -> Self {
                Self {
                    sleepers: AtomicUsize::new(0),
                    gate: Mutex::new(()),
                    bell: Condvar::new(),
                    #[cfg(doorway_loom)]
                    omitted: 0,
                }
            }
        }

        /// One that leaves out a barrier, which a proof wants to see fail.
        #[cfg(doorway_loom)]
        #[doc(hidden)]
        #[must_use]
        pub fn without(barrier: usize) -> Self {
            Self { omitted: barrier, ..Self::new() }
        }

        #[inline]
        fn barrier(&self, number: usize) {
            #[cfg(doorway_loom)]
            if self.omitted == number {
                return;
            }
            let _ = number;
            fence(Ordering::SeqCst);
        }
    }

    impl Wait for Park {
        fn pause(&self, tries: u32, mut ready: impl FnMut() -> bool) {
            if is_early(tries) {
                return spin_loop();
            }
            let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
            let sleepers = self.sleepers.load(Ordering::Relaxed);
            self.sleepers.store(sleepers + 1, Ordering::Relaxed);
            self.barrier(1);
            let gate = if ready() { Ok(gate) } else { self.bell.wait(gate) };
            let _gate = gate.unwrap_or_else(PoisonError::into_inner);
            let sleepers = self.sleepers.load(Ordering::Relaxed);
            self.sleepers.store(sleepers - 1, Ordering::Relaxed);
        }

        fn wake(&self) {
            self.barrier(2);
            if self.sleepers.load(Ordering::Relaxed) > 0 {
                drop(self.gate.lock());
                self.bell.notify_all();
            }
        }

        fn give_way(&self, courtesies: u32) {
            hesitate_or_yield(courtesies);
        }
    }

    impl Default for Park {
        fn default() -> Self {
            Self::new()
        }
    }

    impl fmt::Debug for Park {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Park").finish_non_exhaustive()
        }
    }

    #[cfg(test)]
    mod tests {
        use std::vec::Vec;

        use super::*;

        #[test]
        fn one_courtesy_in_sixty_four_is_the_processor() {
            let offers: Vec<u32> = (1..=200).filter(|&courtesies| is_time_to_yield(courtesies)).collect();
            assert_eq!(offers, [64, 128, 192]);
        }
    }
}
