//! The messages between a client and the daemon on its machine.
//!
//! Frames go over a Unix socket: four bytes of length, least significant first, then the message as postcard writes it. The
//! daemon speaks first: [`DaemonMsg::Welcome`] names its version. A connection is a client: when the last copy of its socket is closed, in
//! whichever process that is, the daemon cancels its requests and releases its sections.
//!
//! A client that is told to stop, or whose deadline passes, keeps its sections until it says [`ClientMsg::Release`], or until a margin
//! after the latest deadline that it was told, when the daemon says [`DaemonMsg::Freed`]. So a client sends `Release` only when all of its
//! work has stopped. A deadline never moves once its client was told to stop.
//!
//! [`ClientMsg::Break`] and [`ClientMsg::Administer`] need the daemon's administrators' socket; at the users' socket the daemon answers
//! [`DaemonMsg::Failed`].
//!
//! A request may have a time-to-live. Then its client gives a sign of life, [`ClientMsg::Alive`], when it enters and every third of that
//! time. Its deadline is the earlier of the lease's deadline and its last sign of life plus the time-to-live.

mod reason;

use std::collections::BTreeMap;
use std::io;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use reason::{Loss, Reason};

/// The version of this protocol.
pub const VERSION: u8 = 4;

/// The longest frame from a client, in bytes.
pub const LONGEST_CLIENT_MSG: usize = 64 << 10;

/// The longest frame from a daemon, in bytes.
pub const LONGEST_DAEMON_MSG: usize = 16 << 20;

/// The longest label of a client, in bytes; a longer one is cut.
pub const LONGEST_LABEL: usize = 200;

/// A millisecond in ticks: a tick of a real node is a microsecond.
pub const MILLISECOND: Ticks = Ticks(1_000);

/// The largest number of names in one request.
pub const MOST_NAMES: usize = 64;

/// The holder that an operator wants out of a section: any holder, or only the one with this fence and none that came later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BreakTarget {
    /// The section.
    pub section: SectionName,
    /// The fence, to spare every later holder.
    pub fence: Option<Fence>,
}

/// A message from a client to its daemon. The client chooses the numbers and uses none twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMsg {
    /// Labels the client for `doorway status`.
    Introduce {
        /// A few words, at most [`LONGEST_LABEL`] bytes: a command, the name of a service.
        label: String,
    },
    /// Requests sections, all of them or none.
    Lock {
        /// The number of this request.
        number: u32,
        /// The sections.
        names: Vec<SectionName>,
        /// How long it waits, in ticks: for ever if not given; 0 is a try.
        patience: Option<Ticks>,
        /// The longest time that it may hold them.
        max_hold: Option<Ticks>,
        /// The longest time that it may hold them without a sign of life.
        ttl: Option<Ticks>,
        /// Whether to tell it that another client waits.
        tell_if_wanted: bool,
    },
    /// Cancels a request. If it was granted meanwhile, this releases it.
    Cancel {
        /// The number of the request.
        number: u32,
    },
    /// Releases a request, whether it was granted or not.
    Release {
        /// The number of the request.
        number: u32,
    },
    /// A sign of life, for all requests of this client with a time-to-live.
    Alive,
    /// Asks for the status of the node.
    Status {
        /// The number of this question.
        number: u32,
        /// One section, or all if not given.
        section: Option<SectionName>,
        /// Whether to ask the other nodes as well.
        everywhere: bool,
    },
    /// Tells the holder of a section, on any node, to stop; then the section is freed.
    Break {
        /// The number of this command.
        number: u32,
        /// The section, and the holder's fence if only that holder is meant.
        target: BreakTarget,
    },
    /// A command of the operator.
    Administer {
        /// The number of this command.
        number: u32,
        /// The command itself.
        order: AdminCommand,
    },
    /// Asks for the time on the daemon's clock. The client has read the welcome too late to compare clocks by it.
    Clock,
}

/// What an operator can tell a daemon to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdminCommand {
    /// This node hands over, leaves its cluster and stops.
    Stop,
    /// Removes a node from the cluster for good. Any node takes the command and passes it to the leader.
    Remove {
        /// The node's name.
        node: String,
    },
    /// Makes these nodes, and no others, voters.
    Appoint {
        /// Their names.
        nodes: Vec<String>,
    },
    /// Reloads configuration and certificates.
    Reload,
    /// Like [`AdminCommand::Remove`], and revokes the certificates that the node had.
    Revoke {
        /// The node's name.
        node: String,
    },
    /// Makes a node the leader of the consensus. Any node takes the command; the present leader hands over.
    Lead {
        /// The node's name.
        node: String,
    },
}

/// A message from a daemon to a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DaemonMsg {
    /// The first frame of every connection.
    Welcome {
        /// The daemon's version of the protocol.
        version: u8,
        /// The name of its cluster.
        cluster: String,
        /// The name of the node.
        node: String,
        /// The time on the daemon's boot-time clock, the clock of all deadlines. A client with a different clock, as in another time
        /// namespace, cannot tell when a deadline passes and must not continue.
        now: Ticks,
        /// The name of that clock, where the system tells it: its time namespace.
        clock: Option<String>,
        /// The least time to a deadline while the cluster is healthy: lease − margin − two heartbeats. A client that begins to stop
        /// earlier than this before its deadline stops although nothing is wrong.
        spare: Ticks,
    },
    /// A request is granted.
    Granted {
        /// Which.
        number: u32,
        /// The fence of each section, in the order of their names.
        fences: Vec<(SectionName, Fence)>,
        /// The deadline on that clock. Unless a later one arrives first, the client must have stopped at it by itself. The sections
        /// are free a margin later at the earliest, unless the client has released them or disconnected. This holds whether this
        /// node frees them or the other nodes do so without it.
        until: Ticks,
    },
    /// A request has a later deadline.
    Renewed {
        /// Which.
        number: u32,
        /// The new deadline.
        until: Ticks,
    },
    /// A granted request must stop.
    Lost {
        /// Which.
        number: u32,
        /// Why.
        why: Loss,
    },
    /// The daemon has freed the sections of a request that had to stop and was not released.
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
    /// Another client waits for a section that a request holds.
    Wanted {
        /// Which request.
        number: u32,
        /// Which section.
        section: SectionName,
    },
    /// The status of the node.
    Status {
        /// The question that it answers.
        number: u32,
        /// The answer.
        status: Box<Status>,
    },
    /// A command is done.
    Done {
        /// Which command.
        number: u32,
        /// Its result, in one sentence.
        sentence: String,
    },
    /// A question or command has failed.
    Failed {
        /// Which question or command.
        number: u32,
        /// Why, in one sentence.
        sentence: String,
    },
    /// The daemon closes the connection after this and has done nothing for its client. It may come instead of the welcome.
    Goodbye {
        /// Why, in one sentence.
        sentence: String,
    },
    /// The time on the daemon's boot-time clock: the answer to [`ClientMsg::Clock`].
    Clock {
        /// That time.
        now: Ticks,
    },
}

/// The status of a node and, if the client asked for them, of the others that answered in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The name of the cluster.
    pub cluster: String,
    /// The algorithm of the cluster, with its options.
    pub algorithm: String,
    /// The name of the node that answers.
    pub node: String,
    /// The nodes, in the order of their numbers; a node that did not answer has no status of its own.
    pub nodes: Vec<NodeStatus>,
    /// The sections that have a holder or a waiter.
    pub sections: Vec<SectionStatus>,
    /// Whether some sections were left out because there are too many.
    pub is_cut: bool,
}

/// The status of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// Where the others reach it.
    pub address: String,
    /// Whether it is a member of the newest view that the answering node knows.
    pub is_member: bool,
    /// Whether it votes.
    pub is_voter: bool,
    /// Whether it leads the consensus about views, as far as the answering node knows.
    pub is_leader: bool,
    /// What it reports about itself, unless it did not answer.
    pub own: Option<OwnStatus>,
}

/// What a node reports about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnStatus {
    /// Its state: starting, joining, changing views, active, over.
    pub standing: String,
    /// The number of its view.
    pub view: Option<u64>,
    /// How long it may still act without hearing from the others.
    pub lease_left: Ticks,
    /// How much longer it waits for the leases of nodes that were left out.
    pub quiet_left: Ticks,
    /// How long it has run.
    pub up: Ticks,
    /// How many clients are connected.
    pub clients: u64,
    /// How many sections it keeps, in use or not yet forgotten.
    pub open: u64,
    /// How many requests wait here.
    pub waiting: u64,
    /// How many entries it has granted.
    pub entries: u64,
    /// How many messages about sections it has sent to other nodes.
    pub sent: u64,
    /// The memory of its process in bytes, where known.
    pub memory: Option<u64>,
    /// The epoch of its cluster: a recovery or a restoration begins a new one.
    pub epoch: Option<String>,
    /// Certificates that the cluster has revoked, by the name of their node.
    pub revoked: BTreeMap<String, Revocation>,
    /// What an operator should know: missing founders, a disk that was set back, nodes that are ignored.
    pub warnings: Vec<String>,
}

/// All certificates of a node up to a time of issue are revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revocation {
    /// The node that had them.
    pub node: NodeId,
    /// The last revoked time of issue, in microseconds since 1970. A later certificate is valid.
    pub until: u64,
}

/// The status of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionStatus {
    /// Its name.
    pub name: SectionName,
    /// The holder, if there is one.
    pub inside: Option<ClientStatus>,
    /// The waiters; those of one node in their order.
    pub waiting: Vec<ClientStatus>,
}

/// A holder or waiter of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The name of its node.
    pub node: String,
    /// Its process, where known.
    pub process: Option<u32>,
    /// Its label.
    pub label: String,
    /// How long it has been inside, or has waited.
    pub since: Ticks,
    /// Its fence, if it is inside.
    pub fence: Option<Fence>,
}

/// A label cut to [`LONGEST_LABEL`] bytes, in whole characters.
#[must_use]
pub fn shortened(label: &str) -> &str {
    let ends = label.char_indices().map(|(place, letter)| place + letter.len_utf8());
    &label[..ends.take_while(|end| *end <= LONGEST_LABEL).last().unwrap_or(0)]
}

/// A message as a frame.
///
/// # Errors
/// If it is longer than `longest`.
pub fn frame<T: Serialize>(message: &T, longest: usize) -> io::Result<Vec<u8>> {
    let bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = bytes.len() - 4;
    match u32::try_from(length) {
        Ok(word) if length <= longest => {
            let mut bytes = bytes;
            bytes[..4].copy_from_slice(&word.to_le_bytes());
            Ok(bytes)
        }
        _ => Err(io::Error::other(format!(
            "a message of {length} bytes is longer than the limit of {longest}"
        ))),
    }
}

/// The length of a frame, from its first four bytes.
///
/// # Errors
/// If it is longer than `longest`.
pub fn length(head: [u8; 4], longest: usize) -> io::Result<usize> {
    let length = u32::from_le_bytes(head) as usize;
    if length > longest {
        return Err(io::Error::other(format!(
            "a message of {length} bytes is longer than the limit of {longest}"
        )));
    }
    Ok(length)
}

/// A message from the bytes of a frame, without its length.
///
/// # Errors
/// If they are not such a message.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(io::Error::other("these bytes are not a message of this protocol")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_round_trip_and_long_ones_are_refused() {
        let ask = ClientMsg::Cancel { number: 7 };
        let bytes = frame(&ask, LONGEST_CLIENT_MSG).expect("it is short");
        let head = bytes[..4].try_into().expect("four bytes");
        assert_eq!(length(head, LONGEST_CLIENT_MSG).expect("it is short"), bytes.len() - 4);
        assert_eq!(read::<ClientMsg>(&bytes[4..]).expect("it is one"), ask);
        assert!(read::<ClientMsg>(&[bytes.as_slice(), &[0]].concat()[4..]).is_err(), "something follows");
        assert!(frame(&ask, 1).is_err());
        assert!(length([0, 0, 1, 1], LONGEST_CLIENT_MSG).is_err());
    }
    #[test]
    fn a_label_is_cut_after_a_whole_character() {
        assert_eq!(shortened("a few words"), "a few words");
        assert_eq!(shortened(&"x".repeat(201)), "x".repeat(200));
        assert_eq!(shortened(&format!("x{}", "é".repeat(100))), format!("x{}", "é".repeat(99)));
        assert_eq!(shortened(""), "");
    }
}
