//! The shipping code under loom, which runs it in every order of its accesses and lets loads return old values.
//!
//! Loom's model of memory is close to Rust's and not the same. A load never returns what is only stored later, which no
//! load that acquires could do either. But its `fence(SeqCst)` is stronger: a thread that passes one later synchronises with
//! every thread that passed one before, which Rust does not promise. So a lock that relied on that alone would pass here.
//!
//! Loom watches the protected value: two uses that nothing orders fail, and so does a run that deadlocks. Each
//! lock is explored whole for one round of two processes, and up to a number of preemptions for more; and each of its
//! barriers, left out, must be found missing. Run it by `cargo xtask test --only loom`.
#![cfg(doorway_loom)]
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use doorway_locks::protocol::{self, Protocol, TryProtocol};
use doorway_locks::{Lock, LockGuard, Park, Section, Slot, Spin, Wait};
use loom::model::Builder;
use loom::thread;

/// The runs of one lock in which each of these processes uses the value.
struct Runs<const M: usize> {
    /// Which processes of the lock take part.
    processes: [usize; M],
    /// How often each of them enters.
    rounds: [usize; M],
    /// Explores only runs with at most this many preemptions; all runs if `None`.
    preemptions: Option<usize>,
}

impl Runs<2> {
    /// Every run of one round each.
    fn all(processes: [usize; 2]) -> Self {
        Self { processes, rounds: [1, 1], preemptions: None }
    }
}

impl<const M: usize> Runs<M> {
    /// Explores a lock whose processes wait like this. `uses` enters and uses the value once, if it gets in.
    fn explore<P, const N: usize, W>(
        self,
        wait: impl Fn() -> W + Send + Sync + 'static,
        uses: fn(&mut Slot<'static, Lock<usize, P, N, W>>) -> bool,
    ) where
        P: Protocol<N> + Send + Sync + 'static,
        W: Wait + Send + Sync + 'static,
    {
        let mut model = Builder::new();
        model.preemption_bound = self.preemptions;
        // Whatever the environment says, nothing else cuts it short; more branches than allowed are a failure.
        (model.max_duration, model.max_permutations, model.checkpoint_file) = (None, None, None);
        model.check(move || {
            let lock = Box::into_raw(Box::new(Lock::with_wait(0, wait())));
            // SAFETY: the box was just made, and there is no other reference to it.
            let mut slots = unsafe { &mut *lock }.split().map(Some);
            let slots =
                self.processes.map(|process| slots[process].take().expect("no process is named twice"));
            let mut rounds = self.rounds.into_iter();
            let threads = slots.map(|slot| spawn(slot, rounds.next().expect("M of them"), uses));
            let uses: usize = threads.map(|thread| thread.join().expect("loom ends the test")).iter().sum();
            // SAFETY: the threads have ended, and with them the slots.
            let mut lock = unsafe { Box::from_raw(lock) };
            assert_eq!(*lock.get_mut(), uses);
        });
    }
}

/// One process, which tells how often it was inside.
fn spawn<L: Section + Send + Sync>(
    mut slot: Slot<'static, L>,
    rounds: usize,
    uses: fn(&mut Slot<'static, L>) -> bool,
) -> thread::JoinHandle<usize>
where
    L::Value: Send,
{
    thread::spawn(move || {
        let mut entered = 0;
        for _ in 0..rounds {
            match catch_unwind(AssertUnwindSafe(|| uses(&mut slot))) {
                Ok(is_in) => entered += usize::from(is_in),
                // It stands where it gave up for ever, and so breaks no exclusion.
                Err(reason) if reason.is::<Impatient>() => break,
                Err(reason) => resume_unwind(reason),
            }
        }
        entered
    })
}

fn locks<P: Protocol<N>, const N: usize, W: Wait>(slot: &mut Slot<'_, Lock<usize, P, N, W>>) -> bool {
    *slot.lock() += 1;
    true
}

fn tries<P: TryProtocol<N>, const N: usize, W: Wait>(slot: &mut Slot<'_, Lock<usize, P, N, W>>) -> bool {
    let use_it = |mut guard: LockGuard<'_, Lock<usize, P, N, W>>| *guard += 1;
    slot.try_lock().map(use_it).is_some()
}

/// Spins, leaves out the barrier of this number, and gives up for ever after a few questions: without its barrier a process
/// may wait without end, and what is wanted is a run in which two are inside.
struct Without(usize);

const NO_BARRIER: usize = 0;

/// Why a process gave up.
struct Impatient;

impl Wait for Without {
    fn pause(&self, tries: u32, ready: impl FnMut() -> bool) {
        if tries == 3 {
            resume_unwind(Box::new(Impatient));
        }
        Spin.pause(tries, ready);
    }

    fn omits(&self, barrier: usize) -> bool {
        self.0 == barrier
    }
}

/// Whether two processes can be inside at once if the lock leaves out this barrier.
fn is_needed<P: Protocol<N> + Send + Sync + 'static, const N: usize>(barrier: usize, processes: [usize; 2]) {
    let runs = Runs { processes, rounds: [2, 1], preemptions: Some(2) };
    let outcome = catch_unwind(|| runs.explore::<P, N, _>(move || Without(barrier), locks));
    let reason = outcome.expect_err("loom finds nothing wrong without the barrier");
    let reason = reason.downcast_ref::<String>().expect("loom says why in words");
    assert!(reason.starts_with("Causality violation: Concurrent write accesses"), "{reason}");
}

/// Sleeps, with one thing left out.
struct Sleeper {
    park: Park,
    without_wake: usize,
}

impl Sleeper {
    fn without_wake(number: usize) -> Self {
        Self { park: Park::new(), without_wake: number }
    }

    fn without_barrier(number: usize) -> Self {
        Self { park: Park::without(number), without_wake: 0 }
    }
}

impl Wait for Sleeper {
    fn pause(&self, tries: u32, ready: impl FnMut() -> bool) {
        self.park.pause(tries, ready);
    }

    fn wake(&self) {
        self.park.wake();
    }

    fn omits_wake(&self, number: usize) -> bool {
        self.without_wake == number
    }
}

/// Whether all processes can sleep for ever if something is left out.
fn sleeps_for_ever<P: Protocol<N> + Send + Sync + 'static, const N: usize>(
    sleeper: fn() -> Sleeper,
    processes: [usize; 2],
) {
    let runs = Runs { processes, rounds: [1, 1], preemptions: Some(3) };
    let outcome = catch_unwind(|| runs.explore::<P, N, _>(sleeper, locks));
    let reason = outcome.expect_err("loom finds no lost wake-up");
    let reason = reason.downcast_ref::<String>().expect("loom says why in words");
    assert!(reason.starts_with("deadlock; threads ="), "{reason}");
}

/// The proof of one lock.
macro_rules! proof {
    ($name:ident: $protocol:ty, $n:literal, $processes:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn two_processes_exclude_each_other_in_every_run_of_one_round() {
                Runs::all($processes).explore::<$protocol, $n, _>(|| Spin, locks);
            }

            #[test]
            fn two_processes_exclude_each_other_in_two_rounds_with_up_to_three_preemptions() {
                let runs = Runs { processes: $processes, rounds: [2, 2], preemptions: Some(3) };
                runs.explore::<$protocol, $n, _>(|| Spin, locks);
            }

            #[test]
            fn no_wake_up_is_lost_in_any_run_of_one_round() {
                Runs::all($processes).explore::<$protocol, $n, _>(Park::new, locks);
            }

            #[test]
            fn without_the_wake_up_on_the_way_in_all_sleep_for_ever() {
                sleeps_for_ever::<$protocol, $n>(|| Sleeper::without_wake(1), $processes);
            }

            #[test]
            fn without_the_wake_up_on_leaving_all_sleep_for_ever() {
                sleeps_for_ever::<$protocol, $n>(|| Sleeper::without_wake(2), $processes);
            }

            #[test]
            fn without_the_barrier_before_sleep_all_sleep_for_ever() {
                sleeps_for_ever::<$protocol, $n>(|| Sleeper::without_barrier(1), $processes);
            }

            #[test]
            fn without_the_barrier_before_a_wake_up_all_sleep_for_ever() {
                sleeps_for_ever::<$protocol, $n>(|| Sleeper::without_barrier(2), $processes);
            }

            #[test]
            fn without_the_first_barrier_two_are_inside() {
                is_needed::<$protocol, $n>(1, $processes);
            }

            #[test]
            fn without_the_second_barrier_two_are_inside() {
                is_needed::<$protocol, $n>(2, $processes);
            }
        }
    };
}

proof!(peterson: protocol::Peterson, 2, [0, 1]);
proof!(tournament: protocol::Tournament<2>, 2, [0, 1]);
proof!(tournament_at_the_root: protocol::Tournament<4>, 4, [0, 2]);
proof!(lamport_fast: protocol::LamportFast<2>, 2, [0, 1]);
proof!(bakery: protocol::Bakery<2>, 2, [0, 1]);
proof!(black_white_bakery: protocol::BlackWhiteBakery<2>, 2, [0, 1]);

/// The proof for a lock that one can try.
macro_rules! proof_of_trying {
    ($name:ident: $protocol:ty, $n:literal, $processes:expr) => {
        #[test]
        fn $name() {
            let runs = || Runs { processes: $processes, rounds: [1, 1], preemptions: Some(3) };
            runs().explore::<$protocol, $n, _>(|| Spin, |slot| tries(slot) || locks(slot));
            // A process that gave up leaves nothing behind, so the other gets in.
            runs().explore::<$protocol, $n, _>(
                || Spin,
                |slot| if slot.number() == 0 { tries(slot) } else { locks(slot) },
            );
        }
    };
}

proof_of_trying!(peterson_can_be_tried_and_given_up: protocol::Peterson, 2, [0, 1]);
proof_of_trying!(a_tournament_can_be_tried_and_given_up: protocol::Tournament<4>, 4, [0, 2]);
proof_of_trying!(a_bakery_can_be_tried_and_given_up: protocol::Bakery<2>, 2, [0, 1]);

/// One round of three processes, with a bound on preemptions. Loom sees them spin in ever new ways, so a run ends when one
/// of them has asked a few times in vain: this is no proof of progress.
macro_rules! proof_for_three {
    ($name:ident: $protocol:ty, $preemptions:literal) => {
        #[test]
        fn $name() {
            let runs = Runs { processes: [0, 1, 2], rounds: [1; 3], preemptions: Some($preemptions) };
            runs.explore::<$protocol, 3, _>(|| Without(NO_BARRIER), locks);
        }
    };
}

proof_for_three!(three_in_a_tournament_with_up_to_two_preemptions: protocol::Tournament<3>, 2);
proof_for_three!(three_in_the_fast_lock_with_up_to_one_preemption: protocol::LamportFast<3>, 1);
proof_for_three!(three_in_the_bakery_with_up_to_two_preemptions: protocol::Bakery<3>, 2);
proof_for_three!(three_in_the_black_white_bakery_with_up_to_two_preemptions: protocol::BlackWhiteBakery<3>, 2);
