//! Maekawa's algorithm in which an INQUIRE is answered even inside (E4).
//!
//! Who waits and has failed somewhere gives a vote back when it is asked for it. Who is inside must not: its RELEASE is the
//! answer. Here a node that is inside RELINQUISHes like any other, and the vote goes to the one who asked.
//!
//! Three nodes, each with its own and the next one's vote, fifo channels and six steps suffice: 1 and 2 ask, 2 gets the
//! vote of 3 and enters. The older request of 1 reaches 2, which inquires of itself and yields; 1 gets the vote and enters
//! as well.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/inquire-answered-inside",
            title: "Maekawa, yielding inside",
            source: include_str!("inquire_answered_inside.rs"),
            specimen: Some(Specimen {
                id: "E4",
                of: "maekawa",
                wrong: "an INQUIRE is answered even inside",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::InquireAnsweredInside),
    }
}
