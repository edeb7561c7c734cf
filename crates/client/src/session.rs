//! A client without a thread: one connection to a daemon, and all requests over it.
//!
//! A [`Session`] speaks the protocol, keeps every deadline, and never blocks. Its driver sleeps until the socket is ready or
//! [`Session::due`] has come, calls [`Session::drive`], and looks at the state of its requests. The thread behind a
//! [`crate::Client`] is such a driver, and so is the loop of `doorway lock`. A [`Policy`] says how the two differ.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use doorway_client::{alarm::Alarm, clock, connect, sockets, Error};
//! # use doorway_client::session::{LockRequest, LockState, Policy, Session};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (path, alarm) = (sockets::find(None, None)?, Alarm::new()?);
//! let dial = move || connect(&path).map_err(|error| Error::Unreachable(error.to_string()));
//! let mut session = Session::dialing(dial, Policy::default(), clock::now());
//! let names = vec![doorway_core::SectionName::new("nightly-report")?];
//! let request = LockRequest { names, patience: None, max_hold: None, ttl: None, tell_if_wanted: false, persists: false };
//! let lock = session.request(request, clock::now())?;
//! while lock.state() == LockState::Waiting {
//!     session.drive(clock::now);
//!     alarm.wait(&mut session.poll_fd().into_iter().collect(), session.due())?;
//! }
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::Waker;

use doorway_core::{SectionName, Ticks};
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg, Status, VERSION};
use rustix::event::{PollFd, PollFlags};

use crate::backoff::Backoff;
use crate::clock;
use crate::connection::Connection;
use crate::error::{Error, Incompatible};
use crate::ledger::{Ledger, PendingReply, Reply, later};
use crate::lock_cell::LockCell;
use crate::watched::Watched;

pub use crate::ledger::LockRequest;
pub use crate::lock_cell::LockState;
pub use crate::policy::{Holder, Policy};

/// Connects to a daemon. It must not block.
pub(crate) type Dial = Box<dyn FnMut() -> Result<UnixStream, Error> + Send>;

/// Which node a client is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeIdentity {
    /// The name of its cluster.
    pub cluster: String,
    /// The name of the node.
    pub node: String,
}

/// The daemon's welcome: none yet, the latest, or why none came.
pub(crate) type Greeted = Watched<Option<Result<NodeIdentity, Error>>>;

/// One connection to a daemon at a time, and all requests over it. Dropping it closes the connection, which cancels and releases all of
/// them, unless another process has a copy of the socket.
pub struct Session {
    ledger: Ledger,
    policy: Policy,
    /// The label of the client.
    label: Option<String>,
    wire: Wire,
    /// How to reconnect; `None` if a lost connection is the last.
    dial: Option<Dial>,
    /// The backoff before the next connection, reset by a welcome.
    backoff: Backoff,
    /// What ended the last connection, or attempt to connect.
    fault: Option<Error>,
    /// When waiting requests give up unless a daemon has said welcome.
    answers_by: Option<Ticks>,
    /// The spare of the last daemon that said welcome, if any did.
    spare: Option<Ticks>,
    /// Broken connections, kept open because closing them would let the daemon free the locks that are held over them.
    kept: Vec<Arc<UnixStream>>,
    greeted: Arc<Greeted>,
    woken: Vec<Waker>,
    is_closed: bool,
}

enum Wire {
    Up(Connection),
    /// There is no connection; the next attempt is due then.
    Down(Ticks),
}

/// A request in a session, from request to release. End it with [`Session::leave`].
pub struct Acquisition {
    pub(crate) number: u32,
    pub(crate) cell: Arc<LockCell>,
}

impl Acquisition {
    /// Its state as of the last [`Session::drive`].
    #[must_use]
    pub fn state(&self) -> LockState {
        self.cell.progress.look(|progress| progress.state.clone())
    }

    /// The deadline that the daemon told last, on [`crate::clock`].
    #[must_use]
    pub fn valid_until(&self) -> Ticks {
        self.cell.progress.look(|progress| progress.until)
    }
}

impl fmt::Debug for Acquisition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquisition").field("state", &self.state()).finish()
    }
}

/// A question for the status of sections and nodes.
pub struct StatusQuestion {
    answer: Arc<PendingReply>,
}

impl StatusQuestion {
    /// The answer, if there is one: the status, or why there is none.
    #[must_use]
    pub fn answer(&self) -> Option<Result<Status, Error>> {
        let reply = self.answer.look(Clone::clone)?;
        Some(reply.and_then(|reply| match reply {
            Reply::Status(status) => Ok(*status),
            Reply::Done(_) => Err(Error::Incompatible(Incompatible::Answer)),
        }))
    }
}

impl fmt::Debug for StatusQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusQuestion").field("answer", &self.answer()).finish()
    }
}

impl Session {
    /// A session that connects by `dial`, which must not block, when it is [driven](Session::drive) and something waits for a daemon.
    #[must_use]
    pub fn dialing(
        dial: impl FnMut() -> Result<UnixStream, Error> + Send + 'static,
        policy: Policy,
        now: Ticks,
    ) -> Self {
        Self::new(Wire::Down(now), Some(Box::new(dial)), policy, now)
    }

    /// A session over a connection that was asked for at the moment `since`. Without `dial` it is the only one.
    pub(crate) fn over(
        socket: UnixStream,
        since: Ticks,
        dial: Option<Dial>,
        policy: Policy,
        now: Ticks,
    ) -> Self {
        Self::new(Wire::Up(Connection::new(socket, since, now)), dial, policy, now)
    }

    fn new(wire: Wire, dial: Option<Dial>, policy: Policy, now: Ticks) -> Self {
        Self {
            ledger: Ledger::new(policy.clone()),
            label: None,
            wire,
            dial,
            backoff: policy.backoff.clone(),
            fault: None,
            answers_by: policy.outage.map(|_| later(now, Policy::FIRST_WELCOME)),
            spare: None,
            kept: Vec::new(),
            greeted: Watched::new(None),
            woken: Vec::new(),
            is_closed: false,
            policy,
        }
    }

    /// Labels this client in a few words, at this daemon and every later one.
    pub fn introduce(&mut self, label: &str) {
        let label = protocol::shortened(label).to_owned();
        self.ledger.tell(ClientMsg::Introduce { label: label.clone() });
        self.label = Some(label);
    }

    /// Requests locks. Nothing is sent before [`Session::flush`] or [`Session::drive`].
    ///
    /// # Errors
    /// If the request names no section, too many, or one twice, or if this session already holds one of them or waits for it.
    pub fn request(&mut self, request: LockRequest, now: Ticks) -> Result<Acquisition, Error> {
        let (number, cell) = self.ledger.enter(request, now)?;
        Ok(Acquisition { number, cell })
    }

    /// Ends a request: cancels it if it waits, releases its locks if it holds them.
    pub fn leave(&mut self, lock: &Acquisition) {
        self.ledger.leave(lock.number);
        self.close_kept();
    }

    /// The holder has begun to stop: the session gives no more signs of life for it, and no renewal moves its deadline. A loss is still
    /// reported.
    pub fn let_expire(&mut self, lock: &Acquisition) {
        self.ledger.let_expire(lock.number);
    }

    /// Asks for the status of one section or of all, at this node or everywhere. The question times out at `gives_up`.
    pub fn ask_status(
        &mut self,
        section: Option<SectionName>,
        everywhere: bool,
        gives_up: Ticks,
    ) -> StatusQuestion {
        let ask = |number| ClientMsg::Status { number, section, everywhere };
        StatusQuestion { answer: self.question(ask, gives_up).1 }
    }

    pub(crate) fn question(
        &mut self,
        ask: impl FnOnce(u32) -> ClientMsg,
        gives_up: Ticks,
    ) -> (u32, Arc<PendingReply>) {
        self.ledger.question(ask, gives_up)
    }

    pub(crate) fn forget_question(&mut self, number: u32) {
        self.ledger.forget(number);
    }

    /// What to wait for, if there is a connection.
    #[must_use]
    pub fn poll_fd(&self) -> Option<PollFd<'_>> {
        let Wire::Up(connection) = &self.wire else { return None };
        let flags = if connection.is_full() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        Some(PollFd::new(&*connection.socket, flags))
    }

    /// When to [drive](Session::drive) it even if the socket is not ready.
    #[must_use]
    pub fn due(&self) -> Option<Ticks> {
        let is_waiting = self.ledger.is_waiting();
        let wire = match &self.wire {
            Wire::Up(connection) => connection.due(),
            Wire::Down(next) => is_waiting.then_some(*next),
        };
        let answer = self.answers_by.filter(|_| is_waiting);
        let unsent = self.ledger.has_asks().then_some(Ticks(0));
        [unsent, self.ledger.due(), wire, answer].into_iter().flatten().min()
    }

    /// Does everything that can be done without waiting: reads, sends, keeps the deadlines, and connects.
    ///
    /// The clock is read after the daemon's messages are in hand, and deadlines are checked after those are handled. So a process that was
    /// stopped first handles the renewals that were sent in time. Messages caused by a timeout are sent by the next call, which is due at
    /// once: a program that ends because its patience has ended need not send them.
    pub fn drive(&mut self, clock: impl Fn() -> Ticks) {
        self.hear(&clock);
        let now = clock();
        self.settle(now);
        self.keep_time(now);
        self.connect(&clock);
        self.close_kept();
    }

    fn hear(&mut self, clock: impl Fn() -> Ticks) {
        let Wire::Up(connection) = &mut self.wire else { return };
        let (frames, fault) = connection.receive();
        let heard = frames.into_iter().try_for_each(|told| self.on_msg(told, clock()));
        if let Some(error) = heard.err().or(fault) {
            self.on_gone(&error, clock());
        }
    }

    fn keep_time(&mut self, now: Ticks) {
        self.ledger.on_time(now, self.is_connected());
        if self.answers_by.is_some_and(|limit| limit <= now) {
            self.answers_by = None;
            self.ledger.give_up(&self.fault().cloned().unwrap_or(Error::Silent));
        }
    }

    /// Sends what the socket takes, and gives up a daemon that does not read or does not say welcome.
    fn settle(&mut self, now: Ticks) {
        let asks = self.ledger.take_asks();
        let Wire::Up(connection) = &mut self.wire else { return };
        // When a daemon says welcome, all requests are sent anew: what was queued before that is dropped.
        let asks = if connection.is_welcome { asks } else { Vec::new() };
        let sent = asks.iter().try_for_each(|ask| connection.push(ask)).and_then(|()| connection.flush(now));
        let is_dead = connection.due().is_some_and(|due| due <= now);
        if let Some(error) = sent.err().or(is_dead.then_some(Error::Silent)) {
            self.on_gone(&error, now);
        }
    }

    /// Sends as much as the socket takes now. [`Session::drive`] sends the rest.
    pub fn flush(&mut self, now: Ticks) {
        let asks = self.ledger.take_asks();
        match &mut self.wire {
            Wire::Up(connection) if connection.is_welcome => {
                if let Err(error) = asks.iter().try_for_each(|ask| connection.push(ask)) {
                    return self.on_gone(&error, now);
                }
                // `drive` finds the error again, after it has read the messages that came before it.
                let _ = connection.flush(now);
            }
            Wire::Up(_) => {}
            Wire::Down(_) if self.is_closed => self.ledger.on_gone(&Error::Gone, false),
            Wire::Down(_) => {}
        }
    }

    /// Whether messages wait for the daemon to read.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.wire, Wire::Up(connection) if connection.is_full())
    }

    fn on_msg(&mut self, told: DaemonMsg, now: Ticks) -> Result<(), Error> {
        let Wire::Up(connection) = &mut self.wire else { return Ok(()) };
        match told {
            DaemonMsg::Goodbye { sentence } => Err(Error::TurnedAway(sentence)),
            told if connection.is_welcome => self.ledger.on_msg(told, now),
            DaemonMsg::Welcome { .. } if connection.greeting.is_some() => {
                Err(Error::Incompatible(Incompatible::SecondWelcome))
            }
            DaemonMsg::Welcome { version: VERSION, cluster, node, now: time, clock, spare } => {
                connection.greeting = Some((NodeIdentity { cluster, node }, spare));
                self.on_time_told(time, clock.as_deref(), now)
            }
            DaemonMsg::Welcome { version, .. } => Err(Error::Incompatible(Incompatible::Version(version))),
            DaemonMsg::Clock { now: time } if connection.greeting.is_some() => {
                self.on_time_told(time, None, now)
            }
            _ => Err(Error::Incompatible(Incompatible::NoWelcome)),
        }
    }

    /// The daemon has told the time on its clock. If that is certainly the client's own clock, the welcome is accepted; if the message was read
    /// too late to tell, the client asks again.
    fn on_time_told(&mut self, told: Ticks, clock: Option<&str>, now: Ticks) -> Result<(), Error> {
        let Wire::Up(connection) = &mut self.wire else { return Ok(()) };
        clock::check_same(told, connection.since, now)
            .map_err(|why| Error::Incompatible(Incompatible::Clock(why)))?;
        if !clock::is_certain(clock, connection.since, now) {
            return connection.ask_clock(now);
        }
        let Some((welcome, spare)) = connection.welcome() else { return Ok(()) };
        if spare < self.policy.least_spare {
            return Err(Error::ShortLease { spare });
        }
        self.on_welcome(welcome, spare, now);
        Ok(())
    }

    fn on_welcome(&mut self, welcome: NodeIdentity, spare: Ticks, now: Ticks) {
        self.backoff = self.policy.backoff.clone();
        self.answers_by = None;
        self.spare = Some(spare);
        let introduction = self.label.clone().map(|label| ClientMsg::Introduce { label });
        self.ledger.on_welcome(introduction, now);
        self.woken.extend(self.greeted.change(|known| *known = Some(Ok(welcome))));
    }

    /// Connects if a request or question waits for a daemon and the backoff is over.
    fn connect(&mut self, clock: impl Fn() -> Ticks) {
        let since = clock();
        if !matches!(self.wire, Wire::Down(next) if next <= since) || !self.ledger.is_waiting() {
            return;
        }
        match self.dial.as_mut().map(|dial| dial()) {
            Some(Ok(socket)) => self.wire = Wire::Up(Connection::new(socket, since, clock())),
            Some(Err(error)) => self.on_gone(&error, clock()),
            None => self.ledger.on_gone(self.fault.as_ref().unwrap_or(&Error::Gone), false),
        }
    }

    /// The connection is lost, or an attempt to connect has failed.
    fn on_gone(&mut self, error: &Error, now: Ticks) {
        // In this order: closing the socket lets the daemon free the locks, so no guard may be valid by then.
        self.ledger.on_gone(error, self.dial.is_some());
        let next = later(now, self.backoff.next());
        if let Wire::Up(connection) = std::mem::replace(&mut self.wire, Wire::Down(next))
            && self.ledger.has_orphans()
        {
            self.kept.push(connection.socket);
        }
        self.answers_by = self.policy.outage.map(|outage| match error {
            // The daemon runs, and has no room yet.
            Error::TurnedAway(_) => later(next, Policy::FIRST_WELCOME),
            _ => self.answers_by.unwrap_or(later(now, outage)),
        });
        self.fault = Some(error.clone());
        if self.greeted.look(Option::is_none) {
            let error = error.clone();
            self.woken.extend(self.greeted.change(|known| *known = Some(Err(error))));
        }
    }

    /// Ends the connection and fails all requests and questions, now and later.
    pub(crate) fn close(&mut self, now: Ticks) {
        self.is_closed = true;
        self.dial = None;
        self.on_gone(&Error::Gone, now);
        self.wire = Wire::Down(Ticks(u64::MAX));
    }

    fn close_kept(&mut self) {
        if !self.kept.is_empty() && !self.ledger.has_orphans() {
            self.kept.clear();
        }
    }

    /// Whether there is a connection, welcome or not.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self.wire, Wire::Up(_))
    }

    /// Whether the daemon has said welcome: before that no request is sent.
    #[must_use]
    pub fn is_welcome(&self) -> bool {
        matches!(&self.wire, Wire::Up(connection) if connection.is_welcome)
    }

    /// The least time to a deadline while the cluster is healthy, as the last welcome told it; `None` before the first.
    #[must_use]
    pub fn spare(&self) -> Option<Ticks> {
        self.spare
    }

    /// Why there is no connection, if an attempt has failed or the connection was lost.
    #[must_use]
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref().filter(|_| !self.is_connected())
    }

    /// The socket over which locks are held: that of the connection, or of a broken one that is kept open. A process that inherits it keeps
    /// them until it closes its copy.
    #[must_use]
    pub fn socket(&self) -> Option<Arc<UnixStream>> {
        match &self.wire {
            Wire::Up(connection) => Some(Arc::clone(&connection.socket)),
            Wire::Down(_) => self.kept.last().map(Arc::clone),
        }
    }

    pub(crate) fn greeted(&self) -> &Arc<Greeted> {
        &self.greeted
    }

    /// The wakers to wake, when no mutex is locked.
    pub(crate) fn take_woken(&mut self) -> Vec<Waker> {
        let mut woken = self.ledger.take_woken();
        woken.append(&mut self.woken);
        woken
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("is_welcome", &self.is_welcome()).finish_non_exhaustive()
    }
}
