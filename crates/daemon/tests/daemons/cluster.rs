//! A cluster of daemons in one process, on loopback, each with its folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use doorway_core::{Options, Refusal};
use doorway_daemon::{Config, Daemon, founding};
use doorway_node::Recipes;

use crate::client::{Client, PATIENCE};
use crate::ports::free_address;

/// The names of nodes.
pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Folders of a cluster, and the daemons that run.
pub struct Cluster {
    pub folder: PathBuf,
    pub daemons: BTreeMap<String, Daemon>,
}

impl Cluster {
    /// The folders of a cluster of `n` nodes that do not run.
    pub fn founded(n: usize) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("doorway-daemons-{}-{count}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let nodes: Vec<_> = NAMES[..n].iter().map(|name| ((*name).to_owned(), free_address())).collect();
        founding::found(&folder, "lab", &nodes, Config::ALGORITHM, &BTreeMap::new()).expect("a good cluster");
        Self { folder, daemons: BTreeMap::new() }
    }

    /// A cluster of which all nodes run and let clients in.
    pub fn running(n: usize) -> Self {
        let mut cluster = Self::founded(n);
        NAMES[..n].iter().for_each(|name| cluster.start(name));
        cluster.wait_until_ready();
        cluster
    }

    /// The configuration of a node.
    pub fn config(&self, name: &str) -> Config {
        let mut config =
            Config::load(&self.folder.join(name).join("node.toml")).expect("a good configuration");
        config.socket = Some(self.folder.join(name).join("node.sock"));
        config
    }

    pub fn start(&mut self, name: &str) {
        let daemon =
            start(self.config(name)).unwrap_or_else(|refusal| panic!("{name} does not start: {refusal}"));
        self.daemons.insert(name.to_owned(), daemon);
    }

    /// Ends a daemon at once, like a killed process.
    pub fn kill(&mut self, name: &str) {
        if let Some(daemon) = self.daemons.remove(name) {
            daemon.end();
        }
    }

    pub fn wait_until_ready(&self) {
        for (name, daemon) in &self.daemons {
            wait_for(&format!("{name} lets clients in"), || daemon.is_ready());
        }
    }

    /// A client of a node within this process.
    pub fn client(&self, name: &str) -> Client {
        Client::new(self.daemons[name].connect().expect("a socket"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.daemons.values().for_each(Daemon::end);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts a daemon with the algorithm that its configuration names.
pub fn start(config: Config) -> Result<Daemon, Refusal> {
    let mut recipes = Recipes::default();
    doorway_algorithms::register(&mut recipes);
    let recipe = recipes.recipe(config.algorithm.get_ref(), &Options::none())?;
    Daemon::start(config, recipe)
}

/// Waits until something holds, and tells how long that took.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}
