//! Maekawa's algorithm in which a member inquires only once in its life (E9).
//!
//! An INQUIRE is sent once, however many older requests arrive while the vote is given to the same request. With the next
//! grant that begins anew. Here the mark that the vote was asked back is never wiped out, so the next time that an older
//! request arrives, the vote is not asked back.
//!
//! Three nodes, each with its own and the next one's vote, fifo channels and 17 steps suffice. The arbiter of 3 inquires
//! for the older request of 2, but 3 enters. When 3 and 2 have been inside and asked again, each node has its own vote and
//! waits for the next one's. 3 has failed at 1 and would give its vote back to the request of 2, which is older, if its
//! arbiter asked for it once more.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/inquired-for-ever",
            title: "Maekawa, inquiring once",
            source: include_str!("inquired_for_ever.rs"),
            specimen: Some(Specimen {
                id: "E9",
                of: "maekawa",
                wrong: "that a vote was asked back once is not forgotten with the next grant",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::InquiredForEver),
    }
}
