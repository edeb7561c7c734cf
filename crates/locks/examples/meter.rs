//! A turnstile with three gates that count into one total, without a read-modify-write instruction.
//!
//! Run it by `cargo run -p doorway-locks --example meter`.

use std::thread;

use doorway_locks::{BlackWhiteBakery, Slot};

/// What the gates share.
#[derive(Debug, Default)]
struct Total {
    people: u32,
    /// How many came through each gate.
    by_gate: [u32; 3],
}

/// One gate, which has a slot of its own.
fn open_gate(mut slot: Slot<'_, BlackWhiteBakery<Total, 3>>) {
    let gate = slot.number();
    for _ in 0..1000 {
        let mut total = slot.lock();
        total.people += 1;
        total.by_gate[gate] += 1;
    }
}

fn main() {
    let mut lock = BlackWhiteBakery::<Total, 3>::default();
    thread::scope(|scope| {
        for slot in lock.split() {
            scope.spawn(move || open_gate(slot));
        }
    });
    let total = lock.into_inner();
    println!("{} people came in: {:?}", total.people, total.by_gate);
    assert_eq!(total.people, 3000);
}
