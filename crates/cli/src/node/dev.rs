//! `doorway node --dev`: three nodes in one process, with nothing to configure.
//!
//! They are founded as any cluster is, talk over TCP and TLS on this machine, and differ from three machines in nothing but that one process
//! can take all of them down.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use doorway_client::place;
use doorway_core::{Catalog, Refusal};
use doorway_daemon::{Config, Daemon, founding};

use super::watch::Watch;
use super::{Arguments, load, log, say};
use crate::Answer;
use crate::typed::Typed;

const NODES: [&str; 3] = ["a", "b", "c"];
const CLUSTER: &str = "dev";

/// How long those inside may stay when all three stop together: there is nobody to hand over to.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is asked whether all are ready.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn answer(
    catalog: &impl Catalog,
    arguments: &Arguments,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    log::begin(arguments.log, arguments.log_level.unwrap_or(log::Level::Error));
    let watch = Watch::new()?;
    let folder = Folder::new(arguments.folder.as_deref())?;
    if !folder.path.join("authority.key").exists() {
        founding::found(&folder.path, CLUSTER, &addresses()?, Config::ALGORITHM, &BTreeMap::new())?;
    }
    check_free()?;
    let daemons = NODES.iter().map(|node| start(catalog, &folder.path, node, typed));
    let daemons = daemons.collect::<Result<Vec<_>, Refusal>>()?;
    while !daemons.iter().all(|daemon| daemon.is_ready()) {
        if watch.pause(PAUSE)? {
            return Ok(Answer::holds(String::new()));
        }
    }
    say(&greeting(&folder, &typed.program));
    watch.over(daemons, PATIENCE)?;
    Ok(Answer::holds(String::new()))
}

fn start(catalog: &impl Catalog, folder: &Path, node: &str, typed: &Typed) -> Result<Arc<Daemon>, Refusal> {
    let (config, recipe) = load(catalog, &folder.join(node).join("node.toml"), typed)?;
    Ok(Arc::new(Daemon::start(config, recipe)?))
}

/// An address on this machine for each node, with a port that is free just now.
fn addresses() -> Result<Vec<(String, String)>, Refusal> {
    let refuse = |error| Refusal::new(format!("no port of this machine is free: {error}"));
    // All at once, so that they differ.
    let listeners = NODES.map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let addresses = listeners.into_iter().zip(NODES).map(|(listener, node)| {
        let address = listener.and_then(|listener| listener.local_addr()).map_err(refuse)?;
        Ok((node.to_owned(), address.to_string()))
    });
    addresses.collect()
}

/// Refuses to take the sockets of nodes that run already.
fn check_free() -> Result<(), Refusal> {
    for node in NODES {
        let path = place::socket_of(node);
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            return Err(Refusal::new(format!(
                "a node {node} runs already and listens at {}: stop it first, or set XDG_RUNTIME_DIR to another folder",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Where the three keep what they write.
struct Folder {
    path: PathBuf,
    /// Whether it goes when they end.
    is_temporary: bool,
}

impl Folder {
    fn new(given: Option<&Path>) -> Result<Self, Refusal> {
        let temporary = || std::env::temp_dir().join(format!("doorway-dev-{}", std::process::id()));
        let folder =
            Self { path: given.map_or_else(temporary, Path::to_owned), is_temporary: given.is_none() };
        if folder.is_temporary {
            let _ = std::fs::remove_dir_all(&folder.path);
        }
        std::fs::create_dir_all(&folder.path).map_err(|error| {
            Refusal::new(format!("the folder {} cannot be made: {error}", folder.path.display()))
        })?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn greeting(folder: &Folder, program: &str) -> String {
    let kept = match folder.is_temporary {
        true => "What they write goes when they end; --folder DIR keeps it.".to_owned(),
        false => format!("What they write is kept in {}.", folder.path.display()),
    };
    format!(
        "Nodes a, b and c are ready  (Ctrl-C stops them). {kept}
Try, in other terminals:
  {program} lock demo -- sh -c 'echo inside with fence $DOORWAY_FENCE; sleep 5'
  {program} lock demo --node b -- echo 'now me, through another node'
  {program} status"
    )
}
