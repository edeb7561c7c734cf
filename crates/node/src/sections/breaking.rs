//! Breaking a section: its holder, at any node, is told to stop.

use std::collections::BTreeSet;

use doorway_core::{Fence, NodeId, SectionName};

use super::Sections;
use crate::message::Parcel;
use crate::{BreakTarget, Loss, Notice, Rules};

impl<R: Rules> Sections<R> {
    /// How many breaks can be pending.
    const MOST_BREAKS: usize = 1_000;

    /// Breaks a section, wherever its holder is.
    pub(crate) fn begin_break(&mut self, target: BreakTarget) {
        if self.breaks.len() >= Self::MOST_BREAKS && !self.breaks.contains_key(&target) {
            let why = format!("{} breaks are already pending", Self::MOST_BREAKS);
            self.notices.push(Notice::NotDone(why));
            return;
        }
        self.breaks.insert(target.clone(), BTreeSet::new());
        self.break_everywhere(target);
    }

    /// In a new view: members that were asked in the old one may not have heard of it.
    pub(super) fn break_again(&mut self) {
        let targets: Vec<BreakTarget> = self.breaks.keys().cloned().collect();
        targets.into_iter().for_each(|target| self.break_everywhere(target));
    }

    fn break_everywhere(&mut self, target: BreakTarget) {
        if self.break_here(&target) {
            return self.answer_break(target, true);
        }
        // Without a view there are no members to ask; in the next one all will be.
        let Some(stage) = &self.stage else { return };
        let others: BTreeSet<NodeId> =
            stage.members.iter().copied().filter(|node| *node != self.me).collect();
        if others.is_empty() {
            return self.answer_break(target, false);
        }
        self.breaks.insert(target.clone(), others);
        self.broadcast(&Parcel::Break(target));
    }

    /// Tells the holder here to stop; returns whether there is one. A request that has not got all its sections yet, and so was not
    /// granted, gives back those that it has and waits anew.
    fn break_here(&mut self, target: &BreakTarget) -> bool {
        let BreakTarget { section, fence } = target;
        let Some(id) = self.open.get(section).and_then(|section| section.holder) else { return false };
        let Some(request) = self.requests.get(&id) else { return false };
        let is_meant =
            |(name, its): (SectionName, Fence)| name == *section && fence.is_none_or(|fence| fence == its);
        if !request.grants().into_iter().any(is_meant) {
            return false;
        }
        self.stop_or_start_over(id, Loss::Broken);
        true
    }

    /// A member asks for a section to be broken.
    pub(super) fn obey_break(&mut self, from: NodeId, target: BreakTarget) {
        let was_inside = self.break_here(&target);
        self.say(from, Parcel::Broken { target, was_inside });
    }

    /// A member has answered.
    pub(super) fn count_broken(&mut self, from: NodeId, target: BreakTarget, was_inside: bool) {
        let Some(missing) = self.breaks.get_mut(&target) else { return };
        if missing.remove(&from) && (was_inside || missing.is_empty()) {
            self.answer_break(target, was_inside);
        }
    }

    fn answer_break(&mut self, target: BreakTarget, was_inside: bool) {
        self.breaks.remove(&target);
        self.notices.push(Notice::Broken { target, was_inside });
    }
}
