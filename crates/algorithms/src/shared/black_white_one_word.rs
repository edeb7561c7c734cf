//! The black-white bakery with one word for each process.
//!
//! After G. Taubenfeld, "The black-white bakery algorithm and related bounded-space, adaptive, local-spinning and FIFO
//! algorithms", DISC 2004.
//!
//! As in the bakery with one word: 0 is idle, 1 is choosing, and from 2 on a word is a ticket, colour and number together:
//! 2 · number + colour. Registers must be atomic, as in the other form. To test another process is to read its word; only
//! if that has the other colour is the sign read as well, and the test passes if the sign has turned from the own colour.
//!
//! Registers: the sign, and a word of 2(n + 1) values for each process, as no number is larger than n. Alone: 4 writes, 2n
//! − 1 reads. Starvation-free; first come, first served. Total store order: a barrier after either write of the doorway.
//!
//! This is the form that ships as a lock. It waits also for one that chooses again, which will wait for it then.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit, Goto, Next};
use super::lines::{Others, barrier, test, write};
use super::tickets::{Coloured, TICKETS_UP_TO_N, are_up_to_n};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BlackWhiteOneWord {
    me: NodeId,
    line: usize,
    others: Others,
    /// Its colour; and while it chooses, the largest number of that colour that it has read, then its own.
    ticket: Coloured,
}

const IDLE: u64 = 0;
const CHOOSING: u64 = 1;
/// The colour of the next tickets.
const SIGN: Register = Register::new(0);

fn word(process: usize) -> Register {
    Register::new(1 + process)
}

impl BlackWhiteOneWord {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, line: 1, others: Others::new(me, n), ticket: Coloured::default() }
    }

    fn read_word(&mut self, theirs: Coloured) -> Then {
        self.ticket.number = self.ticket.larger_of_colour(theirs);
        self.others.for_all(4, Next)
    }

    fn take_ticket(&mut self, memory: &mut impl Memory) -> Then {
        self.ticket.number += 1;
        let then = test(self.others.is_empty(), Enter(9), Next);
        write(memory, word(self.me.index()), self.ticket.word(), then)
    }

    fn await_word(&mut self, theirs: u64) -> Then {
        let ticket = Coloured::from_word(theirs);
        match theirs {
            CHOOSING => Again(7),
            _ if ticket.number > 0 && ticket.colour != self.ticket.colour => Next,
            _ if ticket.goes_before(self.others.now(), self.ticket, self.me) => Again(7),
            _ => self.others.for_all(7, Enter(9)),
        }
    }

    fn test_sign(&mut self, sign: u64) -> Then {
        match sign == self.ticket.colour {
            true => Again(7),
            false => self.others.for_all(7, Enter(9)),
        }
    }
}

impl Program for BlackWhiteOneWord {
    const LINES: &'static [&'static str] = &[
        "word[i] := 1",
        "barrier",
        "mycolour := colour",
        "for all j ≠ i: if word[j] has mycolour: max := max(max, number of word[j])",
        "word[i] := (mycolour, max + 1)",
        "barrier",
        "for all j ≠ i: await word[j] = 0, or it has mycolour and is behind word[i],",
        "  or it has the other colour and colour ≠ mycolour",
        "colour := the other than mycolour",
        "word[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, theirs) = (word(self.me.index()), word(self.others.now()));
        let then = match self.line {
            1 => write(memory, mine, CHOOSING, Next),
            2 => barrier(memory, Next),
            3 => {
                self.ticket.colour = memory.load(SIGN);
                test(self.others.is_empty(), Goto(5), Next)
            }
            4 => self.read_word(Coloured::from_word(memory.load(theirs))),
            5 => self.take_ticket(memory),
            6 => barrier(memory, Doorway),
            7 => self.await_word(memory.load(theirs)),
            8 => self.test_sign(memory.load(SIGN)),
            9 => write(memory, SIGN, 1 - self.ticket.colour, Next),
            _ => {
                self.ticket = Coloured::default();
                write(memory, mine, IDLE, Exit)
            }
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.me), self.others.field()]
            .into_iter()
            .chain(self.ticket.fields(self.line <= 5))
            .collect()
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant { name: TICKETS_UP_TO_N, holds: |snapshot| are_up_to_n(snapshot, 1) }]
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<BlackWhiteOneWord> {
    ProgramEntry {
        about: AboutProgram {
            name: "black-white/one-word",
            title: "Black-white bakery, one word each",
            promise: Fairness::Fifo,
            parameters: &[],
            variants: &[],
            source: include_str!("black_white_one_word.rs"),
            specimen: None,
        },
        bind: |_, members| {
            let n = members.n();
            let sign = [Cell::new("colour", Values::UpTo(1))].into_iter();
            let words = Cell::for_each("word", n, Values::UpTo(2 * n as u64 + 1));
            Ok(Team::new(members, sign.chain(words).collect(), move |me| BlackWhiteOneWord::new(me, n)))
        },
    }
}
