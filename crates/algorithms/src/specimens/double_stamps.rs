//! A stamp in one floating-point number, as lecture notes print it: the count before the point, the node's number in hundredths.
//!
//! Node 7 starts at 0.07, and each event adds 1. On receipt the clock becomes the larger of both numbers, with its fraction: from
//! then on the node stamps its requests with the number of another node.

// tidy: not an algorithm, because two specimens count with it.

use doorway_core::{LamportClock, NodeId};

/// One event, in hundredths.
const EVENT: u64 = 100;

/// The clock of a node that has seen nothing, in hundredths: 7 for 0.07.
pub fn started(me: NodeId) -> LamportClock {
    LamportClock::at(me.number() as u64)
}

/// Prepares a clock for as many events, which its algorithm counts by one each: afterwards it will have gone on by hundreds.
pub fn widen(clock: &mut LamportClock, events: u64) {
    *clock = LamportClock::at(clock.count() + events * (EVENT - 1));
}
