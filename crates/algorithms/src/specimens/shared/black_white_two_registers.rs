//! The black-white bakery with colour and number in two registers, the colour read first (E29).
//!
//! Between the two reads the ticket can change: the colour is an old one's, the number a new one's. So a number counts
//! for a colour that it does not have, and the next ticket of that colour is too large. Exclusion is safe, but the
//! bound is not.
//!
//! Two processes and 56 steps suffice. 1 reads that 2 has its own colour, black. 2, which has read the sign when it was
//! white, takes a white 1. 1 reads that number and takes a black 2, with no other black one out; and when 2 comes
//! again, it takes a black 3. Two processes never get further; with three the numbers have been seen to pass any limit
//! that was set.

use doorway_core::Specimen;
use doorway_core::shared::{AboutProgram, ProgramEntry};

use super::black_white_split::{First, Split, team};
use crate::shared::black_white_bakery::ABOUT;

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<Split> {
    ProgramEntry {
        about: AboutProgram {
            name: "black-white/two-registers",
            title: "Black-white bakery, two registers",
            source: include_str!("black_white_two_registers.rs"),
            specimen: Some(Specimen {
                id: "E29",
                of: "black-white",
                wrong: "colour and number of a ticket are two registers, and the colour is read first",
                verdict: "bound on tickets violated",
            }),
            ..ABOUT
        },
        bind: |_, members| Ok(team(members, First::Colour)),
    }
}
