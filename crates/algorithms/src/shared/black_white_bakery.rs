//! The black-white bakery.
//!
//! G. Taubenfeld, "The black-white bakery algorithm and related bounded-space, adaptive, local-spinning and FIFO
//! algorithms", DISC 2004.
//!
//! A bakery whose tickets have the colour of a sign on the wall, and are compared only with tickets of their own
//! colour. A process that leaves turns the sign to the other colour than its own. Then newcomers get tickets of the new
//! colour and wait until the old colour is used up; when the sign turns again, no process has that colour any more, and
//! its numbers begin at 1.
//!
//! Registers: the sign, and for each process a flag and a ticket, colour and number together, of 2(n + 1) values: no
//! number is larger than n; a ticket is the value 2 · number + colour. They must be atomic: with three processes and
//! regular registers two are inside after 55 steps. Alone: 6 writes, 4n − 3 reads. Starvation-free; first come, first
//! served from the end of the choosing, as old colours go before new ones. Total store order: a barrier after the
//! choosing has begun and one after the number.
//!
//! Often colour and number are printed as two registers. But they must be read as of one moment, or the bound is lost.

// tidy: allow length, because the paper has fifteen lines.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Snapshot,
    Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit, Goto, Next};
use super::lines::{Others, barrier, test, write};
use super::tickets::{Coloured, TICKETS_UP_TO_N, are_up_to_n};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BlackWhiteBakery {
    pub(crate) me: NodeId,
    pub(crate) n: usize,
    line: usize,
    others: Others,
    /// Its colour; and while it chooses, the largest number of that colour that it has read, then its own.
    ticket: Coloured,
}

/// The colour of the next tickets.
const SIGN: Register = Register::new(0);

fn choosing(process: usize) -> Register {
    Register::new(1 + process)
}

impl BlackWhiteBakery {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, n, line: 1, others: Others::new(me, n), ticket: Coloured::default() }
    }

    fn ticket_of(&self, process: usize) -> Register {
        Register::new(1 + self.n + process)
    }

    fn read_ticket(&mut self, theirs: Coloured) -> Then {
        self.ticket.number = self.ticket.larger_of_colour(theirs);
        self.others.for_all(5, Next)
    }

    /// Writes its ticket with this number.
    fn take(&mut self, number: u64, memory: &mut impl Memory, then: Then) -> Then {
        self.ticket.number = number;
        write(memory, self.ticket_of(self.me.index()), self.ticket.word(), then)
    }

    fn await_same_colour(&mut self, theirs: Coloured) -> Then {
        match theirs.goes_before(self.others.now(), self.ticket, self.me) {
            true => Again(11),
            false => self.others.for_all(9, Enter(14)),
        }
    }

    fn await_other_colour(&mut self, theirs: Coloured) -> Then {
        match theirs.number == 0 || theirs.colour == self.ticket.colour {
            true => self.others.for_all(9, Enter(14)),
            false => Next,
        }
    }

    fn test_sign(&mut self, sign: u64) -> Then {
        match sign == self.ticket.colour {
            true => Again(12),
            false => self.others.for_all(9, Enter(14)),
        }
    }

    fn leave(&mut self, memory: &mut impl Memory) -> Then {
        let then = self.take(0, memory, Exit);
        self.ticket = Coloured::default();
        then
    }
}

impl Program for BlackWhiteBakery {
    const LINES: &'static [&'static str] = &[
        "choosing[i] := 1",
        "barrier",
        "mycolour := colour",
        "ticket[i] := (mycolour, 0)",
        "for all j ≠ i: if ticket[j] has mycolour: max := max(max, number of ticket[j])",
        "ticket[i] := (mycolour, max + 1)",
        "barrier",
        "choosing[i] := 0",
        "for all j ≠ i: await choosing[j] = 0",
        "  if ticket[j] has mycolour",
        "    await ticket[j] has not mycolour, or no number, or is behind ticket[i]",
        "  else await ticket[j] has mycolour, or no number,",
        "    or colour ≠ mycolour",
        "colour := the other than mycolour",
        "ticket[i] := (mycolour, 0)",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let Coloured { colour, number } = self.ticket;
        let (mine, other, is_alone) = (choosing(self.me.index()), self.others.now(), self.others.is_empty());
        let theirs = self.ticket_of(other);
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => barrier(memory, Next),
            3 => {
                self.ticket.colour = memory.load(SIGN);
                Next
            }
            4 => self.take(0, memory, test(is_alone, Goto(6), Next)),
            5 => self.read_ticket(Coloured::from_word(memory.load(theirs))),
            6 => self.take(number + 1, memory, Next),
            7 => barrier(memory, Next),
            8 => write(memory, mine, 0, test(is_alone, Enter(14), Doorway)),
            9 => test(memory.load(choosing(other)) == 0, Next, Again(9)),
            10 => test(Coloured::from_word(memory.load(theirs)).colour == colour, Next, Goto(12)),
            11 => self.await_same_colour(Coloured::from_word(memory.load(theirs))),
            12 => self.await_other_colour(Coloured::from_word(memory.load(theirs))),
            13 => self.test_sign(memory.load(SIGN)),
            14 => write(memory, SIGN, 1 - colour, Next),
            _ => self.leave(memory),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.me), self.others.field()]
            .into_iter()
            .chain(self.ticket.fields(self.line <= 6))
            .collect()
    }

    fn invariants() -> &'static [Invariant<Self>] {
        fn holds(snapshot: &Snapshot<'_, BlackWhiteBakery>) -> bool {
            are_up_to_n(snapshot, 1 + snapshot.processes.len())
        }
        &[Invariant { name: TICKETS_UP_TO_N, holds }]
    }
}

/// Its description in the catalog.
pub(crate) const ABOUT: AboutProgram = AboutProgram {
    name: "black-white",
    title: "Black-white bakery",
    promise: Fairness::Fifo,
    parameters: &[],
    variants: &[],
    source: include_str!("black_white_bakery.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<BlackWhiteBakery> {
    ProgramEntry {
        about: ABOUT,
        bind: |_, members| {
            let n = members.n();
            let sign = [Cell::new("colour", Values::UpTo(1))].into_iter();
            let flags = Cell::for_each("choosing", n, Values::UpTo(1));
            let tickets = Cell::for_each("ticket", n, Values::UpTo(2 * n as u64 + 1));
            let registers = sign.chain(flags).chain(tickets).collect();
            Ok(Team::new(members, registers, move |me| BlackWhiteBakery::new(me, n)))
        },
    }
}
