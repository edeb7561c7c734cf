//! Steps for people to read.

use std::fmt;

use doorway_core::NodeId;

use super::Messages;
use super::maps::{Map, StateOrMessage};
use super::outcomes::{CRASH, RELEASE, REQUEST, reported};
use super::steps::{ARRIVES, ARRIVES_AGAIN, IS_LOST};
use crate::Step;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The application of this node makes a request.
    Request(NodeId),
    /// The application of this node releases.
    Release(NodeId),
    /// This node crashes.
    Crash(NodeId),
    /// The oracle reports a crash to a node.
    #[allow(missing_docs)]
    Report { crashed: NodeId, to: NodeId },
    /// A message arrives.
    Deliver(Delivery),
    /// A message is lost.
    Lose(Delivery),
    /// A message arrives, and a copy stays in flight.
    Duplicate(Delivery),
    /// One application tells another all that its node knows.
    #[allow(missing_docs)]
    Tell { from: NodeId, to: NodeId },
}

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The sender.
    pub from: NodeId,
    /// The recipient.
    pub to: NodeId,
    /// The kind.
    pub kind: &'static str,
    /// Its number among the messages of its kind in flight on its channel, in the order of sending, from 1;
    /// set only for the steps of a whole run.
    pub which: usize,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Request(node) => write!(f, "node {node} asks"),
            Act::Release(node) => write!(f, "node {node} leaves"),
            Act::Crash(node) => write!(f, "node {node} stops for good"),
            Act::Report { crashed, to } => write!(f, "node {to} is told that node {crashed} has crashed"),
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
            action if let Some(crashed) = reported(action) => {
                Act::Report { crashed: NodeId::new(crashed as usize), to: node }
            }
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

    /// The acts of a run from `begin`, with [`Delivery::which`] set.
    #[must_use]
    pub fn acts(&self, begin: &[u32], steps: &[Step]) -> Vec<Act> {
        let mut locals = begin[..self.n()].to_vec();
        let mut flying = self.flight.letters(begin).to_vec();
        steps.iter().map(|step| self.numbered_act(step, &mut locals, &mut flying)).collect()
    }

    /// The act of a step; `flying` has the messages in flight in the order of sending.
    fn numbered_act(&self, step: &Step, locals: &mut [u32], flying: &mut Vec<u32>) -> Act {
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
            (Act::Report { .. }, _) => step.action,
            (_, action) => action / 4,
        };
        let process = step.process as usize;
        if let Some(outcome) = self.tables.outcomes.find(locals[process], input) {
            locals[process] = outcome.local;
            flying.extend(self.tables.outcomes.sends(outcome));
            self.follow_maps(outcome.enters().then_some(step.process), locals, flying);
        }
        let is_reached =
            |letter: &u32| !self.tables.facts(locals[self.tables.route(*letter).to as usize]).is_crashed;
        flying.retain(is_reached);
        act
    }

    /// Applies the maps that follow a step in [`Messages`] to these numbers.
    fn follow_maps(&self, entered: Option<u32>, locals: &mut [u32], flying: &mut [u32]) {
        let entered = entered.filter(|_| self.setting.watches.order).map(Map::Served);
        let down = self.translates.then(|| self.shift(locals, flying)).flatten();
        for map in entered.into_iter().chain(down) {
            for local in locals.iter_mut() {
                *local = self.tables.mapped(StateOrMessage::Local(*local), &map).unwrap_or(*local);
            }
            for letter in flying.iter_mut() {
                *letter = self.tables.mapped(StateOrMessage::Letter(*letter), &map).unwrap_or(*letter);
            }
        }
    }
}
