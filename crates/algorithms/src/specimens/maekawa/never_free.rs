//! Maekawa's algorithm in which a RELEASE does not free a vote when the queue is empty (E7).
//!
//! A RELEASE makes the member give its vote to the oldest request in its queue. If the queue is empty it should be free.
//! Here it goes on believing that its vote is given away, and the next request waits for a RELEASE that has already come.
//!
//! Three nodes, each with its own and the next one's vote, and seven steps suffice: 1 and 2 ask, 2 gets the vote of 3,
//! enters and leaves; now the request of 1 reaches 2, whose vote is still locked for 2, and the RELEASE of 2 reaches 3. 1
//! waits for ever.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/never-free",
            title: "Maekawa, never free",
            source: include_str!("never_free.rs"),
            specimen: Some(Specimen {
                id: "E7",
                of: "maekawa",
                wrong: "a RELEASE that finds the queue empty does not set the arbiter free",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::NeverFree),
    }
}
