//! What a client and the daemon on its machine tell each other.
//!
//! Frames go over a Unix socket: four bytes of length, least significant first, then the message as postcard writes it. The
//! daemon speaks first: [`Told::Welcome`] says which version it speaks. A connection is a client: when the last copy of its
//! socket is closed, by whatever process has one, all that it waits for or is inside of is given back.
//!
//! A client that is told to stop, or whose deadline passes, keeps its sections until it says [`Ask::Release`], or until a margin
//! after the latest deadline that it was told, when the daemon says [`Told::Freed`]. So it says `Release` when nothing of it acts any
//! more, and not before. A deadline never moves once its client was told to stop.
//!
//! [`Ask::Break`] and [`Ask::Administer`] are for clients of the daemon's administrators' socket; at the other one they
//! are answered with [`Told::Failed`].
//!
//! A request may have a time-to-live. Then its client gives a sign of life, [`Ask::Alive`], as soon as it is in and every third of
//! that time. The deadline that it is told is the earlier one of the lease's and of its last sign plus the time-to-live.

mod reason;

use std::collections::BTreeMap;
use std::io;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use reason::{Loss, Reason};

/// The version of this protocol.
pub const VERSION: u8 = 4;

/// The longest frame of a client, in bytes.
pub const LONGEST_ASK: usize = 64 << 10;

/// The longest frame of a daemon, in bytes.
pub const LONGEST_TOLD: usize = 16 << 20;

/// The longest that a client says of itself, in bytes; of more, this much is kept.
pub const LONGEST_LABEL: usize = 200;

/// A millisecond. A tick of a real node is a microsecond.
pub const MILLISECOND: Ticks = Ticks(1_000);

/// The largest number of names in one request.
pub const MOST_NAMES: usize = 64;

/// Somebody inside a section: whoever it is, or the one who has this fence and nobody who came later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stay {
    /// The section.
    pub section: SectionName,
    /// The fence, if only that one is meant.
    pub fence: Option<Fence>,
}

/// What a client tells its daemon. Numbers are its own; it gives none twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Who the client is, in its own words, for `doorway status`.
    Introduce {
        /// A few words, at most [`LONGEST_LABEL`] bytes: a command, a name of a service.
        label: String,
    },
    /// It wants into sections, all of them or none.
    Lock {
        /// The number of this request.
        number: u32,
        /// Into which sections.
        names: Vec<SectionName>,
        /// How long it waits, in ticks: for ever if it does not say; none at all is a try.
        patience: Option<Ticks>,
        /// How long it stays at most.
        max_hold: Option<Ticks>,
        /// How long it stays at most without a sign of life.
        ttl: Option<Ticks>,
        /// Whether it wants to be told that somebody waits.
        tell_if_wanted: bool,
    },
    /// It does not want to wait any longer. If it was let in meanwhile, that is a release.
    Cancel {
        /// The number of the request.
        number: u32,
    },
    /// It has left, or never came in.
    Release {
        /// The number of the request.
        number: u32,
    },
    /// A sign of life, for all that it is inside of with a time-to-live.
    Alive,
    /// It wants to know how things stand.
    Status {
        /// The number of this question.
        number: u32,
        /// About one section only, or about all.
        section: Option<SectionName>,
        /// Whether the other nodes are to be asked as well.
        everywhere: bool,
    },
    /// Whoever is inside a section, on whatever node, is told to stop; then it is freed.
    Break {
        /// The number of this command.
        number: u32,
        /// The section, and the fence of the one that is meant, if only that one is.
        stay: Stay,
    },
    /// A command of the operator.
    Administer {
        /// The number of this command.
        number: u32,
        /// What is to be done.
        order: Order,
    },
    /// It wants to know what time it is on the daemon's clock, as it has read the welcome too late to tell by that.
    Clock,
}

/// What an operator can have done by a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// This node hands over, leaves its cluster and ends.
    Stop,
    /// A node is taken out of the cluster for good; the leader does it, whichever node is told.
    Remove {
        /// The node's name.
        node: String,
    },
    /// These nodes, and no others, are to vote.
    Appoint {
        /// Their names.
        nodes: Vec<String>,
    },
    /// Configuration and certificates are read again.
    Reload,
    /// Like [`Order::Remove`], and the certificates that the node had are void.
    Revoke {
        /// The node's name.
        node: String,
    },
    /// A node is to lead the consensus; the one that leads hands it over, whichever node is told.
    Lead {
        /// The node's name.
        node: String,
    },
}

/// What a daemon tells a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// The first frame of every connection.
    Welcome {
        /// The version that the daemon speaks.
        version: u8,
        /// The name of its cluster.
        cluster: String,
        /// The name of the node.
        node: String,
        /// What time it is on the daemon's boot-time clock, on which it will tell deadlines: a client whose own clock is
        /// another, as in another time namespace, has nothing to go by and must not go on.
        now: Ticks,
        /// Which clock that is, where the system tells: its time namespace.
        clock: Option<String>,
        /// How near a deadline may be while all is well: lease, less margin, less two heartbeats. A client that begins to stop earlier than
        /// this before its deadline stops for nothing.
        spare: Ticks,
    },
    /// A request is in.
    Granted {
        /// Which.
        number: u32,
        /// The fence of each section, in the order of their names.
        fences: Vec<(SectionName, Fence)>,
        /// The deadline on that clock: a client that is not told a later one before it must have stopped at it by itself. The
        /// sections are free a margin later at the earliest, unless the client has released them or is gone; so it is if this node
        /// frees them, and if the other nodes have to do it without this one.
        until: Ticks,
    },
    /// A request may stay longer.
    Renewed {
        /// Which.
        number: u32,
        /// The new deadline.
        until: Ticks,
    },
    /// A request that was in must stop.
    Lost {
        /// Which.
        number: u32,
        /// Why.
        why: Loss,
    },
    /// The sections of a request that had to stop, and was not released, have been taken from it.
    Freed {
        /// Which.
        number: u32,
    },
    /// A request will not be served.
    Refused {
        /// Which.
        number: u32,
        /// Why.
        why: Reason,
    },
    /// Somebody waits for a section that a request is inside of.
    Wanted {
        /// Which request.
        number: u32,
        /// Which section.
        section: SectionName,
    },
    /// How things stand.
    Status {
        /// Which question it answers.
        number: u32,
        /// The answer.
        status: Box<Status>,
    },
    /// What was asked for is done.
    Done {
        /// Which command.
        number: u32,
        /// What came of it, in one sentence.
        sentence: String,
    },
    /// What was asked for cannot be done.
    Failed {
        /// Which question or command.
        number: u32,
        /// Why, in one sentence.
        sentence: String,
    },
    /// The daemon closes the connection after this, without having done anything for its client: it may come in place of the welcome.
    Goodbye {
        /// Why, in one sentence.
        sentence: String,
    },
    /// What time it is on the daemon's boot-time clock: the answer to [`Ask::Clock`].
    Clock {
        /// That moment.
        now: Ticks,
    },
}

/// How things stand at a node, and as far as it was asked for and they answered in time, at the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The name of the cluster.
    pub cluster: String,
    /// The algorithm of the cluster, with what was chosen for it.
    pub algorithm: String,
    /// The name of the node that answers.
    pub node: String,
    /// The nodes, in the order of their numbers; those that did not answer say nothing of themselves.
    pub nodes: Vec<NodeStatus>,
    /// The sections that somebody is inside of or waits for.
    pub sections: Vec<SectionStatus>,
    /// Whether there are more sections than are told of here.
    pub is_cut: bool,
}

/// How a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// Where the others reach it.
    pub address: String,
    /// Whether it is a member of the newest view that the answering node knows of.
    pub is_member: bool,
    /// Whether it votes.
    pub is_voter: bool,
    /// Whether it leads the consensus about views, as far as the answering node knows.
    pub is_leader: bool,
    /// What it says of itself, unless it did not answer.
    pub own: Option<OwnStatus>,
}

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnStatus {
    /// Where it stands: starting, joining, changing views, active, over.
    pub standing: String,
    /// The number of its view.
    pub view: Option<u64>,
    /// For how long it still may act without hearing from the others.
    pub lease_left: Ticks,
    /// For how long it still waits for the leases of those who were left out.
    pub quiet_left: Ticks,
    /// For how long it has run.
    pub up: Ticks,
    /// How many clients are connected.
    pub clients: u64,
    /// How many sections are open here, in use or not yet forgotten.
    pub open: u64,
    /// How many requests wait here.
    pub waiting: u64,
    /// How many entries there have been here.
    pub entries: u64,
    /// How many messages went to other nodes for the sake of sections.
    pub sent: u64,
    /// How much memory the process has, in bytes, where that is known.
    pub memory: Option<u64>,
    /// The cluster that it belongs to, by its epoch: a recovery or a restoration begins a new one.
    pub epoch: Option<String>,
    /// Certificates that the cluster has revoked, by the name of their node.
    pub revoked: BTreeMap<String, Revocation>,
    /// What an operator should know: founders that are missing, a disk that was set back, nodes that are not listened to.
    pub warnings: Vec<String>,
}

/// All certificates of a node up to a time are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revocation {
    /// The node that had them.
    pub node: NodeId,
    /// The last time of issue that is void, in microseconds since 1970. A later certificate is good.
    pub until: u64,
}

/// How a section is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionStatus {
    /// Its name.
    pub name: SectionName,
    /// Who is inside, if anybody is.
    pub inside: Option<ClientStatus>,
    /// Who waits, those of each node in their order.
    pub waiting: Vec<ClientStatus>,
}

/// Who is inside a section or waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The name of its node.
    pub node: String,
    /// Its process, where that is known.
    pub process: Option<u32>,
    /// What it says that it is.
    pub label: String,
    /// For how long it has been inside, or waited.
    pub since: Ticks,
    /// Its fence, if it is inside.
    pub fence: Option<Fence>,
}

/// As much of what a client says of itself as is kept, in whole letters.
#[must_use]
pub fn shortened(label: &str) -> &str {
    let ends = label.char_indices().map(|(place, letter)| place + letter.len_utf8());
    &label[..ends.take_while(|end| *end <= LONGEST_LABEL).last().unwrap_or(0)]
}

/// A message as a frame.
///
/// # Errors
/// If it is longer than a frame may be.
pub fn frame<T: Serialize>(message: &T, longest: usize) -> io::Result<Vec<u8>> {
    let bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = bytes.len() - 4;
    match u32::try_from(length) {
        Ok(word) if length <= longest => {
            let mut bytes = bytes;
            bytes[..4].copy_from_slice(&word.to_le_bytes());
            Ok(bytes)
        }
        _ => Err(io::Error::other(format!("a message has at most {longest} bytes, not {length}"))),
    }
}

/// How long a frame is whose first four bytes are these.
///
/// # Errors
/// If that is longer than it may be.
pub fn length(head: [u8; 4], longest: usize) -> io::Result<usize> {
    let length = u32::from_le_bytes(head) as usize;
    if length > longest {
        return Err(io::Error::other(format!("a message has at most {longest} bytes, not {length}")));
    }
    Ok(length)
}

/// A message from the bytes of a frame, without its length.
///
/// # Errors
/// If they are no such message.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(io::Error::other("these bytes are no message of this protocol")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_can_be_read_again_and_one_that_is_too_long_is_refused() {
        let ask = Ask::Cancel { number: 7 };
        let bytes = frame(&ask, LONGEST_ASK).expect("it is short");
        let head = bytes[..4].try_into().expect("four bytes");
        assert_eq!(length(head, LONGEST_ASK).expect("it is short"), bytes.len() - 4);
        assert_eq!(read::<Ask>(&bytes[4..]).expect("it is one"), ask);
        assert!(read::<Ask>(&[bytes.as_slice(), &[0]].concat()[4..]).is_err(), "something follows");
        assert!(frame(&ask, 1).is_err());
        assert!(length([0, 0, 1, 1], LONGEST_ASK).is_err());
    }
    #[test]
    fn a_label_is_cut_after_its_last_whole_letter() {
        assert_eq!(shortened("a few words"), "a few words");
        assert_eq!(shortened(&"x".repeat(201)), "x".repeat(200));
        assert_eq!(shortened(&format!("x{}", "é".repeat(100))), format!("x{}", "é".repeat(99)));
        assert_eq!(shortened(""), "");
    }
}
