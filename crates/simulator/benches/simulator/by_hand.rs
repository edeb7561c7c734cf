//! A hand-written loop: one algorithm, flat arrays, a timing wheel, and only the measurements that are
//! compared.

use crate::{Done, HOLD, LATENCY, NODES};

const WHEEL: usize = 16;

#[derive(Clone, Copy)]
enum Due {
    Request { from: u8, to: u8, stamp: u64 },
    Reply { to: u8 },
    Leave { node: u8 },
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Released,
    Wanted,
    Held,
}

struct World {
    clock: [u64; NODES],
    state: [State; NODES],
    /// The stamp in one number: the counter above 8 bits of node.
    stamp: [u64; NODES],
    missing: [u32; NODES],
    deferred: [u32; NODES],
    wheel: Vec<Vec<Due>>,
    now: u64,
    unissued: u64,
    done: Done,
}

/// Runs the workload.
pub fn run(entries: u64) -> Done {
    let mut world = World {
        clock: [0; NODES],
        state: [State::Released; NODES],
        stamp: [0; NODES],
        missing: [0; NODES],
        deferred: [0; NODES],
        wheel: vec![Vec::new(); WHEEL],
        now: 0,
        unissued: entries,
        done: Done { entries: 0, messages: 0, time: 0 },
    };
    (0..NODES).for_each(|node| world.ask(node));
    let mut idle = 0;
    while idle < WHEEL {
        let slot = world.now as usize % WHEEL;
        let mut due = std::mem::take(&mut world.wheel[slot]);
        idle = if due.is_empty() { idle + 1 } else { 0 };
        // As in the simulator, applications leave before messages of the same tick arrive.
        for &what in due.iter().filter(|what| matches!(what, Due::Leave { .. })) {
            world.happen(what);
        }
        for &what in due.iter().filter(|what| !matches!(what, Due::Leave { .. })) {
            world.happen(what);
        }
        due.clear();
        world.wheel[slot] = due;
        world.now += 1;
    }
    world.done
}

impl World {
    fn put(&mut self, after: u64, what: Due) {
        self.wheel[(self.now + after) as usize % WHEEL].push(what);
    }

    fn ask(&mut self, node: usize) {
        if self.unissued == 0 {
            return;
        }
        self.unissued -= 1;
        self.clock[node] += 1;
        let stamp = self.clock[node] << 8 | node as u64;
        self.stamp[node] = stamp;
        self.state[node] = State::Wanted;
        self.missing[node] = NODES as u32 - 1;
        for to in (0..NODES).filter(|&to| to != node) {
            self.put(LATENCY, Due::Request { from: node as u8, to: to as u8, stamp });
        }
        self.done.messages += NODES as u64 - 1;
    }

    fn reply(&mut self, to: usize) {
        self.done.messages += 1;
        self.put(LATENCY, Due::Reply { to: to as u8 });
    }

    fn happen(&mut self, what: Due) {
        match what {
            Due::Request { from, to, stamp } => {
                let node = usize::from(to);
                self.clock[node] = self.clock[node].max(stamp >> 8);
                let first = self.state[node] == State::Held
                    || self.state[node] == State::Wanted && self.stamp[node] < stamp;
                if first {
                    self.deferred[node] |= 1 << from;
                } else {
                    self.reply(usize::from(from));
                }
            }
            Due::Reply { to } => {
                let node = usize::from(to);
                self.missing[node] -= 1;
                if self.missing[node] == 0 {
                    self.state[node] = State::Held;
                    self.done.entries += 1;
                    self.put(HOLD, Due::Leave { node: to });
                }
            }
            Due::Leave { node } => {
                let node = usize::from(node);
                self.state[node] = State::Released;
                self.done.time = self.now;
                while self.deferred[node] != 0 {
                    let to = self.deferred[node].trailing_zeros() as usize;
                    self.deferred[node] &= self.deferred[node] - 1;
                    self.reply(to);
                }
                self.ask(node);
            }
        }
    }
}
