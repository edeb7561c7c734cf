//! The black-white bakery with colour and number in two registers, the number read first (E29).
//!
//! Between the two reads the ticket can change: the number is an old one's, the colour a new one's. So the number
//! counts for a colour that it does not have, and the next ticket of that colour is too large. Exclusion is safe, but
//! the numbers can grow for ever, since a newcomer of the new colour takes over the numbers of the old one.
//!
//! Two processes and 26 steps suffice for a 3. 1 is inside with a black 1 and turns the sign to white. 2 reads that
//! number; 1 leaves, comes again and takes the colour white; 2 reads that colour and takes a white 2, and 1 a white 3.

use doorway_core::Specimen;
use doorway_core::shared::{AboutProgram, ProgramEntry};

use super::black_white_split::{First, Split, team};
use crate::shared::black_white_bakery::ABOUT;

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<Split> {
    ProgramEntry {
        about: AboutProgram {
            name: "black-white/number-first",
            title: "Black-white bakery, number first",
            source: include_str!("black_white_number_first.rs"),
            specimen: Some(Specimen {
                id: "E29",
                of: "black-white",
                wrong: "colour and number of a ticket are two registers, and the number is read first",
                verdict: "bound on tickets violated",
            }),
            ..ABOUT
        },
        bind: |_, members| Ok(team(members, First::Number)),
    }
}
