//! Views that a leader replaced, and lives that the log named once, or names beside others of the same number.
//!
//! In a cluster whose disks are sound no log names two starts of one number, and what a leader replaces was never decided. With a set-back disk
//! both can happen. The disk must confirm these lives before its node is listened to (R28); otherwise a leader that replaces the log of the only node that
//! knows better would hide that the disk was set back.

use super::Consensus;
use crate::{Incarnation, View};

impl Consensus {
    /// Keeps starts of disks that the log names beside others of the same number. A majority with a set-back disk can use a term
    /// twice; the engine then takes entries of one position for the same, and the log is a mixture of both.
    pub(super) fn note_second_starts(&mut self, view: &View) {
        let known = view.members.values().filter_map(|life| Some((life, self.latest_life(life.disk)?)));
        let is_second = |(life, known): &(&Incarnation, Incarnation)| {
            life.boot == known.boot && life.nonce != known.nonce
        };
        let seconds: Vec<Incarnation> = known.filter(is_second).map(|(_, known)| known).collect();
        self.dropped_lives.extend(seconds);
    }

    /// The lives in views that the log has lost to a leader since this was asked last, except those that it still names.
    pub(crate) fn take_dropped_lives(&mut self) -> Vec<Incarnation> {
        let mut lives = std::mem::take(&mut self.dropped_lives);
        let is_named = |life: &Incarnation| {
            self.latest_life(life.disk).is_some_and(|latest| latest.start() == life.start())
        };
        lives.retain(|life| life.disk != self.me && !is_named(life));
        lives
    }

    /// The numbers of the views that a leader has replaced in the log since this was asked last.
    pub(crate) fn take_replaced(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.replaced)
    }
}
