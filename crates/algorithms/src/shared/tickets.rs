//! What the bakeries share: the order of tickets, the encoding of a ticket with a colour, and two invariants.

// tidy: not an algorithm, because all bakeries stand on it.

use doorway_core::shared::{Place, Program, Snapshot};
use doorway_core::{Field, NodeId};
use serde::Serialize;

/// Whether a ticket is served before another: it is smaller, or equal and its process has the smaller number. 0 is no
/// ticket and goes before none.
pub fn goes_before(theirs: (u64, usize), mine: (u64, usize)) -> bool {
    theirs.0 != 0 && theirs < mine
}

/// A ticket with a colour, as one register holds it: twice the number, and one more for the second colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Coloured {
    /// 0 or 1.
    pub colour: u64,
    /// The number on it, 0 for none.
    pub number: u64,
}

impl Coloured {
    /// The ticket that a register holds.
    pub fn from_word(word: u64) -> Self {
        Self { colour: word % 2, number: word / 2 }
    }

    /// The register's value for this ticket.
    pub fn word(self) -> u64 {
        2 * self.number + self.colour
    }

    /// Whether this ticket of another is served before the own one of the same colour.
    pub fn goes_before(self, other: usize, mine: Self, me: NodeId) -> bool {
        self.colour == mine.colour && goes_before((self.number, other), (mine.number, me.index()))
    }

    /// The larger of both numbers, if the other ticket has the colour of this one.
    pub fn larger_of_colour(self, other: Self) -> u64 {
        if self.colour == other.colour { self.number.max(other.number) } else { self.number }
    }

    /// A process's fields: while it chooses, the largest number that it has read, then its own.
    pub fn fields(self, is_choosing: bool) -> [Field; 2] {
        let colour = if self.colour == 0 { "black" } else { "white" };
        let name = if is_choosing { "max" } else { "own number" };
        [Field::new("mycolour", colour), Field::new(name, self.number)]
    }
}

/// The invariant of every bakery without colours.
pub const SMALLEST_INSIDE: &str =
    "a process inside has a smaller ticket than every process that is past its doorway";

/// Whether it holds, if the tickets of all processes are in the registers from `first` on.
pub fn is_smallest_inside<P: Program>(snapshot: &Snapshot<'_, P>, first: usize) -> bool {
    let ticket = |process: usize| (snapshot.registers[first + process], process);
    let at = |place: Place| {
        let all = snapshot.processes.iter().enumerate();
        all.filter(move |(_, process)| process.place() == place).map(|(index, _)| index)
    };
    at(Place::Inside).all(|inside| at(Place::Waiting).all(|waiting| ticket(inside) < ticket(waiting)))
}

/// The invariant of every bakery with colours.
pub const TICKETS_UP_TO_N: &str = "no ticket is larger than the number of processes";

/// Whether it holds, if the tickets of all processes are in the registers from `first` on.
pub fn are_up_to_n<P: Program>(snapshot: &Snapshot<'_, P>, first: usize) -> bool {
    let n = snapshot.processes.len();
    let tickets = &snapshot.registers[first..first + n];
    tickets.iter().all(|&word| Coloured::from_word(word).number <= n as u64)
}
