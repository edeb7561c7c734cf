//! The contract itself: what an algorithm is told and what it must be.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{LamportClock, NodeId, Out};

/// What every state must be, so that every driver can copy, compare, hash, print, send it to a thread and
/// look at it from several.
pub trait Data: Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static> Data for T {}

/// What every message must be: data that can come from outside, in an order of its own so that a checker can sort
/// what is in flight.
pub trait Message: Data + DeserializeOwned + Ord {}

impl<T: Data + DeserializeOwned + Ord> Message for T {}

/// One node of a mutual-exclusion algorithm, as a pure state machine.
///
/// Each handler is one atomic step and never blocks. It may rely on [`crate::Node`] for its own half of the contract:
/// a request comes only when its node is outside, a release only when it is inside. The other half it must keep:
/// [`Out::enter`] only while its node waits. An algorithm that meets the impossible says [`Out::broken`]; it never
/// panics.
pub trait Algorithm: Data {
    /// What its nodes tell each other. Give it `#[serde(rename_all = "UPPERCASE")]` and its variants are shown as
    /// the literature writes them.
    type Msg: Message;

    /// Whether messages travel even when nobody wants to enter, as the token of a ring does. A driver then takes a
    /// system for quiet when nobody waits, instead of when nothing is in flight.
    const PERPETUAL: bool = false;

    /// Called once, before anything else. Most algorithms have nothing to say yet.
    fn on_start(&mut self, _out: &mut Out<Self::Msg>) {}

    /// The application asks to enter.
    fn on_request(&mut self, out: &mut Out<Self::Msg>);

    /// A message has arrived.
    fn on_message(&mut self, from: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>);

    /// The application has left.
    fn on_release(&mut self, out: &mut Out<Self::Msg>);

    /// Its logical clock, if it has one. A process has one clock for all that it takes part in, so whoever runs several
    /// sections in one process, or lets applications talk to each other, keeps this clock up with what the process has
    /// heard elsewhere. It may only be moved forward.
    fn clock(&mut self) -> Option<&mut LamportClock> {
        None
    }
}

/// The same events as data, for traces, replays and the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
pub enum Input<M> {
    /// The node comes to life.
    Start,
    /// Its application asks to enter.
    Request,
    /// A message has arrived.
    Message {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        msg: M,
    },
    /// Its application has left.
    Release,
}
