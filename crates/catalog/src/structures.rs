//! Which nodes a node asks and informs in Sanders' algorithm, and the trees of Raymond's, for code that computes with them.

pub use doorway_algorithms::message::sanders::{Structure, StructureFlaw};
pub use doorway_algorithms::specimens::sanders::unchecked_structure::structure as broken_structure;
pub use doorway_algorithms::structures::{structures, unchecked_structures};
pub use doorway_algorithms::trees::{TREE, Tree, TreeKind};
