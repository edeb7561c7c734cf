//! Our locks under `lock_api`.

mod children;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use children::said_until_aborted;
use doorway_locks::{Bakery, Park, Peterson, RawShared, Tournament};
use lock_api::{Mutex, MutexGuard, RawMutex};

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
    drop(guard);
    assert!(!mutex.is_locked());
    assert_eq!(mutex.try_lock().map(|guard| *guard), Some(7));
}

#[test]
fn is_locked_needs_no_slot() {
    let mutex = Mutex::<RawShared<Tournament<(), 1>>, u8>::new(7);
    let told_elsewhere = || thread::scope(|scope| scope.spawn(|| mutex.is_locked()).join().unwrap());
    assert!(!mutex.is_locked());
    let taken = thread::scope(|scope| scope.spawn(|| mutex.try_lock().is_some()).join().unwrap());
    assert!(taken, "who asked has no slot");
    let guard = mutex.lock();
    assert!(told_elsewhere());
    drop(guard);
    assert!(!told_elsewhere(), "the slot is this thread's, and the lock is free");
}

#[test]
fn a_thread_that_would_wait_for_itself_aborts_in_a_sentence() {
    let said = said_until_aborted("a_thread_that_would_wait_for_itself_aborts_in_a_sentence", || {
        let mutex = Mutex::<RawShared<Peterson<()>>, u8>::new(7);
        let _guard = mutex.lock();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
    });
    assert!(said.contains("this thread is inside already"), "{said}");
    assert!(said.contains("a thread could not lock, and its caller relies on it"), "{said}");
}

#[test]
fn a_failed_relock_gives_no_second_guard() {
    let said = said_until_aborted("a_failed_relock_gives_no_second_guard", || {
        let mutex = Mutex::<RawShared<Bakery<(), 2>>, u8>::new(7);
        let kept = RefCell::new(None);
        let mut guard = mutex.lock();
        // The first guard cannot have its lock back while the second is kept.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            MutexGuard::unlocked(&mut guard, || *kept.borrow_mut() = Some(mutex.lock()));
        }));
        let _both = (guard, kept);
    });
    assert!(said.contains("this thread is inside already"), "{said}");
}

#[test]
fn a_thread_that_finds_all_slots_taken_waits_until_one_is_free() {
    let mutex = Mutex::<RawShared<Bakery<(), 1>>, u8>::new(7);
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        let (took, taken) = channel();
        let mutex = &mutex;
        scope.spawn(move || {
            *mutex.lock() += 1;
            took.send(()).unwrap();
            // It has left, and has its slot until it ends.
            ended.recv().unwrap();
        });
        taken.recv().unwrap();
        assert!(mutex.try_lock().is_none());
        scope.spawn(move || end.send(()).unwrap());
        *mutex.lock() += 1;
    });
    assert_eq!(mutex.into_inner(), 9);
}

#[test]
fn a_raw_mutex_shows_its_lock_and_has_a_default() {
    let mutex = RawShared::<Bakery<(), 2>>::default();
    assert_eq!(format!("{mutex:?}"), "RawShared(Bakery { slots: 2, .. })");
    assert!(mutex.try_lock());
}

#[test]
fn a_mutex_in_which_a_guard_was_forgotten_can_be_sent_and_dropped() {
    let mutex = Mutex::<RawShared<Bakery<(), 2>>, u8>::new(7);
    std::mem::forget(mutex.lock());
    thread::spawn(move || assert!(mutex.try_lock().is_none())).join().expect("it is dropped there");
}
