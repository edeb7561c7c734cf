//! The rules by which a node works: all of them, or all but one for a test.

use std::fmt;

use crate::Flaw;

/// Which rules a node keeps. Every place that a [`Flaw`] breaks asks here; for [`Sound`] the answer is known to the compiler.
pub trait Rules: Copy + fmt::Debug + Send + Sync + 'static {
    /// Whether the node breaks this rule on purpose.
    fn breaks(self, flaw: Flaw) -> bool;

    /// Whether the node keeps every rule. One that does not is not stopped by its own assertions.
    fn is_sound(self) -> bool;
}

/// All rules are kept. The daemon and programs that embed a lock know no other node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sound;

impl Rules for Sound {
    fn breaks(self, _: Flaw) -> bool {
        false
    }

    fn is_sound(self) -> bool {
        true
    }
}
