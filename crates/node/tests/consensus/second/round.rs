//! One round of inputs, the same for both libraries.

use std::collections::BTreeSet;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::engine::Id;

/// What happens in a round, to both.
#[derive(Clone, Debug)]
pub struct Round {
    /// Who reach each other while one stands for election.
    pub electors: BTreeSet<Id>,
    pub candidate: Id,
    /// Who reach each other while it proposes, if it leads.
    pub followers: BTreeSet<Id>,
    pub commands: Vec<u64>,
    /// Who is to vote from now on, if that changes; then all reach each other.
    pub change: Option<BTreeSet<Id>>,
    /// Who is killed at the end and started again.
    pub killed: BTreeSet<Id>,
}

/// Whether voters change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    None,
    Some,
}

impl Round {
    pub fn draw(
        rng: &mut Pcg64Mcg,
        nodes: Id,
        voters: &BTreeSet<Id>,
        changes: Changes,
        next_command: &mut u64,
    ) -> Self {
        let place = rng.next_u64() as usize % voters.len();
        let candidate = voters.iter().nth(place).copied().unwrap_or_default();
        let some = |rng: &mut Pcg64Mcg, of_eight: u64| -> BTreeSet<Id> {
            (1..=nodes).filter(|_| rng.next_u64() % 8 < of_eight).collect()
        };
        let with = |mut set: BTreeSet<Id>| {
            set.insert(candidate);
            set
        };
        let (mut electors, mut followers) = (with(some(rng, 6)), with(some(rng, 4)));
        let count = rng.next_u64() % 3;
        let commands = (0..count).map(|_| std::mem::replace(next_command, *next_command + 1)).collect();
        let killed = some(rng, 1);
        let changed = with(some(rng, 5));
        let change = Some(changed).filter(|changed| {
            rng.next_u64().is_multiple_of(4) && changes == Changes::Some && changed != voters
        });
        if change.is_some() {
            electors = (1..=nodes).collect();
            followers = electors.clone();
        } else {
            // Who does not vote is not asked and tells nothing.
            electors.retain(|id| voters.contains(id));
            followers.retain(|id| voters.contains(id));
        }
        Self { electors, candidate, followers, commands, change, killed }
    }
}
