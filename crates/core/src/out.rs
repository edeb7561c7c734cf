//! What one step asks of its driver.

use crate::{NodeId, NodeSet};

/// The answer of one step: what to send, and whether the node may now enter. The driver owns it and uses it again
/// for the next step, so that a step does not allocate.
#[derive(Clone, Debug)]
pub struct Out<M> {
    sends: Vec<Sent<M>>,
    entries: u32,
    rule: &'static str,
    broken: Option<&'static str>,
}

/// One message on its way out; a multicast is one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent<M> {
    /// For whom it is.
    pub to: To,
    /// What it says.
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
    /// Whether `node` is among them.
    #[must_use]
    pub fn includes(&self, node: NodeId) -> bool {
        match self {
            To::One(one) => *one == node,
            To::Set(nodes) => nodes.contains(node),
        }
    }

    /// How many they are.
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
        Self { sends: Vec::new(), entries: 0, rule: "", broken: None }
    }
}

/// What an algorithm says.
impl<M> Out<M> {
    /// Sends `msg` to one node.
    #[inline]
    pub fn send(&mut self, to: NodeId, msg: M) {
        self.sends.push(Sent { to: To::One(to), msg, rule: self.rule });
    }

    /// Sends `msg` to every node of a set. An empty set is no message at all.
    pub fn multicast(&mut self, to: &NodeSet, msg: M) {
        if !to.is_empty() {
            self.sends.push(Sent { to: To::Set(to.clone()), msg, rule: self.rule });
        }
    }

    /// Sends `msg` to the recipients of another message: for whoever passes on what somebody else has sent.
    pub fn send_to(&mut self, to: To, msg: M) {
        self.sends.push(Sent { to, msg, rule: self.rule });
    }

    /// Lets the node in. Right only while it waits, and once.
    pub fn enter(&mut self) {
        self.entries += 1;
    }

    /// Names the rule that runs: what is sent after this carries the name into the trace.
    pub fn rule(&mut self, name: &'static str) {
        self.rule = name;
    }

    /// Reports what cannot happen if the algorithm and its channels are right. Simulator and checker report a
    /// violation with the run that led to it; a real node drops the message and asks for a view without its sender.
    pub fn broken(&mut self, what: &'static str) {
        self.broken.get_or_insert(what);
    }

    /// The next message that this step has addressed to its own node, taken back before it reaches the network.
    ///
    /// A node that is an arbiter for itself writes its rules as if it were two, and at the end of each handler
    /// answers itself with `while let Some(msg) = out.take_own(me)`: the step stays atomic.
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

/// What a driver reads.
impl<M> Out<M> {
    /// What is to be sent, in order.
    #[must_use]
    pub fn sends(&self) -> &[Sent<M>] {
        &self.sends
    }

    /// Takes out what is to be sent, in order.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Sent<M>> + '_ {
        self.sends.drain(..)
    }

    /// Takes out all that is to be sent at once, in order, and goes on with the room of `spare`, which must be empty.
    #[inline]
    pub fn take_sends(&mut self, spare: Vec<Sent<M>>) -> Vec<Sent<M>> {
        debug_assert!(spare.is_empty(), "what is not sent would be sent by the next step");
        std::mem::replace(&mut self.sends, spare)
    }

    /// How often the step let its node in: 0, or 1 if all is well.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// The rule that was named last.
    #[must_use]
    pub fn last_rule(&self) -> &'static str {
        self.rule
    }

    /// What the step found broken.
    #[must_use]
    pub fn breach(&self) -> Option<&'static str> {
        self.broken
    }

    /// Empties it for the next step.
    #[inline]
    pub fn clear(&mut self) {
        self.sends.clear();
        self.entries = 0;
        self.rule = "";
        self.broken = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_node_tells_itself_is_taken_back_in_order_with_its_rule() {
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
    fn a_multicast_to_nobody_sends_nothing() {
        let mut out = Out::default();
        out.multicast(&NodeSet::new(), 'x');
        assert!(out.sends().is_empty());
    }
}
