//! The black-white bakery with one word for each process: a bakery whose tickets never exceed n.
//!
//! G. Taubenfeld, "The black-white bakery algorithm", DISC 2004.
//!
//! Tickets have the colour that was shown when they were taken, and a process counts only tickets of its own colour. A
//! process that leaves shows the colour that its ticket does not have. A process of another colour than the one shown goes first: it came
//! before the colour changed. So no new tickets of a colour are taken while its old ones are served, and tickets stay small.
//!
//! Taubenfeld has `choosing` and the pair of colour and number apart. Here one word says all: 0 idle, 1 choosing, else twice
//! the ticket plus its colour, so that a ticket and its colour are always read together. First come, first served among
//! equal colours. Alone it costs two barriers, after choosing and after the ticket, and 2n + 3 accesses; the words stand
//! close, so that few cache lines hold them all.
//!
//! There is no try: a process that gave up a ticket would leave without showing the other colour, and then tickets could grow.

use super::{Protocol, Ticket, others};
use crate::memory::{AtomicMemory, AtomicRegister};

const IDLE: usize = 0;
const CHOOSING: usize = 1;

/// The registers: `colour`, then `word[i]` for each process.
#[repr(align(64))]
pub struct BlackWhiteBakery<const N: usize> {
    /// The colour of the next ticket, 0 or 1.
    colour: AtomicRegister,
    /// Idle, choosing, or the process's ticket with its colour.
    words: [AtomicRegister; N],
}

impl<const N: usize> Protocol<N> for BlackWhiteBakery<N> {
    const NAME: &'static str = "BlackWhiteBakery";

    const GIVES_WAY: bool = false;

    at_rest!(Self { colour: AtomicRegister::zero(), words: array!(AtomicRegister::zero()) });

    fn registers(&self) -> impl Iterator<Item = &AtomicRegister> {
        [&self.colour].into_iter().chain(&self.words)
    }

    #[inline]
    fn own(&self, me: usize) -> Option<&AtomicRegister> {
        Some(&self.words[me])
    }

    #[inline(always)]
    fn enter(&self, me: usize, memory: &impl AtomicMemory) {
        let mine = self.take_ticket(me, memory);
        if let Some(first) = self.tickets(me, memory).find(|theirs| theirs.word != IDLE) {
            self.wait_from(first, mine, memory);
        }
    }

    #[inline]
    fn exit(&self, me: usize, memory: &impl AtomicMemory) {
        let mine = memory.recall(&self.words[me]);
        memory.store(&self.colour, 1 - colour_of(mine));
        memory.store(&self.words[me], IDLE);
        memory.wake(2);
    }
}

impl<const N: usize> BlackWhiteBakery<N> {
    /// The doorway: a ticket of the colour shown, above all others of that colour, each of which is read once.
    #[inline(always)]
    fn take_ticket(&self, me: usize, memory: &impl AtomicMemory) -> Ticket {
        memory.store(&self.words[me], CHOOSING);
        memory.barrier(1);
        let colour = memory.load(&self.colour);
        let highest = self.tickets(me, memory).fold(colour, |highest, theirs| match theirs.word {
            IDLE => highest,
            word => higher(highest, word),
        });
        let word = highest + 2;
        debug_assert!(word / 2 <= N, "a ticket is at most n");
        memory.store(&self.words[me], word);
        memory.barrier(2);
        memory.wake(1);
        Ticket { word, process: me }
    }

    /// Waits for the first process that was not idle and for those after it, until none of them comes before this one.
    #[cold]
    #[inline(never)]
    fn wait_from(&self, first: Ticket, mine: Ticket, memory: &impl AtomicMemory) {
        // `enter` has read the first word. To read it again before a first answer would be one access too many.
        let mut read = Some(first);
        memory.wait_until(move || {
            let theirs = read.take().unwrap_or_else(|| self.ticket_of(first.process, memory));
            self.goes_after(theirs, mine, memory)
        });
        for other in others(mine.process, first.process + 1..N) {
            memory.wait_until(move || self.goes_after(self.ticket_of(other, memory), mine, memory));
        }
    }

    /// Whether the other does not come before this process: it is idle, or its ticket has the same colour and is larger,
    /// or it has the other colour and ours is the one that goes first.
    #[inline]
    fn goes_after(&self, other: Ticket, mine: Ticket, memory: &impl AtomicMemory) -> bool {
        match other.word {
            IDLE => true,
            CHOOSING => false,
            word if colour_of(word) == colour_of(mine.word) => other > mine,
            _ => memory.load(&self.colour) != colour_of(mine.word),
        }
    }

    /// The tickets of all others in the order of their numbers. Each is read when it is asked for.
    #[inline(always)]
    fn tickets(&self, me: usize, memory: &impl AtomicMemory) -> impl Iterator<Item = Ticket> {
        others(me, 0..N).map(|other| self.ticket_of(other, memory))
    }

    #[inline]
    fn ticket_of(&self, process: usize, memory: &impl AtomicMemory) -> Ticket {
        Ticket { word: memory.load(&self.words[process]), process }
    }
}

/// The higher of two words if they have the same colour, else the first. A word that holds no ticket is never above the
/// smallest ticket, whatever colour it seems to have.
#[cold]
#[inline(never)]
fn higher(highest: usize, word: usize) -> usize {
    if colour_of(word) == colour_of(highest) { highest.max(word) } else { highest }
}

/// The colour of a word that holds a ticket.
#[inline]
fn colour_of(word: usize) -> usize {
    word & 1
}
