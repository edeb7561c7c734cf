//! The one lock of this crate, over any protocol, and the five names under which people know it.

use core::fmt;

use crate::guard::{ProcessRight, Slot};
use crate::memory::{AtomicMemory, Atomics};
use crate::place::ExclusiveCell;
use crate::protocol::{self, Protocol, TryProtocol};
use crate::sealed::Sealed;
use crate::wait::{DefaultWait, Wait};

/// Peterson's lock for two processes: the cheapest without contention, and starvation-free.
pub type Peterson<T, W = DefaultWait> = Lock<T, protocol::Peterson, 2, W>;

/// A tree of Peterson's locks for `N` processes: a few steps even for many of them, and starvation-free.
pub type Tournament<T, const N: usize, W = DefaultWait> = Lock<T, protocol::Tournament<N>, N, W>;

/// Lamport's fast lock for `N` processes: seven accesses without contention, for any `N`; a process may starve.
pub type LamportFast<T, const N: usize, W = DefaultWait> = Lock<T, protocol::LamportFast<N>, N, W>;

/// Lamport's bakery for `N` processes: first come, first served.
pub type Bakery<T, const N: usize, W = DefaultWait> = Lock<T, protocol::Bakery<N>, N, W>;

/// Taubenfeld's black-white bakery for `N` processes: first come, first served among those of one colour, and tickets
/// that never exceed `N`.
pub type BlackWhiteBakery<T, const N: usize, W = DefaultWait> = Lock<T, protocol::BlackWhiteBakery<N>, N, W>;

/// A value that one of `N` processes at a time may use, under protocol `P`, where processes wait by `W`.
///
/// One does not lock it. One [splits](Lock::split) it into `N` [`Slot`]s, gives each to a thread, and locks the slot. With
/// `std` a `Shared` does the giving.
pub struct Lock<T, P, const N: usize, W = DefaultWait> {
    protocol: P,
    memory: Atomics<W>,
    value: ExclusiveCell<T>,
}

#[cfg(not(doorway_loom))]
impl<T, P: Protocol<N>, const N: usize> Lock<T, P, N> {
    /// A free lock around a value, whose processes wait in the default way.
    ///
    /// A lock for no process does not compile, once code is generated for it (`cargo check` does not notice):
    ///
    /// ```compile_fail,E0080
    /// let lock = doorway_locks::Bakery::<u64, 0>::new(7);
    /// ```
    pub const fn new(value: T) -> Self {
        #[cfg(feature = "std")]
        let wait = crate::wait::SpinThenYield;
        #[cfg(not(feature = "std"))]
        let wait = crate::wait::Spin;
        Self::with_wait(value, wait)
    }
}

impl<T, P: Protocol<N>, const N: usize, W> Lock<T, P, N, W> {
    /// A free lock around a value, whose processes wait in this way.
    ///
    /// ```
    /// use doorway_locks::{Bakery, Spin};
    ///
    /// let mut lock = Bakery::<_, 4, _>::with_wait(0, Spin);
    /// assert_eq!(*lock.get_mut(), 0);
    /// ```
    #[cfg(not(doorway_loom))]
    pub const fn with_wait(value: T, wait: W) -> Self {
        const { assert!(N > 0, "a lock is for at least one process") }
        Self { protocol: P::AT_REST, memory: Atomics(wait), value: ExclusiveCell::new(value) }
    }

    /// A free lock around a value, whose processes wait in this way.
    #[cfg(doorway_loom)]
    pub fn with_wait(value: T, wait: W) -> Self {
        const { assert!(N > 0, "a lock is for at least one process") }
        Self { protocol: P::at_rest(), memory: Atomics(wait), value: ExclusiveCell::new(value) }
    }

    /// One slot for each process. Each can be sent to a thread, and only one thread at a time can use it.
    ///
    /// The lock is free after a split: a guard that was forgotten in an earlier one no longer counts.
    ///
    /// ```
    /// use doorway_locks::Peterson;
    ///
    /// let mut lock = Peterson::new(0);
    /// std::thread::scope(|scope| {
    ///     for mut slot in lock.split() {
    ///         scope.spawn(move || *slot.lock() += 1);
    ///     }
    /// });
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
    #[must_use]
    pub fn split(&mut self) -> [Slot<'_, Self>; N]
    where
        W: Wait,
    {
        let processes = core::array::from_fn(ProcessRight::new);
        self.clear(&processes);
        processes.map(|process| Slot::new(self, process))
    }

    /// The value, without entering: `&mut self` rules out any slot.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value, out of the lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: Default, P: Protocol<N>, const N: usize, W: Default> Default for Lock<T, P, N, W> {
    fn default() -> Self {
        Self::from(T::default())
    }
}

impl<T, P: Protocol<N>, const N: usize, W: Default> From<T> for Lock<T, P, N, W> {
    fn from(value: T) -> Self {
        Self::with_wait(value, W::default())
    }
}

impl<T, P: Protocol<N>, const N: usize, W> fmt::Debug for Lock<T, P, N, W> {
    /// The name and the number of slots; the value could be in use.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(P::NAME).field("slots", &N).finish_non_exhaustive()
    }
}

/// What slots and adapters need of a lock. All locks of this crate have it, and nothing else can have it.
pub trait Section: Sealed {
    /// What the lock protects.
    type Value;

    /// How many processes it is for.
    const SLOTS: usize;

    #[doc(hidden)]
    fn enter(&self, process: &mut ProcessRight);
    #[doc(hidden)]
    fn exit(&self, process: &mut ProcessRight);
    /// Frees the lock. A caller that has all processes is alone with it.
    #[doc(hidden)]
    fn clear(&self, all: &[ProcessRight]);
    #[doc(hidden)]
    fn place(&self) -> &ExclusiveCell<Self::Value>;
    #[doc(hidden)]
    fn value_mut(&mut self) -> &mut Self::Value;
}

/// A lock that one can try to enter in a bounded number of steps.
///
/// [`Peterson`], [`Tournament`] and [`Bakery`] have it. [`LamportFast`] has not: there, a process that has written `y` may
/// be the one that all others wait for, and cannot step back alone. [`BlackWhiteBakery`] has not: a process that gave a
/// ticket back would leave without changing the colour, and that is what keeps tickets small.
///
/// ```compile_fail,E0277
/// let mut lock = doorway_locks::LamportFast::<u64, 2>::new(7);
/// let [mut mine, _yours] = lock.split();
/// mine.try_lock();
/// ```
pub trait TrySection: Section {
    #[doc(hidden)]
    fn try_enter(&self, process: &mut ProcessRight) -> bool;
}

impl<T, P, const N: usize, W> Sealed for Lock<T, P, N, W> {}

impl<T, P: Protocol<N>, const N: usize, W: Wait> Section for Lock<T, P, N, W> {
    type Value = T;

    const SLOTS: usize = N;

    #[inline(always)]
    fn enter(&self, process: &mut ProcessRight) {
        if P::GIVES_WAY && process.owes_a_courtesy {
            process.owes_a_courtesy = false;
            process.courtesies = process.courtesies.wrapping_add(1);
            give_way(&self.memory.0, process.courtesies);
        }
        self.enter_by(process, &self.memory);
    }

    #[inline]
    fn exit(&self, process: &mut ProcessRight) {
        // Loom need not see the glance, as only manners depend on it.
        if P::GIVES_WAY && !cfg!(doorway_loom) && self.protocol.is_wanted(process.me) {
            process.owes_a_courtesy = true;
        }
        self.exit_by(process, &self.memory);
    }

    fn clear(&self, all: &[ProcessRight]) {
        assert_eq!(all.len(), N, "only all processes together are alone");
        self.protocol.registers().for_each(|word| word.put(0));
    }

    #[inline]
    fn place(&self) -> &ExclusiveCell<T> {
        &self.value
    }

    fn value_mut(&mut self) -> &mut T {
        self.get_mut()
    }
}

impl<T, P: TryProtocol<N>, const N: usize, W: Wait> TrySection for Lock<T, P, N, W> {
    #[inline]
    fn try_enter(&self, process: &mut ProcessRight) -> bool {
        self.settle(process, &self.memory);
        let is_in = self.protocol.try_enter(process.me, &self.memory);
        self.note(process, is_in);
        is_in
    }
}

impl<T, P: Protocol<N>, const N: usize, W> Lock<T, P, N, W> {
    #[inline(always)]
    fn enter_by(&self, process: &mut ProcessRight, memory: &impl AtomicMemory) {
        self.settle(process, memory);
        self.protocol.enter(process.me, memory);
        self.note(process, true);
    }

    #[cfg(test)]
    pub(crate) fn registers(&self) -> impl Iterator<Item = &crate::memory::AtomicRegister> {
        self.protocol.registers()
    }

    #[inline]
    fn exit_by(&self, process: &mut ProcessRight, memory: &impl AtomicMemory) {
        self.protocol.exit(process.me, memory);
        self.note(process, false);
    }

    /// If the process is still inside, its guard was forgotten and is gone: it leaves before it enters again.
    #[inline]
    fn settle(&self, process: &mut ProcessRight, memory: &impl AtomicMemory) {
        let is_inside = match self.protocol.own(process.me) {
            Some(word) => word.peek() != 0,
            None => process.is_inside,
        };
        if is_inside {
            self.exit_by(process, memory);
        }
    }

    /// Notes whether the process is inside, if the protocol has no word for it. Decided at compile time, so the other
    /// protocols write nothing.
    #[inline]
    fn note(&self, process: &mut ProcessRight, is_inside: bool) {
        if self.protocol.own(process.me).is_none() {
            process.is_inside = is_inside;
        }
    }
}

/// What a process does before it asks again, if another wanted in when it left. It is not given the process, so that the
/// compiler knows the number of the process to be the same afterwards.
#[cold]
#[inline(never)]
fn give_way(wait: &impl Wait, courtesies: u32) {
    wait.give_way(courtesies);
}

#[cfg(all(test, not(doorway_loom)))]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::Spin;
    use crate::memory::AtomicRegister;

    /// The memory of a process that is overtaken once: between its write of x and its last look at it, another writes x,
    /// finds y taken, and steps back. A process that had to wait here would wait for ever.
    struct Overtaken<'a> {
        x: &'a AtomicRegister,
        is_overtaken: Cell<bool>,
    }

    impl AtomicMemory for Overtaken<'_> {
        fn load(&self, word: &AtomicRegister) -> usize {
            word.peek()
        }

        fn store(&self, word: &AtomicRegister, value: usize) {
            word.put(value);
        }

        fn recall(&self, word: &AtomicRegister) -> usize {
            word.peek()
        }

        fn barrier(&self, number: usize) {
            if number == 2 && !self.is_overtaken.replace(true) {
                self.x.put(2);
            }
        }

        fn wait_until(&self, mut ready: impl FnMut() -> bool) {
            assert!(ready(), "the process waits for itself");
        }

        fn wake(&self, _number: usize) {}
    }

    #[test]
    fn a_guard_forgotten_on_the_slow_path_counts_until_the_next_lock() {
        let lock = LamportFast::<u64, 2, Spin>::with_wait(7, Spin);
        let [x, y, want, _] = lock.registers().collect::<std::vec::Vec<_>>()[..] else { panic!() };
        let memory = Overtaken { x, is_overtaken: Cell::new(false) };
        let mut process = ProcessRight::new(0);
        lock.enter_by(&mut process, &memory);
        assert_eq!([x.peek(), y.peek(), want.peek()], [2, 1, 0], "it came in by the slow path");
        // No guard leaves; the next lock of the same slot does.
        lock.enter_by(&mut process, &memory);
        assert_eq!([x.peek(), y.peek(), want.peek()], [1, 1, 1], "it came in by the fast path");
        lock.exit_by(&mut process, &memory);
        assert_eq!([y.peek(), want.peek(), usize::from(process.is_inside)], [0; 3]);
    }

    /// A way to wait that keeps the number of the last courtesy.
    #[derive(Default)]
    struct Polite(Cell<u32>);

    impl Wait for Polite {
        fn pause(&self, _tries: u32, _ready: impl FnMut() -> bool) {
            panic!("a process waits without contention");
        }

        fn give_way(&self, courtesies: u32) {
            self.0.set(courtesies);
        }
    }

    /// How often process 0 has given way after each of five entries, if in the second and third it finds, when it leaves,
    /// this value in this register.
    fn courtesies<P: Protocol<N>, const N: usize>(register: usize, value: usize) -> [u32; 5] {
        let lock = Lock::<(), P, N, Polite>::default();
        let mut process = ProcessRight::new(0);
        [false, true, true, false, false].map(|is_wanted| {
            lock.enter(&mut process);
            let word = lock.registers().nth(register).expect("the lock has it");
            if is_wanted {
                word.put(value);
            }
            lock.exit(&mut process);
            word.put(0);
            lock.memory.0.0.get()
        })
    }

    #[test]
    fn a_process_that_left_gives_way_before_it_asks_again() {
        let expected = [0, 0, 1, 2, 2];
        assert_eq!(courtesies::<protocol::Peterson, 2>(1, 1), expected, "flag[1]");
        assert_eq!(courtesies::<protocol::Tournament<4>, 4>(1, 1), expected, "the other side of the root");
        assert_eq!(courtesies::<protocol::Tournament<4>, 4>(4, 1), expected, "the neighbour's leaf");
        assert_eq!(courtesies::<protocol::LamportFast<3>, 3>(0, 3), expected, "x");
    }

    #[test]
    fn processes_that_are_served_in_order_do_not_give_way() {
        assert_eq!(courtesies::<protocol::Bakery<3>, 3>(1, 9), [0; 5]);
        assert_eq!(courtesies::<protocol::BlackWhiteBakery<3>, 3>(2, 4), [0; 5]);
    }
}
