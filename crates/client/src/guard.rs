//! Being inside.

use std::fmt;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};

use crate::clock;
use crate::error::Lost;
use crate::request::Place;
use crate::seat::{Course, LockState};

/// Whoever has it is inside the sections that it asked for, until it drops it or [loses](Guard::lost) it.
///
/// A guard can be lost at any moment: the daemon may have to give the sections up, or the machine may sleep past the deadline.
/// Before each step that must not be done by two at once ask [`Guard::is_valid`], or better, let the resource itself refuse
/// whoever comes with an old [`Guard::fence`].
///
/// A child that was forked from its process without exec has a copy of the guard and not the lock: there the copy is never valid, and dropping it
/// releases nothing. It does have a copy of the connection, which keeps the sections taken should its parent be killed.
#[must_use = "the sections are left again as soon as the guard is dropped"]
pub struct Guard {
    place: Place,
    fences: Vec<(SectionName, Fence)>,
}

impl Guard {
    pub(crate) fn new(place: Place, fences: Vec<(SectionName, Fence)>) -> Self {
        Self { place, fences }
    }

    /// The fence of the first section: higher than those of all who were inside before.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fences.first().map_or(Fence(0), |(_, fence)| *fence)
    }

    /// All sections and the fence of each, in the order in which they were asked for.
    #[must_use]
    pub fn fences(&self) -> &[(SectionName, Fence)] {
        &self.fences
    }

    /// The deadline on [`crate::clock`], as it was told last: it moves on while the daemon renews it.
    #[must_use]
    pub fn valid_until(&self) -> Ticks {
        self.place.seat().course.look(|course| course.until)
    }

    /// How long is left until the deadline; nothing if the guard is lost.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        let left = self.valid_until().0.saturating_sub(clock::now().0);
        if self.is_valid() { Duration::from_micros(left) } else { Duration::ZERO }
    }

    /// Whether its holder is inside at this moment. Once it says no it never says yes again, and after the deadline it says no
    /// whatever became of the daemon and of all threads. In a forked child it says no.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.place.is_valid()
    }

    /// Waits until the guard is lost, and tells why.
    pub async fn lost(&self) -> Lost {
        self.place.seat().course.until(lost).await
    }

    /// Blocks this thread until the guard is lost, or for no longer than this.
    #[must_use]
    pub fn wait_lost(&self, timeout: Duration) -> Option<Lost> {
        self.place.seat().course.wait(Some(timeout), lost)
    }

    /// Waits until somebody else waits for one of the sections, and tells which; nothing if the guard is lost before. Only who
    /// asked with [`crate::Request::tell_if_wanted`] is told.
    pub async fn wanted(&self) -> Option<SectionName> {
        self.place.seat().course.until(wanted).await
    }

    /// Whether somebody else is known to wait for one of the sections.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.place.seat().course.look(|course| !course.wanted.is_empty())
    }

    /// Leaves, as dropping the guard does, and tells whether it was inside up to this moment.
    ///
    /// # Errors
    /// If it was lost before.
    pub fn release(self) -> Result<(), Lost> {
        if self.is_valid() {
            return Ok(());
        }
        Err(self.place.seat().course.look(lost).unwrap_or(Lost::Deadline))
    }
}

fn lost(course: &Course) -> Option<Lost> {
    match course.state {
        LockState::Lost(lost) => Some(lost),
        LockState::Waiting | LockState::Held(_) | LockState::Refused(_) => None,
    }
}

fn wanted(course: &Course) -> Option<Option<SectionName>> {
    let section = course.wanted.first().cloned();
    (section.is_some() || lost(course).is_some()).then_some(section)
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("fences", &self.fences).field("is_valid", &self.is_valid()).finish()
    }
}
