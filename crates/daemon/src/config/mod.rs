//! The configuration of a node, as a file that people write.
//!
//! Every key is documented here; `doorway cluster init` writes these files. A mistake in one is reported with its line.

mod changes;
mod check;
mod fault;
mod group;
mod lines;
pub(crate) mod times;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use doorway_client::{clock, sockets};
use doorway_core::{Choice, NodeId, Options, Refusal};
use doorway_node::wire::MOST_INSIDE;
use doorway_node::{MOST_REQUESTS, Recipe, Recipes, Timing};
use serde::{Deserialize, Serialize};
use toml::Spanned;

pub(crate) use self::changes::other_times;
#[cfg(feature = "found")]
pub(crate) use self::check::check_peers;
use self::check::{plain, told};
pub use self::group::UserGroup;
use self::lines::{Lines, line_at};
pub use crate::address::is_address;
use crate::budget::half;
pub use crate::identity::is_name;

/// The configuration of one node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of the cluster. Nodes of another cluster are not talked to.
    pub cluster: String,
    /// Which of the nodes this one is.
    pub node: Spanned<String>,
    /// The nodes that found the cluster: all of them must meet once before the first lock is granted. Empty for a node that joins a cluster
    /// that others founded. Once this node belongs to a cluster the key is ignored, until the node loses its disk: it
    /// then joins that cluster if any other node tells of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub founders: Vec<String>,
    /// The algorithm that all nodes of the cluster run.
    #[serde(default = "default_algorithm")]
    pub algorithm: Spanned<String>,
    /// The folder of the state that must survive a restart; relative to this file's folder, as all paths.
    #[serde(default = "default_data")]
    pub data: PathBuf,
    /// The Unix socket for clients of this machine. `NAME.sock` in the [runtime folder](sockets::folder) unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// Who may use locks through that socket, as the bits of its file: `0o600` its owner, `0o660` its group as well.
    #[serde(default = "default_mode")]
    pub socket_mode: u32,
    /// The group of that socket, by name or number; the daemon's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_group: Option<UserGroup>,
    /// Where to listen for other nodes, if not at the node's own address (in a container, behind a translated address).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Where to answer `GET /health` and `GET /ready` in plain HTTP; nowhere unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<SocketAddr>,
    /// How long a stopping node waits for holders to release.
    #[serde(default = "default_patience")]
    pub stop_patience: HumanDuration,
    /// Certificates.
    #[serde(default)]
    pub tls: Tls,
    /// The options of the algorithm: `quorum = "grid"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The times of the cluster; the same at all nodes.
    #[serde(default)]
    pub timing: Times,
    /// Limits of this node.
    #[serde(default)]
    pub limits: NodeLimits,
    /// All nodes of the cluster that are known.
    pub nodes: Vec<Spanned<Peer>>,
    /// The file that it was read from, if it was.
    #[serde(skip)]
    pub source: Option<PathBuf>,
    /// The lines of the keys in that file.
    #[serde(skip)]
    lines: Lines,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its number, from 1, which no other node has. `doorway cluster add` gives none twice, not even when its node is gone.
    pub number: usize,
    /// Where the others reach it: `host:port`.
    pub address: String,
}

impl Peer {
    /// The same number as the machines count.
    #[must_use]
    pub fn id(&self) -> NodeId {
        NodeId::new(self.number.saturating_sub(1))
    }
}

/// Certificates, as PEM files.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The authority that signs the certificates of nodes; several during a change of authority.
    pub authority: PathBuf,
    /// This node's certificate, which names it.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

impl Default for Tls {
    fn default() -> Self {
        let [authority, certificate, key] = ["authority.pem", "node.pem", "node.key"].map(PathBuf::from);
        Self { authority, certificate, key }
    }
}

/// The times of a cluster. The defaults are those of [`Timing::default`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// For how long a node may act without hearing from a majority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<HumanDuration>,
    /// How long before the end of its lease a node tells those inside to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<HumanDuration>,
    /// By how much a clock may run fast or slow, in parts per million.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<u64>,
    /// The time between two heartbeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<HumanDuration>,
    /// How long a member may be silent before it is left out; not shorter than the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<HumanDuration>,
    /// How long nothing may come of a member's report when a view changes; the whole report may take ten times as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<HumanDuration>,
    /// How long a voter waits for its leader before it stands for election.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub election: Option<HumanDuration>,
    /// How long a section must be idle before it is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<HumanDuration>,
}

impl Times {
    /// The times as a node wants them.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let usual = Timing::default();
        let or = |span: Option<HumanDuration>, usual| span.map_or(usual, |span| clock::ticks(span.0));
        Timing {
            lease: or(self.lease, usual.lease),
            margin: or(self.margin, usual.margin),
            drift_ppm: self.drift_ppm.unwrap_or(usual.drift_ppm),
            heartbeat: or(self.heartbeat, usual.heartbeat),
            detection: or(self.detection, usual.detection),
            barrier: or(self.barrier, usual.barrier),
            election: or(self.election, usual.election),
            idle: or(self.idle, usual.idle),
            ..usual
        }
    }
}

/// Limits of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeLimits {
    /// How many clients may be connected at once.
    pub clients: usize,
    /// How many connections may be open at once that have not authenticated yet; if there are more, the
    /// oldest of them has to go, of the address that has most of them. Nodes that have proved it are not counted.
    pub connections: usize,
    /// How many clients of one user may be connected at once; half of all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients_per_uid: Option<usize>,
    /// How many sections the clients of one user may hold or wait for at once.
    pub names_per_uid: usize,
    /// How many requests the clients of one user may have, waiting or inside.
    pub requests_per_uid: usize,
    /// How many sections may be open at once: for tests, as all nodes of a cluster count on the same number.
    #[doc(hidden)]
    #[serde(skip)]
    pub open: Option<usize>,
}

impl Default for NodeLimits {
    fn default() -> Self {
        Self {
            clients: 10_000,
            connections: 1_024,
            clients_per_uid: None,
            names_per_uid: half(MOST_INSIDE),
            requests_per_uid: half(MOST_REQUESTS),
            open: None,
        }
    }
}

/// A span of time as people write it: `500ms`, `30s`, `10m`, `2h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(pub Duration);

impl std::str::FromStr for HumanDuration {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            "h" => Some(3_600_000),
            _ => None,
        };
        let span = unit.zip(digits.parse::<u64>().ok()).and_then(|(unit, count)| count.checked_mul(unit));
        span.map(|span| HumanDuration(Duration::from_millis(span))).ok_or_else(|| {
            Refusal::new(format!(
                "{text:?} is not a duration: write a whole number and its unit, as in 500ms, 30s, 10m or 2h"
            ))
        })
    }
}

impl std::fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.0.as_millis();
        let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        match units.into_iter().find(|(unit, _)| all > 0 && all.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", all / unit),
            None => write!(f, "{all}ms"),
        }
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|refusal: Refusal| serde::de::Error::custom(refusal.to_string()))
    }
}

fn default_algorithm() -> Spanned<String> {
    Spanned::new(0..0, Config::ALGORITHM.to_owned())
}

fn default_data() -> PathBuf {
    "data".into()
}

fn default_mode() -> u32 {
    0o600
}

fn default_patience() -> HumanDuration {
    HumanDuration(Duration::from_secs(10))
}

impl Config {
    /// The algorithm of a cluster that does not say which.
    pub const ALGORITHM: &str = "naimi-trehel";

    /// Reads a file; its relative paths become those from its folder on.
    ///
    /// # Errors
    /// One sentence with the file, the line and the mistake.
    pub fn load(path: &Path) -> Result<Self, Refusal> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Refusal::new(format!("{} cannot be read: {error}", path.display())))?;
        let config = Self::read(&text, Some(path))?;
        Ok(config.in_folder(path.parent().unwrap_or(Path::new(""))))
    }

    /// A configuration that a program makes: a node among these, each with its name and its address, numbered from 1 in this
    /// order; they found the cluster together. All other keys have their defaults; change those that should differ.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(cluster: &str, node: &str, nodes: &[(&str, &str)]) -> Result<Self, Refusal> {
        let unplaced = |text: &str| Spanned::new(0..0, text.to_owned());
        let peers = nodes.iter().zip(1..).map(|((name, address), number)| {
            Spanned::new(0..0, Peer { name: (*name).to_owned(), number, address: (*address).to_owned() })
        });
        let config = Self {
            cluster: cluster.to_owned(),
            node: unplaced(node),
            founders: nodes.iter().map(|(name, _)| (*name).to_owned()).collect(),
            algorithm: default_algorithm(),
            data: default_data(),
            socket: None,
            socket_mode: default_mode(),
            socket_group: None,
            listen: None,
            health: None,
            stop_patience: default_patience(),
            tls: Tls::default(),
            options: BTreeMap::new(),
            timing: Times::default(),
            limits: NodeLimits::default(),
            nodes: peers.collect(),
            source: None,
            lines: Lines::default(),
        };
        config.check()?;
        Ok(config)
    }

    /// The same with another algorithm.
    #[must_use]
    pub fn with_algorithm(mut self, name: &str) -> Self {
        self.algorithm = Spanned::new(0..0, name.to_owned());
        self
    }

    /// The same with its relative paths as those from a folder on.
    #[must_use]
    pub fn in_folder(mut self, folder: impl AsRef<Path>) -> Self {
        let Tls { authority, certificate, key } = &mut self.tls;
        for path in [&mut self.data, authority, certificate, key].into_iter().chain(&mut self.socket) {
            *path = folder.as_ref().join(&*path);
        }
        self
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The line, and the mistake.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::read(text, None)
    }

    fn read(text: &str, source: Option<&Path>) -> Result<Self, Refusal> {
        let mut config: Config = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_at(text, span.start));
            told(source, Some(line), &plain(error.message()))
        })?;
        config.lines = Lines::of(text);
        config.source = source.map(Path::to_owned);
        config.check()?;
        Ok(config)
    }

    /// A node by its name.
    #[must_use]
    pub fn peer(&self, name: &str) -> Option<&Peer> {
        self.nodes.iter().map(Spanned::get_ref).find(|peer| peer.name == name)
    }

    /// This node.
    #[must_use]
    pub fn me(&self) -> &Peer {
        self.peer(self.node.get_ref()).unwrap_or(self.nodes[0].get_ref())
    }

    /// The nodes that found the cluster.
    pub fn founders(&self) -> impl Iterator<Item = &Peer> {
        self.founders.iter().filter_map(|name| self.peer(name))
    }

    /// Where its clients find it.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| sockets::socket_of(self.node.get_ref()))
    }

    /// Where its administrators find it: beside the clients' socket, for the daemon's own user and root alone.
    #[must_use]
    pub fn admin_socket(&self) -> PathBuf {
        sockets::admin_socket_of(&self.socket())
    }

    /// The algorithm that it names, with its options. The path of a chosen file, as in `quorum = "file:mine"`, is relative to
    /// the folder of the configuration on.
    ///
    /// # Errors
    /// If no cluster can run it, with the line that says so.
    pub fn recipe(&self, recipes: &Recipes) -> Result<Recipe, Refusal> {
        let folder = self.source.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut options = Options::none();
        for (name, word) in &self.options {
            let chosen = choice(word, folder);
            options.set(name, chosen.map_err(|refusal| self.refuse(&format!("options.{name}"), &refusal))?);
        }
        let name = self.algorithm.get_ref();
        let is_right = recipes.about(name).is_some_and(|about| about.specimen.is_none());
        let key = if is_right && !self.options.is_empty() { "options" } else { "algorithm" };
        let recipe = recipe(recipes, name, &options, self.nodes.len());
        recipe.map_err(|refusal| self.refuse(key, &refusal))
    }
}

/// The recipe of an algorithm, never a specimen, for a cluster of `n` nodes.
///
/// # Errors
/// If there is none, or the options do not fit it, or no cluster of that size can run it.
pub fn recipe(recipes: &Recipes, name: &str, options: &Options, n: usize) -> Result<Recipe, Refusal> {
    if recipes.about(name).is_some_and(|about| about.specimen.is_some()) {
        return Err(Refusal::new(format!(
            "{name} is a specimen, which is wrong on purpose: no cluster runs it"
        )));
    }
    let recipe = recipes.recipe(name, options)?;
    recipe.blueprint(n)?;
    Ok(recipe)
}

/// The prefix of an option that names a file.
pub(crate) const FILE: &str = "file:";

/// The value of an option: the word itself, or the file that it names.
fn choice(word: &str, folder: &Path) -> Result<Choice, Refusal> {
    let read = |path: &str| {
        let path = folder.join(path);
        let text = std::fs::read_to_string(&path);
        text.map_err(|error| Refusal::new(format!("{} cannot be read: {error}", path.display())))
    };
    let file = word.strip_prefix(FILE).map(read).transpose()?;
    Ok(Choice { word: word.to_owned(), file })
}
