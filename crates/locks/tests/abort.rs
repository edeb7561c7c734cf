//! A way to wait that panics ends the program, because the process that waits is seen by others and cannot be cleared away.

use std::process::Command;
use std::thread;

use doorway_locks::{Peterson, Wait};

/// Panics instead of waiting.
struct Panics;

impl Wait for Panics {
    fn pause(&self, _tries: u32, _ready: impl FnMut() -> bool) {
        panic!("the way to wait");
    }
}

/// What the program below does that is to be aborted. The variable says that this is the program.
const VARIABLE: &str = "DOORWAY_LOCKS_PANIC_WHILE_WAITING";

#[test]
fn a_way_to_wait_that_panics_ends_the_program() {
    if std::env::var_os(VARIABLE).is_some() {
        return wait_by_panic();
    }
    let program = std::env::current_exe().expect("a test knows its program");
    let test = "a_way_to_wait_that_panics_ends_the_program";
    let output = Command::new(program).args([test, "--nocapture"]).env(VARIABLE, "1").output();
    let output = output.expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.status.code().is_none(), "{said}");
    assert!(said.contains("the way to wait of a lock panicked while a process was on its way"), "{said}");
}

fn wait_by_panic() {
    let mut lock = Peterson::with_wait(7, Panics);
    let [mut one, mut other] = lock.split();
    let _guard = one.lock();
    thread::scope(|scope| {
        let outcome = scope.spawn(move || drop(other.lock())).join();
        panic!("the program went on: {outcome:?}");
    });
}
