//! The messages between two daemons besides those of their nodes.

use std::io;

use doorway_core::SectionName;
use doorway_node::wire;
use doorway_protocol::{self as protocol, AdminCommand, OwnStatus, SectionStatus};
use serde::{Deserialize, Serialize};

/// The version of these messages.
pub(crate) const VERSION: u8 = 1;

/// The longest first frame of a connection.
pub(crate) const LONGEST_GREETING: usize = 2 << 10;

/// The longest of all other frames.
pub(crate) const LONGEST: usize = wire::LONGEST + 1;

/// The first frame of a connection, in both directions: who the sender is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerGreeting {
    pub(crate) version: u8,
    pub(crate) cluster: String,
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) address: String,
    /// What the connection is for.
    pub(crate) lane: Lane,
}

/// One of the two connections to a peer, so that heartbeats never wait behind a large message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Lane {
    Life,
    Load,
}

/// A message from one daemon to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PeerMsg {
    /// A keep-alive, so that silence means that the peer is gone.
    StillHere,
    /// A question, by its number.
    Ask { number: u64, question: PeerQuery },
    /// The answer.
    Answer { number: u64, answer: PeerReply },
}

/// What one daemon asks of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PeerQuery {
    /// Its status.
    Status { section: Option<SectionName> },
    /// A command for the leader, and its operator.
    Lead { order: AdminCommand, operator: Operator },
}

/// The user and process that gave a command, as the kernel of their machine reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operator {
    pub(crate) uid: Option<u32>,
    pub(crate) process: Option<u32>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PeerReply {
    Status(Box<NodeReport>),
    Done(String),
    Failed(String),
    /// The asked node no longer leads: another one may.
    TryAgain,
}

/// A daemon's report about its own node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeReport {
    pub(crate) own: OwnStatus,
    pub(crate) sections: Vec<SectionStatus>,
    pub(crate) is_cut: bool,
}

/// A frame between daemons, without its length: a message of a node or of a daemon.
pub(crate) enum Frame {
    Message(doorway_node::Msg),
    PeerMsg(PeerMsg),
}

const MESSAGE: u8 = 0;
const PEER_MSG: u8 = 1;

/// A message of a node as a frame.
pub(crate) fn message_frame(msg: &doorway_node::Msg) -> Vec<u8> {
    framed(MESSAGE, &wire::encode(msg))
}

/// A message of a daemon as a frame.
pub(crate) fn peer_msg_frame(word: &PeerMsg) -> Vec<u8> {
    // They have only types that postcard can encode.
    framed(PEER_MSG, &postcard::to_stdvec(word).unwrap_or_default())
}

fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(5 + body.len());
    frame.extend_from_slice(&(body.len() as u32 + 1).to_le_bytes());
    frame.push(kind);
    frame.extend_from_slice(body);
    frame
}

/// Decodes a frame.
///
/// # Errors
/// If it is malformed.
pub(crate) fn read_frame(bytes: &[u8]) -> io::Result<Frame> {
    match bytes.split_first() {
        Some((&MESSAGE, body)) => wire::decode(body).map(Frame::Message).map_err(io::Error::other),
        Some((&PEER_MSG, body)) => protocol::read(body).map(Frame::PeerMsg),
        _ => Err(io::Error::other("a frame between daemons has an unknown kind")),
    }
}
