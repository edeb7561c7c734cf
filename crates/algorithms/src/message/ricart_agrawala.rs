//! Ricart and Agrawala's algorithm.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM 24(1), 1981.
//!
//! Whoever wants in asks everybody and enters when all have replied. A node that is inside, or whose own request is
//! older, holds its reply back until it leaves.
//!
//! Messages: 2(N − 1) per entry (REQUEST, REPLY). Delay: T. Needs: channels of any order. Entries are in the order of
//! the stamps, so a request that happened before another is served before it.
//!
//! Beyond the paper a REPLY tells its sender's clock: else a request heard of by a REPLY alone could be passed over.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RicartAgrawala {
    me: NodeId,
    others: NodeSet,
    pub(crate) clock: LamportClock,
    pub(crate) state: State,
    /// The peers whose reply to our request has not come yet.
    missing: NodeSet,
    /// The requests whose reply we hold back until we leave.
    deferred: RequestQueue,
}

/// What the node is about.
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
    /// The sender lets the receiver's request of this counter go first, and tells its clock.
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

impl Explain for RicartAgrawala {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::new("state", self.state),
            Field::list("missing", &self.missing),
            Field::list("deferred", self.deferred.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.missing.clone()
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "ask", text: "A node that wants in stamps its request and sends it to everybody." },
            Rule {
                name: "reply",
                text: "A node that does not want in, or wants in with a younger request, replies at once.",
            },
            Rule { name: "leave", text: "A node that leaves replies to every request that it had deferred." },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: "nothing is deferred by a node that is RELEASED",
                holds: |cut| {
                    cut.states().all(|(_, node)| node.state != State::Released || node.deferred.is_empty())
                },
            },
            Invariant {
                name: "who is HELD has deferred every other WANTED request or will see it arrive",
                holds: |cut| {
                    let wanted = || {
                        cut.states().filter_map(|(me, node)| match node.state {
                            State::Wanted(stamp) => Some((me, stamp)),
                            State::Released | State::Held => None,
                        })
                    };
                    let accounted = |holder: NodeId, node: &Self, (from, stamp): (NodeId, Stamp)| {
                        let flying = cut.flying(|letter| {
                            (letter.from, letter.to) == (from, holder) && *letter.msg == Msg::Request(stamp)
                        });
                        node.deferred.contains(stamp) || flying > 0
                    };
                    let held = cut.states().filter(|(_, node)| node.state == State::Held);
                    held.into_iter().all(|(me, node)| wanted().all(|request| accounted(me, node, request)))
                },
            },
        ]
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::Released => f.write_str("RELEASED"),
            State::Wanted(stamp) => write!(f, "WANTED {stamp}"),
            State::Held => f.write_str("HELD"),
        }
    }
}

impl Hints for RicartAgrawala {
    /// A REPLY only strikes its sender off, so while another one is missing it makes no difference when; what it tells of
    /// the clock must be known already, or be of no use. When nobody asks again, neither has a REQUEST to be taken early:
    /// what is deferred now is answered on leaving and would be answered at once after it; and what is answered now can
    /// come no later than our entry, because the sender of an older request holds back the REPLY that we need.
    fn commutes(&self, _: NodeId, msg: &Msg, ahead: Ahead) -> bool {
        match msg {
            Msg::Request(_) => !ahead.any,
            Msg::Reply { clock, .. } => self.missing.len() > 1 && (*clock <= self.clock || !ahead.any),
        }
    }

    /// Nothing but stamps of requests is taken from the clock.
    fn forget(&mut self) {
        self.clock = LamportClock::STOPPED;
    }

    fn forget_in(msg: &mut Msg) {
        if let Msg::Reply { clock, .. } = msg {
            *clock = LamportClock::STOPPED;
        }
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        self.state.counters(show);
        self.deferred.counters().for_each(|counter| show(Group::Time, counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(request) => show(Group::Time, &mut request.counter),
            Msg::Reply { counter, clock } => {
                show(Group::Time, counter);
                clock.counter().into_iter().for_each(|count| show(Group::Time, count));
            }
        }
    }
}

impl State {
    pub(super) fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) {
        if let State::Wanted(stamp) = self {
            show(Group::Time, &mut stamp.counter);
        }
    }
}

/// What people are told about it.
pub const ABOUT: About = About {
    name: "ricart-agrawala",
    title: "Ricart–Agrawala 1981",
    family: Family::Permission,
    needs: Channels::Any,
    messages: "2(N−1)",
    cost: |Scale { n, .. }| [2.0 * (n - 1.0); 2],
    delay: "T",
    parameters: &[],
    source: include_str!("ricart_agrawala.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<RicartAgrawala> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(RicartAgrawala::new)) }
}
