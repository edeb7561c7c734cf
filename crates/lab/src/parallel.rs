//! Many jobs on several threads, their results in order, so that the number of threads changes nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long to wait for a result before telling that there is none yet.
const PATIENCE: Duration = Duration::from_millis(100);

/// What comes of the jobs, as they come.
#[derive(Debug)]
pub enum Step<T> {
    /// The result of the next job.
    Done(u64, T),
    /// Nothing for a while; so many jobs are done.
    Waiting(u64),
}

/// How many threads can work at the same time here.
#[must_use]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Does `job` for every number of a range on so many threads and hands the results to `take` in the order of the numbers;
/// at least ten times a second `take` is called, if only to show that work goes on. The first error ends it: the threads
/// notice when nobody takes what they have done. Nobody works far ahead of a job that takes long, so that the results that
/// wait for it do not fill the memory.
///
/// # Errors
/// What `take` answers with.
pub fn in_order<T: Send, E>(
    jobs: Range<u64>,
    threads: usize,
    job: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(Step<T>) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicU64::new(jobs.start);
    let gate = Gate::new(jobs.start.saturating_add(LEAD));
    thread::scope(|scope| {
        let (done, results) = mpsc::sync_channel(2 * threads);
        let _opened_at_the_end = Opened(&gate);
        for _ in 0..threads.max(1) {
            let (done, next, gate, job, jobs) = (done.clone(), &next, &gate, &job, &jobs);
            scope.spawn(move || {
                let _opened_by_a_panic = Opened(gate);
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
            match results.recv_timeout(PATIENCE) {
                Ok((number, result)) => {
                    early.insert(number, result);
                }
                Err(RecvTimeoutError::Timeout) => take(Step::Waiting(wanted - jobs.start))?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Some(result) = early.remove(&wanted) {
                take(Step::Done(wanted, result))?;
                wanted += 1;
            }
            gate.raise(wanted.saturating_add(LEAD));
        }
    })
}

/// How many jobs may be begun before the oldest of them is done.
const LEAD: u64 = 4_096;

/// Holds back who is too far ahead.
struct Gate {
    /// Jobs from this number on have to wait.
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

/// Lets everybody pass when it goes: the end must not wait for who waits for it. A thread goes when no job is left, when nobody
/// takes its results, or in a panic; in none of these cases is there anything to hold back any more.
struct Opened<'a>(&'a Gate);

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.raise(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let slow_first =
                |number: u64| (0..(100 - number) * 1_000).fold(number, |sum, step| sum ^ (step * number));
            let ended = in_order(3..100, threads, slow_first, |step| {
                if let Step::Done(number, _) = step {
                    taken.push(number);
                }
                Ok::<(), ()>(())
            });
            assert_eq!((ended, taken), (Ok(()), (3..100).collect()));
        }
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        let ended = in_order(
            0..u64::MAX,
            2,
            |number| number,
            |step| match step {
                Step::Done(7, _) => Err(7),
                Step::Done(..) | Step::Waiting(_) => Ok(()),
            },
        );
        assert_eq!(ended, Err(7));
    }

    #[test]
    fn nobody_works_far_ahead_of_a_job_that_takes_long() {
        let begun = AtomicU64::new(0);
        let held_back = |number: u64| {
            let others = begun.fetch_add(1, Ordering::SeqCst);
            // The first job ends only when the others have come as far as they may.
            while number == 0 && begun.load(Ordering::SeqCst) < LEAD {
                thread::yield_now();
            }
            others
        };
        let mut taken = 0;
        let ended = in_order(0..3 * LEAD, 3, held_back, |step| {
            if let Step::Done(number, _) = step {
                let ahead = begun.load(Ordering::SeqCst) - number;
                assert!(ahead <= LEAD + 3, "{ahead} jobs ahead of job {number}");
                taken += 1;
            }
            Ok::<(), ()>(())
        });
        assert_eq!((ended, taken), (Ok(()), 3 * LEAD));
    }

    #[test]
    fn a_job_that_panics_does_not_leave_the_others_waiting() {
        let job = |number: u64| assert!(number != 5, "job 5 panics");
        let run = || in_order(0..3 * LEAD, 2, job, |_| Ok::<(), ()>(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
