//! What clients tell their node, and what it tells them.

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_protocol::{BreakTarget, Loss, Reason};
use serde::{Deserialize, Serialize};

use crate::node::Stranger;
use crate::{ClientId, DiskState, Epoch, KeptOut, RequestId, Timing};

/// A command to the node, from its own clients or its operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Command {
    /// A client wants into sections.
    Lock(LockCommand),
    /// A client does not want to wait any longer. What it has got already is not taken from it: that is a release.
    Cancel(RequestId),
    /// A client has left the sections of a request.
    Release {
        /// The request.
        request: RequestId,
        /// The fence of its first section, so that a late release cannot free a later entry.
        fence: Fence,
    },
    /// A client is gone, with all that it waits for or is inside of.
    Gone(ClientId),
    /// A client cannot be reached any more, but may still run: its requests are cancelled, and its sections are free a
    /// margin after its deadline.
    Unreachable(ClientId),
    /// A client gives a sign of life: all that it is inside of with a time-to-live counts anew from now.
    Alive(ClientId),
    /// The node is to leave its cluster in order: it grants nothing any more, and holders may stay until this many ticks have
    /// passed.
    Leave {
        /// How long those inside may stay.
        patience: Ticks,
    },
    /// These nodes are to be the voters, until the next appointment; the others take part without a vote. Only a leader acts
    /// on it, and answers [`Notice::Appointed`] once that is agreed; any other node answers [`Notice::NotLeader`].
    Appoint(Vec<NodeId>),
    /// A node is gone for good: it is left out if it is still there, votes no more, and the disk that it had is never taken in
    /// again. With a new disk it can come back as a new node. Only a leader acts on it, and answers [`Notice::Removed`] once
    /// that is agreed; any other node answers [`Notice::NotLeader`]. A leader that is itself to be removed hands leadership over first, and
    /// answers [`Notice::NotLeader`] with the name of its successor, which can do it, or [`Notice::NotHandedOver`].
    Remove(NodeId),
    /// The same, and the certificates of the node are revoked: no member accepts them any more. Only a leader acts on it, and answers
    /// [`Notice::Revoked`] once that is agreed; any other node answers [`Notice::NotLeader`].
    Revoke {
        /// The node.
        node: NodeId,
        /// Its name, as its certificates have it.
        name: String,
        /// The last time of issue that is void, in microseconds since 1970.
        until: u64,
    },
    /// This node is to lead the consensus: a voter that takes part. Only a leader acts on it: it hands leadership over, and answers
    /// [`Notice::Leads`] or, if the other node did not take it, [`Notice::NotHandedOver`]; any other node answers [`Notice::NotLeader`].
    Lead(NodeId),
    /// The holder of a section, at any node, is told to stop. The section is free when the holder says that it left, or a margin
    /// after its deadline: so two are never inside. Answered with [`Notice::Broken`].
    Break(BreakTarget),
}

/// A client wants into one section, or into several at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LockCommand {
    /// The number of this request.
    pub request: RequestId,
    /// Who asks.
    pub client: ClientId,
    /// Into which sections: all of them or none.
    pub names: Vec<SectionName>,
    /// How long it waits, in ticks: for ever if not given; 0 is a try.
    pub patience: Option<Ticks>,
    /// How long it stays at most.
    pub max_hold: Option<Ticks>,
    /// How long it stays at most without a sign of life of its client. The entry counts as the first sign.
    pub ttl: Option<Ticks>,
    /// Whether to tell it that another client waits.
    pub tell_if_wanted: bool,
}

/// What a node tells its clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Notice {
    /// A request is in.
    Granted {
        /// Which.
        request: RequestId,
        /// The fence of each section, in the order of their names.
        fences: Vec<(SectionName, Fence)>,
        /// The deadline, on the node's clock: a client that gets no later one first must stop at it by itself.
        until: Ticks,
    },
    /// A request may stay longer.
    Renewed {
        /// Which.
        request: RequestId,
        /// The new deadline.
        until: Ticks,
    },
    /// A request that was in must stop. It keeps its sections until its client says with a release that it has stopped, or until
    /// a margin after the latest deadline that it was told, when [`Notice::Freed`] follows.
    Lost {
        /// Which.
        request: RequestId,
        /// Why.
        why: Loss,
    },
    /// The node has taken the sections of a request that had to stop and was not released.
    Freed {
        /// Which.
        request: RequestId,
    },
    /// A request will not be served.
    Refused {
        /// Which.
        request: RequestId,
        /// Why.
        why: Reason,
    },
    /// Another client waits for a section that a request holds.
    Wanted {
        /// Which request.
        request: RequestId,
        /// Which section.
        section: SectionName,
    },
    /// The node has left its cluster and has stopped.
    Left,
    /// The cluster runs another algorithm than this node, which can never take part.
    WrongAlgorithm {
        /// What the cluster runs.
        cluster: String,
    },
    /// The cluster lives by other times than this node, which cannot take part before it has the same.
    WrongTiming {
        /// The times of the cluster.
        cluster: Timing,
    },
    /// An operator has removed the disk of this node from its cluster: it can only come back with a new one.
    Expelled,
    /// What an operator wished can only be told to the node that leads; nothing has changed. It is also the answer if another
    /// node leads before the wish was agreed; then it may come true nevertheless.
    NotLeader {
        /// Who leads, as far as the node knows.
        leader: Option<NodeId>,
    },
    /// An operator's command was refused for this reason; nothing has changed.
    NotDone(String),
    /// It is agreed that these nodes are to vote. They do as soon as all of them take part.
    Appointed(Vec<NodeId>),
    /// It is agreed that a node is gone for good.
    Removed(NodeId),
    /// It is agreed that the certificates of a node that is gone for good are void.
    Revoked(NodeId),
    /// A node leads, as an operator wished.
    Leads(NodeId),
    /// A node was to lead and has not taken leadership over in time; the one that tells this still leads.
    NotHandedOver {
        /// The node that was to lead.
        to: NodeId,
    },
    /// All members have checked whether they hold a section, and the holder, if any, was told to stop.
    Broken {
        /// The holder that was meant.
        target: BreakTarget,
        /// Whether there was a holder.
        was_inside: bool,
    },
    /// A peer knows that the disk of this node has been further than it is now: it was set back to an earlier copy, or has lost what it
    /// had synced. The node no longer takes part, and never will with this disk.
    SetBack {
        /// The peer; nothing if the disk says so since an earlier start.
        by: Option<NodeId>,
        /// How far the peer has seen the disk.
        seen: DiskState,
    },
    /// A leader has replaced a view in this node's log. A view that was decided is never replaced, unless a disk was set back.
    ViewReplaced(u64),
    /// A node is not listened to from now on.
    Stranger {
        /// Which.
        node: NodeId,
        /// Why.
        why: Stranger,
    },
    /// This node has no cluster yet and has heard of several: it joins none of them.
    TwoClusters(Vec<Epoch>),
    /// A founder has another disk than the one that this node has agreed to found the cluster with.
    OtherFounder(NodeId),
    /// This node leads, and takes another one in only after a while, because that keeps failing.
    KeptOut(KeptOut),
    /// The node's disk or its consensus contradicts itself: the node has stopped.
    Corrupt(String),
}
