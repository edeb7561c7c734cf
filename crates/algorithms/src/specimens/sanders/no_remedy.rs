//! Sanders' algorithm without Maekawa's remedies (E17a).
//!
//! The theorem on structures is about safety. Freedom from deadlock rests on INQUIRE, FAILED and RELINQUISH, also
//! where the structure is Lamport's or Ricart and Agrawala's, whose own algorithms know no deadlock: there a node defers by
//! the age of requests, here a vote that was given is given.
//!
//! Two nodes and four steps suffice: both ask and keep their own vote, both REQUESTs arrive and wait.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "sanders/no-remedy",
            title: "Sanders without remedies",
            source: include_str!("no_remedy.rs"),
            specimen: Some(Specimen {
                id: "E17a",
                of: "sanders",
                wrong: "there is no remedy against deadlock: no FAILED, INQUIRE and RELINQUISH",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::NoRemedy),
    }
}
