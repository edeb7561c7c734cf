//! Every lock with every way to wait on real threads, two and four of them.
//!
//! A detector inside sees two at once, and the count at the end sees a lost update. The work is bounded by count and by time:
//! where four threads spin on two processors a hand-over can cost a time slice.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use doorway_locks::protocol::{self, Protocol};
use doorway_locks::{Lock, Park, Spin, SpinThenYield, Wait};

const ROUNDS: u64 = 200_000;
const TIME: Duration = Duration::from_millis(250);

/// Two numbers that stay equal only under mutual exclusion.
#[derive(Default)]
struct Twins {
    one: u64,
    other: u64,
}

/// Ends the program if it is not dropped in time: threads that wait for each other cannot be stopped.
struct Watchdog {
    _dropped: Sender<()>,
}

const PATIENCE: Duration = Duration::from_secs(120);

impl Watchdog {
    fn new() -> Self {
        let (_dropped, drops) = channel();
        thread::spawn(move || {
            if drops.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("threads still wait for each other after {PATIENCE:?}: this is a deadlock");
                std::process::abort();
            }
        });
        Self { _dropped }
    }
}

/// Locks from one thread for each process, and counts.
fn stress<P: Protocol<N> + Send + Sync, const N: usize, W: Wait + Default + Send + Sync>() {
    let mut lock: Lock<Twins, P, N, W> = Lock::default();
    let is_inside = AtomicBool::new(false);
    let start = Barrier::new(N);
    let watchdog = Watchdog::new();
    let rounds: u64 = thread::scope(|scope| {
        let (is_inside, start) = (&is_inside, &start);
        let threads = lock.split().map(|mut slot| {
            scope.spawn(move || {
                let mut rounds = 0;
                start.wait();
                let deadline = Instant::now() + TIME;
                while rounds == 0 || rounds < ROUNDS && Instant::now() < deadline {
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
    drop(watchdog);
    let twins = lock.into_inner();
    assert_eq!([twins.one, twins.other], [rounds; 2]);
    assert!(rounds >= N as u64, "every thread gets in at least once");
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
