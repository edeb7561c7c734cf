//! `doorway cluster remove` and `lead`: what a running cluster does by itself.

use std::time::Duration;

use doorway_core::Refusal;
use doorway_protocol::{AdminCommand, Status};

use crate::Answer;
use crate::line::Where;

/// Take a node out of the cluster for good
///
/// For a node that will not come back: its machine is gone, or its data folder was lost. The others take it out of the members and the voters,
/// so that it counts in no majority any more. If it is started again with the data folder that it had, it is not let in. It can come back as a new
/// node: with an empty data folder, or under another name, with a folder from `doorway cluster add`, which never gives its number
/// to another.
///
/// A node whose key may have been seen by others is removed with --revoke: no other node accepts the certificates that it had, now or after a
/// restart. To let it come back, give it a new one with `doorway cluster rotate-certificates`, and an empty data folder.
///
/// The node that leads can be removed as well: it hands leadership to another voter first. A node that is only stopped for a while, for an
/// update say, need not be removed.
///
/// It is for administrators: it asks at the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user and root can
/// open.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster remove d
  doorway cluster remove d --node a     through the daemon of node a
  doorway cluster remove d --revoke     if others may have its key")]
pub(super) struct Remove {
    /// The node that goes
    #[arg(value_name = "NAME")]
    name: String,
    /// Make the certificates void that the node had
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    daemon: Where,
}

/// How long the others may take to agree.
const PATIENCE: Duration = Duration::from_secs(30);

/// What whoever has two voters left should know.
const TWO: &str = "Two nodes vote now, which is worse than one: the failure of either stops both. Add a third, or remove another.\n";

/// What whoever has revoked certificates may want next.
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

/// Have a node lead
///
/// One of the voters leads: it proposes who takes part. Which one does not matter for locks, but a machine that is about to be stopped or is slow
/// had better not. The node that leads hands leadership to the one that is named, which must vote and take part; nobody is left out meanwhile, and
/// no lock is lost. If the other node does not take it over within an election timeout, the old one goes on.
///
/// It is for administrators: it asks at the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user and root can
/// open.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster lead b
  doorway cluster lead b --node a     through the daemon of node a")]
pub(super) struct Lead {
    /// The node that is to lead
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
