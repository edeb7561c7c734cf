//! What one can do with a lock and its slots, for every lock.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;

use doorway_locks::{
    Bakery, BlackWhiteBakery, DefaultWait, LamportFast, Park, Peterson, Section, Slot, Spin, Tournament,
};

/// A test for every lock, with two slots.
macro_rules! for_every_lock {
    ($(#[$meta:meta])* fn $name:ident($lock:ident) $body:block) => {
        for_every_lock!(@ $name, $lock, $body, peterson: Peterson<_>, tournament: Tournament<_, 2>,
            lamport_fast: LamportFast<_, 2>, bakery: Bakery<_, 2>, black_white_bakery: BlackWhiteBakery<_, 2>);
    };
    (@ $name:ident, $lock:ident, $body:block, $($lock_name:ident: $type:ty),+) => {
        mod $name {
            use super::*;
            $(#[test]
            fn $lock_name() {
                let mut $lock = <$type>::new(7);
                $body
            })+
        }
    };
}

for_every_lock! {
    fn what_one_process_writes_the_next_one_reads(lock) {
        let [mut one, mut other] = lock.split();
        *one.lock() += 1;
        assert_eq!(*other.lock(), 8);
        *other.lock() *= 2;
        assert_eq!(*one.lock(), 16);
        assert_eq!(lock.into_inner(), 16);
    }
}

for_every_lock! {
    fn a_panic_inside_lets_the_next_one_in_and_poisons_nothing(lock) {
        let [mut one, mut other] = lock.split();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = one.lock();
            *guard = 8;
            panic!("inside");
        }));
        assert!(outcome.is_err());
        assert_eq!(*other.lock(), 8);
        assert_eq!(*one.lock(), 8);
    }
}

for_every_lock! {
    fn a_forgotten_guard_counts_until_its_slot_locks_again(lock) {
        let [mut one, mut other] = lock.split();
        forget(one.lock());
        *one.lock() += 1;
        assert_eq!(*other.lock(), 8);
    }
}

for_every_lock! {
    fn a_forgotten_guard_counts_until_the_lock_is_split_anew(lock) {
        let [mut one, _other] = lock.split();
        forget(one.lock());
        let [_one, mut other] = lock.split();
        assert_eq!(*other.lock(), 7);
    }
}

for_every_lock! {
    fn a_guard_may_end_in_another_thread(lock) {
        let [mut one, mut other] = lock.split();
        let mut guard = one.lock();
        thread::scope(|scope| {
            scope.spawn(move || *guard += 1);
        });
        assert_eq!(*other.lock(), 8);
    }
}

for_every_lock! {
    fn whoever_comes_second_waits_until_the_first_has_left(lock) {
        let [mut one, mut other] = lock.split();
        let (tell, told) = channel();
        thread::scope(|scope| {
            let mut guard = one.lock();
            scope.spawn(move || {
                tell.send(()).unwrap();
                assert_eq!(*other.lock(), 8);
            });
            told.recv().unwrap();
            *guard = 8;
        });
    }
}

for_every_lock! {
    fn slots_are_numbered_from_zero(lock) {
        assert_eq!(lock.split().map(|slot| slot.number()), [0, 1]);
        let [one, _other] = lock.split();
        assert_eq!(format!("{one:?}"), "Slot { number: 0, .. }");
    }
}

fn use_alone<L: Section<Value = u64>>([mut slot]: [Slot<'_, L>; 1]) -> u64 {
    for _ in 0..3 {
        *slot.lock() += 1;
    }
    *slot.lock()
}

#[test]
fn a_lock_for_one_process_works() {
    assert_eq!(use_alone(Tournament::<_, 1>::new(0).split()), 3);
    assert_eq!(use_alone(LamportFast::<_, 1>::new(0).split()), 3);
    assert_eq!(use_alone(Bakery::<_, 1>::new(0).split()), 3);
    assert_eq!(use_alone(BlackWhiteBakery::<_, 1>::new(0).split()), 3);
}

#[test]
fn a_lock_can_be_tried_and_the_first_to_come_has_it() {
    macro_rules! try_two {
        ($lock:expr, $one:literal, $other:literal) => {
            let mut lock = $lock;
            let mut slots = lock.split().map(Some);
            let (mut one, mut other) = (slots[$one].take().unwrap(), slots[$other].take().unwrap());
            let guard = one.try_lock().expect("the lock is free");
            assert!(other.try_lock().is_none());
            drop(guard);
            *other.try_lock().expect("the first has left") += 1;
            assert_eq!(*one.lock(), 8);
        };
    }
    try_two!(Peterson::new(7), 0, 1);
    try_two!(Bakery::<_, 5>::new(7), 0, 4);
    for _ in 0..2 {
        try_two!(Tournament::<_, 5>::new(7), 0, 1);
        try_two!(Tournament::<_, 5>::new(7), 4, 2);
    }
}

#[test]
fn a_try_that_fails_high_in_the_tree_gives_back_the_nodes_below() {
    let mut lock = Tournament::<_, 4>::new(7);
    let [mut first, mut second, mut third, _] = lock.split();
    let guard = third.lock();
    assert!(first.try_lock().is_none(), "the third is at the root");
    assert!(second.try_lock().is_none());
    drop(guard);
    assert!(second.try_lock().is_some(), "the first has left its leaf too");
}

#[test]
fn locks_are_what_users_expect_of_a_type() {
    let mut lock = Bakery::<Vec<u8>, 3>::default();
    lock.get_mut().push(1);
    assert_eq!(format!("{lock:?}"), "Bakery { slots: 3, .. }");
    let [mut slot, ..] = lock.split();
    assert_eq!(format!("{:?}", slot.lock()), "[1]");
    let from: Peterson<u8> = 7.into();
    assert_eq!(from.into_inner(), 7);
    assert_eq!(format!("{}", Peterson::<u8>::from(7).split()[0].lock()), "7");
    static IN_A_CONSTANT: Bakery<u8, 3> = Bakery::new(7);
    assert_eq!(format!("{IN_A_CONSTANT:?}"), "Bakery { slots: 3, .. }");
}

#[test]
fn slots_and_guards_go_where_their_value_can() {
    fn is_send<T: Send>(_: &T) {}
    fn is_sync<T: Sync>(_: &T) {}
    let mut lock = Peterson::new(std::cell::Cell::new(7));
    is_send(&lock);
    is_sync(&lock);
    let [mut one, other] = lock.split();
    is_send(&other);
    is_send(&one.lock());
    let mut lock = LamportFast::<_, 2, _>::with_wait(7, Park::new());
    let [mut one, _] = lock.split();
    is_sync(&one.lock());
}

#[test]
fn the_default_way_to_wait_is_to_spin_then_yield() {
    let name = std::any::type_name::<DefaultWait>();
    assert!(name.ends_with("SpinThenYield"), "{name}");
    let _: Peterson<u8, Spin> = Peterson::default();
}
