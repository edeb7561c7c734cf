//! Lamport's algorithm on channels that are not fifo (E16).
//!
//! The algorithm is the correct one; its channels are not what it needs. A node enters when it has heard something
//! younger from everybody, because then nothing older can still be on its way; if messages may overtake each other, it
//! can be. With two nodes four steps suffice to have both inside: both ask, the one's REQUEST arrives and lets the other
//! in, and the REPLY to it overtakes the other's REQUEST.

use doorway_core::{About, Channels, Entry, Factory, Specimen};

use crate::message::lamport::{ABOUT, Lamport};

/// Its place in the catalog.
pub fn entry() -> Entry<Lamport> {
    Entry {
        about: About {
            name: "lamport/any-order",
            title: "Lamport without fifo",
            needs: Channels::Any,
            source: include_str!("lamport.rs"),
            specimen: Some(Specimen {
                id: "E16",
                of: "lamport",
                wrong: "it runs on channels that are not fifo",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| Ok(Factory::simple(Lamport::new)),
    }
}
