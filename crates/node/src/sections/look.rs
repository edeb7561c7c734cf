//! What a node reports about its sections.

use std::collections::BTreeMap;

use doorway_core::{Fence, NodeId, SectionName, Ticks};

use super::{Section, Sections};
use crate::{ClientId, RequestId, Rules};

/// One section as a node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionSummary {
    /// The section.
    pub name: SectionName,
    /// Who of this node's clients is inside.
    pub inside: Option<HolderSummary>,
    /// Who of them waits, in order.
    pub waiting: Vec<WaiterSummary>,
    /// The node of the holder, as far as known here: this one, or the one that held it when the view began, whose client may
    /// have left since.
    pub known_holder_node: Option<NodeId>,
}

/// A holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderSummary {
    /// Which request.
    pub request: RequestId,
    /// Whose.
    pub client: ClientId,
    /// With which fence.
    pub fence: Fence,
    /// Since when, on the node's clock.
    pub since: Ticks,
    /// Whether it has all the sections that it asked for. If not, it has this one and waits for another.
    pub is_in: bool,
}

/// A waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaiterSummary {
    /// Which request.
    pub request: RequestId,
    /// Whose.
    pub client: ClientId,
    /// Since when, on the node's clock.
    pub since: Ticks,
}

impl<R: Rules> Sections<R> {
    /// The first `most` sections that clients here hold or wait for, in the order of their names.
    pub(crate) fn looks(&self, most: usize) -> Vec<SectionSummary> {
        self.used.wanted().filter_map(|name| self.look(name)).take(most).collect()
    }

    /// The first section after this name that clients here hold or wait for, with at most `most_waiting` waiters.
    pub(crate) fn look_after(
        &self,
        after: Option<&SectionName>,
        most_waiting: usize,
    ) -> Option<SectionSummary> {
        self.used.wanted_after(after).find_map(|name| self.look_up_to(name, most_waiting))
    }

    /// Who was inside which section when the view began.
    pub(crate) fn holders(&self) -> Option<&BTreeMap<SectionName, NodeId>> {
        self.stage.as_ref().map(|stage| &stage.holders)
    }

    /// The clock of a section, or the one with which it would be made.
    pub(crate) fn clock(&self, name: &SectionName) -> u64 {
        self.open.get(name).map_or(self.floor, |section| section.clock)
    }

    /// A section, if it is open here.
    pub(crate) fn look(&self, name: &SectionName) -> Option<SectionSummary> {
        self.look_up_to(name, usize::MAX)
    }

    /// The same, with at most `most_waiting` waiters.
    pub(crate) fn look_up_to(&self, name: &SectionName, most_waiting: usize) -> Option<SectionSummary> {
        let section = self.open.get(name)?;
        let inside = self.inside_look(name, section);
        let waiting = section.line.iter().take(most_waiting).filter_map(|id| {
            let request = self.requests.get(id)?;
            Some(WaiterSummary { request: *id, client: request.client, since: request.asked })
        });
        let holder = self.stage.as_ref().and_then(|stage| stage.holders.get(name)).copied();
        Some(SectionSummary {
            name: name.clone(),
            inside,
            waiting: waiting.collect(),
            known_holder_node: if inside.is_some() { Some(self.me) } else { holder },
        })
    }

    fn inside_look(&self, name: &SectionName, section: &Section) -> Option<HolderSummary> {
        let id = section.holder?;
        let request = self.requests.get(&id)?;
        let place = request.names.iter().position(|other| other == name)?;
        Some(HolderSummary {
            request: id,
            client: request.client,
            fence: request.fences.get(place).copied()?,
            since: section.held_since,
            is_in: request.is_in(),
        })
    }

    /// The number of clients that wait for a section here, and the fence of the holder.
    pub(crate) fn look_at(&self, name: &SectionName) -> (usize, Option<Fence>) {
        let Some(section) = self.open.get(name) else { return (0, None) };
        (section.line.len(), self.inside_look(name, section).map(|inside| inside.fence))
    }
}
