//! Quorum systems: sets of nodes, every two of which have a node in common.
//!
//! A node with the permission of a whole quorum excludes all others, because each node grants its permission
//! to one node at a time. A [`Construction`] names the kind of quorums; a [`QuorumSystem`] is built from it for N
//! nodes: one quorum assigned to each node, a rule that chooses another when nodes have crashed, and the list
//! of all quorums if it is short.
//!
//! Each construction has its own file, whose header gives the paper and the idea. Nothing here reads files or
//! draws random numbers: the caller passes the text of a file, and the same input always gives the same sets.
//!
//! ```
//! use doorway_core::{NodeId, NodeSet};
//! use doorway_quorums::{Construction, QuorumSystem};
//!
//! let plane = QuorumSystem::build(&"plane".parse::<Construction>()?, 7)?;
//! assert_eq!(plane.quorum_of(NodeId::new(0)).len(), 3);
//! assert_eq!((plane.sizes().least, plane.responsibility().most), (3, 3));
//!
//! let crashed = NodeId::new(0);
//! let another = plane.choose(&NodeSet::first(7).without(crashed)).expect("one node is not on every line");
//! assert!(!another.contains(crashed));
//!
//! let refusal = QuorumSystem::build(&Construction::Plane, 10).unwrap_err();
//! assert!(refusal.to_string().starts_with("no projective plane has 10 nodes"));
//! # Ok::<(), doorway_core::Refusal>(())
//! ```

mod all;
mod construction;
mod coterie;
mod cwlog;
mod cyclic;
mod field;
mod file;
mod grid;
mod majority;
mod plane;
mod ratings;
mod shape;
mod singer;
mod singleton;
mod system;
mod tree;
mod triangle;
mod truncated;
mod wall;
mod weighted;

pub use construction::{Construction, Description};
pub use coterie::{Disjoint, coterie, first_disjoint};
pub use plane::{is_projective_plane, proof_of_no_plane};
pub use ratings::{
    Certificate, Failure, Fraction, Interval, Overlaps, Ratings, SystemLoad, is_nondominated, load,
    resilience,
};
pub use shape::Shape;
pub use system::{QuorumSystem, Spread};
