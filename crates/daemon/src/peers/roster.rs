//! Which nodes there are: those of the configuration, and those that came later and proved who they are.

use std::path::PathBuf;
use std::sync::Mutex;

use doorway_core::{NodeId, Refusal};
use doorway_node::wire::MOST_NODES;
use serde::{Deserialize, Serialize};

use super::peer_msg::PeerGreeting;
use super::refuse;
use crate::Config;
use crate::config::{Peer, is_address, is_name};
use crate::shared::lock;

/// The nodes of the cluster, this one included. Those that are not in the configuration are kept in the data folder.
pub(crate) struct Roster {
    file: PathBuf,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    configured: Vec<Peer>,
    learned: Vec<Peer>,
}

#[derive(Default, Serialize, Deserialize)]
struct Learned {
    nodes: Vec<Peer>,
}

impl Roster {
    /// Those of the configuration, and those that were learned before.
    ///
    /// # Errors
    /// If the file of learned nodes cannot be read.
    pub(crate) fn load(config: &Config) -> Result<Self, Refusal> {
        let file = config.data.join("peers.toml");
        let learned = match std::fs::read_to_string(&file) {
            Ok(text) => toml::from_str::<Learned>(&text).map_err(|error| {
                Refusal::new(format!("{} cannot be read: {}", file.display(), error.message()))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Learned::default(),
            Err(error) => return refuse(format!("{} cannot be read: {error}", file.display())),
        };
        let roster = Self { file, known: Mutex::default() };
        lock(&roster.known).learned = learned.nodes;
        roster.configure(config);
        Ok(roster)
    }

    /// Takes over the nodes of a configuration, which override learned ones.
    pub(crate) fn configure(&self, config: &Config) {
        let mut known = lock(&self.known);
        known.configured = config.nodes.iter().map(|peer| peer.get_ref().clone()).collect();
        let Known { configured, learned } = &mut *known;
        let is_new = |peer: &Peer| {
            !configured.iter().any(|known| known.name == peer.name || known.number == peer.number)
        };
        learned.retain(|peer| is_new(peer));
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<Peer> {
        let known = lock(&self.known);
        let mut all: Vec<Peer> = known.configured.iter().chain(&known.learned).cloned().collect();
        all.sort_by_key(|peer| peer.number);
        all
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: NodeId) -> String {
        let all = self.all();
        all.into_iter()
            .find(|peer| peer.id() == node)
            .map_or_else(|| format!("node {}", node.number()), |peer| peer.name)
    }

    /// The number of a node.
    pub(crate) fn id(&self, name: &str) -> Option<NodeId> {
        self.all().iter().find(|peer| peer.name == name).map(Peer::id)
    }

    /// The node of a greeting whose name its certificate has proved. A new node is remembered.
    ///
    /// # Errors
    /// If it contradicts a known node.
    pub(crate) fn admit(&self, greeting: &PeerGreeting) -> Result<Peer, Refusal> {
        let PeerGreeting { name, number, address, .. } = greeting;
        let peer = Peer { name: name.clone(), number: *number as usize, address: address.clone() };
        let mut known = lock(&self.known);
        let Known { configured, learned } = &mut *known;
        let mut all = configured.iter().chain(&*learned);
        let other = all.find(|other| (other.name == peer.name) != (other.number == peer.number));
        if let Some(other) = other {
            return refuse(format!(
                "node {name:?} says that its number is {number}, but node {:?} has number {}",
                other.name, other.number
            ));
        }
        if let Some(peer) = configured.iter().find(|known| known.name == peer.name) {
            return Ok(peer.clone());
        }
        let is_possible = is_name(name) && (1..=MOST_NODES).contains(&peer.number) && is_address(address);
        if !is_possible || configured.len() + learned.len() > MOST_NODES {
            return refuse(format!("node {name:?} with number {number} at {address:?} is not valid"));
        }
        if !learned.contains(&peer) {
            learned.retain(|known| known.name != peer.name);
            learned.push(peer.clone());
            self.keep(&Learned { nodes: learned.clone() });
        }
        Ok(peer)
    }

    fn keep(&self, learned: &Learned) {
        let aside = self.file.with_extension("new");
        let text = toml::to_string(learned).unwrap_or_default();
        let kept = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, &self.file));
        if let Err(error) = kept {
            tracing::warn!(%error, "cannot save a newly learned node: it will be forgotten at the next start");
        }
    }
}
