//! `doorway cluster backup` and `restore`: what a cluster needs to begin anew with rising fences.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use doorway_core::{Fence, Refusal};
use doorway_daemon::{Config, founding};
use doorway_node::wire::COUNTER_BITS;
use doorway_protocol::{Revocation, Status};
use serde::{Deserialize, Serialize};

use crate::Answer;
use crate::line::Where;
use crate::typed::Typed;

/// Print what a restored cluster needs so that its fences keep rising
///
/// Prints a few lines of TOML: the cluster, its epoch, the number of its newest view, above which a restored cluster begins,
/// and the revoked certificates. It contains no locks, holders or votes. A restored cluster skips eight million views, so a
/// backup may be old; but take a new one after each `recover` and `restore`, which skip views as well. Keep it with your other
/// backups.
///
/// Never back up or restore a data folder. A node that starts from a copied one is set back: it has forgotten votes that it
/// gave, so the other nodes do not admit it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster backup > lab.backup
  doorway cluster backup --node a > lab.backup")]
pub(super) struct Backup {
    #[command(flatten)]
    daemon: Where,
}

/// Restart a lost cluster from a backup, with fences above all earlier ones
///
/// Use it when all nodes have lost their disks; if one node still has its data folder, use `doorway cluster recover` there.
/// Writes the data folder of one node, which must be empty: that node becomes a cluster of one, in a new epoch, and the others
/// join it with empty data folders.
///
/// Without a backup, --above takes the highest fence that any store has seen. That does not tell which certificates were
/// revoked: if any were, replace the authority first (`doorway cluster rotate-certificates --help`).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster restore lab.backup --config node.toml
  doorway cluster restore --above 755914244097 --config node.toml")]
pub(super) struct Restore {
    /// The output of `doorway cluster backup`
    #[arg(value_name = "FILE", required_unless_present = "above", conflicts_with = "above")]
    backup: Option<PathBuf>,
    /// The highest fence that any store has seen, if there is no backup
    #[arg(long, value_name = "FENCE")]
    above: Option<u64>,
    /// The configuration of the first node of the restored cluster
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// A backup as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    cluster: String,
    epoch: String,
    view: u64,
    /// Seconds since 1970.
    taken: u64,
    nodes: Vec<String>,
    /// Certificates that stay void, by the name of their node.
    #[serde(default)]
    revoked: BTreeMap<String, Revocation>,
}

const VERSION: u32 = 1;

pub(super) fn backup(backup: &Backup) -> Result<Answer, Refusal> {
    let status = match backup.daemon.ask(|client| client.status(None, true)) {
        Ok(status) => status,
        Err(refusal) => return Ok(Answer::failed(refusal.to_string())),
    };
    let kept = match keep(&status) {
        Ok(kept) => kept,
        Err(refusal) => return Ok(Answer::failed(refusal.to_string())),
    };
    let text = toml::to_string(&kept)
        .map_err(|error| Refusal::new(format!("the backup cannot be written: {error}")))?;
    let head = format!(
        "# A backup of the Doorway cluster {:?}: `doorway cluster restore FILE --config node.toml` restores it.\n",
        kept.cluster
    );
    Ok(Answer::holds(head + &text))
}

/// What a status tells that a restored cluster needs. A node that is in no view may not know the newest one.
fn keep(status: &Status) -> Result<Kept, Refusal> {
    let own = status.nodes.iter().filter_map(|node| node.own.as_ref());
    let newest = own.filter_map(|own| Some((own.view?, own.epoch.clone()?, own.revoked.clone()))).max();
    let Some((view, epoch, revoked)) = newest else {
        return Err(Refusal::new(
            "no node that answers is a member of a view: take a backup while the cluster is healthy",
        ));
    };
    let taken = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let nodes = status.nodes.iter().map(|node| node.name.clone()).collect();
    Ok(Kept { version: VERSION, cluster: status.cluster.clone(), epoch, view, taken, nodes, revoked })
}

pub(super) fn restore(restore: &Restore, typed: &Typed) -> Result<Answer, Refusal> {
    let config = Config::load(&restore.config)?;
    let (view, revoked) = match (&restore.backup, restore.above) {
        (Some(file), _) => read(file, &config).map(|kept| (kept.view, kept.revoked))?,
        (None, Some(fence)) => (Fence(fence).0 >> COUNTER_BITS, BTreeMap::new()),
        (None, None) => return Err(Refusal::new("name a backup, or the highest fence with --above")),
    };
    let void: Vec<String> = revoked.keys().cloned().collect();
    founding::restore(&config, view, revoked)?;
    let void = if void.is_empty() {
        String::new()
    } else {
        format!(" Certificates of {} stay revoked.", void.join(", "))
    };
    let (file, node, program) = (restore.config.display(), &config.me().name, &typed.program);
    Ok(Answer::holds(format!(
        "Node {node} is a cluster of one, with fences above those of view {view}.{void} Next:
1. Start it: {program} node --config {file}
2. Empty the data folders of the other nodes and start them: they join it.
3. {program} status shows them join.\n"
    )))
}

fn read(file: &Path, config: &Config) -> Result<Kept, Refusal> {
    let refuse =
        |why: &dyn std::fmt::Display| Refusal::new(format!("{} cannot be restored: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| refuse(&error))?;
    let kept: Kept = toml::from_str(&text).map_err(|error| refuse(&error.message()))?;
    if kept.version != VERSION {
        return Err(refuse(&format_args!(
            "it has version {}, and this Doorway reads {VERSION}",
            kept.version
        )));
    }
    if kept.cluster != config.cluster {
        return Err(refuse(&format_args!(
            "it is of cluster {:?}, and the configuration of {:?}",
            kept.cluster, config.cluster
        )));
    }
    Ok(kept)
}
