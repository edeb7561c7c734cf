//! Maekawa's algorithm in which messages do not say which request they are about (E6).
//!
//! An INQUIRE that arrives before its LOCKED is answered at once. Where it can only be the one about the present request
//! that would need a channel that is not fifo. But an INQUIRE about an earlier request, which was answered by the RELEASE
//! long ago, can still be on its way when its receiver asks again. Without a name it looks like one about the new
//! request, to which the same member has just given its vote: the node gives back a vote before it has come.
//!
//! It is rare. On the projective plane of seven nodes with fifo channels, two requests each, 20 of 100,000 random walks
//! show it; the shortest known of these has 69 steps.

use doorway_core::{About, Channels, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/unnamed-requests",
            title: "Maekawa without names",
            needs: Channels::Fifo,
            source: include_str!("unnamed_requests.rs"),
            specimen: Some(Specimen {
                id: "E6",
                of: "maekawa",
                wrong: "an INQUIRE that arrives before its LOCKED is answered, and messages do not name the \
                        request they belong to",
                verdict: "exclusion violated, even on fifo channels",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::UnnamedRequests),
    }
}
