//! The content of a view: its members, and which voters a lease needs in it.

use super::state::{FIRST_NODES, NODES};
use super::voters::Voting;
use super::word::Bits;

/// The content of a view: what it has of each disk, and who votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Roster {
    pub(super) seats: [Seat; NODES],
    pub(super) voting: Voting,
}

/// What a view has of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Nothing.
    Out,
    /// Empty: the member of the view before had left by itself.
    Clean,
    /// This incarnation.
    In(u8),
}

impl Roster {
    /// The first view has three nodes, as they were first started, and the old voters.
    pub(super) const FIRST: Self = {
        let mut seats = [Seat::In(0); NODES];
        seats[FIRST_NODES] = Seat::Out;
        Self { seats, voting: Voting::Old }
    };

    /// Whether it has this incarnation of a node.
    pub(super) fn has(self, node: usize, life: u8) -> bool {
        self.seats[node] == Seat::In(life)
    }

    /// Which incarnation of a node it has.
    pub(super) fn life(self, node: usize) -> Option<u8> {
        match self.seats[node] {
            Seat::In(life) => Some(life),
            Seat::Out | Seat::Clean => None,
        }
    }

    /// The nodes that it has, in any incarnation.
    pub(super) fn members(self) -> impl Iterator<Item = usize> {
        (0..NODES).filter(move |node| self.life(*node).is_some())
    }

    /// Its number, which is never 0 because a view has a member.
    pub(super) fn code(self) -> u32 {
        let mut bits = Bits::default();
        for seat in self.seats {
            let code = match seat {
                Seat::Out => 0,
                Seat::In(life) => 1 + u32::from(life),
                Seat::Clean => 7,
            };
            bits.push(code, 3);
        }
        bits.push(self.voting as u32, 2);
        bits.number
    }

    /// The content with this number, if it is not 0.
    pub(super) fn if_any(code: u32) -> Option<Self> {
        (code > 0).then(|| Self::of(code))
    }

    /// The content with this number.
    pub(super) fn of(code: u32) -> Self {
        let mut bits = Bits::of(code);
        let seats = [(); NODES].map(|()| match bits.take(3) {
            0 => Seat::Out,
            7 => Seat::Clean,
            code => Seat::In(code as u8 - 1),
        });
        Self { seats, voting: Voting::of(bits.take(2)) }
    }
}
