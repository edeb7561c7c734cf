//! Moments at which a cluster is vulnerable, and traps that spring at them.

use doorway_core::{NodeId, Ticks};

/// A moment at which a fault is worth more than at any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// A leader proposes a view with two voter sets: it is open whether it will be decided.
    Proposed,
    /// The first node knows that a view with two voter sets was decided.
    Joint,
    /// The first node knows that a view with a new voter set was decided.
    NewVoters,
    /// A node has adopted a view and waits for the reports of the others.
    Barrier,
    /// A node begins to replace its log by a snapshot.
    Snapshot,
}

impl Moment {
    /// All of them.
    pub const ALL: [Moment; 5] =
        [Moment::Proposed, Moment::Joint, Moment::NewVoters, Moment::Barrier, Moment::Snapshot];

    /// When it is, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Moment::Proposed => "before a joint phase",
            Moment::Joint => "in a joint phase",
            Moment::NewVoters => "after a change of voters",
            Moment::Barrier => "in a barrier",
            Moment::Snapshot => "at a snapshot",
        }
    }
}

/// Waits for a moment and then has an alarm ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trap {
    pub(super) moment: Moment,
    /// How many such moments pass before.
    pub(super) skip: u64,
    /// How long after the moment the alarm rings.
    pub(super) after: Ticks,
    /// The token of the alarm.
    pub(super) token: u64,
}

/// The traps of a cluster.
#[derive(Debug, Default)]
pub(super) struct Traps {
    waiting: Vec<Trap>,
    /// Those that have sprung and have not been asked about, each with the node of its moment.
    sprung: Vec<(u64, NodeId)>,
}

impl Traps {
    pub(super) fn set(&mut self, trap: Trap) {
        self.waiting.push(trap);
    }

    /// A moment has come at a node; tells after what times which alarms are to ring.
    pub(super) fn spring(&mut self, moment: Moment, node: NodeId) -> Vec<(Ticks, u64)> {
        let mut due = Vec::new();
        self.waiting.retain_mut(|trap| {
            if trap.moment != moment {
                return true;
            }
            let is_due = trap.skip == 0;
            trap.skip = trap.skip.saturating_sub(1);
            if is_due {
                due.push((trap.after, trap.token));
            }
            !is_due
        });
        self.sprung.extend(due.iter().map(|(_, token)| (*token, node)));
        due
    }

    /// The node at which the trap with this token has sprung, once.
    pub(super) fn take(&mut self, token: u64) -> Option<NodeId> {
        let place = self.sprung.iter().position(|(sprung, _)| *sprung == token)?;
        Some(self.sprung.swap_remove(place).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_springs_once_at_its_own_moment() {
        let mut traps = Traps::default();
        let trap = |moment, skip, token| Trap { moment, skip, after: Ticks(5), token };
        traps.set(trap(Moment::Barrier, 1, 7));
        traps.set(trap(Moment::Joint, 0, 8));
        let [first, second] = [0, 1].map(NodeId::new);
        assert_eq!(traps.spring(Moment::Barrier, first), [], "one is to pass");
        assert_eq!(traps.spring(Moment::Snapshot, first), []);
        assert_eq!(traps.spring(Moment::Barrier, second), [(Ticks(5), 7)]);
        assert_eq!(traps.spring(Moment::Barrier, first), []);
        assert_eq!((traps.take(7), traps.take(7), traps.take(8)), (Some(second), None, None));
    }
}
