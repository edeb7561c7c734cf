//! The contract itself: the events an algorithm handles and the bounds on its state and messages.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{LamportClock, NodeId, Out};

/// The bounds on every state: drivers copy, compare, hash and print it, and share it between threads.
pub trait Data: Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static> Data for T {}

/// The bounds on every message: data that can be decoded, and ordered so that the checker can sort the
/// messages in flight.
pub trait Message: Data + DeserializeOwned + Ord {}

impl<T: Data + DeserializeOwned + Ord> Message for T {}

/// One node of a mutual-exclusion algorithm, as a pure state machine.
///
/// Each handler is one atomic step and never blocks. [`crate::Node`] guarantees that a request comes only
/// while the node is outside and a release only while it is inside. In return the algorithm calls
/// [`Out::enter`] only while its node waits. On an impossible event it calls [`Out::broken`]; it never
/// panics.
pub trait Algorithm: Data {
    /// The messages between its nodes. With `#[serde(rename_all = "UPPERCASE")]` the variants are shown as
    /// the literature writes them.
    type Msg: Message;

    /// Whether messages travel even when no node wants to enter, as the token of a ring does. A driver then
    /// treats a system as quiet when no node waits, instead of when nothing is in flight.
    const PERPETUAL: bool = false;

    /// Whether its nodes must be told of crashes. If so, an oracle of the driver (a perfect failure detector:
    /// it reports every crash, and nothing else) calls [`Algorithm::on_crash`] at every live node. The
    /// message of a crashed node can arrive before its report or after it.
    const WATCHES_CRASHES: bool = false;

    /// Called once, before anything else. Most algorithms do nothing here.
    fn on_start(&mut self, _out: &mut Out<Self::Msg>) {}

    /// The application asks to enter.
    fn on_request(&mut self, out: &mut Out<Self::Msg>);

    /// A message has arrived.
    fn on_message(&mut self, from: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>);

    /// The application has left.
    fn on_release(&mut self, out: &mut Out<Self::Msg>);

    /// The oracle reports that another node has crashed: it will take no step any more, and has left the
    /// section if it was inside. Called only if [`Algorithm::WATCHES_CRASHES`], once for each crashed node.
    fn on_crash(&mut self, _node: NodeId, _out: &mut Out<Self::Msg>) {}

    /// Its logical clock, if it has one. A process has one clock for all its sections and for its
    /// application's own messages, so a driver that runs several sections in a process merges into this clock
    /// what the process has heard elsewhere. The driver may only move it forward.
    fn clock(&mut self) -> Option<&mut LamportClock> {
        None
    }
}

/// The same events as data, for traces, replays and the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
pub enum Input<M> {
    /// The node starts.
    Start,
    /// Its application asks to enter.
    Request,
    /// A message has arrived.
    Message {
        /// The sender.
        from: NodeId,
        /// The message.
        msg: M,
    },
    /// Its application has left.
    Release,
    /// The oracle reports a crash.
    Crashed {
        /// The crashed node.
        node: NodeId,
    },
}
