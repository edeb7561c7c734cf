//! The library that decides views, `noraft`, explored as it is linked.
//!
//! Our own checker looks at every order of events of a small cluster of it, up to bounds. A node is the library and a disk, driven as the
//! lock's node drives them (`local.rs`). The network loses, reorders and doubles messages as it likes (`system.rs`). Four
//! properties must hold in every state (`history.rs`): election safety, log matching, leader completeness and state-machine safety.
//!
//! That this can fail is shown by version 0.4.0, which elects a leader without all that was decided, and by a node that sends before it
//! has written.
//!
//! # What is left out of the search, and why nothing is missed
//!
//! Every message that was ever sent may arrive at any time. So a message that a node can send **without a change of its own** (an
//! answer that it gave before, a leader's word that it leads) can do no harm by being there: it is sent at once, instead of in a step
//! of its own. Unless a test says otherwise, **a message of a term that is over** is not answered. The answer only tells the sender the new
//! term, and a voter gets to every term by standing for election as well; only who takes a snapshot must already be in the leader's term, so
//! there late messages are answered. In the beginning all voters are alike, so **the first to stand** is the first. Tests make small
//! instances without the first two of these, and come to the same verdicts.
//!
//! # How large
//!
//! | terms | commands | and | states | steps |
//! |---|---|---|---|---|
//! | 3 | 0 | | 258,165 | 25 |
//! | 3 | 0 | a restart\* | 1,405,703 | 26 |
//! | 3 | 1 | \* | 7,606,755 | 31 |
//! | 2 | 1 | | 462,432 | 26 |
//! | 2 | 1 | a restart\* | 2,349,660 | 27 |
//! | 1 | 1 | two restarts | 45,487 | 16 |
//! | 2 | 0 | a restart | 57,602 | 20 |
//! | 2 | 0 | a leader that steps back | 40,292 | 20 |
//! | 1 | 1 | a snapshot | 56,850 | 18 |
//! | 2 | 0 | a snapshot | 193,675 | 21 |
//! | 2 | 0 | a snapshot and a restart\* | 794,938 | 22 |
//! | 3 | 0 | a snapshot\* | 24,145,280 | 31 |
//! | 2 | 0 | voters 1, 2 instead of 1, 2, 3 | 236,447 | 26 |
//! | 2 | 0 | voters 1, 2 instead of 1, 2, 3, and a restart\* | 1,154,115 | 27 |
//! | 3 | 0 | voters 1, 2 instead of 1, 2, 3\* | 3,599,777 | 32 |
//! | 2 | 0 | voter 1 instead of 1, 2, 3 | 210,486 | 23 |
//! | 1 | 0 | voters 1, 4 instead of 1, 2, 3; node 4 listened | 291,814 | 22 |
//! | 1 | 0 | voters 1, 2, 4 instead of 1, 2, 3; node 4 listened\* | 2,137,665 | 24 |
//!
//! Rows without a star are part of every test run; those with one are made by `cargo xtask soak --explore`.
//!
//! # A second opinion
//!
//! `second.rs` gives the same random inputs to the crate `raft`, which others wrote, and compares what both decide.

mod bounds;
mod engine;
mod exploring;
mod history;
mod local;
#[path = "../../src/consensus/outgoing.rs"]
mod outgoing;
mod second;
mod system;
