//! Maekawa's algorithm as printed (E3).
//!
//! When an older request than the one that has the vote arrives, the member asks for its vote back and tells the newcomer
//! nothing, since it is to have the vote next. If then a still older request arrives, the first newcomer has to wait
//! longer than it was made to believe; but it is not told FAILED. So it keeps votes that it would give back if it knew,
//! and others wait for these. B. A. Sanders saw this in 1987 and gave the correction.
//!
//! Four nodes on a grid with fifo channels and 14 steps suffice, with a request each by 2, 3 and 4. 3 is the oldest that
//! waits at 4 until 2, which is older still, goes before it. 3 is told nothing, so it keeps the vote of 1, for which 2
//! waits, while it waits for the vote that 4 gives to 2.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/no-failed-when-overtaken",
            title: "Maekawa as printed",
            source: include_str!("no_failed_when_overtaken.rs"),
            specimen: Some(Specimen {
                id: "E3",
                of: "maekawa",
                wrong: "a request that was the oldest and is overtaken by a still older one is never told \
                        FAILED",
                verdict: "deadlock",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::NoFailedWhenOvertaken),
    }
}
