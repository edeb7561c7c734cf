//! An alarm on [`crate::clock`] that a poll can wait for.
//!
//! On Linux it is a timer of a clock that keeps counting during suspend, so it rings at once when the machine wakes up.
//! The timeout of a poll does not count the time of a suspension.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub use linux::Alarm;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub use other::Alarm;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::io;
    use std::os::fd::OwnedFd;

    use doorway_core::Ticks;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
    };

    /// A timer for one moment.
    #[derive(Debug)]
    pub struct Alarm {
        timer: OwnedFd,
    }

    impl Alarm {
        /// An alarm that is not set.
        ///
        /// # Errors
        /// If the system has no descriptor for it.
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            Ok(Self { timer: timerfd_create(TimerfdClockId::Boottime, flags)? })
        }

        /// Waits until one of these descriptors is ready, which the poll notes in it, or until the moment `at`.
        ///
        /// # Errors
        /// If the system refuses.
        pub fn wait<'a>(&'a self, polled: &mut Vec<PollFd<'a>>, at: Option<Ticks>) -> io::Result<()> {
            // A moment of zero would turn the timer off.
            let moment = at.map_or(0, |at| at.0.clamp(1, i64::MAX as u64));
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            let value = Timespec {
                tv_sec: (moment / 1_000_000).cast_signed(),
                tv_nsec: (moment % 1_000_000 * 1_000).cast_signed(),
            };
            let setting = Itimerspec { it_interval: zero, it_value: value };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
            polled.push(PollFd::new(&self.timer, PollFlags::IN));
            let woken = poll(polled, None);
            polled.pop();
            match woken {
                Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod other {
    use std::io;

    use doorway_core::Ticks;
    use rustix::event::{PollFd, Timespec, poll};

    use crate::clock;

    /// A timer for one moment, late by the time of a suspension.
    #[derive(Debug)]
    pub struct Alarm;

    impl Alarm {
        /// An alarm that is not set.
        ///
        /// # Errors
        /// Never, here.
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits until one of these descriptors is ready, which the poll notes in it, or until the moment `at`.
        ///
        /// # Errors
        /// If the system refuses.
        pub fn wait<'a>(&'a self, polled: &mut Vec<PollFd<'a>>, at: Option<Ticks>) -> io::Result<()> {
            let left = at.map(|at| at.0.saturating_sub(clock::now().0).min(60_000_000));
            let timeout = left.map(|left| Timespec {
                tv_sec: (left / 1_000_000).cast_signed(),
                tv_nsec: (left % 1_000_000 * 1_000).cast_signed(),
            });
            match poll(polled, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}
