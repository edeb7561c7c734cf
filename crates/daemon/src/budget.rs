//! How many connections of each kind a daemon takes, so that its file descriptors are enough for all of them.
//!
//! Other nodes come first: however many clients and strangers connect, there are descriptors left for every peer that is known.

use rustix::process::{Resource, getrlimit};

use crate::config::NodeLimits;

/// How many connections a daemon takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Clients, those of the administrators' socket not counted.
    pub(crate) clients: usize,
    /// Clients of one user.
    pub(crate) clients_per_uid: usize,
    /// Clients of the administrators' socket, who get in however many users of locks are there.
    pub(crate) administrators: usize,
    /// Connections that have not authenticated yet.
    pub(crate) strangers: usize,
}

/// The most clients of the administrators' socket: fewer where there are few descriptors, or they would take those of the peers.
const MOST_ADMINISTRATORS: usize = 32;
const FILES_PER_ADMINISTRATOR: usize = 16;

/// Listeners, disk, logs, health and other files of the program.
const FIXED: usize = 128 + MOST_ADMINISTRATORS;

/// Connections with one peer, the attempts to dial it included.
const PER_PEER: usize = 32;

/// For how many peers there is room at least: others may join.
const FEWEST_PEERS: usize = 8;

/// How many clients and strangers there may be at least, however few descriptors there are: two peers that dial at once are four strangers.
const FEWEST: usize = 8;

impl Budget {
    /// The limits of a configuration, reduced to the descriptors that this process may have.
    pub(crate) fn of(limits: &NodeLimits, nodes: usize) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::with(limits, nodes, usize::try_from(files).unwrap_or(usize::MAX))
    }

    fn with(limits: &NodeLimits, nodes: usize, files: usize) -> Self {
        let reserved = FIXED + PER_PEER * nodes.max(FEWEST_PEERS);
        let rest = files.saturating_sub(reserved);
        let strangers = limits.connections.min((rest / 4).max(FEWEST));
        let clients = limits.clients.min((rest - strangers.min(rest)).max(FEWEST));
        let clients_per_uid = limits.clients_per_uid.unwrap_or_else(|| half(clients)).min(clients);
        let administrators = MOST_ADMINISTRATORS.min((files / FILES_PER_ADMINISTRATOR).max(1));
        Self { clients, clients_per_uid, administrators, strangers }
    }
}

/// The default share of a limit for one user.
pub(crate) fn half(limit: usize) -> usize {
    (limit / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_and_the_daemon_itself_have_descriptors_left() {
        let limits = NodeLimits::default();
        let whole = Budget { clients: 10_000, clients_per_uid: 5_000, administrators: 32, strangers: 1_024 };
        assert_eq!(Budget::with(&limits, 3, 65_536), whole);
        for files in [0, 100, 416, 417, 420, 1_024, 4_096] {
            let Budget { clients, clients_per_uid, administrators, strangers } =
                Budget::with(&limits, 3, files);
            assert!([clients, clients_per_uid, administrators, strangers].iter().all(|most| *most > 0));
            assert!(administrators <= (files / 16).max(1), "{administrators} of {files}");
            let left = files.saturating_sub(clients + strangers);
            let is_scarce = files < FIXED + 8 * PER_PEER + 4 * FEWEST;
            assert!(left >= FIXED + 8 * PER_PEER || is_scarce, "{left} of {files} are left");
        }
        assert_eq!(
            Budget::with(&limits, 3, 1_024),
            Budget { clients: 456, clients_per_uid: 228, administrators: 32, strangers: 152 }
        );
    }
}
