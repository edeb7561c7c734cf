//! The same workload on the crate `simcore`: components that receive events from a heap.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Id, Simulation, SimulationContext, cast};

use crate::{Done, HOLD, LATENCY, NODES};

#[derive(Clone, Serialize)]
struct Request {
    stamp: u64,
}

#[derive(Clone, Serialize)]
struct Reply {}

#[derive(Clone, Serialize)]
struct Leave {}

#[derive(PartialEq)]
enum State {
    Released,
    Wanted,
    Held,
}

struct Process {
    context: SimulationContext,
    me: u64,
    peers: Rc<RefCell<Vec<Id>>>,
    clock: u64,
    state: State,
    stamp: u64,
    missing: usize,
    deferred: Vec<Id>,
    unissued: Rc<RefCell<u64>>,
    done: Rc<RefCell<Done>>,
}

/// Runs the workload.
pub fn run(entries: u64) -> Done {
    let mut simulation = Simulation::new(1);
    let peers = Rc::new(RefCell::new(Vec::new()));
    let unissued = Rc::new(RefCell::new(entries));
    let done = Rc::new(RefCell::new(Done { entries: 0, messages: 0, time: 0 }));
    let mut processes = Vec::new();
    for me in 0..NODES {
        let name = format!("{me}");
        let process = Rc::new(RefCell::new(Process {
            context: simulation.create_context(&name),
            me: me as u64,
            peers: Rc::clone(&peers),
            clock: 0,
            state: State::Released,
            stamp: 0,
            missing: 0,
            deferred: Vec::new(),
            unissued: Rc::clone(&unissued),
            done: Rc::clone(&done),
        }));
        let id = simulation.add_handler(&name, process.clone());
        peers.borrow_mut().push(id);
        processes.push(process);
    }
    processes.iter().for_each(|process| process.borrow_mut().ask());
    simulation.step_until_no_events();
    done.take()
}

impl Process {
    fn ask(&mut self) {
        if *self.unissued.borrow() == 0 {
            return;
        }
        *self.unissued.borrow_mut() -= 1;
        self.clock += 1;
        self.stamp = self.clock << 8 | self.me;
        self.state = State::Wanted;
        self.missing = NODES - 1;
        for (index, &peer) in self.peers.borrow().iter().enumerate() {
            if index as u64 != self.me {
                self.context.emit(Request { stamp: self.stamp }, peer, LATENCY as f64);
                self.done.borrow_mut().messages += 1;
            }
        }
    }

    fn reply(&self, to: Id) {
        self.context.emit(Reply {}, to, LATENCY as f64);
        self.done.borrow_mut().messages += 1;
    }

    fn on_request(&mut self, from: Id, stamp: u64) {
        self.clock = self.clock.max(stamp >> 8);
        let first = self.state == State::Held || self.state == State::Wanted && self.stamp < stamp;
        if first { self.deferred.push(from) } else { self.reply(from) }
    }

    fn on_reply(&mut self) {
        self.missing -= 1;
        if self.missing == 0 {
            self.state = State::Held;
            self.done.borrow_mut().entries += 1;
            self.context.emit_self(Leave {}, HOLD as f64);
        }
    }

    fn on_leave(&mut self) {
        self.state = State::Released;
        self.done.borrow_mut().time = self.context.time() as u64;
        for to in std::mem::take(&mut self.deferred) {
            self.reply(to);
        }
        self.ask();
    }
}

impl EventHandler for Process {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Request { stamp } => {
                self.on_request(event.src, stamp)
            }
            Reply {} => {
                self.on_reply()
            }
            Leave {} => {
                self.on_leave()
            }
        })
    }
}
