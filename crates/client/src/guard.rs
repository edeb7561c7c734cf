//! The guard of a lock.

use std::fmt;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};

use crate::clock;
use crate::error::Lost;
use crate::lock_cell::{LockProgress, LockState};
use crate::request::OwnedRequest;

/// Holds the sections of a request until it is dropped or [lost](Guard::lost).
///
/// A guard can be lost at any moment: the daemon may have to give up the sections, or the machine may sleep past the deadline.
/// Before each step that two clients must not do at once ask [`Guard::is_valid`], or better, let the resource itself refuse
/// an old [`Guard::fence`].
///
/// A child that was forked without exec has a copy of the guard but not the lock: the copy is never valid, and dropping it
/// releases nothing. But the child has a copy of the connection, which keeps the sections taken if its parent is killed.
#[must_use = "dropping the guard releases its sections"]
pub struct Guard {
    request: OwnedRequest,
    fences: Vec<(SectionName, Fence)>,
}

impl Guard {
    pub(crate) fn new(request: OwnedRequest, fences: Vec<(SectionName, Fence)>) -> Self {
        Self { request, fences }
    }

    /// The fence of the first section: larger than that of every earlier holder.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fences.first().map_or(Fence(0), |(_, fence)| *fence)
    }

    /// All sections and the fence of each, in the order of the request.
    #[must_use]
    pub fn fences(&self) -> &[(SectionName, Fence)] {
        &self.fences
    }

    /// The latest deadline from the daemon, on [`crate::clock`]: it moves on while the daemon renews it.
    #[must_use]
    pub fn valid_until(&self) -> Ticks {
        self.request.cell().progress.look(|progress| progress.until)
    }

    /// How long is left until the deadline; nothing if the guard is lost.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        let left = self.valid_until().0.saturating_sub(clock::now().0);
        if self.is_valid() { Duration::from_micros(left) } else { Duration::ZERO }
    }

    /// Whether its holder holds the lock at this moment. Once false it is never true again. After the deadline it is false,
    /// whatever the daemon and all threads do. In a forked child it is false.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.request.is_valid()
    }

    /// Waits until the guard is lost, and returns why.
    pub async fn lost(&self) -> Lost {
        self.request.cell().progress.until(lost).await
    }

    /// Blocks this thread until the guard is lost, or for no longer than this.
    #[must_use]
    pub fn wait_lost(&self, timeout: Duration) -> Option<Lost> {
        self.request.cell().progress.wait(Some(timeout), lost)
    }

    /// Waits until another client waits for one of the sections, and returns that section; `None` if the guard is lost first. Only a
    /// request with [`crate::Request::tell_if_wanted`] is told.
    pub async fn wanted(&self) -> Option<SectionName> {
        self.request.cell().progress.until(wanted).await
    }

    /// Whether another client is known to wait for one of the sections.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.request.cell().progress.look(|progress| !progress.wanted.is_empty())
    }

    /// Releases the sections, as dropping the guard does, and reports whether they were held up to this moment.
    ///
    /// # Errors
    /// If it was lost before.
    pub fn release(self) -> Result<(), Lost> {
        if self.is_valid() {
            return Ok(());
        }
        Err(self.request.cell().progress.look(lost).unwrap_or(Lost::Deadline))
    }
}

fn lost(progress: &LockProgress) -> Option<Lost> {
    match progress.state {
        LockState::Lost(lost) => Some(lost),
        LockState::Waiting | LockState::Held(_) | LockState::Refused(_) => None,
    }
}

fn wanted(progress: &LockProgress) -> Option<Option<SectionName>> {
    let section = progress.wanted.first().cloned();
    (section.is_some() || lost(progress).is_some()).then_some(section)
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("fences", &self.fences).field("is_valid", &self.is_valid()).finish()
    }
}
