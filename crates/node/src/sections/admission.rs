//! Which requests a node takes, and how many.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use doorway_core::SectionName;

use super::Sections;
use crate::wire::MOST_INSIDE;
use crate::{LockCommand, Notice, Reason, Rules};

/// The sections that clients of this node use, and those that they used and that are still open.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// How many requests there are for each.
    names: BTreeMap<SectionName, u32>,
    /// For how many of them there are any.
    wanted: usize,
}

impl Used {
    /// One more request names a section.
    pub(super) fn begin(&mut self, name: &SectionName) {
        let count = self.names.entry(name.clone()).or_default();
        self.wanted += usize::from(*count == 0);
        *count += 1;
    }

    /// A request that names a section is over.
    pub(super) fn end(&mut self, name: &SectionName, is_open: bool) {
        let Some(count) = self.names.get_mut(name).filter(|count| **count > 0) else { return };
        *count -= 1;
        if *count == 0 {
            self.wanted -= 1;
            if !is_open {
                self.names.remove(name);
            }
        }
    }

    /// A section is open no more.
    pub(super) fn close(&mut self, name: &SectionName) {
        if self.names.get(name) == Some(&0) {
            self.names.remove(name);
        }
    }

    /// The sections for which there are requests, in order.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &SectionName> {
        self.names.iter().filter(|(_, count)| **count > 0).map(|(name, _)| name)
    }

    /// The same from the first name on that comes after this one.
    pub(super) fn wanted_after(&self, after: Option<&SectionName>) -> impl Iterator<Item = &SectionName> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let names = self.names.range::<SectionName, _>((from, Bound::Unbounded));
        names.filter(|(_, count)| **count > 0).map(|(name, _)| name)
    }

    fn is_wanted(&self, name: &SectionName) -> bool {
        self.names.get(name).is_some_and(|count| *count > 0)
    }
}

/// The most requests at one node.
pub const MOST_REQUESTS: usize = 100_000;

impl<R: Rules> Sections<R> {
    /// A client wants into sections.
    pub(crate) fn lock(&mut self, lock: LockCommand) {
        let id = lock.request;
        if let Some(why) = self.fault_of(&lock) {
            self.notices.push(Notice::Refused { request: id, why });
            return;
        }
        self.admit_request(lock);
        if self
            .requests
            .get(&id)
            .is_some_and(|request| !request.is_in() && request.gives_up == Some(self.gate.now))
        {
            self.refuse(id, Reason::TimedOut);
        }
    }

    /// Why a request is refused, if it is.
    fn fault_of(&self, lock: &LockCommand) -> Option<Reason> {
        let names: BTreeSet<&SectionName> = lock.names.iter().collect();
        let of_client = self.clients.get(&lock.client).into_iter().flatten();
        let mut of_client = of_client.filter_map(|id| self.requests.get(id));
        let has_good_names = !names.is_empty()
            && names.len() == lock.names.len()
            && names.len() <= doorway_protocol::MOST_NAMES;
        let shortest = self.timing.shortest_ttl();
        if self.gate.is_closed {
            Some(Reason::Leaving)
        } else if self.requests.contains_key(&lock.request) {
            Some(Reason::BadNumber)
        } else if !has_good_names {
            Some(Reason::BadNames)
        } else if of_client.any(|request| request.names.iter().any(|name| names.contains(name))) {
            Some(Reason::Reentrant)
        } else if lock.ttl.is_some_and(|ttl| ttl < shortest) {
            // R32: shortest time-to-live
            Some(Reason::ShortTtl { shortest })
        } else if self.requests.len() >= MOST_REQUESTS || !self.has_room_for(&names) {
            Some(Reason::TooMany)
        } else {
            None
        }
    }

    /// Whether these sections can be used as well. A node must be able to report all that it is inside of; and what the clients
    /// of all nodes use together is half of what may be open at each. The other half is for what is still open at some although
    /// others have forgotten it: so no honest member opens more sections at another than that one can keep.
    fn has_room_for(&self, names: &BTreeSet<&SectionName>) -> bool {
        let count =
            |is_more: &dyn Fn(&SectionName) -> bool| names.iter().filter(|name| is_more(name)).count();
        let wanted = self.used.wanted + count(&|name| !self.used.is_wanted(name));
        let used = self.used.names.len() + count(&|name| !self.used.names.contains_key(name));
        let open = self.open.len() + count(&|name| !self.open.contains_key(name));
        wanted <= MOST_INSIDE && used <= self.most_used() && open <= self.most_open / 2
    }

    /// How many sections the clients of this node may use, those included that they used and that are still open.
    pub(crate) fn most_used(&self) -> usize {
        self.most_open / 2 / self.member_count.max(1)
    }

    /// Whether a section is one of them.
    pub(crate) fn is_used(&self, name: &SectionName) -> bool {
        self.used.names.contains_key(name)
    }
}
