//! Steps as people know them.

use std::fmt;

use doorway_core::NodeId;

use super::Messages;
use super::maps::{Map, Thing};
use super::outcomes::{CRASH, RELEASE, REQUEST};
use super::steps::{ARRIVES, ARRIVES_AGAIN, IS_LOST};
use crate::Step;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The application of this node asks.
    Request(NodeId),
    /// The application of this node leaves.
    Release(NodeId),
    /// This node stops for good.
    Crash(NodeId),
    /// A message arrives.
    Deliver(Delivery),
    /// A message is lost.
    Lose(Delivery),
    /// A message arrives, and will arrive once more.
    Duplicate(Delivery),
    /// One application tells another of all that its node knows.
    #[allow(missing_docs)]
    Tell { from: NodeId, to: NodeId },
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// From whom.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// Of what kind.
    pub kind: &'static str,
    /// Which of those of its kind in flight on its channel, in the order in which they were sent, from 1; known of a whole run
    /// only.
    pub which: usize,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Request(node) => write!(f, "node {node} asks"),
            Act::Release(node) => write!(f, "node {node} leaves"),
            Act::Crash(node) => write!(f, "node {node} stops for good"),
            Act::Deliver(Delivery { from, to, kind, .. }) => write!(f, "{kind} from {from} arrives at {to}"),
            Act::Lose(Delivery { from, to, kind, .. }) => write!(f, "{kind} from {from} to {to} is lost"),
            Act::Duplicate(Delivery { from, to, kind, .. }) => {
                write!(f, "{kind} from {from} arrives at {to}, and will once more")
            }
            Act::Tell { from, to } => write!(f, "the application of {from} tells that of {to} what it knows"),
        }
    }
}

impl Messages {
    /// What a step does.
    #[must_use]
    pub fn act(&self, step: &Step) -> Act {
        let node = NodeId::new(step.process as usize);
        match step.action {
            REQUEST => Act::Request(node),
            RELEASE => Act::Release(node),
            CRASH => Act::Crash(node),
            action => {
                let route = self.tables.route(action / 4);
                let (from, to) = (NodeId::new(route.from as usize), NodeId::new(route.to as usize));
                let kind = self.tables.kinds[route.kind as usize];
                let delivery = Delivery { from, to, kind, which: 1 };
                match action % 4 {
                    ARRIVES => Act::Deliver(delivery),
                    IS_LOST => Act::Lose(delivery),
                    ARRIVES_AGAIN => Act::Duplicate(delivery),
                    _ => Act::Tell { from, to },
                }
            }
        }
    }

    /// What the steps of a run from the beginning do, each message told apart from others of its kind.
    #[must_use]
    pub fn acts(&self, begin: &[u32], steps: &[Step]) -> Vec<Act> {
        let mut locals = begin[..self.n()].to_vec();
        let mut flying = self.flight.letters(begin).to_vec();
        steps.iter().map(|step| self.tell_apart(step, &mut locals, &mut flying)).collect()
    }

    /// What a step does; `flying` has the messages in flight in the order in which they were sent.
    fn tell_apart(&self, step: &Step, locals: &mut [u32], flying: &mut Vec<u32>) -> Act {
        let mut act = self.act(step);
        if let Act::Deliver(delivery) | Act::Lose(delivery) | Act::Duplicate(delivery) = &mut act {
            let letter = step.action / 4;
            let route = self.tables.route(letter);
            let is_like = |other: u32| {
                let other = self.tables.route(other);
                (other.lane, other.kind) == (route.lane, route.kind)
            };
            if let Some(place) = flying.iter().position(|other| *other == letter) {
                delivery.which = 1 + flying[..place].iter().filter(|other| is_like(**other)).count();
                if !matches!(act, Act::Duplicate(_)) {
                    flying.remove(place);
                }
            }
        }
        let input = match (&act, step.action) {
            (Act::Lose(_), _) => return act,
            (_, REQUEST | RELEASE | CRASH) => step.action,
            (_, action) => action / 4,
        };
        let process = step.process as usize;
        if let Some(outcome) = self.tables.outcomes.find(locals[process], input) {
            locals[process] = outcome.local;
            flying.extend(self.tables.outcomes.sends(outcome));
            self.follow_maps(outcome.enters().then_some(step.process), locals, flying);
        }
        let is_reached =
            |letter: &u32| !self.tables.face(locals[self.tables.route(*letter).to as usize]).is_crashed;
        flying.retain(is_reached);
        act
    }

    /// Does to these what is done to a whole state after a step.
    fn follow_maps(&self, entered: Option<u32>, locals: &mut [u32], flying: &mut [u32]) {
        let entered = entered.filter(|_| self.setting.watches.order).map(Map::Served);
        let down = self.translates.then(|| self.down(locals, flying)).flatten();
        for map in entered.into_iter().chain(down) {
            for local in locals.iter_mut() {
                *local = self.tables.mapped(Thing::Local(*local), &map).unwrap_or(*local);
            }
            for letter in flying.iter_mut() {
                *letter = self.tables.mapped(Thing::Letter(*letter), &map).unwrap_or(*letter);
            }
        }
    }
}
