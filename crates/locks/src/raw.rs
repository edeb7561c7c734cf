//! Our locks under `lock_api`: a `RawMutex` over the adapter for threads.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;

use lock_api::{GuardNoSend, RawMutex};

use crate::guard::Hold;
use crate::lock::{Lock, Section, TrySection};
use crate::protocol::TryProtocol;
use crate::shared::{Seat, Seats};
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
pub struct RawShared<L> {
    lock: L,
    seats: Seats,
    /// The seat of whoever is inside; only that thread touches it. If it forgets its guard the seat is never dropped, as
    /// that might be in another thread.
    inside: UnsafeCell<Option<ManuallyDrop<Seat>>>,
}

// SAFETY: `lock` and `seats` are `Sync`. `inside` is used only by the thread that is inside, between its entry and its exit;
// the seat in it goes in and out in one thread, because `GuardNoSend` keeps guards there, and whoever calls `unlock` by hand
// promises the same.
unsafe impl<L: Sync> Sync for RawShared<L> {}
// SAFETY: `lock` and `seats` are `Send`. A seat in `inside` is touched only by its own thread, which cannot get at a lock that
// was sent away, and it is not dropped with the lock.
unsafe impl<L: Send> Send for RawShared<L> {}

impl<L: Section> RawShared<L> {
    /// Keeps the seat until `unlock`.
    fn keep(&self, seat: Seat) {
        // SAFETY: this thread has just entered, so nobody else uses the cell.
        unsafe { *self.inside.get() = Some(ManuallyDrop::new(seat)) }
    }
}

// SAFETY: the protocol lets one thread at a time enter, whatever threads call.
unsafe impl<P: TryProtocol<N>, const N: usize, W: ConstantWait> RawMutex for RawShared<Lock<(), P, N, W>> {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self =
        Self { lock: Lock::with_wait((), W::NEW), seats: Seats::new(), inside: UnsafeCell::new(None) };

    type GuardMarker = GuardNoSend;

    /// Panics if other threads have all the slots, or if this thread is inside already.
    fn lock(&self) {
        let mut seat = self.seats.take(&self.lock).unwrap_or_else(|reason| panic!("{reason}"));
        self.lock.enter(seat.process());
        self.keep(seat);
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
        // SAFETY: the caller promises that this thread is inside, so nobody else uses the cell.
        let seat = unsafe { (*self.inside.get()).take() };
        if let Some(mut seat) = seat.map(ManuallyDrop::into_inner) {
            self.lock.exit(seat.process());
        }
    }
}

/// A way of waiting that a constant can hold, as `RawMutex` wants.
pub trait ConstantWait: Wait {
    /// With nobody waiting.
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
