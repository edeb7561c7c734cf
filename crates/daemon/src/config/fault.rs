//! The mistakes that a configuration can have, each with its key and its sentence.

use std::fmt;

use doorway_core::Refusal;
use doorway_node::wire::MOST_NODES;

/// A mistake in a configuration.
#[derive(Debug)]
pub(crate) enum ConfigFault {
    /// The value of a key cannot be used.
    Value { key: &'static str, refusal: Refusal },
    /// `node` names no node of the list.
    UnknownNode(String),
    /// The health endpoint has port 0.
    NoHealthPort,
    /// The health endpoint needs the port on which the node listens.
    HealthPortTaken { address: String },
    /// The mode of the socket shuts its group out.
    GroupShutOut,
    /// A limit of 0 on connections.
    NoConnections { key: &'static str },
    /// A limit of 0 on what a user may lock.
    NoLocks { key: &'static str },
    /// A user may have more than there is.
    ShareTooLarge { key: &'static str, whole: usize, what: &'static str },
    /// A path without a character.
    EmptyPath { key: &'static str },
    /// More nodes than a cluster can have.
    TooManyNodes,
    /// A mistake in the node at this place of the list, from 0.
    Node { place: usize, fault: NodeFault },
    /// Times that do not fit together, with the key to blame.
    Timing { key: String, sentence: String },
}

/// A mistake in one node of the list.
#[derive(Debug)]
pub(crate) enum NodeFault {
    /// Its name is not one.
    Name(Refusal),
    /// Its number is out of range.
    Number,
    /// Its address is not one.
    Address(Refusal),
    /// An earlier node has its name.
    SameName(String),
    /// An earlier node has its number.
    SameNumber(usize),
    /// An earlier node, named first, has its address.
    SameAddress([String; 2]),
}

impl ConfigFault {
    /// The key to blame.
    pub(super) fn key(&self) -> String {
        match self {
            ConfigFault::Value { key, .. }
            | ConfigFault::NoConnections { key }
            | ConfigFault::NoLocks { key }
            | ConfigFault::ShareTooLarge { key, .. }
            | ConfigFault::EmptyPath { key } => (*key).to_owned(),
            ConfigFault::UnknownNode(_) => "node".to_owned(),
            ConfigFault::NoHealthPort | ConfigFault::HealthPortTaken { .. } => "health".to_owned(),
            ConfigFault::GroupShutOut => "socket_group".to_owned(),
            ConfigFault::TooManyNodes => format!("nodes.{MOST_NODES}"),
            ConfigFault::Node { place, fault } => format!("nodes.{place}.{}", fault.key()),
            ConfigFault::Timing { key, .. } => key.clone(),
        }
    }
}

impl NodeFault {
    fn key(&self) -> &'static str {
        match self {
            NodeFault::Name(_) | NodeFault::SameName(_) => "name",
            NodeFault::Number | NodeFault::SameNumber(_) => "number",
            NodeFault::Address(_) | NodeFault::SameAddress(_) => "address",
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigFault::Value { refusal, .. } => refusal.fmt(f),
            ConfigFault::UnknownNode(name) => write!(f, "there is no node {name:?} among the nodes"),
            ConfigFault::NoHealthPort => f.write_str("its port must be a number from 1 to 65535"),
            ConfigFault::HealthPortTaken { address } => {
                write!(f, "the node listens for other nodes at {address}: take another port")
            }
            ConfigFault::GroupShutOut => {
                f.write_str("the group of the socket may not use it: write socket_mode = 0o660 as well")
            }
            ConfigFault::NoConnections { .. } => f.write_str("nobody could connect: write at least 1"),
            ConfigFault::NoLocks { .. } => f.write_str("nobody could lock anything: write at least 1"),
            ConfigFault::ShareTooLarge { whole, what, .. } => write!(
                f,
                "this node has room for {whole} {what} of all users together: write at most {whole}"
            ),
            ConfigFault::EmptyPath { key } => {
                write!(f, "`{key}` is an empty path: write a path, or leave `{key}` out")
            }
            ConfigFault::TooManyNodes => write!(f, "a cluster has at most {MOST_NODES} nodes"),
            ConfigFault::Node { fault, .. } => fault.fmt(f),
            ConfigFault::Timing { sentence, .. } => f.write_str(sentence),
        }
    }
}

impl fmt::Display for NodeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeFault::Name(refusal) | NodeFault::Address(refusal) => refusal.fmt(f),
            NodeFault::Number => write!(f, "nodes are numbered from 1 to {MOST_NODES}"),
            NodeFault::SameName(name) => write!(f, "two nodes are named {name:?}"),
            NodeFault::SameNumber(number) => write!(f, "two nodes have number {number}"),
            NodeFault::SameAddress([one, two]) => {
                write!(f, "the nodes {one:?} and {two:?} have the same address")
            }
        }
    }
}
