//! Ricart and Agrawala's algorithm.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM 24(1), 1981.
//!
//! A node that wants in asks all others and enters when all have replied. A node that is inside, or whose own request
//! is older, holds its reply back until it leaves.
//!
//! Messages: 2(N − 1) per entry (REQUEST, REPLY). Delay: T. Needs: channels of any order. Entries are in the order of
//! the stamps, so a request that happened before another is served before it.
//!
//! Beyond the paper a REPLY carries its sender's clock: else a request heard of by a REPLY alone could be passed over.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, LamportClock, Members, NodeId, NodeSet, Out,
    RequestQueue, Scale, Stamp, Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RicartAgrawala {
    me: NodeId,
    others: NodeSet,
    pub(crate) clock: LamportClock,
    pub(crate) state: State,
    /// The peers that have not replied to our request yet.
    missing: NodeSet,
    /// The requests whose reply we hold back until we leave.
    deferred: RequestQueue,
}

/// The node's state, as in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum State {
    Released,
    Wanted(Stamp),
    Held,
}

/// Each message names the request that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in.
    Request(Stamp),
    /// The sender lets the receiver's request of this counter go first. Carries the sender's clock.
    #[allow(missing_docs)]
    Reply { counter: u64, clock: LamportClock },
}

impl State {
    pub(crate) fn goes_before(self, request: Stamp) -> bool {
        self == State::Held || matches!(self, State::Wanted(mine) if mine < request)
    }
}

impl RicartAgrawala {
    /// Node `me` among these members.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        Self {
            me,
            others: members.others(me),
            clock: LamportClock::default(),
            state: if start.is_inside(me) { State::Held } else { State::Released },
            missing: NodeSet::new(),
            deferred: RequestQueue::new(),
        }
    }

    fn enter_if_all_replied(&mut self, out: &mut Out<Msg>) {
        if self.missing.is_empty() {
            self.state = State::Held;
            out.enter();
        }
    }
}

impl Algorithm for RicartAgrawala {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let stamp = self.clock.stamp(self.me);
        self.state = State::Wanted(stamp);
        self.missing.clone_from(&self.others);
        out.rule("ask");
        out.multicast(&self.others, Msg::Request(stamp));
        self.enter_if_all_replied(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                if self.state.goes_before(request) {
                    return self.deferred.insert(request);
                }
                out.rule("reply");
                out.send(from, Msg::Reply { counter: request.counter, clock: self.clock });
            }
            Msg::Reply { counter, clock } => {
                self.clock.merge(clock.count());
                let answered = State::Wanted(Stamp { counter, node: self.me });
                if self.state != answered || !self.missing.remove(from) {
                    return out.broken("REPLY that answers no open request");
                }
                self.enter_if_all_replied(out);
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.state = State::Released;
        out.rule("leave");
        for request in self.deferred.drain() {
            out.send(request.node, Msg::Reply { counter: request.counter, clock: self.clock });
        }
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

pub mod proof;

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "ricart-agrawala",
    title: "Ricart–Agrawala 1981",
    family: Family::Permission,
    needs: Channels::Any,
    messages: Cost { formula: "2(N−1)", bounds: |Scale { n, .. }| [2.0 * (n - 1.0); 2] },
    delay: "T",
    parameters: &[],
    source: include_str!("ricart_agrawala.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<RicartAgrawala> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(RicartAgrawala::new)) }
}
