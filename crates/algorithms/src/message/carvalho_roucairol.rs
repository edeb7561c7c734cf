//! Carvalho and Roucairol's algorithm.
//!
//! O. S. F. Carvalho, G. Roucairol, "On mutual exclusion in computer networks", Communications of the ACM 26(2), 1983.
//!
//! Ricart and Agrawala's algorithm with a memory: a reply is a permission that stays valid until its giver asks for
//! it back. So a node asks only the nodes whose permission it lacks, and one that re-enters while no other node wants
//! in sends nothing at all.
//!
//! Messages: 0 to 2(N − 1) per entry, 2 per pair and change of hands. Delay: T. Needs: channels of any order.
//! Starvation-free, but a request that happened before another can be served after it: a node that re-enters on
//! permissions it already has sends nothing, so it cannot hear of a request that is still in flight.
//!
//! At the start no node has a permission. A node that gives up a permission while it waits asks for it back at once.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, LamportClock, Members, NodeId, NodeSet, Out,
    RequestQueue, Scale, Stamp, Start,
};
use serde::{Deserialize, Serialize};

use super::ricart_agrawala::State;

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CarvalhoRoucairol {
    me: NodeId,
    pub(crate) clock: LamportClock,
    pub(crate) state: State,
    /// The peers whose permission we lack and must ask for.
    pub(crate) missing: NodeSet,
    /// The requests whose reply we hold back until we leave.
    deferred: RequestQueue,
}

/// Each message names the request that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in and lacks the receiver's permission.
    Request(Stamp),
    /// The sender's permission, good until the sender asks for it back.
    Reply(Stamp),
}

impl CarvalhoRoucairol {
    /// Node `me` among these members.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let inside = start.is_inside(me);
        Self {
            me,
            clock: LamportClock::default(),
            state: if inside { State::Held } else { State::Released },
            missing: if inside { NodeSet::new() } else { members.others(me) },
            deferred: RequestQueue::new(),
        }
    }

    fn on_peer_request(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if self.state.goes_before(request) {
            self.deferred.insert_newest(request);
            return;
        }
        let had_permission = self.missing.insert(from);
        out.rule("reply");
        out.send(from, Msg::Reply(request));
        if let State::Wanted(mine) = self.state
            && had_permission
        {
            out.rule("ask back");
            out.send(from, Msg::Request(mine));
        }
    }

    fn enter_if_permitted(&mut self, out: &mut Out<Msg>) {
        if self.missing.is_empty() {
            self.state = State::Held;
            out.enter();
        }
    }
}

impl Algorithm for CarvalhoRoucairol {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let stamp = self.clock.stamp(self.me);
        self.state = State::Wanted(stamp);
        out.rule("ask");
        out.multicast(&self.missing, Msg::Request(stamp));
        self.enter_if_permitted(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                self.clock.tick();
                self.on_peer_request(from, request, out);
            }
            Msg::Reply(request) if self.state == State::Wanted(request) => {
                self.missing.remove(from);
                self.enter_if_permitted(out);
            }
            // A REPLY to a withdrawn request is dropped: then neither node has the other's permission.
            Msg::Reply(_) => {}
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.state = State::Released;
        out.rule("leave");
        for request in self.deferred.drain() {
            self.missing.insert(request.node);
            out.send(request.node, Msg::Reply(request));
        }
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

mod proof;

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "carvalho-roucairol",
    title: "Carvalho–Roucairol 1983",
    family: Family::Permission,
    needs: Channels::Any,
    messages: Cost { formula: "0 … 2(N−1)", bounds: |Scale { n, .. }| [0.0, 2.0 * (n - 1.0)] },
    delay: "T",
    parameters: &[],
    source: include_str!("carvalho_roucairol.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<CarvalhoRoucairol> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(CarvalhoRoucairol::new)) }
}
