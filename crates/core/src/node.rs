//! An algorithm inside its contract.

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Input, LamportClock, NodeId, Out};

/// Where a node is relative to its critical section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It neither waits nor holds.
    #[default]
    Outside,
    /// It has requested and waits to enter.
    Waiting,
    /// It is in the critical section.
    Inside,
}

/// An algorithm inside its contract. Drivers step nodes, never algorithms: the node tracks outside / waiting
/// / inside itself, so checking safety does not rely on the algorithm's own account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Node<A> {
    algorithm: A,
    phase: Phase,
}

impl<A> Node<A> {
    /// A node that starts outside.
    #[must_use]
    pub fn new(algorithm: A) -> Self {
        Self { algorithm, phase: Phase::Outside }
    }

    /// A node that starts inside.
    #[must_use]
    pub fn inside(algorithm: A) -> Self {
        Self { algorithm, phase: Phase::Inside }
    }

    /// Its phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The algorithm's state.
    #[must_use]
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// The algorithm's state, to set up a textbook example (`clock 1 = 41` in a script). Drivers never change
    /// it.
    pub fn algorithm_mut(&mut self) -> &mut A {
        &mut self.algorithm
    }
}

impl<A: Algorithm> Node<A> {
    /// The algorithm's clock, if it has one, so that a driver can merge what the process has heard elsewhere.
    pub fn clock(&mut self) -> Option<&mut LamportClock> {
        self.algorithm.clock()
    }

    /// One atomic step. It clears `out` first; afterwards `out` holds the messages to send, the node has
    /// entered if [`Node::phase`] became [`Phase::Inside`], and [`Out::breach`] says whether the algorithm
    /// broke its contract.
    ///
    /// # Panics
    /// If the driver breaks its half of the contract: a request when not outside, a release when not inside.
    pub fn step(&mut self, input: Input<A::Msg>, out: &mut Out<A::Msg>) {
        out.clear();
        match input {
            Input::Start => self.start(out),
            Input::Request => self.request(out),
            Input::Message { from, msg } => self.message(from, msg, out),
            Input::Release => self.release(out),
            Input::Crashed { node } => self.crashed(node, out),
        }
    }

    /// [`Node::step`] with [`Input::Start`]. This and the four methods below expect `out` to be cleared.
    pub fn start(&mut self, out: &mut Out<A::Msg>) {
        self.algorithm.on_start(out);
        self.keep_contract(out);
    }

    /// [`Node::step`] with [`Input::Request`].
    ///
    /// # Panics
    /// If the node is not outside.
    pub fn request(&mut self, out: &mut Out<A::Msg>) {
        assert!(self.phase == Phase::Outside, "a node may request only while it is outside");
        self.phase = Phase::Waiting;
        self.algorithm.on_request(out);
        self.keep_contract(out);
    }

    /// [`Node::step`] with [`Input::Message`].
    #[inline]
    pub fn message(&mut self, from: NodeId, msg: A::Msg, out: &mut Out<A::Msg>) {
        self.algorithm.on_message(from, msg, out);
        self.keep_contract(out);
    }

    /// [`Node::step`] with [`Input::Release`].
    ///
    /// # Panics
    /// If the node is not inside.
    pub fn release(&mut self, out: &mut Out<A::Msg>) {
        assert!(self.phase == Phase::Inside, "a node may release only while it is inside");
        self.phase = Phase::Outside;
        self.algorithm.on_release(out);
        self.keep_contract(out);
    }

    /// [`Node::step`] with [`Input::Crashed`].
    pub fn crashed(&mut self, node: NodeId, out: &mut Out<A::Msg>) {
        self.algorithm.on_crash(node, out);
        self.keep_contract(out);
    }

    #[inline]
    fn keep_contract(&mut self, out: &mut Out<A::Msg>) {
        match (out.entries(), self.phase) {
            (0, _) => {}
            (1, Phase::Waiting) => self.phase = Phase::Inside,
            (1, _) => out.broken("the algorithm called enter while its node was not waiting"),
            (_, _) => out.broken("the algorithm called enter twice in one step"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `enter` as often as a message says.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
    struct Careless;

    impl Algorithm for Careless {
        type Msg = u32;
        fn on_request(&mut self, _: &mut Out<u32>) {}
        fn on_message(&mut self, _: NodeId, times: u32, out: &mut Out<u32>) {
            (0..times).for_each(|_| out.enter());
        }
        fn on_release(&mut self, _: &mut Out<u32>) {}
    }

    fn deliver(node: &mut Node<Careless>, times: u32) -> Option<&'static str> {
        let mut out = Out::default();
        node.step(Input::Message { from: NodeId::new(1), msg: times }, &mut out);
        out.breach()
    }

    #[test]
    fn a_node_goes_from_outside_to_waiting_to_inside_and_out() {
        let mut node = Node::new(Careless);
        let mut out = Out::default();
        node.step(Input::Request, &mut out);
        assert_eq!(node.phase(), Phase::Waiting);
        assert_eq!(deliver(&mut node, 1), None);
        assert_eq!(node.phase(), Phase::Inside);
        node.step(Input::Release, &mut out);
        assert_eq!(node.phase(), Phase::Outside);
    }

    #[test]
    fn entering_without_waiting_is_a_breach_and_changes_nothing() {
        let mut node = Node::new(Careless);
        assert_eq!(deliver(&mut node, 1), Some("the algorithm called enter while its node was not waiting"));
        assert_eq!(node.phase(), Phase::Outside);
    }

    #[test]
    fn entering_twice_in_one_step_is_a_breach() {
        let mut node = Node::new(Careless);
        node.step(Input::Request, &mut Out::default());
        assert_eq!(deliver(&mut node, 2), Some("the algorithm called enter twice in one step"));
    }

    #[test]
    #[should_panic(expected = "a node may request only while it is outside")]
    fn a_second_request_while_waiting_panics() {
        let mut node = Node::new(Careless);
        node.step(Input::Request, &mut Out::default());
        node.step(Input::Request, &mut Out::default());
    }
}
