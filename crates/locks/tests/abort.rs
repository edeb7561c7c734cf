//! A way to wait that panics ends the program, because the process that waits is seen by others and cannot be cleared away.

mod children;

use std::thread;

use children::said_until_aborted;
use doorway_locks::{Peterson, Wait};

/// Panics instead of waiting.
struct Panics;

impl Wait for Panics {
    fn pause(&self, _tries: u32, _ready: impl FnMut() -> bool) {
        panic!("the way to wait");
    }
}

#[test]
fn a_way_to_wait_that_panics_ends_the_program() {
    let said = said_until_aborted("a_way_to_wait_that_panics_ends_the_program", || {
        let mut lock = Peterson::with_wait(7, Panics);
        let [mut one, mut other] = lock.split();
        let _guard = one.lock();
        thread::scope(|scope| drop(scope.spawn(move || drop(other.lock())).join()));
    });
    assert!(said.contains("the way to wait of a lock panicked while a process was on its way"), "{said}");
}
