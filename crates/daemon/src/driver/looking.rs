//! Periodic checks: whether the node grants locks, and which changes belong into the log.

use std::sync::atomic::Ordering;

use doorway_client::clock;
use doorway_core::{NodeId, Ticks};
use doorway_node::node::Standing;

use super::{Driver, LONGEST_REST, LOOK_INTERVAL};

/// The state that was last logged.
#[derive(Default, PartialEq, Eq)]
pub(super) struct LastLogged {
    view: Option<u64>,
    is_ready: bool,
    /// Who led last, and in which term.
    leader: Option<(NodeId, u64)>,
}

impl Driver {
    /// Looks around, but not after every step: that takes a look at every request.
    pub(super) fn look_now_and_then(&mut self) {
        let now = clock::now();
        let is_late = now >= self.looked + clock::ticks(LONGEST_REST);
        if is_late || (self.is_changed && now >= self.looked + LOOK_INTERVAL) {
            (self.looked, self.is_changed) = (now, false);
            self.requests.forget_names(now, |name| self.node.is_used(name));
            self.look_around();
        }
    }

    /// Logs what has changed.
    fn look_around(&mut self) {
        let look = self.node.look();
        let margin = self.shared.config.timing.timing().margin;
        let is_active = look.standing == Standing::Active && !look.is_leaving && self.outcome.is_none();
        let is_failing = self.shared.is_disk_failing.load(Ordering::Relaxed);
        let ready_until = if is_active && !is_failing { look.lease_until - margin } else { Ticks(0) };
        self.shared.note_alive(ready_until, look.is_leaving);
        let void = self.node.void_certificates();
        if void != self.void {
            self.shared.revoke(&void);
            self.void = void;
        }
        let view = look.view.map(|view| view.number);
        // A leader that is not heard of for a moment is not another one.
        let leader = look.leader.map(|leader| (leader, look.term)).or(self.seen.leader);
        let seen = LastLogged { view, is_ready: clock::now() < ready_until, leader };
        if seen == self.seen {
            return;
        }
        if seen.view != self.seen.view {
            let members = look.view.map_or(0, |view| view.members.len());
            tracing::info!(view, members, leader = look.leader.map(NodeId::number), "view changed");
        }
        if let Some((leader, term)) = seen.leader.filter(|_| seen.leader != self.seen.leader) {
            tracing::info!(leader = self.shared.roster.name(leader), term, "leader changed");
        }
        if seen.is_ready != self.seen.is_ready {
            match seen.is_ready {
                true => tracing::info!(view, "ready: granting locks"),
                false if look.is_leaving => tracing::info!(view, "not ready: leaving the cluster"),
                false => tracing::warn!(view, standing = ?look.standing, "not ready: no lease or no view"),
            }
        }
        self.seen = seen;
    }
}
