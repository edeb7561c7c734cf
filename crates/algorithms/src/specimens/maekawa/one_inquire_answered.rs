//! Maekawa's algorithm in which a FAILED answers only one of the INQUIREs before it (E8).
//!
//! A node that has not failed yet only remembers who would like a vote back. When it fails it must answer all of them.
//! Here there is room for one, or one answer is thought to be enough; the other members wait for a vote that its owner
//! could give back and does not.
//!
//! Three nodes that ask all nodes, fifo channels and ten steps suffice, with a request each by 1 and 2. 2 has its own vote
//! and that of 3, both of which are wanted back for 1, which is older. 1 tells 2 that it has failed. 2 gives its own vote
//! back and keeps that of 3, for which 1 waits, while 2 waits for that of 1.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/one-inquire-answered",
            title: "Maekawa, answering once",
            source: include_str!("one_inquire_answered.rs"),
            specimen: Some(Specimen {
                id: "E8",
                of: "maekawa",
                wrong: "a FAILED answers only one remembered INQUIRE",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::OneInquireAnswered),
    }
}
