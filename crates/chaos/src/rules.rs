//! The rules of nodes under test: all of them, or all but one.

use doorway_node::{Flaw, LockNode, Rules};

/// All rules, or all but one that is broken on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakable(pub Option<Flaw>);

impl Rules for Breakable {
    fn breaks(self, flaw: Flaw) -> bool {
        self.0 == Some(flaw)
    }

    fn is_sound(self) -> bool {
        self.0.is_none()
    }
}

/// A node under test.
pub(crate) type TestedNode = LockNode<Breakable>;
