//! What two daemons tell each other besides the messages of their nodes.

use std::io;

use doorway_core::SectionName;
use doorway_node::wire;
use doorway_protocol::{self as protocol, Order, OwnStatus, SectionStatus};
use serde::{Deserialize, Serialize};

/// The version of what daemons tell each other.
pub(crate) const VERSION: u8 = 1;

/// The longest first frame of a connection.
pub(crate) const LONGEST_GREETING: usize = 2 << 10;

/// The longest of all other frames.
pub(crate) const LONGEST: usize = wire::LONGEST + 1;

/// The first frame of a connection, in both directions: who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub(crate) version: u8,
    pub(crate) cluster: String,
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) address: String,
    /// What the connection is for.
    pub(crate) lane: Lane,
}

/// One of the two connections to a peer, so that signs of life never stand behind something large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Lane {
    Life,
    Load,
}

/// What a daemon says to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Word {
    /// Nothing, so that silence means that somebody is gone.
    StillHere,
    /// A question, by its number.
    Ask { number: u64, question: Question },
    /// The answer.
    Answer { number: u64, answer: Answer },
}

/// What one daemon wants of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// How things stand there.
    Status { section: Option<SectionName> },
    /// What only a leader can do, and who wants it done.
    Lead { order: Order, operator: Operator },
}

/// Who asked a daemon for something, as the system of its machine tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operator {
    pub(crate) uid: Option<u32>,
    pub(crate) process: Option<u32>,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Status(Box<Account>),
    Done(String),
    Failed(String),
    /// The node that was asked leads no more: another one may do it.
    TryAgain,
}

/// What a daemon tells of its own node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) own: OwnStatus,
    pub(crate) sections: Vec<SectionStatus>,
    pub(crate) is_cut: bool,
}

/// A frame between daemons, without its length: a message of a node, or a word of a daemon.
pub(crate) enum Frame {
    Message(doorway_node::Msg),
    Word(Word),
}

const MESSAGE: u8 = 0;
const WORD: u8 = 1;

/// A message of a node as a frame.
pub(crate) fn message_frame(msg: &doorway_node::Msg) -> Vec<u8> {
    framed(MESSAGE, &wire::encode(msg))
}

/// A word as a frame.
pub(crate) fn word_frame(word: &Word) -> Vec<u8> {
    // Words have only types that postcard knows.
    framed(WORD, &postcard::to_stdvec(word).unwrap_or_default())
}

fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(5 + body.len());
    frame.extend_from_slice(&(body.len() as u32 + 1).to_le_bytes());
    frame.push(kind);
    frame.extend_from_slice(body);
    frame
}

/// What the bytes of a frame say.
///
/// # Errors
/// If they say nothing.
pub(crate) fn read_frame(bytes: &[u8]) -> io::Result<Frame> {
    match bytes.split_first() {
        Some((&MESSAGE, body)) => wire::decode(body).map(Frame::Message).map_err(io::Error::other),
        Some((&WORD, body)) => protocol::read(body).map(Frame::Word),
        _ => Err(io::Error::other("a frame between nodes is a message or a word")),
    }
}
