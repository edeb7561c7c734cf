//! How much a page may ask for, so that it cannot exhaust the machine.

use std::time::Duration;

/// So many jobs are worked on at the same time.
pub(crate) const WORKERS: usize = 2;
/// So many jobs may wait besides.
pub(crate) const MOST_WAITING: usize = 16;
/// So many finished jobs are kept.
pub(crate) const MOST_FINISHED: usize = 64;
/// So many bytes of results are kept.
pub(crate) const MOST_KEPT_BYTES: usize = 64 << 20;

/// The largest body of a request.
pub(crate) const MOST_BODY_BYTES: usize = 256 << 10;
/// The largest body that brings a recorded trace along.
pub(crate) const MOST_TRACE_BYTES: usize = 16 << 20;

/// The most nodes of a run.
pub(crate) const MOST_NODES: usize = 128;
/// The most entries of a run.
pub(crate) const MOST_ENTRIES: u64 = 5_000;
/// The most events of a run.
pub(crate) const MOST_EVENTS: usize = 60_000;
/// How long a run may take.
pub(crate) const RUN: Duration = Duration::from_secs(20);

/// The most nodes of a quorum system: rating one cannot be interrupted, so it must be over within a second.
pub(crate) const MOST_NODES_RATED: usize = 64;

/// The most nodes of a check.
pub(crate) const MOST_NODES_CHECKED: usize = 8;
/// The most states of a check.
pub(crate) const MOST_STATES: u64 = 5_000_000;
/// The most bytes that they may take.
pub(crate) const MOST_STATE_BYTES: u64 = 2 << 30;
/// How long a check may take.
pub(crate) const CHECK: Duration = Duration::from_secs(120);
/// How long it may take to check all algorithms, or to compare many.
pub(crate) const MANY: Duration = Duration::from_secs(300);

/// How long an answer may wait for its job, unless it says otherwise, and at most.
pub(crate) const USUAL_WAIT: Duration = Duration::from_millis(800);
/// The longest that an answer may wait for its job.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(10);
