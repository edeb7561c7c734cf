//! How much of a node the programs of one user may have, so that no user can keep all others out.

use std::collections::BTreeMap;

use doorway_core::SectionName;

/// What the clients of each user have.
pub(super) struct Quotas {
    most_names: usize,
    most_requests: usize,
    users: BTreeMap<u32, Share>,
}

/// What the clients of one user have.
#[derive(Default)]
struct Share {
    requests: usize,
    /// How many requests name each section.
    names: BTreeMap<SectionName, u32>,
}

impl Quotas {
    pub(super) fn new(most_names: usize, most_requests: usize) -> Self {
        Self { most_names, most_requests, users: BTreeMap::new() }
    }

    /// Counts a request that names these sections; tells whether its user may have it.
    pub(super) fn take(&mut self, uid: u32, names: &[SectionName]) -> bool {
        let share = self.users.entry(uid).or_default();
        let new = names.iter().filter(|name| !share.names.contains_key(name)).count();
        let has_room = share.requests < self.most_requests && share.names.len() + new <= self.most_names;
        if has_room {
            share.requests += 1;
            names.iter().for_each(|name| *share.names.entry(name.clone()).or_default() += 1);
        } else if share.requests == 0 {
            self.users.remove(&uid);
        }
        has_room
    }

    /// A request that was counted is over.
    pub(super) fn give_back(&mut self, uid: u32, names: &[SectionName]) {
        let Some(share) = self.users.get_mut(&uid) else { return };
        for name in names {
            if let Some(count) = share.names.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    share.names.remove(name);
                }
            }
        }
        share.requests -= 1;
        if share.requests == 0 {
            self.users.remove(&uid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_its_share_of_requests_and_names_and_no_more() {
        let mut quotas = Quotas::new(3, 4);
        let names = |text: &str| -> Vec<SectionName> {
            text.split(' ').map(|name| SectionName::new(name).expect("a good name")).collect()
        };
        assert!(quotas.take(7, &names("a b")));
        assert!(!quotas.take(7, &names("c d")), "it would name four");
        assert!(quotas.take(7, &names("a c")), "it names three");
        assert!(quotas.take(8, &names("x y z")), "another user has its own share");
        assert!(quotas.take(7, &names("a")) && quotas.take(7, &names("a")));
        assert!(!quotas.take(7, &names("a")), "it has four requests");
        quotas.give_back(7, &names("a b"));
        assert!(quotas.take(7, &names("d")), "nobody of it names b any more");
        for _ in 0..2 {
            quotas.give_back(7, &names("a"));
        }
        quotas.give_back(7, &names("a c"));
        quotas.give_back(7, &names("d"));
        assert!(!quotas.take(7, &names("a b c d")), "too many for one request");
        assert_eq!(quotas.users.keys().collect::<Vec<_>>(), [&8], "who has nothing is forgotten");
    }
}
