//! One job: what it is to do, how far it is, and what came of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::watch;

use crate::answer::Rejection;

/// A job, seen from all who have to do with it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// Set when the work is to stop.
    pub(crate) stop: Arc<AtomicBool>,
    why: AtomicU8,
    seen: watch::Sender<Seen>,
}

/// What can be seen of a job.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) progress: Progress,
    /// What came of it, once it is over.
    pub(crate) end: Option<End>,
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Progress {
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
        let seen =
            Seen { progress: Progress { text: "waiting".to_owned(), ..Progress::default() }, end: None };
        Self {
            id,
            stop: Arc::new(AtomicBool::new(false)),
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
        self.stop.store(true, Ordering::Release);
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

    pub(crate) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// To be told of changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    pub(crate) fn show(&self, progress: Progress) {
        self.seen.send_modify(|seen| seen.progress = progress);
    }

    pub(crate) fn end(&self, end: End) {
        self.seen.send_modify(|seen| seen.end = Some(end));
    }

    /// The bytes that are kept of it.
    pub(crate) fn bytes(&self) -> usize {
        match &self.seen.borrow().end {
            Some(End::Done(product)) => product.bytes(),
            Some(End::Failed(_) | End::Cancelled) | None => 0,
        }
    }
}

impl Seen {
    pub(crate) fn state(&self) -> &'static str {
        match self.end {
            None => "running",
            Some(End::Done(_)) => "done",
            Some(End::Failed(_)) => "failed",
            Some(End::Cancelled) => "cancelled",
        }
    }
}

/// Tells how far a job is, a few times a second and not more often; and stops it when its time is up.
pub(crate) struct Meter<'a> {
    job: &'a Job,
    until: Instant,
    told: Option<Instant>,
}

impl<'a> Meter<'a> {
    const EVERY: Duration = Duration::from_millis(100);

    pub(crate) fn new(job: &'a Job, longest: Duration) -> Self {
        Self { job, until: Instant::now() + longest, told: None }
    }

    pub(crate) fn show(&mut self, done: u64, total: Option<u64>, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if now > self.until {
            self.job.stop(Why::TooLong);
        }
        if self.told.is_none_or(|told| now - told >= Self::EVERY) {
            self.told = Some(now);
            self.job.show(Progress { done, total, text: text() });
        }
    }
}
