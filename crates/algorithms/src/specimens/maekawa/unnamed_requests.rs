//! Maekawa's algorithm in which messages do not say which request they are about (E6).
//!
//! An INQUIRE that arrives before its LOCKED is answered as if it came after it. Where messages name their request, that
//! takes a channel that is not fifo. But an INQUIRE about an earlier request, to which the RELEASE was the answer, can
//! still be on its way when its receiver asks again. Without a name it looks like one about the new request, and the node
//! gives back a vote that has not come yet.
//!
//! Three nodes with fifo channels, of which 3 decides alone, and 19 steps suffice. 2 is inside when the older request of 1
//! makes 3 inquire. 2 leaves and asks again; now the INQUIRE arrives, then a FAILED, for 3 has let 1 in; so 2 yields. 1
//! leaves and asks again, and 3 gives the vote to 2. Only now the RELINQUISH reaches 3, which gives the vote to 1. The two
//! LOCKED arrive, and both enter. By chance it is rare: one run in a thousand of the projective plane of seven nodes.

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
