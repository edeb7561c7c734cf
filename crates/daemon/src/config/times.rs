//! Times that a node could run with and clients could not live with.

use doorway_core::Ticks;
use doorway_node::Timing;

/// L − M − 2·h: how near its deadline a client may find itself while all is well, just before the heartbeat that follows a lost one. Round
/// trips take their part of it. A client that begins to stop earlier than this before its deadline stops for nothing.
pub(crate) fn spare(timing: &Timing) -> Ticks {
    let Timing { lease, margin, heartbeat, .. } = timing;
    Ticks(lease.0.saturating_sub(margin.0).saturating_sub(heartbeat.0.saturating_mul(2)))
}

/// The first mistake, if there is one: the names of the times that it is about, and one sentence. A mistake in how times fit together is
/// looked for by [`Timing::fault`].
pub(super) fn fault(timing: &Timing) -> Option<(&'static [&'static str], String)> {
    short(timing).or_else(|| {
        let Timing { margin, heartbeat, .. } = timing;
        let least = Ticks(margin.0.saturating_add(heartbeat.0).saturating_mul(2));
        let sentence = format!(
            "the lease must be at least {}, two margins and two heartbeats, or one late heartbeat costs a lock: \
             make it longer, or the heartbeat shorter",
            written(least)
        );
        // Holders stop within the spare time, which must not be less than the margin.
        (spare(timing) < *margin).then_some((&["lease", "margin", "heartbeat"] as &[_], sentence))
    })
}

/// A time in which nothing can be done, as a timer may be later than that.
fn short(timing: &Timing) -> Option<(&'static [&'static str], String)> {
    let late = timing.granularity;
    let least: [(&'static [&'static str], Ticks, Ticks); 3] = [
        (&["margin"], timing.margin, late),
        (&["heartbeat"], timing.heartbeat, late),
        // The leader is to be heard five times within it.
        (&["election"], timing.election, Ticks(late.0.saturating_mul(5))),
    ];
    least.into_iter().find(|(_, time, least)| time < least).map(|(names, _, least)| {
        let (least, late) = (written(least), written(late));
        (names, format!("`{}` must be at least {least}, as timers may be {late} late", names[0]))
    })
}

/// A time as a configuration gives it.
fn written(time: Ticks) -> String {
    format!("{}ms", time.0.div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn milliseconds(count: u64) -> Ticks {
        Ticks(count * 1_000)
    }

    #[test]
    fn the_spare_is_the_time_left_after_a_lost_heartbeat() {
        assert_eq!(spare(&Timing::default()), milliseconds(500));
        assert_eq!(spare(&Timing { lease: milliseconds(300), ..Timing::default() }), Ticks(0));
    }

    #[test]
    fn a_lease_has_at_least_two_margins_and_two_heartbeats() {
        assert_eq!(fault(&Timing::default()), None);
        let lease = |count| fault(&Timing { lease: milliseconds(count), ..Timing::default() });
        assert_eq!(lease(600), None);
        let (names, sentence) = lease(599).expect("it is too short");
        assert_eq!(names, ["lease", "margin", "heartbeat"]);
        assert!(sentence.starts_with("the lease must be at least 600ms, "), "{sentence}");
        assert!(fault(&Timing { margin: Ticks(u64::MAX), ..Timing::default() }).is_some());
    }
}
