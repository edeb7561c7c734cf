//! Maekawa's algorithm without its remedies (B0).
//!
//! Each node asks its quorum, each member gives its vote to one request at a time, and that is all: no FAILED, INQUIRE and
//! RELINQUISH. It is safe, since any two quorums have a member in common. But votes can be given so that every node lacks
//! one that another waiting node has, and no node gives one back.
//!
//! Three nodes, each with its own and the next one's vote, and six steps suffice: all ask and vote for themselves, then the
//! three REQUESTs arrive, each at a node that has voted. On thirteen nodes the scripts that ship with Doorway show it.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/basic",
            title: "Maekawa, basic",
            source: include_str!("basic.rs"),
            specimen: Some(Specimen {
                id: "B0",
                of: "maekawa",
                wrong: "there is no remedy against deadlock: no FAILED, INQUIRE and RELINQUISH",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::NoRemedy),
    }
}
