//! An adapter that hands slots to threads, so that any thread can lock, up to as many threads as there are slots.
//!
//! A thread gets a slot when it first locks, keeps it, and gives it back when it ends. So the slots are looked for once for
//! each thread, and after that locking is reading and writing alone, as the protocol has it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::vec::Vec;

use crate::guard::{Guard, Hold, Process};
use crate::lock::{Section, TrySection};

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
    /// Other threads have all the slots.
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
        Ok(Guard::new(&self.lock, seat))
    }

    /// Enters if nobody is inside or on its way and this thread has a slot or can get one.
    pub fn try_lock(&self) -> Option<SharedGuard<'_, L>>
    where
        L: TrySection,
    {
        let mut seat = self.seats.take(&self.lock).ok()?;
        self.lock.try_enter(seat.process()).then(|| Guard::new(&self.lock, seat))
    }

    /// The value, without entering: nobody else can have the lock meanwhile.
    pub fn get_mut(&mut self) -> &mut L::Value {
        self.lock.value_mut()
    }

    /// The lock, out of the adapter.
    pub fn into_inner(self) -> L {
        self.lock
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

/// What one gets by locking a [`Shared`]. It stays in its thread.
pub type SharedGuard<'a, L> = Guard<'a, L, Seat>;

/// The processes of one lock that belong to no thread.
type Pool = Arc<Mutex<Vec<Process>>>;

/// How the processes of one lock are handed out. The pool is made when the first thread locks.
pub(crate) struct Seats(OnceLock<Pool>);

impl Seats {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The process of this thread, until the seat is dropped.
    pub(crate) fn take<L: Section>(&self, lock: &L) -> Result<Seat, NoSlot> {
        let pool = self.0.get_or_init(|| pool_of(lock));
        let claim = claim_of_this_thread(pool).ok_or(NoSlot::AllTaken { slots: L::SLOTS })?;
        let process = claim.process.take().ok_or(NoSlot::InsideAlready)?;
        Ok(Seat { process: Some(process), claim })
    }
}

fn pool_of<L: Section>(lock: &L) -> Pool {
    // The last is handed out first, so process 0 stands last.
    let processes: Vec<Process> = (0..L::SLOTS).rev().map(Process::new).collect();
    lock.clear(&processes);
    Arc::new(Mutex::new(processes))
}

/// The process that a thread has of a lock. It goes back when the thread and its last guard are gone.
struct Claim {
    pool: Pool,
    /// Nothing while the thread is on its way, inside, or has forgotten its guard.
    process: Cell<Option<Process>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(process);
        }
    }
}

std::thread_local! {
    /// What this thread has of all locks.
    static CLAIMS: RefCell<Vec<Rc<Claim>>> = const { RefCell::new(Vec::new()) };
}

/// The claim of this thread, a new one if it has none. A thread that is ending keeps it only as long as the seat.
fn claim_of_this_thread(pool: &Pool) -> Option<Rc<Claim>> {
    let known = |claims: &RefCell<Vec<Rc<Claim>>>| {
        claims.borrow().iter().find(|claim| Arc::ptr_eq(&claim.pool, pool)).cloned()
    };
    CLAIMS.try_with(known).ok().flatten().or_else(|| new_claim(pool))
}

#[cold]
fn new_claim(pool: &Pool) -> Option<Rc<Claim>> {
    let process = pool.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
    let claim = Rc::new(Claim { pool: pool.clone(), process: Cell::new(Some(process)) });
    let forgotten = CLAIMS.try_with(|claims| {
        let mut claims = claims.borrow_mut();
        claims.push(claim.clone());
        // Of a lock that is gone only claims know the pool.
        claims.extract_if(.., |claim| Arc::strong_count(&claim.pool) == 1).collect::<Vec<_>>()
    });
    drop(forgotten);
    Some(claim)
}

/// A thread's process while a guard has it.
pub struct Seat {
    /// There until the seat is dropped.
    process: Option<Process>,
    claim: Rc<Claim>,
}

impl Hold for Seat {
    #[inline]
    fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("a seat has its process until it is dropped")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.claim.process.set(self.process.take());
    }
}
