//! Lamport's bakery with one word for each process.
//!
//! L. Lamport, "A new solution of Dijkstra's concurrent programming problem", Communications of the ACM 17 (1974).
//!
//! A process takes a ticket above all that it sees, and waits for everybody with a smaller one; equal tickets are told
//! apart by the processes' numbers. While it is choosing the others wait for it, as its ticket may become smaller than
//! theirs.
//!
//! Lamport has `choosing` and `number` apart. Here one word says both: 0 idle, 1 choosing, else the ticket, from 2. First
//! come, first served. Alone it costs two barriers, after choosing and after the ticket, and 2n + 1 accesses; each word has
//! a cache line of its own, as only its process writes it and all others look at it.

use super::{Protocol, TryProtocol, others};
use crate::memory::{Memory, Padded, Word};

const IDLE: usize = 0;
const CHOOSING: usize = 1;

/// The registers: `word[i]` for each process.
pub struct Bakery<const N: usize> {
    /// Idle, choosing, or the process's ticket.
    words: [Padded<Word>; N],
}

impl<const N: usize> Protocol<N> for Bakery<N> {
    const NAME: &'static str = "Bakery";

    const GIVES_WAY: bool = false;

    at_rest!(Self { words: array!(Padded(Word::zero())) });

    fn registers(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().map(|Padded(word)| word)
    }

    #[inline]
    fn own(&self, me: usize) -> Option<&Word> {
        Some(self.word(me))
    }

    #[inline]
    fn enter(&self, me: usize, memory: &impl Memory) {
        let ticket = self.take_ticket(me, memory);
        for other in others::<N>(me) {
            memory.wait_until(move || self.goes_after(other, me, ticket, memory));
        }
    }

    #[inline]
    fn exit(&self, me: usize, memory: &impl Memory) {
        memory.store(self.word(me), IDLE);
        memory.wake(2);
    }
}

impl<const N: usize> TryProtocol<N> for Bakery<N> {
    fn try_enter(&self, me: usize, memory: &impl Memory) -> bool {
        if others::<N>(me).any(|other| memory.load(self.word(other)) != IDLE) {
            return false;
        }
        let ticket = self.take_ticket(me, memory);
        let is_in = others::<N>(me).all(|other| self.goes_after(other, me, ticket, memory));
        if !is_in {
            self.exit(me, memory);
        }
        is_in
    }
}

impl<const N: usize> Bakery<N> {
    /// The doorway: a ticket above all others, each of which is read once.
    ///
    /// Tickets grow as long as somebody always waits. At a thousand million tickets a second a word of 64 bits lasts for
    /// centuries; where a word has 32, it may end. Then the process steps back and panics, and the others go on.
    #[inline]
    fn take_ticket(&self, me: usize, memory: &impl Memory) -> usize {
        memory.store(self.word(me), CHOOSING);
        memory.barrier(1);
        let highest =
            others::<N>(me).fold(CHOOSING, |highest, other| highest.max(memory.load(self.word(other))));
        let Some(ticket) = highest.checked_add(1) else {
            self.exit(me, memory);
            no_ticket();
        };
        memory.store(self.word(me), ticket);
        memory.barrier(2);
        memory.wake(1);
        ticket
    }

    /// Whether the other does not come before this process: it is idle, or its ticket is larger.
    #[inline]
    fn goes_after(&self, other: usize, me: usize, ticket: usize, memory: &impl Memory) -> bool {
        match memory.load(self.word(other)) {
            IDLE => true,
            CHOOSING => false,
            theirs => (theirs, other) > (ticket, me),
        }
    }

    #[inline]
    fn word(&self, process: usize) -> &Word {
        &self.words[process].0
    }
}

#[cold]
fn no_ticket() -> ! {
    panic!(
        "the bakery has no ticket left: somebody has been waiting at every moment for as long as a word can count"
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
        bakery.enter(0, &Atomics(&Spin));
    }

    #[test]
    fn whoever_finds_no_ticket_has_stepped_back() {
        let bakery = <Bakery<2>>::AT_REST;
        bakery.word(1).put(usize::MAX);
        let outcome = std::panic::catch_unwind(|| bakery.take_ticket(0, &Atomics(&Spin)));
        assert!(outcome.is_err());
        assert_eq!([bakery.word(0).peek(), bakery.word(1).peek()], [IDLE, usize::MAX]);
        assert!(bakery.goes_after(0, 1, usize::MAX, &Atomics(&Spin)), "the one inside is not held up");
    }

    #[test]
    fn the_last_ticket_but_one_can_be_taken() {
        let bakery = <Bakery<2>>::AT_REST;
        bakery.word(1).put(usize::MAX - 1);
        assert_eq!(bakery.take_ticket(0, &Atomics(&Spin)), usize::MAX);
    }
}
