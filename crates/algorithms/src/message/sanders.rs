//! Sanders' generic algorithm.
//!
//! B. A. Sanders, "The information structure of distributed mutual exclusion algorithms", ACM Transactions on Computer
//! Systems 5(3), 1987.
//!
//! Lamport's, Ricart and Agrawala's and Maekawa's algorithms differ in which nodes a node asks and which it tells. Here
//! each node i has two sets: R_i, which it asks for permission, and I_i, which it informs when it leaves. An arbiter
//! reserves its vote only for nodes that will inform it; to the others it says yes without keeping the vote, since they
//! in turn must ask it again. The rest is Maekawa's algorithm, which is the case I = R = a quorum.
//!
//! Two nodes exclude each other if their I meet, or if each keeps its own vote (i ∈ I_i) and asks the other.
//! Messages: |I − {i}| + 2|R − {i}| per entry without conflict. Delay: 2T between i and j if some third node is in
//! I_i ∩ R_j, else T. Needs: channels of any order.
//!
//! The theorem holds only if a node's own vote is taken in the same step as its request and clocks are merged at every
//! REQUEST. Beyond the paper: i ∈ I_i is not demanded where the I meet anyway, so that a central server is a structure.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, LamportClock, NodeId, NodeSet, Out, Plan,
    Scale, Stamp, Start,
};
use serde::Serialize;

use super::maekawa::{Arbiter, Msg, Requester};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Sanders {
    me: NodeId,
    clock: LamportClock,
    /// I: the nodes it tells that it has left.
    informs: NodeSet,
    /// St: the nodes that inform this one, so that it can reserve its vote for them.
    informed_by: NodeSet,
    /// Its quorum is R.
    requester: Requester,
    arbiter: Arbiter,
}

impl Sanders {
    /// Node `me` in a structure.
    pub fn new(me: NodeId, structure: &Structure, start: Start) -> Self {
        let Structure { asks, informs } = structure;
        let locked_for = start.holder().filter(|&holder| informs[holder].contains(me));
        Self {
            me,
            clock: LamportClock::default(),
            informs: informs[me].clone(),
            informed_by: structure.informed_by(me),
            requester: Requester::new(asks[me].clone(), start.is_inside(me).then_some(me)),
            arbiter: Arbiter::new(locked_for),
        }
    }

    /// Says yes to the oldest requests in turn, until one of them must keep the vote.
    fn grant(&mut self, out: &mut Out<Msg>) {
        while self.arbiter.lock.is_none() && !self.arbiter.queue.is_empty() {
            self.arbiter.grant(out);
            let will_inform = |request: &mut Stamp| self.informed_by.contains(request.node);
            self.arbiter.lock.take_if(|request| !will_inform(request));
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                self.arbiter.on_request(request, out);
                self.grant(out);
            }
            Msg::Locked(request) => self.requester.on_locked(from, request, out),
            Msg::Failed(request) => self.requester.on_failed(from, request, out),
            Msg::Inquire(request) => self.requester.on_inquire(from, request, out),
            Msg::Relinquish(request) => {
                self.arbiter.on_relinquish(request, out);
                self.grant(out);
            }
            Msg::Release(request) => {
                self.arbiter.on_release(request, out);
                self.grant(out);
            }
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for Sanders {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let request = self.clock.stamp(self.me);
        self.requester.ask(request, out);
        self.answer_self(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.handle(from, msg, out);
        self.answer_self(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        if let Some(request) = self.requester.leave() {
            out.rule("leave");
            out.multicast(&self.informs, Msg::Release(request));
        }
        self.answer_self(out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

mod proof;
mod structure;

pub use structure::{Structure, StructureFlaw};

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "sanders",
    title: "Sanders 1987, generic",
    family: Family::Permission,
    needs: Channels::Any,
    messages: Cost {
        formula: "|I−{i}| + 2|R−{i}| …",
        bounds: |Scale { k, .. }| [3.0 * (k[0] - 1.0), 3.0 * (k[1] - 1.0) + 4.0 * k[1]],
    },
    delay: "T … 2T",
    parameters: &[crate::structures::STRUCTURE, crate::structures::QUORUM],
    source: include_str!("sanders.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Sanders> {
    Entry {
        about: ABOUT,
        bind: |options| {
            let structures = crate::structures::structures(options)?;
            Ok(Factory::new(move |members| {
                let structure = structures(members)?;
                Ok(Plan::new(move |me, start| Sanders::new(me, &structure, start)))
            }))
        },
    }
}
