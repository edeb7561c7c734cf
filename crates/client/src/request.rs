//! Requests for sections.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use doorway_core::{Refusal, SectionName};

use crate::client::Handle;
use crate::clock;
use crate::error::Error;
use crate::guard::Guard;
use crate::lock_cell::{LockCell, LockProgress, LockState};
use crate::session::{Acquisition, LockRequest};

/// A request for sections that is not sent yet. Await it, or block on it.
#[must_use = "a request is sent only when it is awaited or blocked on"]
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

    /// Waits no longer than this. The default is to wait for ever.
    pub fn wait(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Enters only if no client is inside or waits.
    pub fn try_once(self) -> Self {
        self.wait(Duration::ZERO)
    }

    /// Holds the lock no longer than this: then it is lost, whatever its holder does.
    pub fn max_hold(self, span: Duration) -> Self {
        Self { max_hold: Some(span), ..self }
    }

    /// Loses the lock if this process gives no sign of life for this long, as when it is stopped (SIGSTOP, a debugger, a frozen
    /// container) while its machine runs on. Without it, a stopped process keeps the lock.
    ///
    /// The client's watchdog thread gives the signs, every third of this time, so it does not notice hanging threads of the program:
    /// for them there is [`Request::max_hold`]. A time shorter than three margins of the cluster, 300 ms by default, is refused.
    pub fn ttl(self, span: Duration) -> Self {
        Self { ttl: Some(span), ..self }
    }

    /// Tells the holder when another client waits for its sections: see [`Guard::wanted`].
    pub fn tell_if_wanted(self) -> Self {
        Self { tell_if_wanted: true, ..self }
    }

    /// Keeps waiting if the connection is lost before the daemon has answered, and asks the next daemon that appears. A lock that
    /// was granted is never requested again in this way: it is lost with its daemon.
    pub fn persistent(self) -> Self {
        Self { persists: true, ..self }
    }

    /// Enters. Dropping the future cancels the request; if it was granted meanwhile, it is released.
    ///
    /// # Errors
    /// If the request timed out, if this client already holds one of the sections or waits for it, or if no daemon
    /// answers.
    pub async fn enter(self) -> Result<Guard, Error> {
        let request = self.ask()?;
        let state = request.cell().progress.until(decided).await;
        request.guard(state)
    }

    /// Enters, and blocks this thread until then.
    ///
    /// # Errors
    /// As for [`Request::enter`].
    pub fn enter_blocking(self) -> Result<Guard, Error> {
        let request = self.ask()?;
        let state = request.cell().progress.wait(None, decided).unwrap_or(LockState::Waiting);
        request.guard(state)
    }

    fn ask(self) -> Result<OwnedRequest, Error> {
        let names = self.names?;
        let Self { handle, patience, max_hold, ttl, tell_if_wanted, persists, .. } = self;
        let request = LockRequest { names, patience, max_hold, ttl, tell_if_wanted, persists };
        let lock = handle.shared.with_session(|session| session.request(request, clock::now()))??;
        Ok(OwnedRequest { handle, lock })
    }
}

impl IntoFuture for Request {
    type Output = Result<Guard, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Guard, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.enter())
    }
}

fn decided(progress: &LockProgress) -> Option<LockState> {
    (progress.state != LockState::Waiting).then(|| progress.state.clone())
}

/// A request in the session of a client. Dropping it cancels or releases it.
pub(crate) struct OwnedRequest {
    handle: Arc<Handle>,
    lock: Acquisition,
}

impl OwnedRequest {
    pub(crate) fn cell(&self) -> &LockCell {
        &self.lock.cell
    }

    /// Whether its owner may continue at this moment.
    pub(crate) fn is_valid(&self) -> bool {
        self.cell().is_valid() && self.handle.shared.is_own_process()
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

impl Drop for OwnedRequest {
    fn drop(&mut self) {
        // In a child that was forked without exec this is a copy: the parent holds the lock, and the session refuses the call.
        let _ = self.handle.shared.with_session(|session| session.leave(&self.lock));
    }
}
