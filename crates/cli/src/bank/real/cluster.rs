//! The nodes that the bank asks for its lock: three of its own on this machine, or some that run already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use doorway_bank::Bank;
use doorway_catalog::Catalog;
use doorway_client::{Client, clock, sockets};
use doorway_core::{About, Channels, Refusal};
use doorway_daemon::config::HumanDuration;
use doorway_daemon::{Config, Daemon, founding};
use doorway_node::Recipe;

use super::Nodes;
use crate::line;
use crate::node::dev::{Folder, NODES, addresses};

/// A lease so long that a busy machine does not lose it.
const LEASE: HumanDuration = HumanDuration(Duration::from_secs(2));
const DETECTION: HumanDuration = HumanDuration(Duration::from_millis(2_500));

/// How long nodes may take to become ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nodes, and a folder for the sockets of the bank.
pub(super) struct BankCluster {
    /// Where the nodes' clients find them.
    pub(super) sockets: Vec<PathBuf>,
    /// What the lock is, as people write it.
    pub(super) algorithm: String,
    daemons: Vec<Daemon>,
    pub(super) folder: Folder,
}

impl BankCluster {
    /// Starts three nodes, on this machine alone.
    ///
    /// # Errors
    /// If the algorithm cannot run among three, or the nodes cannot.
    pub(super) fn own(catalog: &Catalog, lock: &About, bank: &Bank) -> Result<Self, Refusal> {
        let recipe = recipe(catalog, lock, bank)?;
        recipe.blueprint(NODES.len())?;
        let folder = Folder::temporary("bank")?;
        founding::found(&folder.path, "bank", &addresses()?, lock.name, &BTreeMap::new())?;
        let (mut daemons, mut sockets) = (Vec::new(), Vec::new());
        for node in NODES {
            let mut config = Config::load(&folder.path.join(node).join("node.toml"))?;
            config.timing.lease = Some(LEASE);
            config.timing.detection = Some(DETECTION);
            let socket = folder.path.join(format!("{node}.sock"));
            config.socket = Some(socket.clone());
            daemons.push(Daemon::start(config, recipe.clone())?);
            sockets.push(socket);
        }
        wait_until_ready(&daemons)?;
        sockets.iter().try_for_each(|socket| wait_until_open(socket))?;
        Ok(Self { sockets, algorithm: recipe.name().to_owned(), daemons, folder })
    }

    /// Nodes that run already.
    ///
    /// # Errors
    /// If one of them does not answer, or they are of several clusters.
    pub(super) fn existing(nodes: &Nodes) -> Result<Self, Refusal> {
        let named = nodes.node.iter().map(|node| sockets::find(None, Some(node)));
        let sockets = nodes.socket.iter().cloned().map(Ok).chain(named);
        let sockets = sockets.collect::<Result<Vec<PathBuf>, Refusal>>()?;
        let mut found: Option<(String, String)> = None;
        for socket in &sockets {
            let status = line::ask(socket, |client| client.status(None, false))?;
            let (cluster, _) = found.get_or_insert((status.cluster.clone(), status.algorithm));
            if *cluster != status.cluster {
                return Err(Refusal::new(format!(
                    "the nodes belong to two clusters, {cluster} and {}: name nodes of one",
                    status.cluster
                )));
            }
        }
        let algorithm = found.map(|(_, algorithm)| algorithm).unwrap_or_default();
        Ok(Self { sockets, algorithm, daemons: Vec::new(), folder: Folder::temporary("bank")? })
    }
}

impl Drop for BankCluster {
    /// The nodes end before their files go.
    fn drop(&mut self) {
        self.daemons.iter().for_each(Daemon::end);
    }
}

/// The lock as its nodes run it, over channels of the order that was chosen. A specimen that needs no order gets none, so that
/// its fault shows.
fn recipe(catalog: &Catalog, lock: &About, bank: &Bank) -> Result<Recipe, Refusal> {
    let channels = channels(lock, bank);
    if channels == Channels::Causal {
        return Err(Refusal::new("causal channels are for --simulated: real ones are fifo or any"));
    }
    let subject = catalog.subject(lock.name, &bank.options)?;
    Ok(if channels == Channels::Any { subject.wandering_recipe() } else { subject.recipe() })
}

/// The order of messages between the bank's own nodes.
pub(super) fn channels(lock: &About, bank: &Bank) -> Channels {
    let usual = if lock.specimen.is_some() { lock.needs } else { Channels::Fifo };
    bank.channels.unwrap_or(usual)
}

fn wait_until_ready(daemons: &[Daemon]) -> Result<(), Refusal> {
    let by = clock::now() + clock::ticks(PATIENCE);
    while !daemons.iter().all(Daemon::is_ready) {
        if clock::now() > by {
            return Err(Refusal::new(
                "the bank's nodes were not ready within a minute: is the machine overloaded?",
            ));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Goes in and out once: new nodes grant nothing before the leases of their predecessors would have ended.
fn wait_until_open(socket: &Path) -> Result<(), Refusal> {
    let enter = || Client::connect(socket)?.section("bank").wait(PATIENCE).enter_blocking();
    enter().map(drop).map_err(|error| Refusal::new(error.to_string()))
}
