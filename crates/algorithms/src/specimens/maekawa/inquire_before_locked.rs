//! Maekawa's algorithm in which an INQUIRE that overtakes its LOCKED is answered at once (E5).
//!
//! A member asks for its vote back, and its INQUIRE arrives before the LOCKED that it is about. A node that has failed
//! elsewhere answers with RELINQUISH, although it has nothing to give back yet. Then the LOCKED arrives and is taken for a
//! vote; but the member has given it to another node since.
//!
//! Three nodes on a grid, where 1 asks all and the others ask 1, channels of any order and 16 steps suffice. 3 asks while
//! 1 has its vote, and so it fails at itself. 1 leaves and gives its own vote to 3, then hears of the request of 2, which is
//! older, and inquires. The INQUIRE arrives first, 3 yields, 1 gives the vote to 2. Now the RELEASE of 1 gives 3 its own
//! vote back, the belated LOCKED of 1 seems to give it the last one, and it enters, and so does 2.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/inquire-before-locked",
            title: "Maekawa, yielding too early",
            source: include_str!("inquire_before_locked.rs"),
            specimen: Some(Specimen {
                id: "E5",
                of: "maekawa",
                wrong: "an INQUIRE that arrives before its LOCKED is answered at once",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::InquireBeforeLocked),
    }
}
