//! What a verb that lives for a while wakes up for: signals, and an alarm on the clock of leases.

use std::io;
use std::os::fd::BorrowedFd;

use doorway_client::alarm::Alarm;
use doorway_core::Ticks;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags};

/// Signals and an alarm, to be waited for together with something else.
pub(crate) struct Wakeups {
    signals: SignalFd,
    alarm: Alarm,
}

impl Wakeups {
    /// From now on these signals do nothing by themselves; they are kept until read. Threads that begin later
    /// leave them alone as well.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new(signals: &[Signal]) -> io::Result<Self> {
        let set: SigSet = signals.iter().copied().collect();
        set.thread_block()?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals, alarm: Alarm::new()? })
    }

    /// Sleeps until a signal has come, the alarm rings, or there is something to read; tells whether it is that.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn sleep(&self, other: Option<BorrowedFd<'_>>, alarm: Option<Ticks>) -> io::Result<bool> {
        let mut polled: Vec<PollFd<'_>> =
            other.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        self.sleep_for(&mut polled, alarm)?;
        Ok(polled.first().is_some_and(|other| !other.revents().is_empty()))
    }

    /// Sleeps until a signal has come, the alarm rings, or one of these is ready.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn sleep_for<'a>(
        &'a self,
        others: &mut Vec<PollFd<'a>>,
        alarm: Option<Ticks>,
    ) -> io::Result<()> {
        others.push(PollFd::new(&self.signals, PollFlags::IN));
        let slept = self.alarm.wait(others, alarm);
        others.pop();
        slept
    }

    /// A signal that has come.
    pub(crate) fn signal(&self) -> Option<Signal> {
        let info = self.signals.read_signal().ok()??;
        i32::try_from(info.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok())
    }
}

#[cfg(test)]
mod tests {
    use doorway_client::clock;

    use super::*;

    #[test]
    fn an_alarm_rings_at_its_moment_and_one_of_the_past_at_once() {
        let wakeups = Wakeups::new(&[]).expect("timers are there");
        let at = clock::now() + Ticks(20_000);
        assert!(!wakeups.sleep(None, Some(at)).expect("it sleeps"));
        assert!(clock::now() >= at);
        assert!(!wakeups.sleep(None, Some(Ticks(0))).expect("it does not"));
    }

    #[test]
    fn a_signal_is_kept_until_it_is_asked_for() {
        let wakeups = Wakeups::new(&[Signal::SIGUSR2]).expect("signals can be kept");
        nix::sys::signal::raise(Signal::SIGUSR2).expect("this thread is told");
        assert!(!wakeups.sleep(None, None).expect("it wakes up"));
        assert_eq!((wakeups.signal(), wakeups.signal()), (Some(Signal::SIGUSR2), None));
    }
}
