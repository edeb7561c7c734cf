//! Quorum systems: sets of nodes of which every two have a node in common.
//!
//! Whoever has the permission of one whole quorum excludes everybody else, for the node in common gives its permission
//! to one at a time. A [`Construction`] says which quorums, a [`System`] has them built for N nodes: one assigned to
//! each node, a rule that chooses another one when nodes have crashed, and the list of all where it is short.
//!
//! There is one file for each construction, and its header tells the idea and the paper. Nothing here reads a file or
//! draws a random number: the text of a file is handed in, and the same words always give the same sets.
//!
//! ```
//! use doorway_core::{NodeId, NodeSet};
//! use doorway_quorums::{Construction, System};
//!
//! let plane = System::build(&"plane".parse::<Construction>()?, 7)?;
//! assert_eq!(plane.quorum_of(NodeId::new(0)).len(), 3);
//! assert_eq!((plane.sizes().least, plane.responsibility().most), (3, 3));
//!
//! let crashed = NodeId::new(0);
//! let another = plane.choose(&NodeSet::first(7).without(crashed)).expect("one node is not on every line");
//! assert!(!another.contains(crashed));
//!
//! let refusal = System::build(&Construction::Plane, 10).unwrap_err();
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
pub use plane::is_projective_plane;
pub use shape::Shape;
pub use system::{Spread, System};
