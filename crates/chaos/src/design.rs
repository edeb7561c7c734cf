//! What a cluster is made of.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{NodeId, SectionName};
use doorway_node::{Damping, Flaw, Nonce, Recipe, Setup, Timing};

use super::clients::section_names;
use super::recorder::Recorder;
use super::rules::Breakable;

/// What a cluster is made of.
#[derive(Clone, Debug)]
pub struct Design {
    /// How many nodes there are.
    pub nodes: usize,
    /// How many of them vote from the beginning; the others ask to join.
    pub founders: usize,
    /// Whether the founders begin with blank disks and found the cluster when they meet, instead of having founded it already.
    pub begins_blank: bool,
    /// The algorithm.
    pub recipe: Recipe,
    /// Nodes that run another algorithm, which they should not.
    pub strangers: BTreeMap<NodeId, Recipe>,
    /// The times.
    pub timing: Timing,
    /// What chance is drawn from.
    pub seed: u64,
    /// After how many decided entries logs are cut.
    pub longest_log: u64,
    /// How nodes are kept out that keep failing.
    pub damping: Damping,
    /// The rule that is broken on purpose.
    pub flaw: Option<Flaw>,
    /// Whether what happens is recorded.
    pub is_recorded: bool,
    /// The section whose requests, entries and releases are recorded with it; the first one unless there is another.
    pub recorded_section: Option<SectionName>,
}

impl Design {
    /// A sound cluster of `nodes` nodes, all of them voters.
    #[must_use]
    pub fn new(nodes: usize, recipe: Recipe, seed: u64) -> Self {
        Self {
            nodes,
            founders: nodes,
            begins_blank: false,
            recipe,
            strangers: BTreeMap::new(),
            timing: Timing::default(),
            damping: Damping::of(&Timing::default()),
            longest_log: Setup::LONGEST_LOG,
            seed,
            flaw: None,
            is_recorded: false,
            recorded_section: None,
        }
    }

    /// What all chance of a run is drawn from: another number for each algorithm and seed, so that no two algorithms live through
    /// the same faults.
    #[must_use]
    pub fn schedule(&self) -> u64 {
        // FNV-1a of the name over the seed, and a last mix, as neighbouring seeds differ in few bits.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = self.recipe.name().bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, step);
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    }

    /// What writes down what its clients do, if anything is.
    pub(super) fn recorder(&self) -> Option<Recorder> {
        let first = || section_names(1).into_iter().next();
        let section = self.recorded_section.clone().or_else(first).filter(|_| self.is_recorded)?;
        Some(Recorder::new(section, self.nodes))
    }

    /// Which rules its nodes keep.
    pub(super) fn rules(&self) -> Breakable {
        Breakable(self.flaw)
    }

    /// What a node of it is given.
    pub(super) fn setup(&self, me: NodeId, nonce: Nonce) -> Setup {
        Setup {
            longest_log: self.longest_log,
            most_open: Setup::MOST_OPEN,
            me,
            peers: NodeId::first(self.nodes).collect(),
            founders: if self.begins_blank {
                NodeId::first(self.founders).collect()
            } else {
                BTreeSet::new()
            },
            nonce,
            recipe: self.strangers.get(&me).unwrap_or(&self.recipe).clone(),
            timing: self.timing,
            damping: self.damping,
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_catalog::Catalog;
    use doorway_core::Options;

    use super::*;

    #[test]
    fn every_algorithm_and_seed_has_a_schedule_of_its_own() {
        let catalog = Catalog::textbook();
        let correct = catalog.list().into_iter().filter(|about| about.specimen.is_none());
        let recipes = correct.map(|about| catalog.recipes().recipe(about.name, &Options::none()));
        let recipes: Vec<Recipe> = recipes.map(|recipe| recipe.expect("it needs no options")).collect();
        let schedules = recipes
            .iter()
            .flat_map(|recipe| (0..1_000).map(|seed| Design::new(5, recipe.clone(), seed).schedule()));
        assert_eq!(schedules.collect::<BTreeSet<u64>>().len(), 13 * 1_000);
    }
}
