//! Our locks under `lock_api`: a `RawMutex` over the adapter for threads.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, Ordering};

use lock_api::{GuardNoSend, RawMutex};

use crate::guard::Hold;
use crate::lock::{Lock, Section, TrySection};
use crate::protocol::TryProtocol;
use crate::seats::{Seat, Seats};
use crate::wait::{Park, Spin, SpinThenYield, Wait};

/// A `RawMutex` whose threads get slots as those of `Shared` do. It needs a lock that can be tried:
/// [`Peterson`](crate::Peterson), [`Tournament`](crate::Tournament) or [`Bakery`](crate::Bakery), around `()`.
///
/// ```
/// use doorway_locks::{Bakery, RawShared};
///
/// static COUNTER: lock_api::Mutex<RawShared<Bakery<(), 8>>, u64> = lock_api::Mutex::new(0);
///
/// std::thread::spawn(|| *COUNTER.lock() += 1).join().unwrap();
/// assert_eq!(*COUNTER.lock(), 1);
/// ```
///
/// Its `lock` returns inside or not at all, as `lock_api` relies on it: it never panics. A thread that finds all slots taken
/// waits until one of the threads that have them ends. A thread that is inside already, or that finds no ticket left,
/// says so and aborts the program.
pub struct RawShared<L> {
    lock: L,
    seats: Seats,
    /// The seat of the thread inside; only that thread touches it. If it forgets its guard the seat is never dropped, as
    /// that might be in another thread.
    inside: UnsafeCell<Option<ManuallyDrop<Seat>>>,
    /// Whether there is one, for those who are not inside.
    is_held: AtomicBool,
}

// SAFETY: `lock` and `seats` are `Sync`. `inside` is used only by the thread that is inside, between its entry and its exit;
// the seat in it goes in and out in one thread, because `GuardNoSend` keeps guards there, and a caller of `unlock` promises
// the same.
unsafe impl<L: Sync> Sync for RawShared<L> {}
// SAFETY: `lock` and `seats` are `Send`. A seat in `inside` is touched only by its own thread, which cannot get at a lock that
// was sent away, and it is not dropped with the lock.
unsafe impl<L: Send> Send for RawShared<L> {}

impl<L: Section> RawShared<L> {
    /// Keeps the seat until `unlock`.
    #[inline]
    fn keep(&self, seat: Seat) {
        // SAFETY: this thread has just entered, so no other uses the cell.
        unsafe { *self.inside.get() = Some(ManuallyDrop::new(seat)) }
        self.is_held.store(true, Ordering::Relaxed);
    }
}

// SAFETY: the protocol lets one thread at a time enter, whatever threads call. `lock` returns only when its thread is inside:
// if anything in it panics, the program is aborted. `try_lock` may panic, before its thread is inside.
unsafe impl<P: TryProtocol<N>, const N: usize, W: ConstantWait> RawMutex for RawShared<Lock<(), P, N, W>> {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self {
        lock: Lock::with_wait((), W::NEW),
        seats: Seats::new(),
        inside: UnsafeCell::new(None),
        is_held: AtomicBool::new(false),
    };

    type GuardMarker = GuardNoSend;

    /// Waits for a slot if other threads have all of them. Aborts if this thread is inside already.
    fn lock(&self) {
        let must_enter = MustEnter;
        let mut seat = self.seats.await_seat(&self.lock).unwrap_or_else(|reason| panic!("{reason}"));
        self.lock.enter(seat.process());
        self.keep(seat);
        core::mem::forget(must_enter);
    }

    /// `false` also if this thread has no slot and can get none.
    fn try_lock(&self) -> bool {
        let Ok(mut seat) = self.seats.take(&self.lock) else { return false };
        let is_in = self.lock.try_enter(seat.process());
        if is_in {
            self.keep(seat);
        }
        is_in
    }

    unsafe fn unlock(&self) {
        self.is_held.store(false, Ordering::Relaxed);
        // SAFETY: the caller promises that this thread is inside, so no other uses the cell.
        let seat = unsafe { (*self.inside.get()).take() };
        if let Some(mut seat) = seat.map(ManuallyDrop::into_inner) {
            self.lock.exit(seat.process());
        }
    }

    /// Whether a thread is inside. It needs no slot, and threads that are only on their way do not count.
    fn is_locked(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }
}

/// The duty of `lock`. Safe code could get two guards at once if it could go on after a `lock` that did not enter, because
/// `MutexGuard::unlocked` locks again while a caught panic is on its way. So a panic ends the program: a second one while the
/// first unwinds aborts.
struct MustEnter;

impl Drop for MustEnter {
    fn drop(&mut self) {
        panic!("a thread could not lock, and its caller relies on it; the program cannot go on");
    }
}

impl<P: TryProtocol<N>, const N: usize, W: ConstantWait> Default for RawShared<Lock<(), P, N, W>> {
    fn default() -> Self {
        Self::INIT
    }
}

impl<L: fmt::Debug> fmt::Debug for RawShared<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawShared").field(&self.lock).finish()
    }
}

/// A way of waiting that a constant can hold, as `RawMutex` wants.
pub trait ConstantWait: Wait {
    /// Without sleepers.
    const NEW: Self;
}

impl ConstantWait for Spin {
    const NEW: Self = Spin;
}

impl ConstantWait for SpinThenYield {
    const NEW: Self = SpinThenYield;
}

impl ConstantWait for Park {
    #[allow(clippy::declare_interior_mutable_const)]
    const NEW: Self = Park::new();
}

#[cfg(test)]
#[path = "../tests/children/mod.rs"]
mod children;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bakery;

    #[test]
    fn a_process_that_finds_no_ticket_left_aborts() {
        let said =
            children::said_until_aborted("raw::tests::a_process_that_finds_no_ticket_left_aborts", || {
                let mutex = RawShared::<Bakery<(), 2>>::INIT;
                // The first to lock sets all words to 0, and has number 0.
                mutex.lock();
                // SAFETY: this thread is inside.
                unsafe { mutex.unlock() };
                mutex.lock.registers().for_each(|word| word.put(usize::MAX));
                let _ = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| mutex.lock()));
            });
        assert!(said.contains("the bakery has no ticket left"), "{said}");
        assert!(said.contains("a thread could not lock, and its caller relies on it"), "{said}");
    }
}
