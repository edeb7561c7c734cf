//! Sanders' algorithm in which clocks do not catch up with requests (E17c).
//!
//! In Ricart and Agrawala's structure an arbiter that says yes does not keep its vote for the asker. It relies on its own
//! next request being younger than the one that it let pass, so that the other one defers it. That is so if its clock has
//! caught up with what it has granted. Otherwise it asks with an older stamp afterwards and is preferred.
//!
//! Three nodes, fifo channels and 15 steps suffice. 1 grants the request (1, 2) of 2 and then asks with (1, 1), which is
//! older. 2 gives its own vote back to 1, being told by 3 that it has failed, and 1 enters. But 3, which gave 2 no vote at
//! first, does so afterwards, and 2 has in hand what 1 and 3 gave it and gets its own vote again.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "sanders/clocks-not-merged",
            title: "Sanders with lonely clocks",
            source: include_str!("clocks_not_merged.rs"),
            specimen: Some(Specimen {
                id: "E17c",
                of: "sanders",
                wrong: "clocks are not merged on receipt of a REQUEST",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::ClocksNotMerged),
    }
}
