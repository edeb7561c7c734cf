//! The locks that are compared, behind one trait: a thread has a seat and passes through the section with it.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use doorway_locks::protocol::Protocol;
use doorway_locks::{Lock, Section, Slot, Wait};
use mcslock::raw::MutexNode;
use mcslock::relax::Relax;

/// A lock around a number.
pub(super) trait Contestant: Send + Sync {
    /// What a thread needs of it.
    type Seat<'a>: Seat + Send
    where
        Self: 'a;

    /// A free lock.
    fn at_rest() -> Self;

    /// One seat per thread.
    fn seats(&mut self, count: usize) -> Vec<Self::Seat<'_>>;
}

/// A thread's way through the section.
pub(super) trait Seat {
    /// Enters, does something with the number, and leaves.
    fn pass(&mut self, inside: impl FnOnce(&mut u64));
}

impl<P: Protocol<N> + Send + Sync, const N: usize, W: Wait + Default + Send + Sync> Contestant
    for Lock<u64, P, N, W>
{
    type Seat<'a>
        = Slot<'a, Self>
    where
        Self: 'a;

    fn at_rest() -> Self {
        Self::default()
    }

    fn seats(&mut self, count: usize) -> Vec<Slot<'_, Self>> {
        self.split().into_iter().take(count).collect()
    }
}

impl<L: Section<Value = u64>> Seat for Slot<'_, L> {
    #[inline]
    fn pass(&mut self, inside: impl FnOnce(&mut u64)) {
        inside(&mut self.lock());
    }
}

/// A lock that any thread can lock by a reference.
macro_rules! contestant {
    ($lock:ty, $new:expr, |$seat:ident| $guard:expr) => {
        impl Contestant for $lock {
            type Seat<'a> = &'a Self;

            fn at_rest() -> Self {
                $new
            }

            fn seats(&mut self, count: usize) -> Vec<&Self> {
                vec![self; count]
            }
        }

        impl Seat for &$lock {
            #[inline]
            fn pass(&mut self, inside: impl FnOnce(&mut u64)) {
                let $seat = self;
                inside(&mut $guard);
            }
        }
    };
}

/// The crate `spin`, which tests and sets one word.
pub(super) type SpinTas = spin::mutex::SpinMutex<u64>;
/// The crate `spin` with two counters, first come, first served.
pub(super) type SpinTicket = spin::mutex::TicketMutex<u64>;

contestant!(std::sync::Mutex<u64>, Self::new(0), |seat| seat.lock().unwrap_or_else(PoisonError::into_inner));
contestant!(parking_lot::Mutex<u64>, Self::new(0), |seat| seat.lock());
contestant!(SpinTas, Self::new(0), |seat| seat.lock());
contestant!(SpinTicket, Self::new(0), |seat| seat.lock());

/// The crate `mcslock`, J. M. Mellor-Crummey and M. L. Scott's queue of nodes, which belong to the threads.
pub(super) type Mcs<R> = mcslock::raw::Mutex<u64, R>;

/// A place in its queue.
pub(super) struct McsSeat<'a, R> {
    lock: &'a Mcs<R>,
    node: MutexNode,
}

impl<R: Relax + 'static> Contestant for Mcs<R> {
    type Seat<'a> = McsSeat<'a, R>;

    fn at_rest() -> Self {
        Self::new(0)
    }

    fn seats(&mut self, count: usize) -> Vec<McsSeat<'_, R>> {
        let lock = &*self;
        (0..count).map(|_| McsSeat { lock, node: MutexNode::new() }).collect()
    }
}

impl<R: Relax> Seat for McsSeat<'_, R> {
    #[inline]
    fn pass(&mut self, inside: impl FnOnce(&mut u64)) {
        self.lock.lock_with_then(&mut self.node, inside);
    }
}

/// No lock at all, but what no lock of reads and writes can do without: a store, a barrier, a load, and a store to leave.
/// It is for one thread.
pub(super) struct Floor {
    mine: AtomicUsize,
    theirs: AtomicUsize,
    value: u64,
}

impl Contestant for Floor {
    type Seat<'a> = &'a mut Self;

    fn at_rest() -> Self {
        Self { mine: AtomicUsize::new(0), theirs: AtomicUsize::new(0), value: 0 }
    }

    fn seats(&mut self, _count: usize) -> Vec<&mut Self> {
        vec![self]
    }
}

impl Seat for &mut Floor {
    #[inline]
    fn pass(&mut self, inside: impl FnOnce(&mut u64)) {
        self.mine.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.theirs.load(Ordering::Acquire) == 0 {
            inside(&mut self.value);
        }
        self.mine.store(0, Ordering::Release);
    }
}
