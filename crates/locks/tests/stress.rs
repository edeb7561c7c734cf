//! Every lock with every way to wait on real threads, two and four of them.
//!
//! A detector inside sees two at once, and the count at the end sees a lost update. The work is bounded by count and by time:
//! where four threads spin on two processors a hand-over can cost a time slice.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use doorway_locks::protocol::{self, Protocol};
use doorway_locks::{Lock, Park, Spin, SpinThenYield, Wait};

const ROUNDS: u64 = 200_000;
const TIME: Duration = Duration::from_millis(250);

/// Two numbers that only somebody alone can keep equal.
#[derive(Default)]
struct Twins {
    one: u64,
    other: u64,
}

/// Locks from one thread for each process, and counts.
fn stress<P: Protocol<N> + Send + Sync, const N: usize, W: Wait + Default + Send + Sync>() {
    let mut lock: Lock<Twins, P, N, W> = Lock::default();
    let is_inside = AtomicBool::new(false);
    let start = Barrier::new(N);
    let deadline = Instant::now() + TIME;
    let rounds: u64 = thread::scope(|scope| {
        let (is_inside, start) = (&is_inside, &start);
        let threads = lock.split().map(|mut slot| {
            scope.spawn(move || {
                let mut rounds = 0;
                start.wait();
                while rounds < ROUNDS && Instant::now() < deadline {
                    let mut twins = slot.lock();
                    assert!(!is_inside.swap(true, Ordering::Relaxed), "two are inside");
                    twins.one += 1;
                    twins.other += 1;
                    assert_eq!(twins.one, twins.other);
                    is_inside.store(false, Ordering::Relaxed);
                    rounds += 1;
                }
                rounds
            })
        });
        threads.map(|thread| thread.join().expect("a thread found two inside")).iter().sum()
    });
    let twins = lock.into_inner();
    assert_eq!([twins.one, twins.other], [rounds; 2]);
    assert!(rounds > 0, "nobody got in within {TIME:?}");
}

/// All ways to wait.
fn stress_all_waits<P: Protocol<N> + Send + Sync, const N: usize>() {
    stress::<P, N, Spin>();
    stress::<P, N, SpinThenYield>();
    stress::<P, N, Park>();
}

#[test]
fn peterson_counts_exactly() {
    stress_all_waits::<protocol::Peterson, 2>();
}

#[test]
fn the_tournament_counts_exactly() {
    stress_all_waits::<protocol::Tournament<2>, 2>();
    stress_all_waits::<protocol::Tournament<4>, 4>();
}

#[test]
fn lamports_fast_lock_counts_exactly() {
    stress_all_waits::<protocol::LamportFast<2>, 2>();
    stress_all_waits::<protocol::LamportFast<4>, 4>();
}

#[test]
fn the_bakery_counts_exactly() {
    stress_all_waits::<protocol::Bakery<2>, 2>();
    stress_all_waits::<protocol::Bakery<4>, 4>();
}

#[test]
fn the_black_white_bakery_counts_exactly() {
    stress_all_waits::<protocol::BlackWhiteBakery<2>, 2>();
    stress_all_waits::<protocol::BlackWhiteBakery<4>, 4>();
}
