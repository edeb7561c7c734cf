//! Lamport's algorithm with a clock that stamps before it ticks (E21).
//!
//! As printed: a node stamps a message with its clock and ticks afterwards; on receipt its clock becomes one more than the larger of
//! clock and stamp. The algorithm is safe with it, since a REPLY is still younger than the REQUEST that it answers. But the stamp of
//! a sending is the stamp of the event before it: one event can have caused another and has the same stamp, so the stamps do not
//! order events by cause. A clock that ticks first, and stamps then, does.
//!
//! Two nodes and two steps suffice: 1 asks, and its REQUEST arrives at 2. The receipt has the stamp 2, and so has the REPLY.

use doorway_core::{
    About, Algorithm, Entry, Explain, Factory, Field, Hints, LamportClock, Members, NodeId, NodeSet, Out,
    Rule, Specimen, Stamp, Start,
};
use serde::Serialize;

use crate::message::lamport::{ABOUT, Lamport, Msg};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StampBeforeTick {
    of: Lamport,
    /// The stamp of the last event here, 0 before the first.
    latest: u64,
}

impl StampBeforeTick {
    /// Node `me` among these members. Its clock starts at 1, since all nodes count as heard of at 0.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let mut of = Lamport::new(me, members, start);
        of.clock = LamportClock::at(1);
        Self { of, latest: 0 }
    }

    /// Takes note of an event with this stamp.
    fn happens(&mut self, stamp: u64, out: &mut Out<Msg>) {
        if stamp <= self.latest {
            out.broken("an event has no larger stamp than the event before it at its node");
        }
        self.latest = stamp;
    }

    fn stamp(&mut self, out: &mut Out<Msg>) -> Stamp {
        let stamp = Stamp { counter: self.of.clock.count(), node: self.of.me };
        self.of.clock.tick();
        self.happens(stamp.counter, out);
        stamp
    }

    fn receive(&mut self, from: NodeId, stamp: Stamp, out: &mut Out<Msg>) {
        self.of.hear(from, stamp);
        self.of.clock.tick();
        self.happens(self.of.clock.count(), out);
    }
}

impl Algorithm for StampBeforeTick {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let stamp = self.stamp(out);
        self.of.requests[self.of.me] = Some(stamp);
        out.rule("ask");
        out.multicast(&self.of.others, Msg::Request(stamp));
        self.of.enter_if_oldest(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(stamp) => {
                self.receive(from, stamp, out);
                self.of.requests[from] = Some(stamp);
                out.rule("reply");
                let reply = self.stamp(out);
                out.send(from, Msg::Reply(reply));
            }
            Msg::Reply(stamp) => self.receive(from, stamp, out),
            Msg::Release(stamp) => {
                self.receive(from, stamp, out);
                self.of.requests[from] = None;
            }
        }
        self.of.enter_if_oldest(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.of.inside = false;
        self.of.requests[self.of.me] = None;
        out.rule("leave");
        let stamp = self.stamp(out);
        out.multicast(&self.of.others, Msg::Release(stamp));
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.of.clock()
    }
}

impl Explain for StampBeforeTick {
    const WAITS_FOR_ALL: bool = Lamport::WAITS_FOR_ALL;
    const RULES: &'static [Rule] = Lamport::RULES;

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::new("last event", self.latest));
        fields
    }

    fn waits_for(&self) -> NodeSet {
        self.of.waits_for()
    }
}

impl Hints for StampBeforeTick {}

/// Its place in the catalog.
pub fn entry() -> Entry<StampBeforeTick> {
    Entry {
        about: About {
            name: "lamport/stamp-before-tick",
            title: "Lamport, stamped before the tick",
            source: include_str!("lamport_stamp_before_tick.rs"),
            specimen: Some(Specimen {
                id: "E21",
                of: "lamport",
                wrong: "a message is stamped with the clock before the tick of its sending",
                verdict: "safe, but an event can have the stamp of the event that caused it",
            }),
            ..ABOUT
        },
        bind: |_| Ok(Factory::simple(StampBeforeTick::new)),
    }
}
