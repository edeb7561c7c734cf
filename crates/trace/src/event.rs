//! The events of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use doorway_core::{Channels, Fence, NodeId, Ticks};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const VERSION: u32 = 1;

/// What run it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The algorithm's name.
    pub algorithm: String,
    /// How many nodes there were.
    pub nodes: usize,
    /// The seed.
    pub seed: u64,
    /// The order of the channels.
    pub channels: Channels,
    /// Who was inside at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_inside: Option<NodeId>,
    /// What was chosen for the algorithm.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The text of each file that was chosen, under the name of its choice: without it the run could not be repeated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl Header {
    /// The header of a plain run.
    #[must_use]
    pub fn new(algorithm: &str, nodes: usize, seed: u64) -> Self {
        Self {
            version: VERSION,
            algorithm: algorithm.to_owned(),
            nodes,
            seed,
            channels: Channels::Fifo,
            start_inside: None,
            options: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// What the name of the algorithm begins with if whole lock nodes ran it.
    pub const LOCK_NODES: &str = "chaos ";

    /// Whether it is a run of whole lock nodes, of whose state a trace tells nothing.
    #[must_use]
    pub fn is_of_lock_nodes(&self) -> bool {
        self.algorithm.starts_with(Self::LOCK_NODES)
    }
}

/// One thing that happened at one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number, counted from 1 in the order in which things happened.
    pub id: u64,
    /// When.
    pub time: Ticks,
    /// Where.
    pub node: NodeId,
    /// What.
    #[serde(flatten)]
    pub what: What,
    /// The rule of the algorithm that made it happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Cow<'static, str>>,
    /// The event without which it would not have happened: for a delivery the sending, for a sending or an entry the
    /// step in which the node made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<u64>,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum What {
    /// The node comes to life.
    Start,
    /// Its application asks.
    Request,
    /// It is let in.
    Enter {
        /// The fence of this entry.
        fence: Fence,
    },
    /// Its application has left.
    Release,
    /// It sends a message.
    Send {
        /// The receiver.
        to: NodeId,
        /// The kind of message.
        kind: Cow<'static, str>,
        /// The whole message.
        message: Value,
    },
    /// A message reaches it.
    Deliver {
        /// The sender.
        from: NodeId,
        /// The kind of message.
        kind: Cow<'static, str>,
        /// The whole message.
        message: Value,
    },
    /// A message that it sent will never arrive.
    Lost {
        /// Who should have got it.
        to: NodeId,
        /// The kind of message.
        kind: Cow<'static, str>,
        /// Why not.
        why: Cow<'static, str>,
    },
    /// It reads or writes what it shares with others: a step of its own. The first one of an entry or an exit comes with a
    /// request or a release at the same time, the last one of an entry with the entry.
    Access {
        /// In which way.
        access: AccessKind,
        /// What the textbook calls the register: `number[2]`.
        register: Cow<'static, str>,
        /// What was read or written.
        value: u64,
        /// The line of the program that did it, from 1; 0 if none did.
        #[serde(default)]
        line: u32,
    },
    /// Its logical clock is moved from outside the algorithm: by a script, or because its process heard of a later time.
    Clock {
        /// What the clock shows then.
        count: u64,
    },
    /// A reminder of its own is due.
    Timer,
    /// Something that it wrote has reached its disk.
    Written,
    /// It stops. A [`What::Start`] after it is a restart; without one it has stopped for good.
    Crash,
    /// An oracle reports to it that another node has crashed.
    Report {
        /// The node that is reported to have crashed.
        crashed: NodeId,
    },
    /// It stands still and makes no step until it goes on; what comes for it waits.
    Pause,
    /// It goes on after a pause.
    Resume,
    /// Something that must never happen.
    Violation {
        /// What it was, as a sentence.
        what: String,
    },
    /// From here to its end the run repeats itself for ever. That is about the whole run and not about one node: the first
    /// one stands for all. No step happens in it, and nothing is caused by it.
    Loop,
}

/// How a process gets at a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It reads, at once.
    Read,
    /// It writes, at once; in buffered memory only the process itself sees that yet.
    Write,
    /// It begins to write slowly: until the end, others may read something else.
    Begin,
    /// It has written.
    End,
    /// What it wrote into its buffer reaches memory, where others see it.
    Reach,
    /// All that its node has written has reached memory: it passes a barrier. There is no register, and the value says nothing.
    Barrier,
}
