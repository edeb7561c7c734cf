//! One job: what it is to do, how far it is, and what came of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use doorway_core::Stop;
use serde::Serialize;
use tokio::sync::watch;

use crate::answer::Rejection;

/// A job, seen from all who have to do with it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// Said when the work is to end.
    pub(crate) stop: Stop,
    /// Said when nobody wants what comes of it, not even a part.
    pub(crate) cancelled: Stop,
    why: AtomicU8,
    seen: watch::Sender<JobStatus>,
}

/// What can be seen of a job.
#[derive(Clone, Debug)]
pub(crate) struct JobStatus {
    pub(crate) progress: JobProgress,
    /// What came of it, once it is over.
    pub(crate) end: Option<End>,
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct JobProgress {
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) text: String,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Done(Product),
    Failed(Rejection),
    Cancelled,
}

/// What a job has made.
#[derive(Clone, Debug)]
pub(crate) enum Product {
    Json(Arc<str>),
    File { bytes: Arc<[u8]>, kind: &'static str, name: String },
}

impl Product {
    pub(crate) fn json(text: String) -> Self {
        Product::Json(text.into())
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Product::Json(text) => text.len(),
            Product::File { bytes, .. } => bytes.len(),
        }
    }
}

/// Why a job was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Cancelled,
    TooLong,
}

impl Job {
    pub(crate) fn new(id: u64) -> Self {
        let seen = JobStatus {
            progress: JobProgress { text: "waiting".to_owned(), ..JobProgress::default() },
            end: None,
        };
        Self {
            id,
            stop: Stop::default(),
            cancelled: Stop::default(),
            why: AtomicU8::new(0),
            seen: watch::Sender::new(seen),
        }
    }

    /// Tells the work to stop; the first reason counts.
    pub(crate) fn stop(&self, why: Why) {
        let number = match why {
            Why::Cancelled => 1,
            Why::TooLong => 2,
        };
        let _ = self.why.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        if self.why_stopped() == Some(Why::Cancelled) {
            self.cancelled.say();
        }
        self.stop.say();
    }

    /// Why it was told to stop, if it was.
    pub(crate) fn why_stopped(&self) -> Option<Why> {
        match self.why.load(Ordering::Acquire) {
            1 => Some(Why::Cancelled),
            2 => Some(Why::TooLong),
            _ => None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.seen.borrow().end.is_some()
    }

    pub(crate) fn seen(&self) -> JobStatus {
        self.seen.borrow().clone()
    }

    /// To be told of changes.
    pub(crate) fn watch(&self) -> watch::Receiver<JobStatus> {
        self.seen.subscribe()
    }

    pub(crate) fn show(&self, progress: JobProgress) {
        self.seen.send_modify(|seen| seen.progress = progress);
    }

    pub(crate) fn end(&self, end: End) {
        self.seen.send_modify(|seen| seen.end = Some(end));
    }

    /// All that is known of it, as JSON.
    pub(crate) fn told(&self) -> String {
        let seen = self.seen();
        match &seen.end {
            Some(End::Done(Product::Json(result))) => self.written(&seen, &format!(",\"result\":{result}")),
            _ => self.outline(),
        }
    }

    /// The same without its result.
    pub(crate) fn outline(&self) -> String {
        let seen = self.seen();
        match &seen.end {
            Some(End::Failed(rejection)) => {
                let error = serde_json::to_string(&rejection.sentence).unwrap_or_default();
                self.written(&seen, &format!(",\"error\":{error}"))
            }
            _ => self.written(&seen, ""),
        }
    }

    fn written(&self, seen: &JobStatus, rest: &str) -> String {
        let progress = serde_json::to_string(&seen.progress).unwrap_or_default();
        let (id, state) = (self.id, seen.state());
        format!("{{\"version\":1,\"job\":\"{id}\",\"state\":\"{state}\",\"progress\":{progress}{rest}}}")
    }

    /// The bytes that are kept of it.
    pub(crate) fn bytes(&self) -> usize {
        match &self.seen.borrow().end {
            Some(End::Done(product)) => product.bytes(),
            Some(End::Failed(_) | End::Cancelled) | None => 0,
        }
    }
}

impl JobStatus {
    pub(crate) fn state(&self) -> &'static str {
        match self.end {
            None => "running",
            Some(End::Done(_)) => "done",
            Some(End::Failed(_)) => "failed",
            Some(End::Cancelled) => "cancelled",
        }
    }
}

/// Tells how far a job is, a few times a second and not more often.
pub(crate) struct Meter<'a> {
    job: &'a Job,
    told: Option<Instant>,
}

impl<'a> Meter<'a> {
    const EVERY: Duration = Duration::from_millis(100);

    pub(crate) fn new(job: &'a Job) -> Self {
        job.show(JobProgress { text: "working".to_owned(), ..JobProgress::default() });
        Self { job, told: None }
    }

    pub(crate) fn show(&mut self, done: u64, total: Option<u64>, text: impl FnOnce() -> String) {
        if self.told.is_none_or(|told| told.elapsed() >= Self::EVERY) {
            self.told = Some(Instant::now());
            self.job.show(JobProgress { done, total, text: text() });
        }
    }
}
