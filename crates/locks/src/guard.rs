//! Slots, and the guards that one gets by locking them. They are written once, for all locks and adapters.
#![allow(unsafe_code)]

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::lock::{Section, TrySection};
use crate::place::Open;
use crate::sealed::Sealed;

/// The right to act as one process of one lock. It can be neither copied nor made outside this crate, so that a process has
/// one user by type.
pub struct ProcessRight {
    pub(crate) me: usize,
    /// Whether it has entered and not left, in a protocol that has no word of its own for that.
    pub(crate) is_inside: bool,
    /// Whether another wanted in when it left last, in a protocol whose processes give way.
    pub(crate) owes_a_courtesy: bool,
    /// How often it has given way; it begins again at 0 when it has no more room.
    pub(crate) courtesies: u32,
}

impl ProcessRight {
    pub(crate) fn new(me: usize) -> Self {
        Self { me, is_inside: false, owes_a_courtesy: false, courtesies: 0 }
    }
}

/// The place of one process in a lock `L`, by which one thread at a time can lock it.
///
/// A slot can be sent to another thread, but there is only one of each:
///
/// ```compile_fail,E0599
/// let mut lock = doorway_locks::Peterson::new(7);
/// let [mine, _yours] = lock.split();
/// let copy = mine.clone();
/// ```
///
/// It cannot be locked again while its guard is there:
///
/// ```compile_fail,E0499
/// let mut lock = doorway_locks::Peterson::new(7);
/// let [mut mine, _yours] = lock.split();
/// let once = mine.lock();
/// let twice = mine.lock();
/// drop(once);
/// ```
///
/// And it carries a value from thread to thread, so the value must be `Send`:
///
/// ```compile_fail,E0277
/// let mut lock = doorway_locks::Peterson::new(std::rc::Rc::new(7));
/// let [mut mine, _yours] = lock.split();
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(mine.lock()));
/// });
/// ```
pub struct Slot<'a, L> {
    lock: &'a L,
    process: ProcessRight,
}

impl<'a, L: Section> Slot<'a, L> {
    pub(crate) fn new(lock: &'a L, process: ProcessRight) -> Self {
        Self { lock, process }
    }

    /// Waits until the process may enter, and is inside as long as the guard is there.
    ///
    /// A panic inside drops the guard and so lets the next one in. There is no poisoning: the value is as the panic left it.
    ///
    /// A guard that is forgotten ([`core::mem::forget`]) leaves its process inside, and the others wait, until the same
    /// slot locks again or the lock is split anew.
    #[inline(always)]
    pub fn lock(&mut self) -> LockGuard<'_, L> {
        self.lock.enter(&mut self.process);
        LockGuard::new(self.lock, &mut self.process)
    }

    /// Enters if no process is inside or on its way, else returns `None` after a number of steps that the number of processes
    /// limits (and, with `Park`, the time to wake those who sleep). If several try at once it can happen that none of them
    /// gets in.
    ///
    /// ```
    /// let mut lock = doorway_locks::Bakery::<u64, 2>::new(7);
    /// let [mut mine, mut yours] = lock.split();
    /// let guard = mine.try_lock();
    /// assert!(guard.is_some() && yours.try_lock().is_none());
    /// drop(guard);
    /// assert!(yours.try_lock().is_some());
    /// ```
    #[inline]
    pub fn try_lock(&mut self) -> Option<LockGuard<'_, L>>
    where
        L: TrySection,
    {
        let is_in = self.lock.try_enter(&mut self.process);
        is_in.then(|| LockGuard::new(self.lock, &mut self.process))
    }

    /// The number of the process, from 0.
    #[must_use]
    pub fn number(&self) -> usize {
        self.process.me
    }
}

impl<L> fmt::Debug for Slot<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("number", &self.process.me).finish_non_exhaustive()
    }
}

/// Its owner is inside. It gives access to the value, and leaves when it is dropped.
///
/// It may be sent to another thread, which then leaves in its place. It may be shared only if the value may:
///
/// ```compile_fail,E0277
/// let mut lock = doorway_locks::Peterson::new(std::cell::Cell::new(7));
/// let [mut mine, _yours] = lock.split();
/// let guard = mine.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(|| guard.set(8));
/// });
/// ```
#[must_use = "who drops the guard has left"]
pub struct LockGuard<'a, L: Section, H: Hold = &'a mut ProcessRight> {
    // The order matters: fields are dropped in this one, and the use of the value ends before the process leaves.
    value: Open<'a, L::Value>,
    _stay: ExitOnDrop<'a, L, H>,
}

impl<'a, L: Section, H: Hold> LockGuard<'a, L, H> {
    /// The guard of a process that has just entered this lock.
    #[inline]
    pub(crate) fn new(lock: &'a L, holder: H) -> Self {
        // SAFETY: the protocol lets one process at a time enter, and each one that leaves releases what the next to enter
        // acquires. The process is inside until `_stay` is dropped, which is after `value`; until then no other thread can
        // act for it, because the guard holds it.
        let value = unsafe { lock.place().open() };
        Self { value, _stay: ExitOnDrop { lock, holder } }
    }
}

impl<L: Section, H: Hold> Deref for LockGuard<'_, L, H> {
    type Target = L::Value;

    #[inline]
    fn deref(&self) -> &L::Value {
        &self.value
    }
}

impl<L: Section, H: Hold> DerefMut for LockGuard<'_, L, H> {
    #[inline]
    fn deref_mut(&mut self) -> &mut L::Value {
        &mut self.value
    }
}

impl<L: Section<Value: fmt::Debug>, H: Hold> fmt::Debug for LockGuard<'_, L, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<L: Section<Value: fmt::Display>, H: Hold> fmt::Display for LockGuard<'_, L, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// What a guard keeps of the process that is inside: the loan of a slot's, or a process that belongs to a thread.
pub trait Hold: Sealed {
    #[doc(hidden)]
    fn process(&mut self) -> &mut ProcessRight;
}

impl Sealed for &mut ProcessRight {}

impl Hold for &mut ProcessRight {
    #[inline]
    fn process(&mut self) -> &mut ProcessRight {
        self
    }
}

/// The time inside, which ends when it is dropped.
struct ExitOnDrop<'a, L: Section, H: Hold> {
    lock: &'a L,
    holder: H,
}

impl<L: Section, H: Hold> Drop for ExitOnDrop<'_, L, H> {
    #[inline]
    fn drop(&mut self) {
        self.lock.exit(self.holder.process());
    }
}
