//! Asking for sections.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use doorway_core::{Refusal, SectionName};

use crate::client::Handle;
use crate::clock;
use crate::error::Error;
use crate::guard::Guard;
use crate::seat::{Course, LockState, Seat};
use crate::session::{Acquisition, LockRequest};

/// A wish to enter sections, which has not been told to the daemon yet. Await it, or block on it.
#[must_use = "nothing is asked for before the request is awaited or blocked on"]
#[derive(Clone)]
pub struct Request {
    handle: Arc<Handle>,
    names: Result<Vec<SectionName>, Refusal>,
    patience: Option<Duration>,
    max_hold: Option<Duration>,
    ttl: Option<Duration>,
    tell_if_wanted: bool,
    persists: bool,
}

impl Request {
    pub(crate) fn new<N: AsRef<str>>(handle: &Arc<Handle>, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(|name| SectionName::new(name.as_ref())).collect();
        let handle = Arc::clone(handle);
        Self {
            handle,
            names,
            patience: None,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
            persists: false,
        }
    }

    /// Waits no longer than this. Without it, for ever.
    pub fn wait(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Enters only if nobody is inside or waits.
    pub fn try_once(self) -> Self {
        self.wait(Duration::ZERO)
    }

    /// Stays no longer than this: then the lock is lost, whatever its holder does.
    pub fn max_hold(self, span: Duration) -> Self {
        Self { max_hold: Some(span), ..self }
    }

    /// Loses the lock if this process gives no sign of life for so long, as when it is stopped (SIGSTOP, a debugger, a frozen
    /// container) while its machine goes on. Without it, a stopped process keeps the lock.
    ///
    /// The client's own thread gives the signs, every third of this time: threads of the program that hang are not noticed, for
    /// them there is [`Request::max_hold`]. A time shorter than three margins of the cluster, 300 ms by default, is refused.
    pub fn ttl(self, span: Duration) -> Self {
        Self { ttl: Some(span), ..self }
    }

    /// Wants to know when somebody waits for what it holds: see [`Guard::wanted`].
    pub fn tell_if_wanted(self) -> Self {
        Self { tell_if_wanted: true, ..self }
    }

    /// Goes on waiting if the daemon goes away before it has answered, and asks the next daemon that comes. What was entered
    /// once is never entered again in this way: that is lost with the daemon.
    pub fn persistent(self) -> Self {
        Self { persists: true, ..self }
    }

    /// Enters. Whoever drops this future wants it no more: if it was let in just then, it leaves again.
    ///
    /// # Errors
    /// If the sections are not free in time, if this client holds one of them or waits for it already, or if there is no daemon
    /// that answers.
    pub async fn enter(self) -> Result<Guard, Error> {
        let place = self.ask()?;
        let state = place.seat().course.until(decided).await;
        place.guard(state)
    }

    /// Enters, and blocks this thread until then.
    ///
    /// # Errors
    /// As for [`Request::enter`].
    pub fn enter_blocking(self) -> Result<Guard, Error> {
        let place = self.ask()?;
        let state = place.seat().course.wait(None, decided).unwrap_or(LockState::Waiting);
        place.guard(state)
    }

    fn ask(self) -> Result<Place, Error> {
        let names = self.names?;
        let Self { handle, patience, max_hold, ttl, tell_if_wanted, persists, .. } = self;
        let request = LockRequest { names, patience, max_hold, ttl, tell_if_wanted, persists };
        let lock = handle.shared.with_session(|session| session.request(request, clock::now()))??;
        Ok(Place { handle, lock })
    }
}

impl IntoFuture for Request {
    type Output = Result<Guard, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Guard, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.enter())
    }
}

fn decided(course: &Course) -> Option<LockState> {
    (course.state != LockState::Waiting).then(|| course.state.clone())
}

/// A request in the session of a client, given back when it is dropped, whether it waits or is inside.
pub(crate) struct Place {
    handle: Arc<Handle>,
    lock: Acquisition,
}

impl Place {
    pub(crate) fn seat(&self) -> &Seat {
        &self.lock.seat
    }

    /// Whether its owner may go on at this moment.
    pub(crate) fn is_valid(&self) -> bool {
        self.seat().is_valid() && self.handle.shared.is_own_process()
    }

    fn guard(self, state: LockState) -> Result<Guard, Error> {
        match state {
            LockState::Held(fences) => Ok(Guard::new(self, fences)),
            LockState::Refused(error) => Err(error),
            LockState::Lost(lost) => Err(lost.into()),
            LockState::Waiting => Err(Error::Silent),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // In a child that was forked without exec this is a copy: what is inside is the parent.
        let _ = self.handle.shared.with_session(|session| session.leave(&self.lock));
    }
}
