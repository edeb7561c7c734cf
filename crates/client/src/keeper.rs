//! The thread behind a client, which keeps deadlines whatever the program and the daemon do.
//!
//! It is nobody's runtime: it waits for the socket, for the next deadline and for a word of the program, and for nothing else.
//! The program's own threads put their wishes into the [`Desk`] and send them themselves if the socket takes them at once.

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
use crate::ledger::Ledger;
use crate::link::Link;
use crate::pauses::Pauses;
use crate::protocol::{Ask, Told, VERSION};
use crate::watched::Watched;

/// A way to a daemon. It must not wait for anybody.
pub(crate) type Connector = Box<dyn FnMut() -> io::Result<UnixStream> + Send>;

/// Which node a client is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The name of its cluster.
    pub cluster: String,
    /// The name of the node.
    pub node: String,
}

/// What the thread and the program share.
pub(crate) struct Shared {
    desk: Mutex<Desk>,
    /// Ends the thread's waiting.
    bell: UnixStream,
    pub(crate) welcome: Arc<Watched<Option<Result<Welcome, Error>>>>,
    /// The process that has the thread. One that was forked from it has a copy of everything but the thread, and the same
    /// connection: whatever it said there would be said in its parent's name.
    process: Pid,
}

/// All that changes.
pub(crate) struct Desk {
    pub(crate) ledger: Ledger,
    label: Option<String>,
    wire: Wire,
    connector: Option<Connector>,
    /// How long the next connection is waited for, since one was welcome.
    pauses: Pauses,
    /// What ended the last connection.
    fault: Error,
    /// For when the thread has set its alarm.
    alarm: Option<Ticks>,
    /// Whether the thread ends or has ended.
    is_closing: bool,
    woken: Vec<Waker>,
    welcome: Arc<Watched<Option<Result<Welcome, Error>>>>,
}

enum Wire {
    Up(Link),
    /// There is no connection; the next is tried not before then.
    Down(Ticks),
}

impl Shared {
    /// Begins with a connection that was asked for at this moment, and with a way to another if there is one.
    pub(crate) fn start(
        socket: UnixStream,
        since: Ticks,
        connector: Option<Connector>,
    ) -> io::Result<Arc<Self>> {
        let (bell, heard) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        let alarm = Alarm::new()?;
        let welcome = Watched::new(None);
        let desk = Desk {
            ledger: Ledger::default(),
            label: None,
            wire: Wire::Up(Link::new(socket, since, clock::now())),
            connector,
            pauses: Pauses::OF_CLIENT,
            fault: Error::Gone,
            alarm: None,
            is_closing: false,
            woken: Vec::new(),
            welcome: Arc::clone(&welcome),
        };
        let shared = Arc::new(Self { desk: Mutex::new(desk), bell, welcome, process: getpid() });
        let keeper = Keeper { shared: Arc::clone(&shared), alarm, heard };
        std::thread::Builder::new().name("doorway-client".to_owned()).spawn(move || keeper.run())?;
        Ok(shared)
    }

    /// Whether this process is the client, and not a child that was forked from it without exec.
    pub(crate) fn is_own_process(&self) -> bool {
        getpid() == self.process
    }

    /// Does something at the desk, sends what comes of it, and wakes the thread if it has to know. Nothing in a forked child: there even
    /// the desk's mutex may be locked for ever, by a thread that was not forked.
    ///
    /// # Errors
    /// In a forked child.
    pub(crate) fn at_desk<R>(&self, act: impl FnOnce(&mut Desk) -> R) -> Result<R, Error> {
        if !self.is_own_process() {
            let why = "this process was forked from the one that connected: connect again";
            return Err(Error::Unreachable(why.to_owned()));
        }
        Ok(self.with(|desk| {
            let result = act(desk);
            if desk.send(clock::now()) {
                self.ring();
            }
            result
        }))
    }

    /// The socket, if there is a connection.
    pub(crate) fn socket(&self) -> Option<Arc<UnixStream>> {
        self.with(|desk| match &desk.wire {
            Wire::Up(link) => Some(Arc::clone(&link.socket)),
            Wire::Down(_) => None,
        })
    }

    /// Nobody has this client any more.
    pub(crate) fn close(&self) {
        if !self.is_own_process() {
            return;
        }
        self.with(|desk| {
            desk.is_closing = true;
            desk.wire = Wire::Down(Ticks(u64::MAX));
        });
        self.ring();
    }

    fn with<R>(&self, act: impl FnOnce(&mut Desk) -> R) -> R {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut desk);
        let mut woken = desk.ledger.take_woken();
        woken.append(&mut desk.woken);
        drop(desk);
        woken.into_iter().for_each(wake);
        result
    }

    fn ring(&self) {
        // A bell that cannot be rung any louder has been heard.
        let _ = (&self.bell).write(&[1]);
    }
}

/// Wakes somebody. A waker is foreign code: if it panics, that must not end the thread that keeps everybody's deadlines, nor reach a
/// program's thread that has nothing to do with it.
fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

impl Desk {
    /// Remembers who the client says it is, and tells the daemon.
    pub(crate) fn introduce(&mut self, label: String) {
        self.label = Some(label.clone());
        self.ledger.tell(Ask::Introduce { label });
    }

    /// Passes on what is to be sent. Whether the thread has to know of something.
    fn send(&mut self, now: Ticks) -> bool {
        let asks = self.ledger.take_asks();
        let Wire::Up(link) = &mut self.wire else {
            if self.is_closing {
                self.ledger.on_gone(&self.fault, false);
            }
            return true;
        };
        if let Err(error) = asks.iter().try_for_each(|ask| link.push(ask)) {
            self.on_gone(&error);
            return true;
        }
        // Why it could not be sent is for the thread to find out, after it has read what came before.
        let is_sent = link.flush(now).is_ok() && !link.is_full();
        let is_earlier = |due| self.alarm.is_none_or(|alarm| due < alarm);
        !is_sent || self.due().is_some_and(is_earlier)
    }

    /// The thread's work whenever something has happened.
    fn turn(&mut self) {
        self.ledger.on_time(clock::now(), matches!(self.wire, Wire::Up(_)));
        if let Wire::Up(link) = &mut self.wire {
            let (frames, fault) = link.receive();
            let heard = frames.into_iter().try_for_each(|told| self.on_told(told));
            match heard.err().or(fault) {
                Some(error) => self.on_gone(&error),
                None => self.settle(),
            }
        }
        let now = clock::now();
        if matches!(&self.wire, Wire::Down(next) if *next <= now) && self.ledger.is_waiting() {
            self.connect(now);
        }
    }

    /// Sends what can be sent, and gives a daemon up that does not read.
    fn settle(&mut self) {
        let now = clock::now();
        let asks = self.ledger.take_asks();
        let Wire::Up(link) = &mut self.wire else { return };
        let sent = asks.iter().try_for_each(|ask| link.push(ask)).and_then(|()| link.flush(now));
        let is_dead = link.due().is_some_and(|due| due <= now);
        if let Some(error) = sent.err().or(is_dead.then_some(Error::Silent)) {
            self.on_gone(&error);
        }
    }

    fn on_told(&mut self, told: Told) -> Result<(), Error> {
        match (&mut self.wire, told) {
            (Wire::Up(_), Told::Goodbye { sentence }) => Err(Error::TurnedAway(sentence)),
            (Wire::Up(link), Told::Welcome { version, cluster, node, now, clock, .. })
                if !link.is_welcome && link.greeting.is_none() =>
            {
                if version != VERSION {
                    let sentence = format!("it speaks version {version} and this client version {VERSION}");
                    return Err(Error::Strange(sentence));
                }
                link.greeting = Some(Welcome { cluster, node });
                self.on_time_told(now, clock.as_deref())
            }
            (Wire::Up(link), Told::Clock { now }) if !link.is_welcome && link.greeting.is_some() => {
                self.on_time_told(now, None)
            }
            (Wire::Up(link), Told::Welcome { .. }) if link.greeting.is_some() => {
                Err(Error::Strange("it says welcome twice".to_owned()))
            }
            (Wire::Up(link), _) if !link.is_welcome => {
                Err(Error::Strange("it does not say welcome first".to_owned()))
            }
            (_, told) => self.ledger.on_told(told, clock::now()),
        }
    }

    /// The daemon has said what time it is on its clock. If it is certain that this is the client's own, it is welcome; if it was read too
    /// late to tell, it is asked once more.
    fn on_time_told(&mut self, told: Ticks, clock: Option<&str>) -> Result<(), Error> {
        let Wire::Up(link) = &mut self.wire else { return Ok(()) };
        let now = clock::now();
        clock::check_same(told, link.since, now).map_err(|refusal| Error::Strange(refusal.to_string()))?;
        if !clock::is_certain(clock, link.since, now) {
            return link.ask_clock();
        }
        let welcome = link.welcome();
        self.pauses = Pauses::OF_CLIENT;
        self.woken.extend(self.welcome.change(|known| *known = welcome.map(Ok)));
        Ok(())
    }

    fn connect(&mut self, now: Ticks) {
        let Some(connector) = &mut self.connector else {
            self.ledger.on_gone(&self.fault, false);
            return;
        };
        match connector() {
            Ok(socket) => {
                self.wire = Wire::Up(Link::new(socket, now, clock::now()));
                self.ledger.ask_again(now);
                let introduction = self.label.clone().map(|label| Ask::Introduce { label });
                self.ledger.ask_first(introduction);
                self.settle();
            }
            Err(error) => self.on_gone(&Error::Unreachable(error.to_string())),
        }
    }

    /// There is no connection any more, or not yet.
    fn on_gone(&mut self, error: &Error) {
        // In this order: the daemon frees everything when the socket is closed, so that nothing may be valid by then.
        self.ledger.on_gone(error, self.connector.is_some());
        self.wire = Wire::Down(clock::now() + clock::ticks(self.pauses.next()));
        self.fault = error.clone();
        if self.welcome.look(Option::is_none) {
            let error = error.clone();
            self.woken.extend(self.welcome.change(|known| *known = Some(Err(error))));
        }
    }

    /// When the thread has to look again although nothing happens.
    fn due(&self) -> Option<Ticks> {
        let wire = match &self.wire {
            Wire::Up(link) => link.due(),
            Wire::Down(next) => self.ledger.is_waiting().then_some(*next),
        };
        self.ledger.due().into_iter().chain(wire).min()
    }
}

/// The thread.
struct Keeper {
    shared: Arc<Shared>,
    alarm: Alarm,
    heard: UnixStream,
}

impl Keeper {
    fn run(mut self) {
        while self.round().is_ok_and(|goes_on| goes_on) {}
    }

    /// Waits for something, then sees to it. Whether to go on.
    fn round(&mut self) -> io::Result<bool> {
        let (link, due) = self.shared.with(|desk| {
            desk.alarm = desk.due();
            let link = match &desk.wire {
                Wire::Up(link) => Some((Arc::clone(&link.socket), link.is_full())),
                Wire::Down(_) => None,
            };
            (link, desk.alarm)
        });
        let mut polled = vec![PollFd::new(&self.heard, PollFlags::IN)];
        if let Some((socket, is_full)) = &link {
            let flags = if *is_full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            polled.push(PollFd::new(&**socket, flags));
        }
        self.alarm.wait(&mut polled, due)?;
        drop(polled);
        drop(link);
        while (&self.heard).read(&mut [0; 64]).is_ok_and(|count| count == 64) {}
        Ok(self.shared.with(|desk| {
            if !desk.is_closing {
                desk.turn();
            }
            !desk.is_closing
        }))
    }
}

impl Drop for Keeper {
    /// Whatever ended the thread: nobody waits for it in vain.
    fn drop(&mut self) {
        self.shared.with(|desk| {
            desk.is_closing = true;
            desk.connector = None;
            desk.on_gone(&Error::Gone);
        });
    }
}
