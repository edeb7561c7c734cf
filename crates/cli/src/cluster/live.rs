//! `doorway cluster remove` and `lead`: what a running cluster does by itself.

use std::time::Duration;

use doorway_core::Refusal;
use doorway_protocol::{AdminCommand, Status};

use crate::Answer;
use crate::line::Where;

/// Remove a node from the cluster for good
///
/// For a node that will not come back: its machine is gone, or its data folder is lost. The others remove it from the members
/// and the voters, so that it counts in no majority any more. If it is started again with its old data folder, the cluster does
/// not admit it. It can come back as a new node: with an empty data folder, or under another name, with a folder from `doorway
/// cluster add`, which never reuses its number.
///
/// If the key of the node may have leaked, use --revoke: no other node accepts its old certificates, now or after a restart. To
/// let the node come back, give it a new certificate with `doorway cluster rotate-certificates`, and an empty data folder.
///
/// The leader can be removed as well: it hands leadership to another voter first. A node that is only stopped for a while, for
/// an update say, need not be removed.
///
/// For administrators: it uses the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user
/// and root can open.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster remove d
  doorway cluster remove d --node a     through the daemon of node a
  doorway cluster remove d --revoke     if others may have its key")]
pub(super) struct Remove {
    /// The node to remove
    #[arg(value_name = "NAME")]
    name: String,
    /// Revoke the certificates of the node
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    daemon: Where,
}

/// How long the others may take to agree.
const PATIENCE: Duration = Duration::from_secs(30);

/// Advice when two voters are left.
const TWO: &str = "Two nodes vote now, which is worse than one: the failure of either stops both. Add a third, or remove another.\n";

/// The next steps after revoking certificates.
const BACK: &str = "If it is to come back, make new certificates with `doorway cluster rotate-certificates`, give it its own, and empty its data folder.\n";

pub(super) fn remove(remove: &Remove) -> Result<Answer, Refusal> {
    let node = remove.name.clone();
    let order = if remove.revoke { AdminCommand::Revoke { node } } else { AdminCommand::Remove { node } };
    let told = remove.daemon.administer(|client| client.administer(order).within(PATIENCE));
    let sentence = match told {
        Ok(sentence) => sentence,
        Err(refusal) => return Ok(Answer::failed(refusal.to_string())),
    };
    let advice = if leaves_two(remove) { TWO } else { "" };
    let back = if remove.revoke { BACK } else { "" };
    Ok(Answer::holds(format!(
        "{sentence}\n{advice}{back}Stop its daemon, if it still runs, and take its [[nodes]] paragraph out of the other configurations, there and in the cluster's folder.\n"
    )))
}

/// Whether two nodes vote without the one that was removed. The daemon that answers may not have heard yet that it is gone, or not say.
fn leaves_two(remove: &Remove) -> bool {
    let asked = remove.daemon.administer(|client| client.status(None, false));
    let is_left = |status: &Status| {
        status.nodes.iter().filter(|node| node.is_voter && node.name != remove.name).count() == 2
    };
    asked.is_ok_and(|status| is_left(&status))
}

/// Hand leadership to a node
///
/// One of the voters is the leader: it proposes the members. Which one it is does not matter for locks, but a slow machine, or
/// one that is about to be stopped, should not lead. The leader hands leadership to the named node, which must be a voter and a
/// member; no member is left out meanwhile, and no lock is lost. If the named node does not take over within an election
/// timeout, the old leader continues.
///
/// For administrators: it uses the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user
/// and root can open.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster lead b
  doorway cluster lead b --node a     through the daemon of node a")]
pub(super) struct Lead {
    /// The new leader
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    daemon: Where,
}

pub(super) fn lead(lead: &Lead) -> Result<Answer, Refusal> {
    let order = AdminCommand::Lead { node: lead.name.clone() };
    let told = lead.daemon.administer(|client| client.administer(order).within(PATIENCE));
    Ok(told.map_or_else(
        |refusal| Answer::failed(refusal.to_string()),
        |sentence| Answer::holds(format!("{sentence}\n")),
    ))
}
