//! Ricart and Agrawala's algorithm, with four blanks.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM 24(1), 1981.
//!
//! A node that wants in sends a REQUEST with its timestamp to all others and enters when all have replied. A node that is
//! inside, or that wants in itself and has the older request, holds its REPLY back until it leaves.

// Delete this line when the blanks are filled.
#![allow(unused_variables)]

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

    /// The application wants in.
    fn on_request(&mut self, out: &mut Out<Msg>) {
        // Blank 1: stamp the request, remember it in `state`, remember whose REPLY is missing, and ask all others with
        // `out.multicast(&nodes, message)`. If there is no other node, enter at once with `out.enter()`.
        todo!("blank 1: a node that wants in asks all others")
    }

    /// A message has arrived.
    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(theirs) => {
                // Blank 2: merge their counter into the clock. Then reply with `out.send(node, message)`, or defer the
                // reply. Who goes first if both want in?
                todo!("blank 2: a node that is asked replies, or defers its reply")
            }
            Msg::Reply => {
                // Blank 3: note the reply. Enter when it was the last that was missing, and remember that in `state`.
                todo!("blank 3: a node enters when all others have replied")
            }
        }
    }

    /// The application has left.
    fn on_release(&mut self, out: &mut Out<Msg>) {
        // Blank 4: what must the nodes get that wait for our reply? And what must we not do twice?
        todo!("blank 4: a node that leaves sends the replies that it deferred")
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
