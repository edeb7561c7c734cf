//! An adapter that hands slots to threads, so that any thread can lock, up to as many threads as there are slots.
//!
//! A thread gets a slot when it first locks, keeps it, and gives it back when it ends. So the slots are looked for once for
//! each thread, and after that locking is reading and writing alone, as the protocol has it.

use std::fmt;

use crate::guard::{Hold, LockGuard};
use crate::lock::{Section, TrySection};
use crate::seats::{Seat, Seats};

/// A lock that any thread can use, up to as many at a time as it has slots.
///
/// ```
/// use doorway_locks::{Bakery, Shared};
///
/// static COUNTER: Shared<Bakery<u64, 8>> = Shared::new(Bakery::new(0));
///
/// let threads: [_; 8] = std::array::from_fn(|_| std::thread::spawn(|| *COUNTER.lock() += 1));
/// for thread in threads {
///     thread.join().unwrap();
/// }
/// // The eight are gone, and have given their slots back.
/// assert_eq!(*COUNTER.lock(), 8);
/// ```
///
/// A thread keeps its slot until it has ended, its thread-local values included. A join waits for that, and the end of
/// [`std::thread::scope`] does not: threads that were not joined may have their slots a little longer than the scope lasts.
///
/// A thread that ends with a guard in a thread-local value has its slot until that is dropped.
///
/// Its guards stay in the thread that locked, because the slot is that thread's:
///
/// ```compile_fail,E0277
/// use doorway_locks::{Bakery, Shared};
///
/// let counter: Shared<Bakery<u64, 8>> = Shared::new(Bakery::new(0));
/// let guard = counter.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(guard));
/// });
/// ```
pub struct Shared<L> {
    lock: L,
    seats: Seats,
}

/// Why a thread could not lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSlot {
    /// Other threads have all the slots. They give them back when they end, which a join waits for, and the end of a
    /// [`std::thread::scope`] does not.
    AllTaken {
        /// How many there are.
        slots: usize,
    },
    /// This thread has a guard already, and would wait for itself.
    InsideAlready,
}

impl<L: Section> Shared<L> {
    /// The adapter of a lock.
    pub const fn new(lock: L) -> Self {
        Self { lock, seats: Seats::new() }
    }

    /// Waits until this thread may enter.
    ///
    /// # Panics
    ///
    /// If other threads have all the slots, or if this thread is inside already: [`checked_lock`](Shared::checked_lock)
    /// returns what this reports.
    pub fn lock(&self) -> SharedGuard<'_, L> {
        self.checked_lock().unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// Waits until this thread may enter, or says why it never may as things are.
    pub fn checked_lock(&self) -> Result<SharedGuard<'_, L>, NoSlot> {
        let mut seat = self.seats.take(&self.lock)?;
        self.lock.enter(seat.process());
        Ok(LockGuard::new(&self.lock, seat))
    }

    /// Enters if no process is inside or on its way and this thread has a slot or can get one.
    pub fn try_lock(&self) -> Option<SharedGuard<'_, L>>
    where
        L: TrySection,
    {
        let mut seat = self.seats.take(&self.lock).ok()?;
        self.lock.try_enter(seat.process()).then(|| LockGuard::new(&self.lock, seat))
    }

    /// The value, without entering: `&mut self` rules out any other user of the lock.
    pub fn get_mut(&mut self) -> &mut L::Value {
        self.lock.value_mut()
    }

    /// The lock, out of the adapter.
    pub fn into_inner(self) -> L {
        self.lock
    }

    #[cfg(test)]
    pub(crate) fn seats(&self) -> &Seats {
        &self.seats
    }
}

impl<L: Section + Default> Default for Shared<L> {
    fn default() -> Self {
        Self::new(L::default())
    }
}

impl<L: fmt::Debug> fmt::Debug for Shared<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.lock).finish()
    }
}

impl fmt::Display for NoSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSlot::AllTaken { slots } => write!(
                f,
                "all {slots} slots of the lock belong to other threads; give it as many slots as threads use it"
            ),
            NoSlot::InsideAlready => {
                f.write_str("this thread is inside already; drop its guard before it locks again")
            }
        }
    }
}

impl std::error::Error for NoSlot {}

/// What one gets by locking a [`Shared`]. It stays in its thread, and can be shared with others if the value can.
pub type SharedGuard<'a, L> = LockGuard<'a, L, Seat>;
