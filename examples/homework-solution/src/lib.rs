//! Ricart and Agrawala's algorithm: the model solution.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM 24(1), 1981.
//!
//! A node that wants in sends a REQUEST with its timestamp to all others and enters when all have replied. A node that is
//! inside, or that wants in itself and has the older request, holds its REPLY back until it leaves.

use doorway_core::{
    Algorithm, Explain, Factory, Field, Hints, LamportClock, Members, NodeId, NodeSet, Out, Rule, Stamp,
    Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RicartAgrawala {
    /// Its number.
    me: NodeId,
    /// All other nodes.
    others: NodeSet,
    /// Its logical clock. `self.clock.stamp(self.me)` counts one event and returns a timestamp for it;
    /// `self.clock.merge(counter)` sets the clock to `counter` if that is later.
    clock: LamportClock,
    /// What this node wants.
    state: State,
    /// The nodes whose REPLY to our request is missing.
    missing: NodeSet,
    /// The nodes whose request we have not replied to yet.
    deferred: NodeSet,
}

/// What a node wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum State {
    /// Nothing.
    Released,
    /// To enter, by its request with this timestamp.
    Wanted(Stamp),
    /// To stay inside until it leaves.
    Held,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in, since this timestamp. Timestamps are ordered: `a < b` if `a` is older.
    Request(Stamp),
    /// The receiver may enter, as far as the sender is concerned.
    Reply,
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
            deferred: NodeSet::new(),
        }
    }

    /// Makes the nodes of any system, for simulator and checker.
    pub fn factory() -> Factory<Self> {
        Factory::simple(Self::new)
    }
}

impl Algorithm for RicartAgrawala {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let mine = self.clock.stamp(self.me);
        self.state = State::Wanted(mine);
        self.missing = self.others.clone();
        out.multicast(&self.others, Msg::Request(mine));
        self.enter_if_all_replied(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(theirs) => {
                self.clock.merge(theirs.counter);
                let goes_first = match self.state {
                    State::Released => false,
                    State::Wanted(mine) => mine < theirs,
                    State::Held => true,
                };
                if goes_first {
                    self.deferred.insert(from);
                } else {
                    out.send(from, Msg::Reply);
                }
            }
            Msg::Reply => {
                self.missing.remove(from);
                self.enter_if_all_replied(out);
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.state = State::Released;
        out.multicast(&self.deferred, Msg::Reply);
        self.deferred.clear();
    }
}

impl RicartAgrawala {
    fn enter_if_all_replied(&mut self, out: &mut Out<Msg>) {
        if self.missing.is_empty() {
            self.state = State::Held;
            out.enter();
        }
    }
}

/// How the node is shown. Nothing to do here.
impl Explain for RicartAgrawala {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("state", format_args!("{:?}", self.state)),
            Field::new("clock", self.clock.count()),
            Field::new("missing", &self.missing),
            Field::new("deferred", &self.deferred),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.missing.clone()
    }

    const RULES: &'static [Rule] = &[];
}

/// No hints for the checker: it explores everything.
impl Hints for RicartAgrawala {}
