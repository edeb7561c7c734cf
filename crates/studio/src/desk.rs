//! The desk: jobs that wait, jobs that are worked on, and jobs that are over.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use doorway_catalog::Catalog;
use serde_json::json;

use crate::answer::Rejection;
use crate::job::{End, Job, Why};
use crate::limits::{MOST_FINISHED, MOST_KEPT_BYTES, MOST_WAITING};
use crate::view;
use crate::work::{Work, too_long};

/// Where requests leave jobs and workers take them.
#[derive(Debug)]
pub(crate) struct JobQueue {
    /// What can be run, as JSON.
    pub(crate) catalog: String,
    /// The description of each of them by name, as JSON.
    pub(crate) pages: BTreeMap<String, String>,
    papers: Mutex<QueueState>,
    /// Rings when a job was left or the desk was closed.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<(Arc<Job>, Work)>,
    /// Every job that is known, by its number.
    jobs: BTreeMap<u64, Arc<Job>>,
    last: u64,
    is_closed: bool,
}

impl JobQueue {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let pages = view::pages(catalog).map(|(name, page)| {
            (name.to_owned(), json!({"version": 1, "name": name, "page": page}).to_string())
        });
        let (catalog, pages) = (view::catalog(catalog).to_string(), pages.collect());
        Self { catalog, pages, papers: Mutex::default(), bell: Condvar::new() }
    }

    /// Leaves a job.
    ///
    /// # Errors
    /// If too many wait already.
    pub(crate) fn leave(&self, work: Work) -> Result<Arc<Job>, Rejection> {
        let mut papers = self.papers();
        if papers.waiting.len() >= MOST_WAITING {
            let sentence =
                format!("{MOST_WAITING} jobs wait already: cancel one, or try again when one is done.");
            return Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, sentence));
        }
        papers.last += 1;
        let job = Arc::new(Job::new(papers.last));
        papers.jobs.insert(job.id, Arc::clone(&job));
        papers.waiting.push_back((Arc::clone(&job), work));
        papers.tidy();
        self.bell.notify_one();
        Ok(job)
    }

    /// The job of this number, if it is still known.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Job>> {
        self.papers().jobs.get(&id.parse().ok()?).cloned()
    }

    /// Cancels a job: one that waits is over at once, one that is worked on stops as soon as it looks up.
    pub(crate) fn cancel(&self, job: &Job) {
        job.stop(Why::Cancelled);
        let mut papers = self.papers();
        let before = papers.waiting.len();
        papers.waiting.retain(|(waiting, _)| waiting.id != job.id);
        if papers.waiting.len() < before {
            job.end(End::Cancelled);
        }
    }

    /// Works until the desk is closed. A panic ends its job and nothing else.
    pub(crate) fn work(&self, catalog: &Catalog) {
        while let Some((job, work)) = self.next() {
            let (longest, is_good_in_part) = (work.longest(), work.is_good_in_part());
            let done = watched(&job, longest, || catch_unwind(AssertUnwindSafe(|| work.done(&job, catalog))));
            job.end(match (done, job.why_stopped()) {
                (_, Some(Why::Cancelled)) => End::Cancelled,
                (Err(_), _) => End::Failed(Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, BROKEN)),
                (Ok(_), Some(Why::TooLong)) if !is_good_in_part => End::Failed(too_long(longest)),
                (Ok(Ok(product)), _) => End::Done(product),
                (Ok(Err(rejection)), _) => End::Failed(rejection),
            });
            self.papers().tidy();
        }
    }

    fn next(&self) -> Option<(Arc<Job>, Work)> {
        let mut papers = self.papers();
        loop {
            if papers.is_closed {
                return None;
            }
            if let Some(next) = papers.waiting.pop_front() {
                return Some(next);
            }
            papers = self.bell.wait(papers).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn papers(&self) -> MutexGuard<'_, QueueState> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut papers = self.papers();
        papers.is_closed = true;
        papers.jobs.values().for_each(|job| job.stop(Why::Cancelled));
        self.bell.notify_all();
    }
}

/// What is told of a job that panicked.
const BROKEN: &str = "This job broke down, which is a fault of Doorway and not yours.";

/// Works, and tells the job to stop when it has lasted too long.
fn watched<T>(job: &Job, longest: Duration, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (_is_done, done) = mpsc::channel::<()>();
        scope.spawn(move || {
            if done.recv_timeout(longest) == Err(RecvTimeoutError::Timeout) {
                job.stop(Why::TooLong);
            }
        });
        work()
    })
}

/// Closes a desk when the studio is, however that comes.
pub(crate) struct ClosedAtTheEnd<'a>(pub(crate) &'a JobQueue);

impl Drop for ClosedAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl QueueState {
    /// Forgets the oldest finished jobs when there are too many, or when they are too large together.
    fn tidy(&mut self) {
        let finished = self.jobs.values().filter(|job| job.is_over());
        let sizes: Vec<(u64, usize)> = finished.map(|job| (job.id, job.bytes())).collect();
        let mut kept = 0;
        for (place, (id, bytes)) in sizes.iter().rev().enumerate() {
            kept += bytes;
            if place >= MOST_FINISHED || (place > 0 && kept > MOST_KEPT_BYTES) {
                self.jobs.remove(id);
            }
        }
    }
}
