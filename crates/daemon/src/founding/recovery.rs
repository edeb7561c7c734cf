//! Recovery: one survivor continues when a majority of the voters is lost.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use doorway_node::disk::{self, Disk as _, FileDisk, Recovery};
use doorway_node::{Epoch, Revocation};

use crate::Config;
use crate::identity::{draw, new_disk, new_nonce};

/// Lets one survivor continue when a majority of the voters is lost for good: from now on it is the only voter of its cluster, its
/// fences keep rising, and the others can come back with empty data folders only. The node must not run. What its disk
/// held before is kept beside it, in a file that this tells: `node.log.before`, or one with a number if there is one already.
///
/// If the others are not gone, there are two clusters from now on, and two clients may be inside: the operator must be sure.
///
/// # Errors
/// If the node runs, or never was part of its cluster, or something cannot be written.
pub fn recover(config: &Config) -> Result<PathBuf, Refusal> {
    if !config.data.join(FileDisk::NAME).exists() {
        return Err(Refusal::new(format!(
            "there is no disk of a node in {}: recover at a node that has kept its own, or begin anew with `doorway cluster restore`",
            config.data.display()
        )));
    }
    let (mut disk, bytes) = crate::disk::open(config)?;
    let recovered = disk::recover(&bytes, &draw_recovery(config))?;
    let kept = keep(&config.data, &bytes).and_then(|path| disk.replace(&recovered).map(|()| path));
    kept.map_err(|error| crate::disk::cannot_use(config, &error))
}

/// Begins a cluster anew of which only the number of a view is known, from a backup or from a fence: this node is its only voter, and its fences
/// are above all that were handed out up to that view. Certificates in `revoked` stay void. The others join it with empty data folders.
///
/// # Errors
/// If the node has a disk already, or something cannot be written.
pub fn restore(config: &Config, view: u64, revoked: BTreeMap<String, Revocation>) -> Result<(), Refusal> {
    let file = config.data.join(FileDisk::NAME);
    if file.exists() {
        return Err(Refusal::new(format!(
            "there is a disk of a node in {} already: a cluster is restored into an empty data folder, and a copied one cannot be used, \
             because the other nodes know that it was set back",
            config.data.display()
        )));
    }
    let bytes = disk::restore(view, revoked, &draw_recovery(config))?;
    let made = FileDisk::open(&config.data, || bytes);
    made.map(drop).map_err(|error| crate::disk::cannot_use(config, &error))
}

fn draw_recovery(config: &Config) -> Recovery {
    Recovery { disk: new_disk(), me: config.me().id(), epoch: Epoch(new_nonce().0), draw: draw() }
}

/// Keeps the content of a disk under an unused name, so that it survives whatever happens next.
fn keep(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut names = std::iter::once("node.log.before".to_owned())
        .chain((2_u32..).map(|number| format!("node.log.before.{number}")));
    loop {
        let path = folder.join(names.next().unwrap_or_default());
        match fs::File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut file) => {
                file.write_all(bytes)?;
                file.sync_all()?;
                fs::File::open(folder)?.sync_all()?;
                return Ok(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::empty_folder;
    use super::*;
    use crate::certificates::read_text;

    #[test]
    fn every_recovery_keeps_the_old_disk() {
        let folder = empty_folder("keep");
        std::fs::create_dir_all(&folder).expect("room");
        for (bytes, name) in
            [("one", "node.log.before"), ("two", "node.log.before.2"), ("three", "node.log.before.3")]
        {
            assert_eq!(keep(&folder, bytes.as_bytes()).expect("room"), folder.join(name));
        }
        assert_eq!(read_text(&folder.join("node.log.before")).expect("it is there"), "one");
        assert_eq!(read_text(&folder.join("node.log.before.3")).expect("it is there"), "three");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
