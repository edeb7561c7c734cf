//! Our locks under `lock_api`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use doorway_locks::{Bakery, Park, Peterson, RawShared, Tournament};
use lock_api::{Mutex, RawMutex};

fn counts<R: RawMutex + Send + Sync + 'static>() {
    let mutex = Arc::new(Mutex::<R, u64>::new(0));
    let threads = [(); 2].map(|()| {
        let mutex = mutex.clone();
        thread::spawn(move || (0..1000).for_each(|_| *mutex.lock() += 1))
    });
    for thread in threads {
        thread.join().expect("the thread counts");
    }
    assert_eq!(*mutex.lock(), 2000);
}

#[test]
fn a_mutex_of_ours_counts_exactly() {
    counts::<RawShared<Peterson<()>>>();
    counts::<RawShared<Tournament<(), 3>>>();
    counts::<RawShared<Bakery<(), 2>>>();
    counts::<RawShared<Bakery<(), 2, Park>>>();
}

#[test]
fn a_mutex_that_is_held_is_locked_and_cannot_be_taken() {
    let mutex = Mutex::<RawShared<Peterson<()>>, u8>::new(7);
    assert!(!mutex.is_locked());
    let guard = mutex.lock();
    assert!(mutex.is_locked() && mutex.try_lock().is_none());
    let again = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
    assert!(again.is_err(), "a thread that would wait for itself panics");
    drop(guard);
    assert_eq!(mutex.try_lock().map(|guard| *guard), Some(7));
}

#[test]
fn a_mutex_in_which_a_guard_was_forgotten_can_be_sent_and_dropped() {
    let mutex = Mutex::<RawShared<Bakery<(), 2>>, u8>::new(7);
    std::mem::forget(mutex.lock());
    thread::spawn(move || assert!(mutex.try_lock().is_none())).join().expect("it is dropped there");
}
