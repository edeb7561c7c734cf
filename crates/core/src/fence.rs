//! The fence (fencing token): a number handed out with each entry, strictly increasing from entry to entry.
//!
//! With every correct algorithm each entry is causally after the previous release; otherwise mutual exclusion
//! would rest on luck. So a counter that is merged on every receipt and incremented on every entry strictly
//! increases. It costs one number per message, and a store behind the lock can refuse a writer whose fence is
//! older than one it has seen.
//!
//! After a crash that need not be: the last holder may have told no node of its fence. An algorithm that goes
//! on then names the fence itself ([`crate::Out::enter_with_fence`]).

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::{
    Algorithm, Ask, Effects, Entered, LamportClock, Machine, Never, Node, NodeId, Phase, Plan, Start, Ticks,
};

/// A fence. In JSON it is a string, because not every JSON reader keeps 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Fence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&self.0)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Fence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let digits = String::deserialize(deserializer)?;
            digits.parse().map(Fence).map_err(|_| D::Error::custom(format!("{digits:?} is not a fence")))
        } else {
            u64::deserialize(deserializer).map(Fence)
        }
    }
}

/// A node of any algorithm whose entries carry fences.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Fenced<A> {
    node: Node<A>,
    /// The largest fence that this node has handed out or heard of.
    highest: Fence,
}

impl<A> Fenced<A> {
    /// A node that has not heard of any fence yet.
    #[must_use]
    pub fn new(node: Node<A>) -> Self {
        Self { node, highest: Fence::default() }
    }

    /// A node that continues from a fence: its own if it starts inside, otherwise the last one issued.
    #[must_use]
    pub fn from_fence(node: Node<A>, highest: Fence) -> Self {
        Self { node, highest }
    }

    /// The inner node.
    #[must_use]
    pub fn node(&self) -> &Node<A> {
        &self.node
    }

    /// The inner node, to set up a textbook example.
    pub fn node_mut(&mut self) -> &mut Node<A> {
        &mut self.node
    }

    /// The largest fence that this node has handed out or heard of: after an entry, the fence of that entry.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.highest
    }
}

impl<A: Algorithm> Fenced<A> {
    /// A fenced node from a plan.
    #[must_use]
    pub fn from_plan(plan: &Plan<A>, me: NodeId, start: Start) -> Self {
        Self::new(plan.node(me, start))
    }

    /// The algorithm's clock, if it has one: see [`Node::clock`].
    pub fn clock(&mut self) -> Option<&mut LamportClock> {
        self.node.clock()
    }

    /// Increments the fence if the step entered, at least to the one that the algorithm demands. The
    /// message's fence must be merged before, so that the new one is larger.
    #[inline]
    fn tick_if_entered(&mut self, before: Phase, least: u64) -> bool {
        let entered = before != Phase::Inside && self.node.phase() == Phase::Inside;
        if entered {
            self.highest = Fence(least.max(self.highest.0 + 1));
        }
        entered
    }

    #[inline]
    fn tell(&mut self, before: Phase, effects: &mut Effects<Self>) {
        if self.tick_if_entered(before, effects.out.least_fence()) {
            effects.notices.push(Entered(self.highest));
        }
        effects.header = self.highest;
    }
}

impl<A: Algorithm> Machine for Fenced<A> {
    type Header = Fence;
    type Msg = A::Msg;
    type Command = Ask;
    type Notice = Entered;
    type Timer = Never;
    type Write = Never;

    fn on_start(&mut self, _: Ticks, effects: &mut Effects<Self>) {
        let before = self.node.phase();
        self.node.start(&mut effects.out);
        self.tell(before, effects);
    }

    fn on_command(&mut self, _: Ticks, command: Ask, effects: &mut Effects<Self>) {
        let before = self.node.phase();
        match command {
            Ask::Request => self.node.request(&mut effects.out),
            Ask::Release => self.node.release(&mut effects.out),
        }
        self.tell(before, effects);
    }

    #[inline]
    fn on_message(&mut self, _: Ticks, from: NodeId, heard: Fence, msg: A::Msg, effects: &mut Effects<Self>) {
        self.highest = self.highest.max(heard);
        let before = self.node.phase();
        self.node.message(from, msg, &mut effects.out);
        self.tell(before, effects);
    }

    fn on_crash(&mut self, _: Ticks, node: NodeId, effects: &mut Effects<Self>) {
        let before = self.node.phase();
        self.node.crashed(node, &mut effects.out);
        self.tell(before, effects);
    }

    fn on_timer(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }

    fn on_written(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }
}
