//! The outputs of one step.

use crate::{NodeId, NodeSet};

/// The outputs of one step: messages to send, and whether the node may now enter. The driver owns the buffer
/// and reuses it, so a step does not allocate.
#[derive(Clone, Debug)]
pub struct Out<M> {
    sends: Vec<Sent<M>>,
    entries: u32,
    least_fence: u64,
    rule: &'static str,
    broken: Option<&'static str>,
}

/// One message to send; a multicast is one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent<M> {
    /// Its recipients.
    pub to: To,
    /// The message.
    pub msg: M,
    /// The rule of the algorithm that sent it.
    pub rule: &'static str,
}

/// The recipients of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    /// A single node.
    One(NodeId),
    /// Each node of a set, in order.
    Set(NodeSet),
}

impl To {
    /// Whether `node` is a recipient.
    #[must_use]
    pub fn includes(&self, node: NodeId) -> bool {
        match self {
            To::One(one) => *one == node,
            To::Set(nodes) => nodes.contains(node),
        }
    }

    /// The number of recipients.
    #[inline]
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            To::One(_) => 1,
            To::Set(nodes) => nodes.len(),
        }
    }
}

impl<M> Default for Out<M> {
    fn default() -> Self {
        Self { sends: Vec::new(), entries: 0, least_fence: 0, rule: "", broken: None }
    }
}

/// The methods for algorithms.
impl<M> Out<M> {
    /// Sends `msg` to one node.
    #[inline]
    pub fn send(&mut self, to: NodeId, msg: M) {
        self.sends.push(Sent { to: To::One(to), msg, rule: self.rule });
    }

    /// Sends `msg` to every node of a set. An empty set sends nothing.
    pub fn multicast(&mut self, to: &NodeSet, msg: M) {
        if !to.is_empty() {
            self.sends.push(Sent { to: To::Set(to.clone()), msg, rule: self.rule });
        }
    }

    /// Sends `msg` to the recipients of another message, for a machine that wraps or forwards messages.
    pub fn send_to(&mut self, to: To, msg: M) {
        self.sends.push(Sent { to, msg, rule: self.rule });
    }

    /// Lets the node enter. Allowed only while it waits, and once per step.
    pub fn enter(&mut self) {
        self.entries += 1;
    }

    /// Lets the node enter with this fence, or a larger one if it has heard of this one already. For an
    /// algorithm that goes on after crashes: the last holder may have crashed before it told any node of its
    /// fence, so that no node could count on from there.
    pub fn enter_with_fence(&mut self, fence: u64) {
        self.least_fence = fence;
        self.enter();
    }

    /// Names the rule that runs: messages sent after this call carry the name into the trace.
    pub fn rule(&mut self, name: &'static str) {
        self.rule = name;
    }

    /// Reports an event that is impossible if the algorithm and its channels are correct. The simulator and
    /// the checker report a violation with the run that led to it; a real node drops the message and asks for
    /// a view without its sender.
    pub fn broken(&mut self, what: &'static str) {
        self.broken.get_or_insert(what);
    }

    /// Takes back the next message that this step has addressed to its own node, before it reaches the
    /// network.
    ///
    /// A node that is its own arbiter can send to itself like to any other, then end each handler with `while
    /// let Some(msg) = out.take_own(me)`: the step stays atomic.
    pub fn take_own(&mut self, me: NodeId) -> Option<M>
    where
        M: Clone,
    {
        let place = self.sends.iter().position(|sent| sent.to.includes(me))?;
        let sent = &mut self.sends[place];
        self.rule = sent.rule;
        if let To::Set(nodes) = &mut sent.to {
            nodes.remove(me);
            if !nodes.is_empty() {
                return Some(sent.msg.clone());
            }
        }
        Some(self.sends.remove(place).msg)
    }
}

/// The methods for drivers.
impl<M> Out<M> {
    /// The messages to send, in order.
    #[must_use]
    pub fn sends(&self) -> &[Sent<M>] {
        &self.sends
    }

    /// Takes out the messages to send, in order.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Sent<M>> + '_ {
        self.sends.drain(..)
    }

    /// Takes out all messages to send, in order, and continues with the buffer `spare`, which must be empty.
    #[inline]
    pub fn take_sends(&mut self, spare: Vec<Sent<M>>) -> Vec<Sent<M>> {
        debug_assert!(
            spare.is_empty(),
            "the spare buffer must be empty, or the next step would send its messages"
        );
        std::mem::replace(&mut self.sends, spare)
    }

    /// How often the step called `enter`: 0 or 1 for a correct algorithm.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// The least fence of the entry, as the algorithm demands it; 0 if it demands none.
    #[must_use]
    pub fn least_fence(&self) -> u64 {
        self.least_fence
    }

    /// The rule named last.
    #[must_use]
    pub fn last_rule(&self) -> &'static str {
        self.rule
    }

    /// The first breach that the step reported.
    #[must_use]
    pub fn breach(&self) -> Option<&'static str> {
        self.broken
    }

    /// Clears it for the next step.
    #[inline]
    pub fn clear(&mut self) {
        self.sends.clear();
        self.entries = 0;
        self.least_fence = 0;
        self.rule = "";
        self.broken = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_oneself_are_taken_back_in_order_with_their_rule() {
        let (me, peer) = (NodeId::new(0), NodeId::new(1));
        let mut out = Out::default();
        out.rule("first");
        out.send(me, 'a');
        out.rule("second");
        out.send(peer, 'b');
        out.send(me, 'c');
        assert_eq!(out.take_own(me), Some('a'));
        assert_eq!(out.last_rule(), "first");
        out.multicast(&NodeSet::first(2), 'd');
        assert_eq!((out.take_own(me), out.take_own(me), out.take_own(me)), (Some('c'), Some('d'), None));
        let left: Vec<(bool, char)> =
            out.sends().iter().map(|sent| (sent.to.includes(peer), sent.msg)).collect();
        assert_eq!(left, [(true, 'b'), (true, 'd')]);
    }

    #[test]
    fn a_multicast_to_the_empty_set_sends_nothing() {
        let mut out = Out::default();
        out.multicast(&NodeSet::new(), 'x');
        assert!(out.sends().is_empty());
    }
}
