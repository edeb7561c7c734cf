//! The adapter that hands slots to threads, and its misuse.

use std::cell::RefCell;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, Mutex};
use std::thread;

use doorway_locks::{Bakery, LamportFast, NoSlot, Park, Peterson, Shared, SharedGuard};

/// Runs in a thread of its own and returns the result.
fn elsewhere<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().expect("the work does not panic"))
}

#[test]
fn as_many_threads_as_slots_can_lock() {
    let shared: Shared<Bakery<u64, 4>> = Shared::default();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| *shared.lock() += 1));
        }
    });
    assert_eq!(shared.into_inner().into_inner(), 400);
}

#[test]
fn one_thread_too_many_is_refused_in_a_sentence() {
    let shared = Shared::new(Peterson::new(7));
    let (all_there, all_done) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        let threads = [(); 2].map(|()| {
            scope.spawn(|| {
                *shared.lock() += 1;
                all_there.wait();
                all_done.wait();
            })
        });
        all_there.wait();
        let refused = shared.checked_lock().err();
        let is_free = shared.try_lock().is_some();
        let panics = catch_unwind(AssertUnwindSafe(|| drop(shared.lock()))).is_err();
        all_done.wait();
        assert_eq!(refused, Some(NoSlot::AllTaken { slots: 2 }));
        assert!(!is_free && panics);
        // The end of the scope would not wait until the slots are back.
        threads.into_iter().for_each(|thread| thread.join().expect("it counts"));
    });
    let sentence = "all 2 slots of the lock belong to other threads; give it as many slots as threads use it";
    assert_eq!(NoSlot::AllTaken { slots: 2 }.to_string(), sentence);
    assert_eq!(*shared.lock(), 9);
}

#[test]
fn a_thread_that_ends_gives_its_slot_back() {
    let shared = Shared::new(LamportFast::<_, 1>::new(0));
    for _ in 0..10 {
        elsewhere(|| *shared.lock() += 1);
    }
    assert_eq!(*shared.lock(), 10);
    assert_eq!(elsewhere(|| shared.checked_lock().err()), Some(NoSlot::AllTaken { slots: 1 }));
}

#[test]
fn a_thread_that_locks_twice_gets_an_error() {
    let shared = Shared::new(Peterson::new(7));
    let guard = shared.lock();
    assert_eq!(shared.checked_lock().err(), Some(NoSlot::InsideAlready));
    assert!(shared.try_lock().is_none());
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(shared.lock())));
    let message = *outcome.expect_err("it panics").downcast::<String>().expect("with words");
    assert_eq!(message, "this thread is inside already; drop its guard before it locks again");
    drop(guard);
    assert_eq!(*shared.lock(), 7);
}

#[test]
fn a_forgotten_guard_keeps_its_thread_inside() {
    let shared = Shared::new(Bakery::<_, 2>::new(7));
    elsewhere(|| forget(shared.lock()));
    assert!(shared.try_lock().is_none(), "the other is inside for ever");
    let mut lock = shared.into_inner();
    assert_eq!(*lock.split()[1].lock(), 7, "a split starts anew");
}

#[test]
fn a_lock_in_which_a_guard_was_forgotten_starts_anew_in_the_adapter() {
    let mut lock = Bakery::<_, 2>::new(7);
    forget(lock.split()[1].lock());
    assert_eq!(*Shared::new(lock).lock(), 7);
}

#[test]
fn a_panic_inside_lets_the_next_one_in() {
    let shared = Shared::new(Bakery::<_, 2, _>::with_wait(7, Park::new()));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        *shared.lock() = 8;
        let _guard = shared.lock();
        panic!("inside");
    }));
    assert!(outcome.is_err());
    assert_eq!(elsewhere(|| *shared.lock()), 8);
    assert_eq!(*shared.lock(), 8);
}

#[test]
fn one_thread_can_use_many_locks_at_once_and_after_one_another() {
    for round in 0..100 {
        let (one, other) = (Shared::new(Bakery::<_, 1>::new(round)), Shared::new(Peterson::new(round)));
        let guards = (one.lock(), other.lock());
        assert_eq!(*guards.0 + *guards.1, 2 * round);
    }
}

#[test]
fn a_dying_thread_that_is_inside_keeps_its_slot() {
    static SHARED: Shared<Bakery<u64, 1>> = Shared::new(Bakery::new(7));
    /// A guard that lives until its thread ends.
    struct Late(SharedGuard<'static, Bakery<u64, 1>>);
    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(*self.0, 7);
            let refused = elsewhere(|| SHARED.checked_lock().err());
            assert_eq!(refused, Some(NoSlot::AllTaken { slots: 1 }));
        }
    }
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    // What a thread has of all locks is destroyed after the guard in one of these, and before it in the other.
    let lock_first: fn() = || {
        let guard = SHARED.lock();
        LATE.set(Some(Late(guard)));
    };
    let lock_last: fn() = || LATE.with_borrow_mut(|late| *late = Some(Late(SHARED.lock())));
    for order in [lock_first, lock_last] {
        thread::spawn(order).join().expect("nothing went wrong while the thread ended");
        assert_eq!(elsewhere(|| *SHARED.lock()), 7);
    }
}

#[test]
fn a_dying_thread_that_is_still_inside_gets_an_error() {
    static SHARED: Shared<Bakery<u64, 2>> = Shared::new(Bakery::new(7));
    static TOLD: Mutex<Vec<NoSlot>> = Mutex::new(Vec::new());
    /// A guard that lives until its thread ends, and then locks again.
    struct Late(SharedGuard<'static, Bakery<u64, 2>>);
    impl Drop for Late {
        fn drop(&mut self) {
            *self.0 += 1;
            TOLD.lock().unwrap().extend(SHARED.checked_lock().err());
        }
    }
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    // The guard is destroyed after what the thread has of all locks, in the second after a dead thread's.
    for _ in 0..2 {
        let thread = thread::spawn(|| LATE.with_borrow_mut(|late| *late = Some(Late(SHARED.lock()))));
        thread.join().expect("nothing went wrong while the thread ended");
    }
    assert_eq!(*TOLD.lock().unwrap(), [NoSlot::InsideAlready; 2]);
    assert_eq!(*SHARED.lock(), 9);
}

#[test]
fn a_dying_thread_that_is_not_inside_can_still_lock() {
    static SHARED: Shared<Bakery<u64, 1>> = Shared::new(Bakery::new(7));
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            for _ in 0..2 {
                *SHARED.lock() += 1;
            }
        }
    }
    thread_local! {
        static LAST: Last = const { Last };
    }
    let work = || LAST.with(|_| *SHARED.lock() += 1);
    thread::spawn(work).join().expect("nothing went wrong while the thread ended");
    assert_eq!(*SHARED.lock(), 10);
}

#[test]
fn a_guard_can_be_shared_with_other_threads() {
    let shared = Shared::new(Peterson::new(7));
    let guard = shared.lock();
    let value: &u64 = elsewhere(|| &*guard);
    assert_eq!(*value, 7);
}
