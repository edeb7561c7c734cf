//! How far a cluster is explored.

use std::collections::BTreeSet;

use super::engine::{Config, Disk, Id, Log};

/// How much may happen in a run.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The voters in the beginning.
    pub voters: BTreeSet<Id>,
    /// Nodes that listen in the beginning.
    pub listeners: BTreeSet<Id>,
    /// The last term in which anybody stands for election.
    pub terms: u64,
    /// How many commands are proposed.
    pub commands: u8,
    /// How often a node is killed and started again, while it writes or not.
    pub restarts: u8,
    /// How often a leader gives up by itself.
    pub step_backs: u8,
    /// How often a log is cut.
    pub snapshots: u8,
    /// The voters that a leader may want instead.
    pub change: Option<BTreeSet<Id>>,
    /// Whether a node answers a message of a term that is over, which only tells the sender the new term.
    pub answers_late: bool,
    /// Whether what a node can send without a change of its own is sent at once.
    pub echoes_at_once: bool,
    /// Whether messages leave before what they rest on is synced: a mistake, to be found.
    pub sends_early: bool,
}

impl Bounds {
    /// Three voters, and nothing that goes wrong but the network.
    pub fn new(terms: u64, commands: u8) -> Self {
        Self {
            voters: (1..=3).collect(),
            listeners: BTreeSet::new(),
            terms,
            commands,
            restarts: 0,
            step_backs: 0,
            snapshots: 0,
            change: None,
            answers_late: false,
            echoes_at_once: true,
            sends_early: false,
        }
    }

    pub fn nodes(&self) -> usize {
        self.voters.len() + self.listeners.len()
    }

    pub fn first_disk(&self) -> Disk {
        let (voters, listeners) = (self.voters.clone(), self.listeners.clone());
        let base_config = Config { voters, listeners, ..Config::default() };
        Disk { term: 0, voted_for: None, log: Log { base_config, ..Log::default() } }
    }

    /// The list of voters to propose: both sets, until the library ends that by itself.
    pub fn joint(&self) -> Option<Config> {
        let next_voters = self.change.clone()?;
        let listeners = self.listeners.difference(&next_voters).copied().collect();
        Some(Config { voters: self.voters.clone(), next_voters, listeners })
    }
}
