//! Ricart and Agrawala's algorithm with one fault at a time.
//!
//! A copy of the correct algorithm in which a [`Fault`] can be switched on. As printed in lecture notes, the peers whose
//! reply was held back are remembered after they got it (E1): every later release sends them a REPLY that they did not
//! ask for, which a later request of theirs counts. Where the application's wish is stamped at once but takes effect only
//! when a message of the node to itself arrives (E14), the node answers younger requests in between as if it wanted
//! nothing, and insists on its older stamp afterwards.
//!
//! A REPLY here does not say which request it answers, as in the paper: else a wrong one would be noticed.

// tidy: allow length, because two faults share one copy of the algorithm.
use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Explain, Factory, Family, Field, Hints, LamportClock, Members,
    NodeId, NodeSet, Out, Plan, Rule, Scale, Specimen, Stamp, Start,
};
use serde::{Deserialize, Serialize};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Fault {
    /// Who was answered at a release is answered again at every later one.
    DeferredNotCleared,
    /// A request is stamped before its node wants in.
    StampedEarly,
}

/// One node; the fields are those of the correct algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct FaultyRicartAgrawala {
    fault: Fault,
    me: NodeId,
    others: NodeSet,
    clock: LamportClock,
    state: State,
    missing: NodeSet,
    /// The peers whose reply we hold back until we leave.
    deferred: NodeSet,
}

/// The node's state, as in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum State {
    Released,
    Wanted(Stamp),
    Held,
}

/// The messages of the paper, and one of a node to itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in.
    Request(Stamp),
    /// The sender lets the receiver go first, and tells its clock.
    Reply(LamportClock),
    /// The node's own application wants in, since the time of this stamp.
    Enter(Stamp),
}

impl FaultyRicartAgrawala {
    /// Node `me` among these members, with its fault.
    pub fn new(me: NodeId, members: &Members, start: Start, fault: Fault) -> Self {
        Self {
            fault,
            me,
            others: members.others(me),
            clock: LamportClock::default(),
            state: if start.is_inside(me) { State::Held } else { State::Released },
            missing: NodeSet::new(),
            deferred: NodeSet::new(),
        }
    }

    fn ask(&mut self, stamp: Stamp, out: &mut Out<Msg>) {
        self.state = State::Wanted(stamp);
        self.missing.clone_from(&self.others);
        out.rule("ask");
        out.multicast(&self.others, Msg::Request(stamp));
        self.enter_if_all_replied(out);
    }

    fn enter_if_all_replied(&mut self, out: &mut Out<Msg>) {
        if self.missing.is_empty() {
            self.state = State::Held;
            out.enter();
        }
    }

    fn goes_before(&self, request: Stamp) -> bool {
        self.state == State::Held || matches!(self.state, State::Wanted(mine) if mine < request)
    }
}

impl Algorithm for FaultyRicartAgrawala {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let stamp = self.clock.stamp(self.me);
        match self.fault {
            Fault::DeferredNotCleared => self.ask(stamp, out),
            Fault::StampedEarly => {
                out.rule("stamp");
                out.send(self.me, Msg::Enter(stamp));
            }
        }
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Enter(stamp) => self.ask(stamp, out),
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                if self.goes_before(request) {
                    self.deferred.insert(from);
                    return;
                }
                out.rule("reply");
                out.send(from, Msg::Reply(self.clock));
            }
            Msg::Reply(clock) => {
                self.clock.merge(clock.count());
                let waits = matches!(self.state, State::Wanted(_));
                if waits && self.missing.remove(from) {
                    self.enter_if_all_replied(out);
                }
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.state = State::Released;
        out.rule("leave");
        out.multicast(&self.deferred, Msg::Reply(self.clock));
        if self.fault != Fault::DeferredNotCleared {
            self.deferred.clear();
        }
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

impl Explain for FaultyRicartAgrawala {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::new("state", self.state),
            Field::list("missing", &self.missing),
            Field::list("deferred", &self.deferred),
        ]
    }

    /// Until its wish has reached it, a node waits for itself.
    fn waits_for(&self) -> NodeSet {
        match self.state {
            State::Released => [self.me].into_iter().collect(),
            State::Wanted(_) | State::Held => self.missing.clone(),
        }
    }

    const RULES: &'static [Rule] = &[
        Rule::new("stamp", "A node that will want in stamps its request and tells itself."),
        Rule::new("ask", "A node that wants in sends its stamped request to everybody."),
        Rule::new(
            "reply",
            "A node that does not want in, or wants in with a younger request, replies at once.",
        ),
        Rule::new("leave", "A node that leaves replies to every peer that it had deferred."),
    ];
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

impl Hints for FaultyRicartAgrawala {}

fn about(name: &'static str, title: &'static str, specimen: Specimen) -> About {
    About {
        name,
        title,
        family: Family::Permission,
        needs: Channels::Any,
        messages: Cost {
            formula: "2(N−1) …", bounds: |Scale { n, .. }| [2.0 * (n - 1.0), f64::INFINITY]
        },
        delay: "–",
        parameters: &[],
        source: include_str!("ricart_agrawala.rs"),
        specimen: Some(specimen),
    }
}

fn factory(fault: Fault) -> Factory<FaultyRicartAgrawala> {
    Factory::new(move |&members| {
        Ok(Plan::new(move |me, start| FaultyRicartAgrawala::new(me, &members, start, fault)))
    })
}

/// Its place in the catalog, with the deferred peers never forgotten.
pub fn deferred_not_cleared_entry() -> Entry<FaultyRicartAgrawala> {
    let specimen = Specimen {
        id: "E1",
        of: "ricart-agrawala",
        wrong: "the deferred set is not cleared on release: a reply is sent again at every later release and counted \
                for a later request",
        verdict: "exclusion violated",
    };
    Entry {
        about: about("ricart-agrawala/deferred-not-cleared", "Ricart–Agrawala as printed", specimen),
        bind: |_| Ok(factory(Fault::DeferredNotCleared)),
    }
}

/// Its place in the catalog, with requests stamped before their node wants in.
pub fn stamped_early_entry() -> Entry<FaultyRicartAgrawala> {
    let specimen = Specimen {
        id: "E14",
        of: "ricart-agrawala",
        wrong: "the request is stamped when the application asks, before the state changes",
        verdict: "exclusion violated",
    };
    Entry {
        about: about("ricart-agrawala/stamped-early", "Ricart–Agrawala stamped early", specimen),
        bind: |_| Ok(factory(Fault::StampedEarly)),
    }
}
