//! `doorway node --dev`: three nodes in one process, with nothing to configure.
//!
//! They are founded as any cluster is, talk over TCP and TLS on this machine, and differ from three machines in nothing but that one process
//! can take all of them down.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use doorway_catalog::Catalog;
use doorway_client::{clock, sockets};
use doorway_core::Refusal;
use doorway_daemon::{Config, Daemon, founding};

use super::watch::DaemonWatch;
use super::{Arguments, load, log, say};
use crate::Answer;
use crate::typed::Typed;

pub(crate) const NODES: [&str; 3] = ["a", "b", "c"];
const CLUSTER: &str = "dev";

/// How long holders may keep their locks when all three nodes stop together: there is no node to hand over to.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to check whether all nodes are ready.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a process that was killed just now may still listen.
const DYING: Duration = Duration::from_secs(1);

/// The file that marks a folder as one of `--dev`.
const MARK: &str = "founded-by-dev";

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    log::begin(arguments.log, arguments.log_level.unwrap_or(log::Level::Error));
    let watch = DaemonWatch::new()?;
    Daemon::raise_file_limit();
    let folder = Folder::new(arguments.folder.as_deref())?;
    if !folder.path.join("authority.key").exists() {
        folder.mark()?;
        founding::found(&folder.path, CLUSTER, &addresses()?, Config::ALGORITHM, &BTreeMap::new())?;
    }
    sockets::check_folder(&sockets::folder())?;
    check_free(&watch)?;
    let daemons = NODES.iter().map(|node| start(catalog, &folder.path, node, typed));
    let daemons = daemons.collect::<Result<Vec<_>, Refusal>>()?;
    while !daemons.iter().all(|daemon| daemon.is_ready()) {
        if watch.pause(PAUSE)? {
            // Before their folder goes.
            daemons.iter().for_each(|daemon| daemon.end());
            return Ok(Answer::holds(String::new()));
        }
    }
    say(&greeting(&folder, &typed.program));
    watch.over(daemons, PATIENCE)?;
    Ok(Answer::holds(String::new()))
}

fn start(catalog: &Catalog, folder: &Path, node: &str, typed: &Typed) -> Result<Arc<Daemon>, Refusal> {
    let (config, recipe) = load(catalog, &folder.join(node).join("node.toml"), typed)?;
    Ok(Arc::new(Daemon::start(config, recipe)?))
}

/// An address on this machine for each node, with a port that is free just now.
pub(crate) fn addresses() -> Result<Vec<(String, String)>, Refusal> {
    let refuse = |error| Refusal::new(format!("no port of this machine is free: {error}"));
    // All at once, so that they differ.
    let listeners = NODES.map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let addresses = listeners.into_iter().zip(NODES).map(|(listener, node)| {
        let address = listener.and_then(|listener| listener.local_addr()).map_err(refuse)?;
        Ok((node.to_owned(), address.to_string()))
    });
    addresses.collect()
}

/// Refuses to take over the sockets of running nodes. Waits for a process that was just killed.
fn check_free(watch: &DaemonWatch) -> Result<(), Refusal> {
    let until = clock::now() + clock::ticks(DYING);
    for path in NODES.map(sockets::socket_of) {
        while sockets::is_taken(&path) {
            if clock::now() >= until || watch.pause(PAUSE)? {
                let place = path.display();
                return Err(Refusal::new(format!(
                    "a node runs already and listens at {place}: stop it first, or set XDG_RUNTIME_DIR to another folder"
                )));
            }
        }
    }
    Ok(())
}

/// The folder with the data of the nodes.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// Whether it is deleted on drop.
    is_temporary: bool,
}

impl Folder {
    fn new(given: Option<&Path>) -> Result<Self, Refusal> {
        match given {
            Some(path) => Self::kept(path),
            None => Self::temporary("dev"),
        }
    }

    /// A folder that is kept. Refuses a folder with other files in it.
    fn kept(path: &Path) -> Result<Self, Refusal> {
        let entries = path.read_dir().map(Iterator::count).unwrap_or_default();
        if entries > 0 && !path.join(MARK).exists() {
            return Err(Refusal::new(format!(
                "{} holds other files: name a folder that is new, or empty, or of an earlier `doorway node --dev`",
                path.display()
            )));
        }
        // Private: it contains keys.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| cannot_make(path, &error))?;
        Ok(Self { path: path.to_owned(), is_temporary: false })
    }

    /// An empty folder that is deleted on drop.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn temporary(what: &str) -> Result<Self, Refusal> {
        let path = std::env::temp_dir().join(format!("doorway-{what}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        // It must be new: anybody could have made one here, and there are keys in it.
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| cannot_make(&path, &error))?;
        Ok(Self { path, is_temporary: true })
    }

    /// Says whose it is.
    fn mark(&self) -> Result<(), Refusal> {
        let path = self.path.join(MARK);
        let marked = std::fs::write(&path, "Nodes a, b and c of `doorway node --dev`.\n");
        marked.map_err(|error| Refusal::new(format!("{} cannot be written: {error}", path.display())))
    }
}

fn cannot_make(path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(format!("cannot create the folder {}: {error}", path.display()))
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
        true => {
            "Their data is deleted when they stop, and fences start over; --folder DIR keeps it.".to_owned()
        }
        false => format!("Their data is kept in {}.", folder.path.display()),
    };
    format!(
        "Nodes a, b and c are ready (Ctrl-C stops them). {kept}
Try, in other terminals:
  {program} lock demo -- sh -c 'echo inside with fence $DOORWAY_FENCE; sleep 5'
  {program} lock demo --node b -- echo 'now me, through another node'
  {program} status"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_temporary_folder_is_new_and_its_owners_alone() {
        let folder = Folder::temporary("test").expect("there is room");
        let path = folder.path.clone();
        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
        std::fs::write(&path, "somebody was quicker").expect("there is room");
        assert!(Folder::temporary("test").is_err());
        std::fs::remove_file(path).expect("it is ours");
    }
}
