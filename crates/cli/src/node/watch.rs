//! Watches daemons while they run: signals, systemd notifications, and their end.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use doorway_core::Refusal;
use doorway_daemon::Daemon;
use nix::sys::signal::Signal;

use super::notify::Notify;
use crate::wakeups::Wakeups;

/// Watches daemons from their start to their end.
pub(super) struct DaemonWatch {
    wakeups: Wakeups,
    notify: Arc<Notify>,
}

impl DaemonWatch {
    /// Must be created before the daemons, so that their threads inherit the blocked signals.
    ///
    /// # Errors
    /// If a system call fails.
    pub(super) fn new() -> Result<Self, Refusal> {
        let wakeups = Wakeups::new(&[Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])
            .map_err(|error| refused(&error))?;
        Ok(Self { wakeups, notify: Arc::new(Notify::from_environment()) })
    }

    /// Watches until all daemons have ended, by themselves or because they were told to.
    ///
    /// # Errors
    /// If a daemon has failed.
    pub(super) fn over(&self, daemons: Vec<Arc<Daemon>>, patience: Duration) -> Result<(), Refusal> {
        let mut ends = Ends::of(&daemons)?;
        self.notify.say("READY=1");
        self.keep_told(&daemons);
        let mut is_stopping = false;
        while ends.left > 0 {
            let is_rung =
                self.wakeups.sleep(Some(ends.bell.as_fd()), None).map_err(|error| refused(&error))?;
            while let Some(signal) = self.wakeups.signal() {
                match signal {
                    Signal::SIGHUP => daemons.iter().for_each(|daemon| reload(daemon)),
                    _ if is_stopping => return Ok(()),
                    _ => {
                        is_stopping = true;
                        self.notify.say("STOPPING=1");
                        stop(&daemons, patience);
                    }
                }
            }
            if is_rung {
                ends.take()?;
            }
        }
        Ok(())
    }

    /// Sleeps for a moment while daemons start; returns whether a signal asked to stop.
    pub(super) fn pause(&self, span: Duration) -> Result<bool, Refusal> {
        let until = doorway_client::clock::now() + doorway_client::clock::ticks(span);
        self.wakeups.sleep(None, Some(until)).map_err(|error| refused(&error))?;
        Ok(self.wakeups.signal().is_some_and(|signal| signal != Signal::SIGHUP))
    }

    /// Tells systemd whether the daemons grant locks, and feeds the watchdog as long as the threads of their nodes respond: a
    /// process whose node hangs must be restarted.
    fn keep_told(&self, daemons: &[Arc<Daemon>]) {
        if !self.notify.is_heard() {
            return;
        }
        let (notify, daemons) = (Arc::clone(&self.notify), daemons.to_vec());
        let every = notify.watchdog().map_or(LOOK, |due| due.min(LOOK));
        thread::spawn(move || {
            let mut told = None;
            loop {
                let is_ready = daemons.iter().all(|daemon| daemon.is_ready());
                if told.replace(is_ready) != Some(is_ready) {
                    notify.say(if is_ready { SERVING } else { WAITING });
                }
                if notify.watchdog().is_some() && daemons.iter().all(|daemon| daemon.is_alive()) {
                    notify.say("WATCHDOG=1");
                }
                thread::sleep(every);
            }
        });
    }
}

/// Longest time between two checks whether the daemons grant locks.
const LOOK: Duration = Duration::from_secs(1);

/// Shown by `systemctl status`.
const SERVING: &str = "STATUS=Granting locks.";
const WAITING: &str = "STATUS=Listening, but not granting locks: not in a majority of its cluster.";

/// Reloads the configuration. A bad one changes nothing and is logged.
fn reload(daemon: &Daemon) {
    if let Err(refusal) = daemon.reload() {
        tracing::error!("{refusal}");
    }
}

/// Stops each in a thread of its own: they hand over to each other, or to the remaining nodes.
fn stop(daemons: &[Arc<Daemon>], patience: Duration) {
    for daemon in daemons {
        let daemon = Arc::clone(daemon);
        thread::spawn(move || daemon.stop(patience));
    }
}

/// The ends of daemons, with a bell that can be waited for.
struct Ends {
    bell: UnixStream,
    ends: Receiver<Result<(), Refusal>>,
    left: usize,
}

impl Ends {
    fn of(daemons: &[Arc<Daemon>]) -> Result<Self, Refusal> {
        let (sender, ends) = channel();
        let (bell, rope) = UnixStream::pair().map_err(|error| refused(&error))?;
        for daemon in daemons {
            let (daemon, sender) = (Arc::clone(daemon), sender.clone());
            let mut rope = rope.try_clone().map_err(|error| refused(&error))?;
            thread::spawn(move || {
                let _ = sender.send(daemon.wait());
                let _ = rope.write_all(&[1]);
            });
        }
        Ok(Self { bell, ends, left: daemons.len() })
    }

    /// Takes an end that was rung for.
    fn take(&mut self) -> Result<(), Refusal> {
        let _ = self.bell.read(&mut [0]);
        self.left -= 1;
        self.ends.recv().unwrap_or(Ok(()))
    }
}

fn refused(error: &std::io::Error) -> Refusal {
    Refusal::new(format!("a system call failed: {error}"))
}
