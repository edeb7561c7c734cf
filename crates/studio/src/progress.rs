//! How far a job is, told as it goes on: server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures_util::stream;
use tokio::sync::watch::Receiver;

use crate::answer::Rejection;
use crate::desk::JobQueue;
use crate::job::{Job, JobStatus};
use crate::routes::found;

/// A stream of events: `progress` again and again, and at last what became of the job.
pub(crate) async fn answer(
    State(desk): State<Arc<JobQueue>>,
    Path(id): Path<String>,
) -> Result<Response, Rejection> {
    let job = found(&desk, &id)?;
    let mut watch = job.watch();
    watch.mark_changed();
    let told = stream::unfold(Some((job, watch)), next);
    Ok(Sse::new(told).keep_alive(KeepAlive::default()).into_response())
}

type Watching = Option<(Arc<Job>, Receiver<JobStatus>)>;

/// The next event, and who waits for the one after it; nobody does when the job is over.
async fn next(watching: Watching) -> Option<(Result<Event, Infallible>, Watching)> {
    let (job, mut watch) = watching?;
    watch.changed().await.ok()?;
    let seen = watch.borrow_and_update().clone();
    if seen.end.is_some() {
        return Some((Ok(Event::default().event(seen.state()).data(job.outline())), None));
    }
    let progress = serde_json::to_string(&seen.progress).unwrap_or_default();
    Some((Ok(Event::default().event("progress").data(progress)), Some((job, watch))))
}
