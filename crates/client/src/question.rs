//! Questions to the daemon and commands of an operator.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use doorway_core::{Refusal, Ticks};

use crate::client::Handle;
use crate::clock;
use crate::error::{Error, Incompatible};
use crate::ledger::{PendingReply, Reply};
use doorway_protocol::{self as protocol, ClientMsg, LONGEST_CLIENT_MSG, Status};

/// A question that is not sent yet. Await it, or block on it.
#[must_use = "a question is sent only when it is awaited or blocked on"]
pub struct PendingQuery<T> {
    handle: Arc<Handle>,
    ask: Result<ClientMsg, Error>,
    within: Duration,
    read: fn(Reply) -> Option<T>,
}

/// The same question under another number.
fn numbered(mut ask: ClientMsg, new: u32) -> ClientMsg {
    match &mut ask {
        ClientMsg::Lock { number, .. }
        | ClientMsg::Cancel { number }
        | ClientMsg::Release { number }
        | ClientMsg::Status { number, .. }
        | ClientMsg::Break { number, .. }
        | ClientMsg::Administer { number, .. } => *number = new,
        ClientMsg::Introduce { .. } | ClientMsg::Alive | ClientMsg::Clock => {}
    }
    ask
}

/// The status in a reply.
pub(crate) fn status(reply: Reply) -> Option<Status> {
    match reply {
        Reply::Status(status) => Some(*status),
        Reply::Done(_) => None,
    }
}

/// The result of a command in a reply.
pub(crate) fn sentence(reply: Reply) -> Option<String> {
    match reply {
        Reply::Done(sentence) => Some(sentence),
        Reply::Status(_) => None,
    }
}

impl<T> PendingQuery<T> {
    pub(crate) fn new(
        handle: &Arc<Handle>,
        ask: Result<ClientMsg, Refusal>,
        within: Duration,
        read: fn(Reply) -> Option<T>,
    ) -> Self {
        Self { handle: Arc::clone(handle), ask: ask.map_err(Error::Bad), within, read }
    }

    /// How long to wait for the answer.
    pub fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// If the daemon refuses, the connection is lost or no answer comes in time.
    pub async fn answer(self) -> Result<T, Error> {
        let asked = self.put()?;
        let reply = asked.answer.until(Clone::clone).await?;
        understood((self.read)(reply))
    }

    /// Asks and blocks this thread until the answer is there.
    ///
    /// # Errors
    /// If the daemon refuses, the connection is lost or no answer comes in time.
    pub fn answer_blocking(self) -> Result<T, Error> {
        let asked = self.put()?;
        let reply = asked.answer.wait(None, Clone::clone).unwrap_or(Err(Error::Silent))?;
        understood((self.read)(reply))
    }

    fn put(&self) -> Result<Asked, Error> {
        let ask = self.ask.clone()?;
        protocol::frame(&ask, LONGEST_CLIENT_MSG)
            .map_err(|error| Error::Bad(Refusal::new(error.to_string())))?;
        let gives_up = Ticks(clock::now().0.saturating_add(clock::ticks(self.within).0));
        let put = |number| numbered(ask, number);
        let (number, answer) = self.handle.shared.with_session(|session| session.question(put, gives_up))?;
        Ok(Asked { handle: Arc::clone(&self.handle), number, answer })
    }
}

fn understood<T>(answer: Option<T>) -> Result<T, Error> {
    answer.ok_or(Error::Incompatible(Incompatible::Answer))
}

impl<T: Send + 'static> IntoFuture for PendingQuery<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.answer())
    }
}

/// A question that waits for its answer.
struct Asked {
    handle: Arc<Handle>,
    number: u32,
    answer: Arc<PendingReply>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.handle.shared.with_session(|session| session.forget_question(self.number));
    }
}
