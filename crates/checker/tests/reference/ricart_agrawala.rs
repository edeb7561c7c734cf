//! Ricart and Agrawala's algorithm as in their paper: a REPLY carries no clock.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM 24(1), 1981.
//!
//! A request is sent to all in one step, with a stamp one above the highest number seen, which it then
//! becomes. A REPLY carries nothing; the receiver of the last one enters. The messages in flight are
//! unordered. A release clears the stamp.

use doorway_checker::{Step, StepsKnown, System};
use doorway_core::Phase;

pub struct RicartAgrawala {
    pub nodes: usize,
    /// The number of requests of each node.
    pub requests: u32,
}

const OUTSIDE: u32 = 0;
const WAITING: u32 = 1;
const INSIDE: u32 = 2;

/// One node; masks have a bit for each node.
#[derive(Clone, Copy)]
struct Local {
    phase: u32,
    highest: u32,
    stamp: u32,
    replied: u32,
    deferred: u32,
    left: u32,
}

/// The count of a node's numbers in a word.
const LOCAL: usize = 6;

/// A message: stamp 0 is a REPLY, any other stamp a REQUEST.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    stamp: u32,
}

impl Message {
    fn pack(self) -> u32 {
        self.from + 8 * (self.to + 8 * self.stamp)
    }

    fn unpack(packed: u32) -> Self {
        Self { from: packed % 8, to: packed / 8 % 8, stamp: packed / 64 }
    }
}

/// A decoded state.
struct State {
    locals: Vec<Local>,
    flying: Vec<u32>,
}

impl State {
    fn read(word: &[u32], nodes: usize) -> Self {
        let (locals, flying) = word.split_at(nodes * LOCAL);
        let local = |numbers: &[u32]| match *numbers {
            [phase, highest, stamp, replied, deferred, left] => {
                Local { phase, highest, stamp, replied, deferred, left }
            }
            _ => unreachable!("a node has six numbers"),
        };
        Self { locals: locals.chunks_exact(LOCAL).map(local).collect(), flying: flying.to_vec() }
    }

    fn word(mut self) -> Vec<u32> {
        self.flying.sort_unstable();
        let numbers = |local: &Local| {
            let Local { phase, highest, stamp, replied, deferred, left } = *local;
            [phase, highest, stamp, replied, deferred, left]
        };
        self.locals.iter().flat_map(numbers).chain(self.flying).collect()
    }

    fn others(&self, me: u32) -> u32 {
        (1 << self.locals.len()) - 1 - (1 << me)
    }

    /// Sends a message to all nodes of a mask; stamp 0 is a REPLY.
    fn send(&mut self, from: u32, mask: u32, stamp: u32) {
        let to = (0..self.locals.len() as u32).filter(|to| mask >> to & 1 == 1);
        self.flying.extend(to.map(|to| Message { from, to, stamp }.pack()));
    }

    fn ask(&mut self, me: u32) {
        let local = &mut self.locals[me as usize];
        local.highest += 1;
        (local.phase, local.stamp, local.left) = (WAITING, local.highest, local.left - 1);
        let stamp = local.stamp;
        self.send(me, self.others(me), stamp);
    }

    fn leave(&mut self, me: u32) {
        let local = &mut self.locals[me as usize];
        let deferred = std::mem::take(&mut local.deferred);
        (local.phase, local.stamp, local.replied) = (OUTSIDE, 0, 0);
        self.send(me, deferred, 0);
    }

    fn arrive(&mut self, message: Message) {
        let Message { from, to: me, stamp } = message;
        let others = self.others(me);
        let local = &mut self.locals[me as usize];
        if stamp == 0 {
            local.replied |= 1 << from;
            local.phase = if local.replied == others { INSIDE } else { WAITING };
            return;
        }
        local.highest = local.highest.max(stamp);
        if local.phase == INSIDE || local.phase == WAITING && (local.stamp, me) < (stamp, from) {
            local.deferred |= 1 << from;
        } else {
            self.send(me, 1 << from, 0);
        }
    }
}

/// The action of a request or a release; other actions are messages.
const OWN: u32 = u32::MAX;

impl System for RicartAgrawala {
    fn processes(&self) -> usize {
        self.nodes
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let (phase, highest, stamp, replied, deferred, left) = (OUTSIDE, 0, 0, 0, 0, self.requests);
        let local = Local { phase, highest, stamp, replied, deferred, left };
        vec![State { locals: vec![local; self.nodes], flying: Vec::new() }.word()]
    }

    fn steps(&self, word: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let state = || State::read(word, self.nodes);
        for (local, me) in state().locals.into_iter().zip(0..) {
            let mut after = state();
            let step = |owed| Step { process: me, action: OWN, owed, lane: me, sends: 0, broken: None };
            if local.phase == OUTSIDE && local.left > 0 {
                after.ask(me);
                visit(step(None), &after.word());
            } else if local.phase == INSIDE {
                after.leave(me);
                visit(step(Some(me)), &after.word());
            }
        }
        for place in 0..state().flying.len() {
            let mut after = state();
            let action = after.flying.remove(place);
            let message = Message::unpack(action);
            after.arrive(message);
            let (process, owed) = (message.to, Some(self.nodes as u32 + action));
            visit(Step { process, action, owed, lane: process, sends: 0, broken: None }, &after.word());
        }
        StepsKnown::All
    }

    fn phase(&self, word: &[u32], process: usize) -> Phase {
        match word[process * LOCAL] {
            OUTSIDE => Phase::Outside,
            WAITING => Phase::Waiting,
            _ => Phase::Inside,
        }
    }

    fn describe(&self, step: &Step) -> String {
        format!("node {}: {}", step.process + 1, step.action)
    }
}

#[cfg(test)]
mod tests {
    use doorway_checker::{Property, SchedulerFairness};

    use super::*;
    use crate::{broken, explored, progress, size};

    #[test]
    fn three_nodes_with_two_entries_each_have_37_229_states() {
        let found = explored(&mut RicartAgrawala { nodes: 3, requests: 2 }, SchedulerFairness::None);
        assert_eq!(size(&found), (37_229, 125_212));
        assert_eq!(broken(&found), [Property::Fifo]);
        assert_eq!(progress(&found), (Some(SchedulerFairness::None), vec![Some(SchedulerFairness::None); 3]));
    }
}
