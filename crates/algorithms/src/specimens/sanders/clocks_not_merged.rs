//! Sanders' algorithm in which clocks do not catch up with requests (E17c).
//!
//! In Ricart and Agrawala's structure an arbiter that says yes does not keep its vote for the asker. It relies on its own
//! next request being younger than the one that it let pass, so that the other one defers it. That is so if its clock has
//! caught up with what it has granted. Otherwise it asks with an older stamp afterwards and is preferred.
//!
//! Three nodes, fifo channels and 15 steps suffice. 1 says yes to the request (1, 2) of 2 and then asks with (1, 1), which
//! is older. So 2 and 3 yield their own votes, say yes to 1, keep nothing for it and take their votes again; 1 enters. 3
//! has said yes to 2 as well, and 2 has had the yes of 1 all along: it enters too.

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
