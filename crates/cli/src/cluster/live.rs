//! `doorway cluster remove`: what a running cluster does by itself.

use std::time::Duration;

use doorway_client::protocol::{Order, Status};
use doorway_core::Refusal;

use crate::Answer;
use crate::line::Where;

/// Take a node out of the cluster for good
///
/// For a node that will not come back: its machine is gone, or its data folder was lost. The others take it out of the members and the voters,
/// so that it counts in no majority any more. If it is started again with the data folder that it had, it is not let in. It can come back as a new
/// node: with an empty data folder, or under another name, with a folder from `doorway cluster add`, which never gives its number
/// to another.
///
/// A node that is only stopped for a while, for an update say, need not be removed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster remove d
  doorway cluster remove d --node a     through the daemon of node a")]
pub(super) struct Remove {
    /// The node that goes
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    daemon: Where,
}

/// How long the others may take to agree.
const PATIENCE: Duration = Duration::from_secs(30);

/// What whoever has two voters left should know.
const TWO: &str = "Two nodes vote now, which is worse than one: the failure of either stops both. Add a third, or remove another.\n";

pub(super) fn remove(remove: &Remove) -> Result<Answer, Refusal> {
    let order = Order::Remove { node: remove.name.clone() };
    let told = remove.daemon.ask(|client| client.order(order).within(PATIENCE));
    let sentence = match told {
        Ok(sentence) => sentence,
        Err(refusal) => return Ok(Answer::failed(refusal.to_string())),
    };
    let advice = if leaves_two(remove) { TWO } else { "" };
    Ok(Answer::holds(format!(
        "{sentence}\n{advice}Stop its daemon, if it still runs, and take its [[nodes]] paragraph out of the other configurations, there and in the cluster's folder.\n"
    )))
}

/// Whether two nodes vote without the one that was removed. The daemon that answers may not have heard yet that it is gone, or not say.
fn leaves_two(remove: &Remove) -> bool {
    let asked = remove.daemon.ask(|client| client.status(None, false));
    let is_left = |status: &Status| {
        status.nodes.iter().filter(|node| node.is_voter && node.name != remove.name).count() == 2
    };
    asked.is_ok_and(|status| is_left(&status))
}
