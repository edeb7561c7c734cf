//! The times by which a cluster lives. All nodes of a cluster have the same.

use doorway_core::{Refusal, Ticks};
use serde::{Deserialize, Serialize};

/// One millisecond: a tick of a node's clock is a microsecond.
pub const MILLISECOND: Ticks = Ticks(1_000);

/// So many milliseconds.
#[must_use]
pub const fn milliseconds(count: u64) -> Ticks {
    Ticks(count * MILLISECOND.0)
}

/// The times of a cluster, in ticks of a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timing {
    /// L: how long a node may act after the sending of a heartbeat that a majority of the voters acknowledged.
    pub lease: Ticks,
    /// M: how long before the end of its lease a node tells its clients that they have lost.
    pub margin: Ticks,
    /// ρ: by how much a clock may run fast or slow, in parts per million.
    pub drift_ppm: u64,
    /// How late a timer may be.
    pub granularity: Ticks,
    /// h: the time between two heartbeats.
    pub heartbeat: Ticks,
    /// T_d: how long a member may be silent before it is left out.
    pub detection: Ticks,
    /// T_b: how long a member may take to report after a view was decided.
    pub barrier: Ticks,
    /// T_e: how long a voter waits for its leader before it stands for election.
    pub election: Ticks,
    /// By how much longer each voter waits than the one before it, so that votes do not split.
    pub rank: Ticks,
    /// After what time a message without acknowledgement is sent again.
    pub resend: Ticks,
    /// How long an acknowledgement may wait for a message that takes it along.
    pub ack_delay: Ticks,
    /// How long somebody waits for a section before those inside are told that it is wanted.
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
    /// W = L·(1+ρ)/(1−ρ) + the granularity of timers: whoever waits this long on its own clock knows that a lease that
    /// began before has ended on everybody's.
    #[must_use]
    pub fn wait(&self) -> Ticks {
        let million = 1_000_000_u128;
        let (fast, slow) = (million + u128::from(self.drift_ppm), million - u128::from(self.drift_ppm));
        let lease = (u128::from(self.lease.0) * fast).div_ceil(slow);
        Ticks(u64::try_from(lease).unwrap_or(u64::MAX)) + self.granularity
    }

    /// # Errors
    /// One sentence about two times that do not fit together.
    pub fn check(&self) -> Result<(), Refusal> {
        const LONGEST: Ticks = milliseconds(3_600_000);
        let refuse = |sentence: &str| Err(Refusal::new(sentence));
        let all = [
            self.lease,
            self.margin,
            self.granularity,
            self.heartbeat,
            self.detection,
            self.barrier,
            self.election,
            self.rank,
            self.resend,
            self.ack_delay,
            self.nudge,
            self.idle,
        ];
        match () {
            () if all.contains(&Ticks(0)) => refuse("every time of a cluster must be longer than nothing"),
            () if all.iter().any(|time| *time > LONGEST) => {
                refuse("no time of a cluster may be longer than an hour")
            }
            () if self.drift_ppm >= 500_000 => {
                refuse("clocks that drift by half their speed or more are of no use")
            }
            () if self.margin + self.heartbeat + self.heartbeat > self.lease => {
                refuse("the lease must be longer than the margin and two heartbeats together")
            }
            () if self.detection < self.lease => refuse(
                "the detection time must not be shorter than the lease, or nodes are left out that still may act",
            ),
            () if self.ack_delay >= self.resend => {
                refuse("acknowledgements must not wait as long as it takes to send a message again")
            }
            () => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiting_time_is_the_lease_on_the_slowest_clock_by_the_fastest() {
        assert_eq!(Timing::default().wait(), Ticks(1_020_203 + 10_000));
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
        assert!(refused(|timing| timing.rank = Ticks(0)).contains("longer than nothing"));
        assert!(refused(|timing| timing.drift_ppm = 500_000).contains("half their speed"));
    }
}
