//! The classical locks for n processes that only read and write shared memory.
//!
//! No compare-and-swap, no other read-modify-write instruction: loads, stores and barriers, as in the textbooks, for people
//! whose machine has nothing else, who need fairness that a type promises, or who teach. The crate is `no_std`, has no
//! dependencies, and is checked: see [what is proved](#what-is-proved).
//!
//! ```
//! use doorway_locks::Bakery;
//!
//! let mut lock = Bakery::<_, 4>::new(0);
//! std::thread::scope(|scope| {
//!     for mut slot in lock.split() {
//!         scope.spawn(move || *slot.lock() += 1);
//!     }
//! });
//! assert_eq!(lock.into_inner(), 4);
//! ```
//!
//! These algorithms know their processes by number, and no two threads may act as the same one. So a lock is not locked
//! itself: [`split`](Lock::split) turns it into `N` [`Slot`]s that cannot be copied, and one locks a slot.
//!
//! # Which lock when?
//!
//! | lock | for | accesses and barriers alone | who waits | [`try_lock`](Slot::try_lock) |
//! |---|---|---|---|---|
//! | [`Peterson`] | 2 processes | 3, 1 | is overtaken at most once | yes |
//! | [`Tournament`] | many processes, each seldom there | 3 ⌈log₂ n⌉, ⌈log₂ n⌉ | gets in, overtaken any number of times | yes |
//! | [`LamportFast`] | many processes, seldom two at once | 7, 2 | may starve | no |
//! | [`Bakery`] | few processes, first come first served | 2n + 1, 2 | is never overtaken by one that came later | yes |
//! | [`BlackWhiteBakery`] | the same with words of a few bits | 2n + 3, 2 | is never overtaken by one of its colour that came later | no |
//!
//! Tickets of a bakery grow while some process is always waiting. A word of 64 bits does not overflow within centuries;
//! where words have 32 or 16 bits the overflow is checked (16 bits last for 65 533 tickets taken without a pause), and the
//! process that finds no ticket panics before it blocks others. Tickets of the black-white bakery never exceed n.
//!
//! # How do processes wait?
//!
//! As the last parameter says, which is a type: [`Spin`], and with `std` `SpinThenYield` (the default there) and `Park`.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use doorway_locks::{LamportFast, Park, Peterson, Spin};
//!
//! let spinning: Peterson<u64, Spin> = Peterson::default();
//! let sleeping = LamportFast::<u64, 8, _>::with_wait(0, Park::new());
//! # }
//! ```
//!
//! Where processes need not be served in the order of coming, one that leaves while another wants in gives way before it asks
//! again: it hesitates, and with `std` now and then offers its processor. So no process keeps a lock to itself for its
//! whole time slice.
//!
//! For another way, such as the wait-for-event instruction of a small processor, implement [`Wait`].
//!
//! # What if my threads come and go?
//!
//! With `std`, `Shared` hands the slots to threads: `lock` from any thread, as many at a time as there are slots.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use doorway_locks::{LamportFast, Shared};
//!
//! static TOTAL: Shared<LamportFast<u64, 16>> = Shared::new(LamportFast::new(0));
//!
//! std::thread::spawn(|| *TOTAL.lock() += 1).join().unwrap();
//! assert_eq!(*TOTAL.lock(), 1);
//! # }
//! ```
//!
//! With feature `lock_api`, `RawShared` puts it under `lock_api::Mutex`.
//!
//! # What if something goes wrong?
//!
//! | what | consequence |
//! |---|---|
//! | a panic inside | the guard is dropped and the next one enters; there is no poisoning, the value is as the panic left it |
//! | a guard is forgotten | the others wait, until its slot locks again or the lock is split anew; in `Shared`, for ever |
//! | a slot is copied, a slot is locked twice, a value that is not `Send` is shared | it does not compile |
//! | `N` is 0 | it does not compile, though only `cargo build` says so: `cargo check` generates no code, and finds nothing |
//! | `N` is huge | a lock is as large as its words, and `split` returns its slots on the stack: for many thousands, box the lock and give the thread a large stack |
//! | more threads than slots, or a thread that is inside locks again, in `Shared` | `lock` panics, `checked_lock` returns why, `try_lock` returns `None`. A thread has its slot until a join of it returns; the end of a `thread::scope` does not wait for that |
//! | the same in `RawShared` | it waits for a slot; a thread that is inside and locks again aborts the program |
//! | a bakery runs out of tickets | the process that finds none panics, and blocks no other; in `RawShared` it aborts the program |
//! | a [`Wait`] of your own panics | the program is aborted |
//!
//! # What is proved?
//!
//! - Every protocol is written once, generic over memory ([`protocol`]). What ships is what is checked.
//! - Loom runs it with two processes in every order of accesses, with old values where its model of memory allows them:
//!   one round each exhaustively, spinning and parking; two rounds each, tries, and one round of three processes up to a number
//!   of preemptions. It watches the value, and finds two processes inside as soon as any one of a lock's barriers is left out,
//!   and all of them asleep as soon as one of its wake-ups or one of the barriers of `Park` is. Loom's model is not Rust's: its
//!   `fence(SeqCst)` synchronises more, so it cannot find a lock that relies on that.
//! - For three processes and more, the checker of this project explores the same protocols as programs; a recorder
//!   shows that program and lock make the same accesses.
//! - Real threads count, with a detector inside.
//!
//! Loads acquire, stores release, and a barrier is `fence(SeqCst)`; no access is `SeqCst`.
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

#[macro_use]
mod constant;

mod guard;
mod lock;
mod memory;
mod place;
pub mod protocol;
#[cfg(all(feature = "lock_api", not(doorway_loom)))]
mod raw;
#[cfg(all(feature = "recorded", not(doorway_loom)))]
#[doc(hidden)]
pub mod recorded;
#[cfg(all(feature = "std", not(doorway_loom)))]
mod seats;
#[cfg(all(feature = "std", not(doorway_loom)))]
mod shared;
mod wait;

/// Not nameable outside this crate, so a trait that requires it cannot be implemented there.
mod sealed {
    /// A type of this crate.
    pub trait Sealed {}
}

pub use guard::{Hold, LockGuard, Slot};
pub use lock::{Bakery, BlackWhiteBakery, LamportFast, Lock, Peterson, Section, Tournament, TrySection};
#[cfg(all(feature = "lock_api", not(doorway_loom)))]
pub use raw::{ConstantWait, RawShared};
#[cfg(all(feature = "std", not(doorway_loom)))]
pub use shared::{NoSlot, Shared, SharedGuard};
pub use wait::{DefaultWait, Spin, Wait};
#[cfg(feature = "std")]
pub use wait::{Park, SpinThenYield};
