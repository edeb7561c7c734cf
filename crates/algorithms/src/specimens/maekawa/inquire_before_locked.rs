//! Maekawa's algorithm in which an INQUIRE that overtakes its LOCKED is answered at once (E5).
//!
//! A member asks for its vote back, and its INQUIRE arrives before the LOCKED that it is about. A node that has failed
//! elsewhere answers with RELINQUISH, although it has nothing to give back yet. Then the LOCKED arrives and is taken for a
//! vote; but the member has given it to somebody else since.
//!
//! On the projective plane of seven nodes with channels of any order 20 steps are known to suffice: 3 is inside with the
//! vote of 4; 4 asks and fails at itself. 5 gives its vote to 4, then hears of the older request of 2 and inquires. The
//! INQUIRE arrives first, 4 yields, 5 gives the vote to 2, which enters. Now 3's RELEASE gives 4 its own vote, the belated
//! LOCKED of 5 seems to give it the last one, and it enters as well.

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
