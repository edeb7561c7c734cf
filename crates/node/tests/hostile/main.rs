//! What comes from outside never hurts a node: bytes that are no message, messages that cannot be, disks that say nonsense.

mod cluster;
mod corpus;
mod disks;
mod leadership;
mod lies;
mod limits;
mod mutate;
mod nodes;
mod removed;
mod reports;
mod wire;
