//! `doorway node stop`: has the daemon of this machine hand over, leave its cluster and end.

use std::time::Duration;

use doorway_protocol::AdminCommand;

use crate::Answer;
use crate::line::Where;

/// Stop the daemon on this machine
///
/// The same as SIGTERM: the daemon grants no more locks, waits for its holders for up to `stop_patience` of its node.toml,
/// hands over, and leaves the cluster. Returns when the daemon has left. The other nodes continue at once, and the node becomes
/// a member again when its daemon is started again, under systemd with `systemctl start`. To take a node out for good, use
/// `doorway cluster remove`.
///
/// For administrators: it uses the daemon's second socket, NAME.admin.sock beside NAME.sock, which only the daemon's own user
/// and root can open. The daemon logs who asked, with uid and process id.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway node stop               the only daemon on this machine
  doorway node stop --node b      the daemon of node b")]
pub(super) struct Stop {
    #[command(flatten)]
    daemon: Where,
}

/// Those inside may take as long as the configuration lets them, which only the daemon knows.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn answer(stop: &Stop) -> Answer {
    let told = stop.daemon.administer(|client| client.administer(AdminCommand::Stop).within(PATIENCE));
    told.map_or_else(
        |refusal| Answer::failed(refusal.to_string()),
        |sentence| Answer::holds(format!("{sentence}\n")),
    )
}
