//! Lamport's bakery with one word for each process.
//!
//! L. Lamport, "A new solution of Dijkstra's concurrent programming problem", Communications of the ACM 17 (1974).
//!
//! A process takes a ticket above all that it sees, and waits for every process with a smaller one; equal tickets are told
//! apart by the processes' numbers. While it is choosing the others wait for it, as its ticket may become smaller than
//! theirs.
//!
//! Lamport has `choosing` and `number` apart. Here one word says both: 0 idle, 1 choosing, else the ticket, from 2. First
//! come, first served. Alone it costs two barriers, after choosing and after the ticket, and 2n + 1 accesses; each word has
//! a cache line of its own, as only its process writes it and all others look at it.

use super::{Protocol, Ticket, TryProtocol, others};
use crate::memory::{AtomicMemory, AtomicRegister, Padded};

const IDLE: usize = 0;
const CHOOSING: usize = 1;

/// The registers: `word[i]` for each process.
pub struct Bakery<const N: usize> {
    /// Idle, choosing, or the process's ticket.
    words: [Padded<AtomicRegister>; N],
}

impl<const N: usize> Protocol<N> for Bakery<N> {
    const NAME: &'static str = "Bakery";

    const GIVES_WAY: bool = false;

    at_rest!(Self { words: array!(Padded(AtomicRegister::zero())) });

    fn registers(&self) -> impl Iterator<Item = &AtomicRegister> {
        self.words.iter().map(|Padded(word)| word)
    }

    #[inline]
    fn own(&self, me: usize) -> Option<&AtomicRegister> {
        Some(self.word(me))
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
        memory.store(self.word(me), IDLE);
        memory.wake(2);
    }
}

impl<const N: usize> TryProtocol<N> for Bakery<N> {
    fn try_enter(&self, me: usize, memory: &impl AtomicMemory) -> bool {
        if self.tickets(me, memory).any(|theirs| theirs.word != IDLE) {
            return false;
        }
        let mine = self.take_ticket(me, memory);
        let is_in = self.tickets(me, memory).all(|theirs| goes_after(theirs, mine));
        if !is_in {
            self.exit(me, memory);
        }
        is_in
    }
}

impl<const N: usize> Bakery<N> {
    /// The doorway: a ticket above all others, each of which is read once.
    ///
    /// Tickets grow as long as some process is always waiting. At a billion tickets a second a word of 64 bits lasts for
    /// centuries; where a word has 32, it may end. Then the process steps back and panics, and the others go on.
    #[inline(always)]
    fn take_ticket(&self, me: usize, memory: &impl AtomicMemory) -> Ticket {
        memory.store(self.word(me), CHOOSING);
        memory.barrier(1);
        let highest = self.tickets(me, memory).fold(CHOOSING, |highest, theirs| match theirs.word {
            IDLE => highest,
            word => higher(highest, word),
        });
        let Some(word) = highest.checked_add(1) else {
            self.exit(me, memory);
            no_ticket();
        };
        memory.store(self.word(me), word);
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
            goes_after(theirs, mine)
        });
        for other in others(mine.process, first.process + 1..N) {
            memory.wait_until(move || goes_after(self.ticket_of(other, memory), mine));
        }
    }

    /// The tickets of all others in the order of their numbers. Each is read when it is asked for.
    #[inline(always)]
    fn tickets(&self, me: usize, memory: &impl AtomicMemory) -> impl Iterator<Item = Ticket> {
        others(me, 0..N).map(|other| self.ticket_of(other, memory))
    }

    #[inline]
    fn ticket_of(&self, process: usize, memory: &impl AtomicMemory) -> Ticket {
        Ticket { word: memory.load(self.word(process)), process }
    }

    #[inline]
    fn word(&self, process: usize) -> &AtomicRegister {
        &self.words[process].0
    }
}

#[cold]
#[inline(never)]
fn higher(highest: usize, word: usize) -> usize {
    highest.max(word)
}

/// Whether the other does not come before this process: it is idle, or its ticket is larger.
#[inline]
fn goes_after(other: Ticket, mine: Ticket) -> bool {
    match other.word {
        IDLE => true,
        CHOOSING => false,
        _ => other > mine,
    }
}

#[cold]
fn no_ticket() -> ! {
    panic!(
        "the bakery has no ticket left: processes have been waiting without a pause for as long as a word can count"
    )
}

#[cfg(all(test, not(doorway_loom)))]
mod tests {
    use super::*;
    use crate::Spin;
    use crate::memory::Atomics;

    #[test]
    #[should_panic(expected = "the bakery has no ticket left")]
    fn the_last_ticket_is_a_panic() {
        let bakery = <Bakery<2>>::AT_REST;
        bakery.word(1).put(usize::MAX);
        bakery.enter(0, &Atomics(Spin));
    }

    #[test]
    fn a_process_that_finds_no_ticket_has_stepped_back() {
        let bakery = <Bakery<2>>::AT_REST;
        bakery.word(1).put(usize::MAX);
        let outcome = std::panic::catch_unwind(|| bakery.take_ticket(0, &Atomics(Spin)));
        assert!(outcome.is_err());
        assert_eq!([bakery.word(0).peek(), bakery.word(1).peek()], [IDLE, usize::MAX]);
        let inside = bakery.ticket_of(1, &Atomics(Spin));
        assert!(goes_after(bakery.ticket_of(0, &Atomics(Spin)), inside), "the one inside is not held up");
    }

    #[test]
    fn the_last_ticket_but_one_can_be_taken() {
        let bakery = <Bakery<2>>::AT_REST;
        bakery.word(1).put(usize::MAX - 1);
        assert_eq!(bakery.take_ticket(0, &Atomics(Spin)).word, usize::MAX);
    }
}
