//! How much of a node the programs of one user may have, so that no user alone can keep all others out.
//!
//! A name that no client uses any more stays open at the node until it is forgotten, some seconds later. Until then it counts for the user who
//! used it: else one who takes ever new names would have all the room that a node has for open ones.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use doorway_core::{SectionName, Ticks};
use doorway_node::timing::milliseconds;

use crate::budget::half;

/// The use of each user's clients.
pub(super) struct Quotas {
    most_names: usize,
    most_requests: usize,
    /// How long a node keeps an unused name at least.
    idle: Ticks,
    users: BTreeMap<u32, Share>,
    /// Names that a user was done with, each with the time at which it is looked whether the node has forgotten it.
    done: BinaryHeap<Reverse<(Ticks, u32, SectionName)>>,
}

/// The use of one user's clients.
#[derive(Default)]
struct Share {
    requests: usize,
    names: BTreeMap<SectionName, Use>,
    /// How many of the names are in some request.
    in_use: usize,
}

/// A user's share of a name that the node has not forgotten.
#[derive(Default)]
struct Use {
    /// How many requests name it.
    requests: u32,
    /// Whether it is among those that the user was done with.
    is_done: bool,
}

impl Quotas {
    /// When to check again whether a name is forgotten.
    const AGAIN: Ticks = milliseconds(1_000);
    /// How many names are looked at in one go.
    const SLICE: usize = 1_024;

    pub(super) fn new(most_names: usize, most_requests: usize, idle: Ticks) -> Self {
        Self { most_names, most_requests, idle, users: BTreeMap::new(), done: BinaryHeap::new() }
    }

    /// Counts a request that names these sections; tells whether its user may have it. Of the names that a node may use, forgotten or not,
    /// a user has half.
    pub(super) fn take(&mut self, uid: u32, names: &[SectionName], most_used: usize) -> bool {
        let share = self.users.entry(uid).or_default();
        let is_idle = |name: &&SectionName| share.names.get(name).is_none_or(|of_name| of_name.requests == 0);
        let newly_in_use = names.iter().filter(is_idle).count();
        let new = names.iter().filter(|name| !share.names.contains_key(name)).count();
        let has_room = share.requests < self.most_requests
            && share.in_use + newly_in_use <= self.most_names
            && share.names.len() + new <= half(most_used);
        if has_room {
            share.begin(names);
        } else if share.is_nothing() {
            self.users.remove(&uid);
        }
        has_room
    }

    /// A request that was counted is over.
    pub(super) fn give_back(&mut self, uid: u32, names: &[SectionName], now: Ticks) {
        let Some(share) = self.users.get_mut(&uid) else { return };
        for name in share.end(names) {
            self.done.push(Reverse((now + self.idle, uid, name)));
        }
    }

    /// Counts names no more that the node has forgotten.
    pub(super) fn forget(&mut self, now: Ticks, is_used: impl Fn(&SectionName) -> bool) {
        for _ in 0..Self::SLICE {
            if self.done.peek().is_none_or(|Reverse((due, ..))| *due > now) {
                return;
            }
            let Some(Reverse((_, uid, name))) = self.done.pop() else { return };
            let Some(share) = self.users.get_mut(&uid) else { continue };
            let Some(of_name) = share.names.get_mut(&name) else { continue };
            if of_name.requests > 0 {
                of_name.is_done = false;
            } else if is_used(&name) {
                self.done.push(Reverse((now + Self::AGAIN, uid, name)));
            } else {
                share.names.remove(&name);
                if share.is_nothing() {
                    self.users.remove(&uid);
                }
            }
        }
    }
}

impl Share {
    fn begin(&mut self, names: &[SectionName]) {
        self.requests += 1;
        for name in names {
            let of_name = self.names.entry(name.clone()).or_default();
            self.in_use += usize::from(of_name.requests == 0);
            of_name.requests += 1;
        }
    }

    /// The names that the user is done with by that and was not before.
    fn end(&mut self, names: &[SectionName]) -> Vec<SectionName> {
        let mut done = Vec::new();
        for name in names {
            let Some(of_name) = self.names.get_mut(name) else { continue };
            of_name.requests -= 1;
            if of_name.requests == 0 {
                self.in_use -= 1;
                if !std::mem::replace(&mut of_name.is_done, true) {
                    done.push(name.clone());
                }
            }
        }
        self.requests -= 1;
        done
    }

    fn is_nothing(&self) -> bool {
        self.requests == 0 && self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1_000;

    fn quotas() -> Quotas {
        Quotas::new(3, 4, milliseconds(5_000))
    }

    fn names(text: &str) -> Vec<SectionName> {
        text.split(' ').map(|name| SectionName::new(name).expect("a good name")).collect()
    }

    #[test]
    fn a_user_has_its_share_of_requests_and_names_and_no_more() {
        let mut quotas = quotas();
        let now = Ticks(0);
        assert!(quotas.take(7, &names("a b"), MANY));
        assert!(!quotas.take(7, &names("c d"), MANY), "it would name four");
        assert!(quotas.take(7, &names("a c"), MANY), "it names three");
        assert!(quotas.take(8, &names("x y z"), MANY), "another user has its own share");
        assert!(quotas.take(7, &names("a"), MANY) && quotas.take(7, &names("a"), MANY));
        assert!(!quotas.take(7, &names("a"), MANY), "it has four requests");
        quotas.give_back(7, &names("a b"), now);
        assert!(quotas.take(7, &names("d"), MANY), "nobody of it names b any more");
        for _ in 0..2 {
            quotas.give_back(7, &names("a"), now);
        }
        quotas.give_back(7, &names("a c"), now);
        quotas.give_back(7, &names("d"), now);
        assert!(!quotas.take(7, &names("a b c d"), MANY), "too many for one request");
        quotas.forget(milliseconds(5_000), |_| false);
        assert_eq!(quotas.users.keys().collect::<Vec<_>>(), [&8], "who has nothing is forgotten");
        assert!(!quotas.take(9, &names("a b c d"), MANY));
        assert_eq!(quotas.users.keys().collect::<Vec<_>>(), [&8], "and who never had anything");
    }

    #[test]
    fn a_name_counts_until_the_node_has_forgotten_it() {
        let mut quotas = quotas();
        let at = milliseconds;
        // Of eight names a user has four.
        let passes = |quotas: &mut Quotas, uid, text, now| {
            let has_room = quotas.take(uid, &names(text), 8);
            if has_room {
                quotas.give_back(uid, &names(text), at(now));
            }
            has_room
        };
        assert!(passes(&mut quotas, 7, "a b", 0) && passes(&mut quotas, 7, "c d", 100));
        assert!(!passes(&mut quotas, 7, "e", 200), "four are not forgotten yet");
        assert!(passes(&mut quotas, 7, "a", 300), "a name that it has already costs nothing");
        assert!(passes(&mut quotas, 8, "e f", 300), "another user has its own share");
        quotas.forget(at(4_999), |_| false);
        assert!(!passes(&mut quotas, 7, "e", 5_000), "nobody has looked yet");
        quotas.forget(at(5_000), |name| name.as_str() == "a");
        assert!(passes(&mut quotas, 7, "e", 5_000), "b is forgotten");
        assert!(!passes(&mut quotas, 7, "f", 5_000), "and a is not");
        quotas.forget(at(5_200), |_| false);
        assert!(!quotas.users[&7].names.contains_key(&names("c")[0]), "looked at in its turn");
        quotas.forget(at(6_000), |_| false);
        assert_eq!(quotas.users[&7].names.keys().collect::<Vec<_>>(), [&names("e")[0]]);
        quotas.forget(at(60_000), |_| false);
        assert!(quotas.users.is_empty() && quotas.done.is_empty());
    }

    #[test]
    fn a_name_that_is_used_without_end_is_kept_once() {
        let mut quotas = quotas();
        for milli in 0..10_000 {
            assert!(quotas.take(7, &names("a"), MANY));
            quotas.forget(milliseconds(milli), |_| true);
            quotas.give_back(7, &names("a"), milliseconds(milli));
        }
        assert_eq!(quotas.done.len(), 1);
        assert!(quotas.take(7, &names("a"), MANY));
        quotas.forget(milliseconds(60_000), |_| true);
        assert!(quotas.done.is_empty(), "it is in use");
        quotas.give_back(7, &names("a"), milliseconds(60_000));
        quotas.forget(milliseconds(65_000), |_| false);
        assert!(quotas.users.is_empty());
    }
}
