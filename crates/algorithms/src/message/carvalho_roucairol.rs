//! Carvalho and Roucairol's algorithm.
//!
//! O. S. F. Carvalho, G. Roucairol, "On mutual exclusion in computer networks", Communications of the ACM 26(2), 1983.
//!
//! Ricart and Agrawala's algorithm with a memory: a reply is a permission that stays valid until its giver asks for
//! it back. So a node asks only those whose permission it does not have, and one that enters again and again while
//! nobody else wants in sends nothing at all.
//!
//! Messages: 0 to 2(N − 1) per entry, 2 per pair and change of hands. Delay: T. Needs: channels of any order.
//! Nobody starves, but a request that happened before another can be served after it: re-entry on permissions that
//! one has asks nobody, so it cannot hear of a request that is still under way.
//!
//! At the start nobody has a permission. A node that gives a permission up while it waits asks for it back at once.

use doorway_core::*;
use serde::{Deserialize, Serialize};

use super::ricart_agrawala::State;

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CarvalhoRoucairol {
    me: NodeId,
    pub(crate) clock: LamportClock,
    pub(crate) state: State,
    /// The peers whose permission we have not got: those that we must ask.
    pub(crate) missing: NodeSet,
    /// The requests whose reply we hold back until we leave.
    deferred: RequestQueue,
}

/// Each message names the request that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in and has not the receiver's permission.
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
            // It answers a request that was withdrawn: the permission is then at neither side.
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

impl Explain for CarvalhoRoucairol {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::new("state", self.state),
            Field::list("without permission of", &self.missing),
            Field::list("deferred", self.deferred.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.missing.clone()
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "ask", text: "A node that wants in asks those whose permission it does not have." },
            Rule {
                name: "reply",
                text: "A node that does not go first gives its permission, and loses the asker's.",
            },
            Rule {
                name: "ask back",
                text: "A node that gave a permission up while it waits asks for it back.",
            },
            Rule {
                name: "leave",
                text: "A node that leaves gives its permission to all whom it had deferred.",
            },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "of two nodes at most one has, or is being sent, the other's permission",
            holds: |cut| {
                let sent = |from, to| {
                    cut.flying(|letter| {
                        matches!(letter.msg, Msg::Reply(_)) && (letter.from, letter.to) == (from, to)
                    })
                };
                let has = |i: NodeId, j: NodeId| usize::from(!cut.state(i).missing.contains(j));
                cut.states().all(|(i, _)| {
                    NodeId::first(i.index()).all(|j| has(i, j) + has(j, i) + sent(i, j) + sent(j, i) <= 1)
                })
            },
        }]
    }
}

impl Hints for CarvalhoRoucairol {
    /// When nobody asks again, a REQUEST that is deferred is answered on leaving and would be answered at once after it,
    /// with the same loss of permission. One that goes before our own is answered now or later alike if we have not the
    /// sender's permission: it will not give it before we have answered, so we cannot enter before that.
    fn commutes(&self, from: NodeId, msg: &Msg, ahead: Ahead) -> bool {
        match msg {
            Msg::Request(request) => {
                let waits = matches!(self.state, State::Wanted(_)) && !self.state.goes_before(*request);
                !ahead.any && (!waits || self.missing.contains(from))
            }
            Msg::Reply(_) => false,
        }
    }

    /// Nothing but stamps of requests is taken from the clock.
    fn forget(&mut self) {
        self.clock = LamportClock::STOPPED;
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        self.state.counters(show);
        self.deferred.counters().for_each(|counter| show(Group::Time, counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let (Msg::Request(request) | Msg::Reply(request)) = msg;
        show(Group::Time, &mut request.counter);
    }
}

/// What people are told about it.
pub const ABOUT: About = About {
    name: "carvalho-roucairol",
    title: "Carvalho–Roucairol 1983",
    family: Family::Permission,
    needs: Channels::Any,
    messages: "0 … 2(N−1)",
    cost: |Scale { n, .. }| [0.0, 2.0 * (n - 1.0)],
    delay: "T",
    parameters: &[],
    source: include_str!("carvalho_roucairol.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<CarvalhoRoucairol> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(CarvalhoRoucairol::new)) }
}
