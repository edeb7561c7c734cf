//! How the processes of a lock are handed to threads.
//!
//! A lock that threads share owns a pool with its processes. A thread that first locks takes one out and remembers it as
//! its claim; while a guard is there the guard has the process, else the claim. The claim knows its pool without keeping it
//! alive, so that nothing is left of a lock that is gone but a few words, which the thread clears away when it has gathered
//! many.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::vec::Vec;

use crate::guard::{Hold, ProcessRight};
use crate::lock::Section;
use crate::sealed::Sealed;
use crate::shared::NoSlot;

/// The processes of one lock. The pool is made when the first thread locks.
pub(crate) struct Seats(OnceLock<Arc<Pool>>);

impl Seats {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The process of this thread, until the seat is dropped.
    #[inline]
    pub(crate) fn take<L: Section>(&self, lock: &L) -> Result<Seat, NoSlot> {
        self.seat(lock, |pool| pool.hand_out().ok_or(NoSlot::AllTaken { slots: L::SLOTS }))
    }

    /// The process of this thread; if others have all of them, it waits until one of those threads ends.
    #[cfg(feature = "lock_api")]
    #[inline]
    pub(crate) fn await_seat<L: Section>(&self, lock: &L) -> Result<Seat, NoSlot> {
        self.seat(lock, |pool| Ok(pool.hand_out_when_free()))
    }

    #[inline]
    fn seat<L: Section>(
        &self,
        lock: &L,
        hand_out: impl FnOnce(&Pool) -> Result<ProcessRight, NoSlot>,
    ) -> Result<Seat, NoSlot> {
        let pool = self.0.get_or_init(|| Arc::new(Pool::of(lock)));
        let claim = match known_claim(pool) {
            Some(claim) => claim,
            None => new_claim(pool, hand_out)?,
        };
        let process = claim.process.take().ok_or(NoSlot::InsideAlready)?;
        Ok(Seat { process: Some(process), claim })
    }
}

/// What the lock itself has of its processes.
struct Pool {
    register: Mutex<Register>,
    /// Rings when a process comes back.
    bell: Condvar,
}

struct Register {
    /// The processes that belong to no thread; the last is handed out first.
    free: Vec<ProcessRight>,
    /// The thread that each process belongs to.
    owners: Vec<Option<Thread>>,
}

impl Pool {
    fn of<L: Section>(lock: &L) -> Self {
        let free: Vec<ProcessRight> = (0..L::SLOTS).rev().map(ProcessRight::new).collect();
        lock.clear(&free);
        let owners = free.iter().map(|_| None).collect();
        Self { register: Mutex::new(Register { free, owners }), bell: Condvar::new() }
    }

    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&self) -> Option<ProcessRight> {
        self.register().hand_out()
    }

    #[cfg(feature = "lock_api")]
    fn hand_out_when_free(&self) -> ProcessRight {
        let mut register = self.register();
        loop {
            if let Some(process) = register.hand_out() {
                return process;
            }
            register = self.bell.wait(register).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn take_back(&self, process: ProcessRight) {
        let mut register = self.register();
        register.owners[process.me] = None;
        register.free.push(process);
        self.bell.notify_one();
    }
}

impl Register {
    fn hand_out(&mut self) -> Option<ProcessRight> {
        let process = self.free.pop()?;
        self.owners[process.me] = this_thread();
        Some(process)
    }
}

/// A thread that has not ended, by the address of something of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Thread(usize);

/// This thread. What it looks at is never destroyed before the thread is gone, except on machines that cannot say who a
/// thread is while it ends.
fn this_thread() -> Option<Thread> {
    std::thread_local! {
        static HERE: Cell<u8> = const { Cell::new(0) };
    }
    HERE.try_with(|here| Thread(std::ptr::from_ref(here).addr())).ok()
}

/// The process that a thread has of a lock. It goes back when the thread and its last guard are gone.
struct Claim {
    pool: Weak<Pool>,
    /// Nothing while the thread is on its way, inside, or has forgotten its guard.
    process: Cell<Option<ProcessRight>>,
}

impl Claim {
    fn is_of_a_lock_that_is_gone(&self) -> bool {
        self.pool.strong_count() == 0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let (Some(process), Some(pool)) = (self.process.take(), self.pool.upgrade()) {
            pool.take_back(process);
        }
    }
}

/// What one thread has of all locks, by the addresses of their pools. An address is not used again while a claim is
/// there, gone though the lock may be.
struct Claims {
    all: BTreeMap<usize, Rc<Claim>>,
    /// At how many to look for those of locks that are gone.
    limit: usize,
}

const FEW: usize = 8;

impl Claims {
    fn add(&mut self, pool: &Arc<Pool>, claim: Rc<Claim>) {
        if self.all.len() >= self.limit {
            self.all.retain(|_, claim| !claim.is_of_a_lock_that_is_gone());
            self.limit = FEW.max(2 * self.all.len());
        }
        self.all.insert(address(pool), claim);
    }
}

fn address(pool: &Arc<Pool>) -> usize {
    Arc::as_ptr(pool).addr()
}

std::thread_local! {
    static CLAIMS: RefCell<Claims> = const { RefCell::new(Claims { all: BTreeMap::new(), limit: FEW }) };
}

/// The claim of this thread, if it has one and is not ending.
#[inline]
fn known_claim(pool: &Arc<Pool>) -> Option<Rc<Claim>> {
    CLAIMS.try_with(|claims| claims.borrow().all.get(&address(pool)).cloned()).ok().flatten()
}

/// A new claim of this thread. One that is ending keeps it only as long as the seat: so if a process is its own, it is
/// inside.
#[cold]
fn new_claim(
    pool: &Arc<Pool>,
    hand_out: impl FnOnce(&Pool) -> Result<ProcessRight, NoSlot>,
) -> Result<Rc<Claim>, NoSlot> {
    let me = this_thread();
    let is_ending = CLAIMS.try_with(|_| ()).is_err();
    if is_ending && me.is_some() && pool.register().owners.contains(&me) {
        return Err(NoSlot::InsideAlready);
    }
    let process = Cell::new(Some(hand_out(pool)?));
    let claim = Rc::new(Claim { pool: Arc::downgrade(pool), process });
    // Only a thread that is ending cannot remember it.
    let _ = CLAIMS.try_with(|claims| claims.borrow_mut().add(pool, claim.clone()));
    Ok(claim)
}

/// A thread's process while a guard has it.
pub struct Seat {
    /// There until the seat is dropped.
    process: Option<ProcessRight>,
    claim: Rc<Claim>,
}

// SAFETY: nothing can be done with a shared seat: its fields are private, and only `&mut self` leads to them.
unsafe impl Sync for Seat {}

impl Sealed for Seat {}

impl Hold for Seat {
    #[inline]
    fn process(&mut self) -> &mut ProcessRight {
        self.process.as_mut().expect("a seat has its process until it is dropped")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.claim.process.set(self.process.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bakery, Shared};

    fn claims_of_this_thread() -> usize {
        CLAIMS.with(|claims| claims.borrow().all.len())
    }

    fn pool_of(shared: &Shared<Bakery<u64, 2>>) -> Weak<Pool> {
        shared.seats().0.get().map(Arc::downgrade).expect("a thread has locked it")
    }

    #[test]
    fn a_dropped_lock_frees_its_pool() {
        let shared = Arc::new(Shared::new(Bakery::<u64, 2>::new(0)));
        let (send, receive) = std::sync::mpsc::channel::<Arc<Shared<_>>>();
        let (done, all_done) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for shared in receive {
                    *shared.lock() += 1;
                    drop(shared);
                    done.send(()).unwrap();
                }
            });
            *shared.lock() += 1;
            send.send(shared.clone()).unwrap();
            all_done.recv().unwrap();
            let pool = pool_of(&shared);
            assert_eq!(pool.strong_count(), 1);
            drop(shared);
            assert_eq!(pool.strong_count(), 0, "both threads are still there");
            drop(send);
        });
    }

    #[test]
    fn a_thread_forgets_dropped_locks_alone() {
        let kept: [Shared<Bakery<u64, 2>>; 20] = std::array::from_fn(|_| Shared::default());
        kept.iter().for_each(|shared| *shared.lock() += 1);
        for _ in 0..1000 {
            let shared = Shared::new(Bakery::<u64, 2>::new(0));
            core::mem::forget(shared.lock());
            assert!(claims_of_this_thread() <= 42, "at most twice those in use and the newest");
        }
        for shared in &kept {
            *shared.lock() += 1;
            assert_eq!(pool_of(shared).upgrade().map(|pool| pool.register().free.len()), Some(1));
        }
    }
}
