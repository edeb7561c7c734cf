//! The protocols of this crate with every access written down, in an order that a script decides.
//!
//! It runs the same functions as the locks, so that their sequences of accesses can be compared with those of the programs
//! that a checker explores. Each process is a thread that hands over before each access; nothing depends on timing, and the
//! same script gives the same list.
//!
//! Registers are numbered from 0, processes too, and every register holds 0 at first:
//!
//! | protocol | registers, in order | what they hold |
//! |---|---|---|
//! | `Peterson` | `flag[0]`, `flag[1]`, `turn` | 0 or 1; the process that yielded last |
//! | `Tournament<N>` | for each node v of the heap from 1: `want[v][0]`, `want[v][1]`, `turn[v]`, so `want[v][side]` is 3(v − 1) + side | as Peterson's, by sides |
//! | `LamportFast<N>` | `x`, `y`, `want[0]` … | x and y: 0, or process + 1; want: 0 or 1 |
//! | `Bakery<N>` | `word[0]` … | 0 idle, 1 choosing, else the ticket, from 2 |
//! | `BlackWhiteBakery<N>` | `colour`, `word[0]` … | 0 or 1; 0 idle, 1 choosing, else 2 · ticket + colour, tickets from 1 |
//!
//! What the process keeps for itself is no access: `BlackWhiteBakery` knows its own ticket when it leaves.
//!
//! ```
//! use doorway_locks::protocol::Peterson;
//! use doorway_locks::recorded::{RecordedAct::*, record};
//!
//! // Process 0 goes once through the section: three accesses and a barrier.
//! let events = record::<Peterson, 2>(1, [0, 0, 0, 0]);
//! let expected = [
//!     (0, Store { register: 0, value: 1 }),
//!     (0, Barrier),
//!     (0, Load { register: 1, value: 0 }),
//!     (0, Entered),
//!     (0, Store { register: 0, value: 0 }),
//!     (0, Left),
//! ];
//! assert_eq!(events, expected);
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;
use std::{boxed::Box, thread};

use crate::memory::{AtomicMemory, AtomicRegister};
use crate::protocol::Protocol;

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordedAct {
    /// It read this from a register.
    Load {
        /// The register's number.
        register: usize,
        /// What it held.
        value: usize,
    },
    /// It wrote this into a register.
    Store {
        /// The register's number.
        register: usize,
        /// What it holds now.
        value: usize,
    },
    /// It passed a barrier.
    Barrier,
    /// By its last access or barrier it came inside. This is no access, and takes no place of the script.
    Entered,
    /// By its last access it left. This is no access, and takes no place of the script.
    Left,
}

/// Lets each process go `rounds` times through the section of protocol `P`, as far as the script goes.
///
/// Every number of the script lets that process make its next access or pass its next barrier; what it does by itself up
/// to the one after follows at once. A process that has finished its rounds does nothing more.
///
/// # Panics
///
/// If the script names a process that is not there.
pub fn record<P, const N: usize>(
    rounds: usize,
    script: impl IntoIterator<Item = usize>,
) -> Vec<(usize, RecordedAct)>
where
    P: Protocol<N> + Sync,
{
    let protocol = P::AT_REST;
    let events = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let mut processes: Vec<Reins> = Vec::new();
        for me in 0..N {
            let (reins, turns) = reins();
            let recorder = Recorder { me, registers: protocol.registers().collect(), events: &events, turns };
            let protocol = &protocol;
            scope.spawn(move || recorder.run(protocol, rounds));
            processes.push(reins);
        }
        // All of them come to their first access before the first goes on.
        processes.iter_mut().for_each(Reins::await_arrival);
        for process in script {
            assert!(process < N, "the script names process {process}, and there are {N}, from 0");
            processes[process].go();
        }
        // Dropping the reins ends the processes that are left.
    });
    events.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// By which the script moves a process.
struct Reins {
    go: Sender<()>,
    arrived: Receiver<()>,
    is_done: bool,
}

/// By which a process is moved.
struct Turns {
    go: Receiver<()>,
    arrived: Sender<()>,
}

fn reins() -> (Reins, Turns) {
    let (go, may_go) = channel();
    let (arrives, arrived) = channel();
    (Reins { go, arrived, is_done: false }, Turns { go: may_go, arrived: arrives })
}

impl Reins {
    /// Waits until the process stands before its next access, or has ended.
    fn await_arrival(&mut self) {
        self.is_done = self.arrived.recv().is_err();
    }

    fn go(&mut self) {
        if !self.is_done && self.go.send(()).is_ok() {
            self.await_arrival();
        }
    }
}

/// The script has come to its end, and with it the process.
struct End;

/// The memory of one process.
struct Recorder<'a> {
    me: usize,
    registers: Vec<&'a AtomicRegister>,
    events: &'a Mutex<Vec<(usize, RecordedAct)>>,
    turns: Turns,
}

impl Recorder<'_> {
    fn run<P: Protocol<N>, const N: usize>(self, protocol: &P, rounds: usize) {
        let life = || {
            for _ in 0..rounds {
                protocol.enter(self.me, &self);
                self.note(RecordedAct::Entered);
                protocol.exit(self.me, &self);
                self.note(RecordedAct::Left);
            }
        };
        match catch_unwind(AssertUnwindSafe(life)) {
            Err(reason) if !reason.is::<End>() => resume_unwind(reason),
            _ => {}
        }
    }

    /// Hands over, and waits until it is this process's turn.
    fn await_turn(&self) {
        let is_on = self.turns.arrived.send(()).is_ok() && self.turns.go.recv().is_ok();
        if !is_on {
            resume_unwind(Box::new(End));
        }
    }

    fn note(&self, event: RecordedAct) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push((self.me, event));
    }

    fn register(&self, word: &AtomicRegister) -> usize {
        let number = self.registers.iter().position(|register| ptr::eq(*register, word));
        number.expect("a protocol lists all its words")
    }
}

impl AtomicMemory for Recorder<'_> {
    fn load(&self, word: &AtomicRegister) -> usize {
        self.await_turn();
        let value = word.peek();
        self.note(RecordedAct::Load { register: self.register(word), value });
        value
    }

    fn store(&self, word: &AtomicRegister, value: usize) {
        self.await_turn();
        word.put(value);
        self.note(RecordedAct::Store { register: self.register(word), value });
    }

    fn recall(&self, word: &AtomicRegister) -> usize {
        word.peek()
    }

    fn barrier(&self, _number: usize) {
        self.await_turn();
        self.note(RecordedAct::Barrier);
    }

    fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        while !ready() {}
    }

    fn wake(&self, _number: usize) {}
}
