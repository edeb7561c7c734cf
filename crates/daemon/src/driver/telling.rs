//! The log at levels `debug` and `trace`: every grant, release and loss, and every message. It costs nothing at other levels.

use doorway_core::{Fence, SectionName};
use doorway_node::ClientId;
use tracing::Level;

use super::Driver;

/// An event of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockEvent {
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
    /// Logs an event for each lock of a request, with its client and the reason.
    pub(super) fn tell_log(
        &self,
        turn: LockEvent,
        client: ClientId,
        locks: &[(SectionName, Fence)],
        why: &str,
    ) {
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
                LockEvent::Granted => {
                    tracing::debug!(lock, fence, client, uid, process, label, why, "granted")
                }
                LockEvent::Released => {
                    tracing::debug!(lock, fence, client, uid, process, label, why, "released")
                }
                LockEvent::Lost => tracing::debug!(lock, fence, client, uid, process, label, why, "lost"),
                LockEvent::Freed => tracing::debug!(lock, fence, client, uid, process, label, why, "freed"),
            }
        }
    }

    /// Logs that a client is gone, with the locks that it held.
    pub(super) fn tell_log_gone(&self, client: ClientId, turn: LockEvent, why: &str) {
        if tracing::enabled!(Level::DEBUG) {
            for locks in self.requests.inside(client) {
                self.tell_log(turn, client, locks, why);
            }
        }
    }
}
