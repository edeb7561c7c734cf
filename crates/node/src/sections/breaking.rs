//! Breaking a section: its holder, at any node, is told to stop.

use std::collections::BTreeSet;

use doorway_core::{Fence, NodeId, SectionName};

use super::Sections;
use crate::message::Parcel;
use crate::{Loss, Notice, Rules, Stay};

impl<R: Rules> Sections<R> {
    /// How many sections can be waiting to be broken.
    const MOST_BREAKS: usize = 1_000;

    /// A section is to be broken, wherever somebody is inside.
    pub(crate) fn begin_break(&mut self, stay: Stay) {
        if self.breaks.len() >= Self::MOST_BREAKS && !self.breaks.contains_key(&stay) {
            let why = format!("{} sections are waiting to be broken already", Self::MOST_BREAKS);
            self.notices.push(Notice::NotDone(why));
            return;
        }
        self.breaks.insert(stay.clone(), BTreeSet::new());
        self.break_everywhere(stay);
    }

    /// In a new view: whoever was asked in the old one may not have heard of it.
    pub(super) fn break_again(&mut self) {
        let stays: Vec<Stay> = self.breaks.keys().cloned().collect();
        stays.into_iter().for_each(|stay| self.break_everywhere(stay));
    }

    fn break_everywhere(&mut self, stay: Stay) {
        if self.break_here(&stay) {
            return self.answer_break(stay, true);
        }
        // Without a view there is nobody to ask; in the next one everybody will be.
        let Some(stage) = &self.stage else { return };
        let others: BTreeSet<NodeId> =
            stage.members.iter().copied().filter(|node| *node != self.me).collect();
        if others.is_empty() {
            return self.answer_break(stay, false);
        }
        self.breaks.insert(stay.clone(), others);
        self.broadcast(&Parcel::Break(stay));
    }

    /// Tells whoever is inside here to stop; answers whether anybody is. One that has not got all its sections yet, and so was not
    /// told that it is inside, gives back those that it has and waits anew.
    fn break_here(&mut self, stay: &Stay) -> bool {
        let Stay { section, fence } = stay;
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
    pub(super) fn obey_break(&mut self, from: NodeId, stay: Stay) {
        let was_inside = self.break_here(&stay);
        self.say(from, Parcel::Broken { stay, was_inside });
    }

    /// A member has answered.
    pub(super) fn count_broken(&mut self, from: NodeId, stay: Stay, was_inside: bool) {
        let Some(missing) = self.breaks.get_mut(&stay) else { return };
        if missing.remove(&from) && (was_inside || missing.is_empty()) {
            self.answer_break(stay, was_inside);
        }
    }

    fn answer_break(&mut self, stay: Stay, was_inside: bool) {
        self.breaks.remove(&stay);
        self.notices.push(Notice::Broken { stay, was_inside });
    }
}
