//! The times by which a cluster lives. All nodes of a cluster have the same.

use doorway_core::{Refusal, Ticks};
use serde::{Deserialize, Serialize};

pub use doorway_protocol::MILLISECOND;

/// This many milliseconds in ticks.
#[must_use]
pub const fn milliseconds(count: u64) -> Ticks {
    Ticks(count * MILLISECOND.0)
}

/// The times of a cluster, in ticks of a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timing {
    /// L: how long a node may act after the sending of a heartbeat that a majority of the voters acknowledged.
    pub lease: Ticks,
    /// M: how long before the end of its lease a node tells its clients that they have lost. It frees what they do not release
    /// this much after their deadline, which is the slack that a late process has.
    pub margin: Ticks,
    /// ρ: by how much a clock may run fast or slow, in parts per million.
    pub drift_ppm: u64,
    /// How late a timer may be.
    pub granularity: Ticks,
    /// h: the time between two heartbeats.
    pub heartbeat: Ticks,
    /// T_d: how long a member may be silent before it is left out.
    pub detection: Ticks,
    /// T_b: how long nothing may come of a member's report after a view was decided.
    pub barrier: Ticks,
    /// T_e: how long a voter waits for its leader before it stands for election.
    pub election: Ticks,
    /// By how much longer each voter waits than the one before it, so that votes do not split.
    pub rank: Ticks,
    /// After what time a message without acknowledgement is sent again.
    pub resend: Ticks,
    /// How long an acknowledgement may wait for a message that takes it along.
    pub ack_delay: Ticks,
    /// How long a client waits for a section before its holder is told that it is wanted.
    pub nudge: Ticks,
    /// How long a section must be idle before it is forgotten.
    pub idle: Ticks,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease: milliseconds(1_000),
            margin: milliseconds(100),
            drift_ppm: 10_000,
            granularity: milliseconds(10),
            heartbeat: milliseconds(200),
            detection: milliseconds(1_200),
            barrier: milliseconds(1_000),
            election: milliseconds(500),
            rank: milliseconds(150),
            resend: milliseconds(100),
            ack_delay: milliseconds(20),
            nudge: milliseconds(50),
            idle: milliseconds(5_000),
        }
    }
}

impl Timing {
    /// W = L·(1+ρ)/(1−ρ) + the granularity of timers: a node that waits this long on its own clock knows that a lease that
    /// began before has ended on every clock.
    #[must_use]
    pub fn wait(&self) -> Ticks {
        let million = 1_000_000_u128;
        let (fast, slow) = (million + u128::from(self.drift_ppm), million - u128::from(self.drift_ppm));
        let lease = (u128::from(self.lease.0) * fast).div_ceil(slow);
        Ticks(u64::try_from(lease).unwrap_or(u64::MAX)) + self.granularity
    }

    /// 3·M: the shortest time-to-live of a client. It gives a sign of life every third of it. A sign that is late by M, with an
    /// answer that is late by M, still arrives in time if TTL/3 + M + M ≤ TTL.
    #[must_use]
    pub fn shortest_ttl(&self) -> Ticks {
        Ticks(self.margin.0.saturating_mul(3))
    }

    /// # Errors
    /// One sentence about a time that is out of range, or about some that do not fit together.
    pub fn check(&self) -> Result<(), Refusal> {
        self.fault().map_or(Ok(()), |(_, sentence)| Err(Refusal::new(sentence)))
    }

    /// The first mistake, if there is one: the names of the times that it is about, and one sentence.
    #[must_use]
    pub fn fault(&self) -> Option<(&'static [&'static str], String)> {
        let fault = |names: &'static [&'static str], sentence: &str| Some((names, sentence.to_owned()));
        if self.drift_ppm >= 500_000 {
            return fault(&["drift_ppm"], "the drift must be less than half the speed of a clock");
        }
        if let Some(single) = self.single_fault() {
            return Some(single);
        }
        if self.margin + self.heartbeat + self.heartbeat > self.lease {
            let names = &["lease", "margin", "heartbeat"];
            return fault(names, "the lease must be longer than the margin and two heartbeats together");
        }
        if self.detection < self.lease {
            return fault(
                &["detection", "lease"],
                "the detection time must not be shorter than the lease, or nodes are left out that still may act",
            );
        }
        if self.ack_delay >= self.resend {
            let names = &["ack_delay", "resend"];
            return fault(names, "acknowledgements must be sent sooner than messages are resent");
        }
        None
    }

    /// The first time that is out of range by itself.
    fn single_fault(&self) -> Option<(&'static [&'static str], String)> {
        const LONGEST: Ticks = milliseconds(3_600_000);
        let all: [(&'static [&'static str], Ticks); 12] = [
            (&["lease"], self.lease),
            (&["margin"], self.margin),
            (&["granularity"], self.granularity),
            (&["heartbeat"], self.heartbeat),
            (&["detection"], self.detection),
            (&["barrier"], self.barrier),
            (&["election"], self.election),
            (&["rank"], self.rank),
            (&["resend"], self.resend),
            (&["ack_delay"], self.ack_delay),
            (&["nudge"], self.nudge),
            (&["idle"], self.idle),
        ];
        all.into_iter().find_map(|(names, time)| {
            if time == Ticks(0) {
                Some((names, format!("`{}` must be longer than zero", names[0])))
            } else if time > LONGEST {
                Some((names, format!("`{}` must not be longer than an hour", names[0])))
            } else {
                None
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiting_time_covers_the_slowest_lease() {
        assert_eq!(Timing::default().wait(), Ticks(1_020_203 + 10_000));
    }

    #[test]
    fn the_shortest_time_to_live_is_three_margins() {
        assert_eq!(Timing::default().shortest_ttl(), milliseconds(300));
    }

    #[test]
    fn times_that_do_not_fit_together_are_refused() {
        let refused = |change: fn(&mut Timing)| {
            let mut timing = Timing::default();
            change(&mut timing);
            timing.check().expect_err("they do not fit").to_string()
        };
        assert!(Timing::default().check().is_ok());
        assert!(refused(|timing| timing.detection = milliseconds(900)).contains("detection time"));
        assert!(refused(|timing| timing.lease = milliseconds(400)).contains("two heartbeats"));
        assert_eq!(refused(|timing| timing.rank = Ticks(0)), "`rank` must be longer than zero");
        let day = refused(|timing| timing.idle = milliseconds(86_400_000));
        assert_eq!(day, "`idle` must not be longer than an hour");
        assert!(refused(|timing| timing.drift_ppm = 500_000).contains("half the speed"));
    }
}
