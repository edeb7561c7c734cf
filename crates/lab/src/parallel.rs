//! Many jobs on several threads, their results in order, so that the number of threads changes nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
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
/// notice when nobody takes what they have done.
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
    thread::scope(|scope| {
        let (done, results) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads.max(1) {
            let (done, next, job, jobs) = (done.clone(), &next, &job, &jobs);
            scope.spawn(move || {
                let claim =
                    || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| jobs.contains(number));
                while let Some(number) = claim() {
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
        }
    })
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
}
