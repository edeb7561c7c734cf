//! How programs that hold locks differ: one state machine serves them all.

use std::time::Duration;

use doorway_core::Ticks;

use crate::backoff::Backoff;

/// How a [session](crate::session::Session) treats its daemon and its own requests. The default is that of [`crate::Client`].
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much longer than its own patience a request waits for a daemon that does not answer.
    pub grace: Duration,
    /// The backoff between two attempts to connect.
    pub backoff: Backoff,
    /// How long requests that [persist](crate::session::LockRequest::persists) wait for another daemon, from when the last one that
    /// said welcome was gone; for ever if there is no limit. With a limit, the first welcome must come within
    /// [`Policy::FIRST_WELCOME`].
    pub outage: Option<Duration>,
    /// Whether such a request also waits for another daemon if the present one refuses it because it is leaving its cluster.
    pub outlasts_leaving: bool,
    /// How long the holder needs to stop. The session does not use a daemon whose deadlines may be nearer than this.
    pub least_spare: Ticks,
    /// Who acts inside.
    pub holder: Holder,
}

impl Policy {
    /// How long a daemon may take to say welcome.
    pub const FIRST_WELCOME: Duration = Duration::from_secs(5);
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(3),
            backoff: Backoff::OF_CLIENT,
            outage: None,
            outlasts_leaving: false,
            least_spare: Ticks(0),
            holder: Holder::Program,
        }
    }
}

/// Who acts inside, and so what a late renewal and the end of the connection mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The program that has the session. It may look at any moment whether its guard is valid, so a guard whose deadline has passed stays
    /// lost, even if a renewal lies unread. When the connection ends, the lock is lost at once: closing the socket frees it.
    Program,
    /// Another process, which this one watches, and which has a copy of the connection. It runs on while the watcher is stopped, so
    /// the watcher first hears what the daemon said meanwhile, and looks at the clock afterwards. When the connection ends, the
    /// lock is held until its deadline: other nodes wait for that, and the copies of the socket stay open.
    Command,
}
