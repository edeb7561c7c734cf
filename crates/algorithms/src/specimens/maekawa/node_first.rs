//! Maekawa's algorithm in which the smaller number goes first, however late it asks (E28).
//!
//! Any total order of the requests that compete makes Maekawa's algorithm safe and free of deadlock: it decides who has to
//! give votes back. That the order is by age is what keeps nodes from starving, since a request that waits becomes the
//! oldest in the end. Ordered by node first, a request of node 3 stays behind all that 1 and 2 will ever make.
//!
//! Three nodes, each with its own and the next one's vote, suffice. 1 and 2 take turns, and the one that is not inside has
//! asked again before the other leaves. 3 needs its own vote and that of 1. Now it has the one and now the other, but
//! whenever it has one it has FAILED to get the other, which 1 or 2 has; and so it gives it back when they ask. Each round
//! of two entries passes 3 over twice, for ever.

use doorway_core::{About, Entry, Specimen};

use super::{ABOUT, Fault, Faulty, factory};

/// Its place in the catalog.
pub fn entry() -> Entry<Faulty> {
    Entry {
        about: About {
            name: "maekawa/node-first",
            title: "Maekawa by node first",
            source: include_str!("node_first.rs"),
            specimen: Some(Specimen {
                id: "E28",
                of: "maekawa",
                wrong: "stamps are compared by node first, so that a smaller number always goes before a larger \
                        one",
                verdict: "safe and free of deadlock, but a node can starve",
            }),
            ..ABOUT
        },
        bind: |options| factory(options, Fault::NodeFirst),
    }
}
