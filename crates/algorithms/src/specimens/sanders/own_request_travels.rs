//! Sanders' algorithm in which a node's own request goes through the network (E17b).
//!
//! The theorem lets two nodes exclude each other by asking each other, each keeping its own vote. That works only if a node
//! has its own vote, or waits for it, from the moment in which it asks. If its request to itself is still under way it
//! says yes to the other without keeping anything, and then gets its own vote.
//!
//! Two nodes in Ricart and Agrawala's structure, fifo channels and ten steps suffice: both ask, both REQUESTs reach the
//! other node first and are granted; then each node's own request arrives, and its own LOCKED; both enter.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "sanders/own-request-travels",
            title: "Sanders with a slow self",
            source: include_str!("own_request_travels.rs"),
            specimen: Some(Specimen {
                id: "E17b",
                of: "sanders",
                wrong: "a node's own request travels through the network like any other",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::OwnMessagesTravel),
    }
}
