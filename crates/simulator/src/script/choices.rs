//! The possible next actions of a script: requests, releases and deliveries.

use doorway_core::{Explain, NodeId, Phase, kind};

use super::run::ScriptRun;
use super::{InFlight, NextAction};

impl<A: Explain> ScriptRun<A> {
    /// All possible next actions, as lines of a script: deliveries in the order of sending, then releases,
    /// then requests. Two messages of one kind on one channel are separate choices, where the channels allow
    /// it.
    pub(super) fn choices(&self) -> Vec<NextAction> {
        let engine = &self.simulation.engine;
        let alive = |node: &NodeId| !engine.is_crashed(*node);
        let may_arrive = |place: &usize| alive(&engine.held()[*place].to) && self.first_of(*place).is_none();
        let deliveries = (0..engine.held().len()).filter(may_arrive).map(|place| self.delivery(place));
        let nodes = || NodeId::first(engine.machines().len()).filter(alive);
        let leave = nodes().filter(|node| self.phase(*node) == Phase::Inside).map(|node| NextAction {
            line: format!("release {node}"),
            says: format!("node {node} leaves"),
            node,
            message: None,
        });
        let ask = nodes().filter(|node| self.phase(*node) == Phase::Outside).map(|node| NextAction {
            line: format!("request {node}"),
            says: format!("node {node} asks to enter"),
            node,
            message: None,
        });
        deliveries.chain(leave).chain(ask).collect()
    }

    fn delivery(&self, place: usize) -> NextAction {
        let held = self.simulation.engine.held();
        let letter = &held[place];
        let (from, to, kind) = (letter.from, letter.to, kind(&letter.msg).name);
        let is_alike = |other: &&crate::engine::Envelope<_>| {
            (other.from, other.to) == (from, to) && doorway_core::kind(&other.msg).name == kind
        };
        let which = match held[..place].iter().filter(is_alike).count() {
            0 => String::new(),
            before => format!(" #{}", before + 1),
        };
        NextAction {
            line: format!("deliver {from}->{to} {kind}{which}"),
            says: format!("{kind} from {from} reaches {to}"),
            node: to,
            message: Some(InFlight { from, kind, sent: self.simulation.engine.sent_in(place) }),
        }
    }
}
