//! What `--log-level debug` and `trace` tell: every grant, release and loss, and every message. It costs nothing while nobody listens.

use doorway_core::{Fence, SectionName};
use doorway_node::ClientId;
use tracing::Level;

use super::Driver;

/// What happens to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Its client is let in.
    Granted,
    /// Its client has left.
    Released,
    /// Its client must stop.
    Lost,
    /// It was taken from a client that had to stop.
    Freed,
}

impl Driver {
    /// Tells, for each lock of a request, what happens to it, whose it is and why.
    pub(super) fn tell_log(&self, turn: Turn, client: ClientId, locks: &[(SectionName, Fence)], why: &str) {
        if !tracing::enabled!(Level::DEBUG) {
            return;
        }
        let known = self.clients.get(&client);
        let uid = known.and_then(|known| known.caller.uid);
        let process = known.and_then(|known| known.caller.process);
        let label = known.map_or("", |known| known.label.as_str());
        for (lock, fence) in locks {
            let (lock, fence, client) = (lock.as_str(), fence.0, client.0);
            match turn {
                Turn::Granted => tracing::debug!(lock, fence, client, uid, process, label, why, "granted"),
                Turn::Released => tracing::debug!(lock, fence, client, uid, process, label, why, "released"),
                Turn::Lost => tracing::debug!(lock, fence, client, uid, process, label, why, "lost"),
                Turn::Freed => tracing::debug!(lock, fence, client, uid, process, label, why, "freed"),
            }
        }
    }

    /// Tells that a client is gone with what it was inside of.
    pub(super) fn tell_log_gone(&self, client: ClientId, turn: Turn, why: &str) {
        if tracing::enabled!(Level::DEBUG) {
            for locks in self.requests.inside(client) {
                self.tell_log(turn, client, locks, why);
            }
        }
    }
}
