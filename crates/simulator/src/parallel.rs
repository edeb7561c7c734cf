//! Runs jobs on several threads and returns results in order, so that the number of threads changes nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval of [`JobEvent::Waiting`] reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of the jobs.
#[derive(Debug)]
pub enum JobEvent<T> {
    /// The result of the next job.
    Done(u64, T),
    /// No result for a while; the number of jobs done so far.
    Waiting(u64),
}

/// The number of threads that can run in parallel.
#[must_use]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Runs `job` for every number of a range on `threads` threads and passes the results to `take` in the order
/// of the numbers. `take` is called at least ten times a second, if only to show progress. The first error
/// ends the run: the threads stop when the channel closes. No thread runs far ahead of a slow job, so that
/// results waiting for it do not fill the memory.
///
/// # Errors
/// The error of `take`.
pub fn in_order<T: Send, E>(
    jobs: Range<u64>,
    threads: usize,
    job: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(JobEvent<T>) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicU64::new(jobs.start);
    let gate = Gate::new(jobs.start.saturating_add(LEAD));
    thread::scope(|scope| {
        let (done, results) = mpsc::sync_channel(2 * threads);
        let _open_on_return = OpenOnDrop(&gate);
        for _ in 0..threads.max(1) {
            let (done, next, gate, job, jobs) = (done.clone(), &next, &gate, &job, &jobs);
            scope.spawn(move || {
                let _open_on_panic = OpenOnDrop(gate);
                let claim =
                    || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| jobs.contains(number));
                while let Some(number) = claim() {
                    gate.wait(number);
                    if done.send((number, job(number))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut early = BTreeMap::new();
        let mut wanted = jobs.start;
        loop {
            match results.recv_timeout(REPORT_INTERVAL) {
                Ok((number, result)) => {
                    early.insert(number, result);
                }
                Err(RecvTimeoutError::Timeout) => take(JobEvent::Waiting(wanted - jobs.start))?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Some(result) = early.remove(&wanted) {
                take(JobEvent::Done(wanted, result))?;
                wanted += 1;
            }
            gate.raise(wanted.saturating_add(LEAD));
        }
    })
}

/// The most jobs that may start before the oldest of them is done.
const LEAD: u64 = 4_096;

/// Blocks threads that are too far ahead.
struct Gate {
    /// Jobs from this number on must wait.
    limit: Mutex<u64>,
    raised: Condvar,
}

impl Gate {
    fn new(limit: u64) -> Self {
        Self { limit: Mutex::new(limit), raised: Condvar::new() }
    }

    fn wait(&self, number: u64) {
        let limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.raised.wait_while(limit, |limit| number >= *limit);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn raise(&self, to: u64) {
        let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        if to > *limit {
            *limit = to;
            self.raised.notify_all();
        }
    }
}

/// Opens the gate on drop, so that shutdown cannot deadlock. A thread ends when no job is left, when the
/// channel is closed, or in a panic; in each case no thread needs to be blocked any more.
struct OpenOnDrop<'a>(&'a Gate);

impl Drop for OpenOnDrop<'_> {
    fn drop(&mut self) {
        self.0.raise(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_with_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let slow_first =
                |number: u64| (0..(100 - number) * 1_000).fold(number, |sum, step| sum ^ (step * number));
            let ended = in_order(3..100, threads, slow_first, |step| {
                if let JobEvent::Done(number, _) = step {
                    taken.push(number);
                }
                Ok::<(), ()>(())
            });
            assert_eq!((ended, taken), (Ok(()), (3..100).collect()));
        }
    }

    #[test]
    fn the_first_error_in_order_ends_the_run() {
        let ended = in_order(
            0..u64::MAX,
            2,
            |number| number,
            |step| match step {
                JobEvent::Done(7, _) => Err(7),
                JobEvent::Done(..) | JobEvent::Waiting(_) => Ok(()),
            },
        );
        assert_eq!(ended, Err(7));
    }

    #[test]
    fn no_thread_runs_far_ahead_of_a_slow_job() {
        let begun = AtomicU64::new(0);
        let held_back = |number: u64| {
            let others = begun.fetch_add(1, Ordering::SeqCst);
            // The first job ends only when the others have reached the limit.
            while number == 0 && begun.load(Ordering::SeqCst) < LEAD {
                thread::yield_now();
            }
            others
        };
        let mut taken = 0;
        let ended = in_order(0..3 * LEAD, 3, held_back, |step| {
            if let JobEvent::Done(number, _) = step {
                let ahead = begun.load(Ordering::SeqCst) - number;
                assert!(ahead <= LEAD + 3, "{ahead} jobs ahead of job {number}");
                taken += 1;
            }
            Ok::<(), ()>(())
        });
        assert_eq!((ended, taken), (Ok(()), 3 * LEAD));
    }

    #[test]
    fn a_panic_in_a_job_does_not_deadlock_the_others() {
        let job = |number: u64| assert!(number != 5, "job 5 panics");
        let run = || in_order(0..3 * LEAD, 2, job, |_| Ok::<(), ()>(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
