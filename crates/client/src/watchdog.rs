//! The watchdog thread of a client, which keeps deadlines whatever the program and the daemon do.
//!
//! It drives the [`Session`] and runs no code of the program but wakers: it waits for the socket, for the next deadline and for the
//! program. The program's own threads put their requests into the session, and send them themselves if the socket takes them at once.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use doorway_core::Ticks;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, getpid};

use crate::alarm::Alarm;
use crate::clock;
use crate::error::Error;
use crate::session::{Dial, Greeted, Policy, Session};

/// What the watchdog and the program share.
pub(crate) struct WatchdogState {
    driven: Mutex<Driven>,
    /// Wakes the watchdog.
    bell: UnixStream,
    pub(crate) greeted: Arc<Greeted>,
    /// The process that has the watchdog. A forked child has a copy of everything but the thread, and the same connection: its
    /// messages would count as its parent's.
    process: Pid,
}

/// The session and the state of its watchdog.
struct Driven {
    session: Session,
    /// When the watchdog's alarm rings.
    alarm: Option<Ticks>,
    /// Whether the watchdog ends or has ended.
    is_closing: bool,
}

impl WatchdogState {
    /// Starts the watchdog with a connection that was requested at `since`, and with a way to reconnect if there is one.
    pub(crate) fn start(socket: UnixStream, since: Ticks, dial: Option<Dial>) -> io::Result<Arc<Self>> {
        let (bell, heard) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        let alarm = Alarm::new()?;
        let session = Session::over(socket, since, dial, Policy::default(), clock::now());
        let greeted = Arc::clone(session.greeted());
        let driven = Mutex::new(Driven { session, alarm: None, is_closing: false });
        let shared = Arc::new(Self { driven, bell, greeted, process: getpid() });
        let watchdog = Watchdog { shared: Arc::clone(&shared), alarm, heard };
        std::thread::Builder::new().name("doorway-client".to_owned()).spawn(move || watchdog.run())?;
        Ok(shared)
    }

    /// Whether this process is the client, and not a child that was forked from it without exec.
    pub(crate) fn is_own_process(&self) -> bool {
        getpid() == self.process
    }

    /// Runs `act` on the session, sends the messages that it causes, and wakes the watchdog if that must act. A forked child does nothing: there
    /// even the mutex may be locked for ever, by a thread that was not forked.
    ///
    /// # Errors
    /// In a forked child.
    pub(crate) fn with_session<R>(&self, act: impl FnOnce(&mut Session) -> R) -> Result<R, Error> {
        if !self.is_own_process() {
            let why = "this process was forked from the one that connected: connect again";
            return Err(Error::Unreachable(why.to_owned()));
        }
        Ok(self.with(|driven| {
            let result = act(&mut driven.session);
            driven.session.flush(clock::now());
            if driven.needs_thread() {
                self.ring();
            }
            result
        }))
    }

    /// The socket, if there is a connection.
    pub(crate) fn socket(&self) -> Option<Arc<UnixStream>> {
        self.with(|driven| driven.session.socket())
    }

    /// The last clone and the last guard of this client are gone.
    pub(crate) fn close(&self) {
        if !self.is_own_process() {
            return;
        }
        self.with(|driven| driven.close());
        self.ring();
    }

    fn with<R>(&self, act: impl FnOnce(&mut Driven) -> R) -> R {
        let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut driven);
        let woken = driven.session.take_woken();
        drop(driven);
        woken.into_iter().for_each(wake);
        result
    }

    fn ring(&self) {
        // If the bell's buffer is full, the watchdog is about to wake up anyway.
        let _ = (&self.bell).write(&[1]);
    }
}

/// Wakes a task. A waker is foreign code: its panic must neither end the watchdog, which keeps all deadlines, nor reach an unrelated
/// thread of the program.
fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

impl Driven {
    /// Whether the watchdog must look at the session before its alarm rings or its socket is ready.
    fn needs_thread(&self) -> bool {
        let is_earlier = |due| self.alarm.is_none_or(|alarm| due < alarm);
        !self.session.is_connected() || self.session.is_full() || self.session.due().is_some_and(is_earlier)
    }

    fn close(&mut self) {
        self.is_closing = true;
        self.session.close(clock::now());
    }
}

/// The watchdog thread.
struct Watchdog {
    shared: Arc<WatchdogState>,
    alarm: Alarm,
    heard: UnixStream,
}

impl Watchdog {
    fn run(mut self) {
        while self.round().is_ok_and(|goes_on| goes_on) {}
    }

    /// Waits for an event and handles it. Returns whether to continue.
    fn round(&mut self) -> io::Result<bool> {
        let (socket, flags, due) = self.shared.with(|driven| {
            driven.alarm = driven.session.due();
            let flags = if driven.session.is_full() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            (driven.session.socket(), flags, driven.alarm)
        });
        let mut polled = vec![PollFd::new(&self.heard, PollFlags::IN)];
        polled.extend(socket.iter().map(|socket| PollFd::new(&**socket, flags)));
        self.alarm.wait(&mut polled, due)?;
        drop(polled);
        drop(socket);
        while (&self.heard).read(&mut [0; 64]).is_ok_and(|count| count == 64) {}
        Ok(self.shared.with(|driven| {
            if !driven.is_closing {
                driven.session.drive(clock::now);
            }
            !driven.is_closing
        }))
    }
}

impl Drop for Watchdog {
    /// Fails all requests when the watchdog ends for any reason, a panic included, so that none waits for ever.
    fn drop(&mut self) {
        self.shared.with(Driven::close);
    }
}
