//! Maekawa's algorithm in which a FAILED is never forgotten (E4).
//!
//! A node that FAILED to get a vote gives back those that it is asked for. When the vote comes after all, it has no longer
//! failed there. Here it goes on believing so, even when it has all votes and is inside; and since it is only this memory
//! that decides about an INQUIRE, it gives a vote back on which its being inside rests.
//!
//! Three nodes, each with its own and the next one's vote, fifo channels and eleven steps suffice. 1 has been inside; 2
//! asked meanwhile and failed at itself, where 1 had the vote. 1 leaves and asks again, 2 gets its own vote and that of 3
//! and enters. The new request of 1 reaches 2 and is older than that of 2, for the clock of 1 was behind: 2 inquires of
//! itself, remembers that it has failed, and gives its vote back. 1 gets it and enters as well.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/failed-remembered",
            title: "Maekawa with a long memory",
            source: include_str!("failed_remembered.rs"),
            specimen: Some(Specimen {
                id: "E4",
                of: "maekawa",
                wrong: "a FAILED is remembered after the LOCKED of the same member, and an INQUIRE then \
                        answered even inside",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::FailedRemembered),
    }
}
