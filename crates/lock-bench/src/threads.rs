//! Threads that begin together, each on a processor of its own if there are enough, and are timed.
//!
//! On a machine that others use too a thread may lose its processor for a while, and then nothing that it waits for is to
//! blame. Linux tells a thread how long it stood in line for a processor; elsewhere all turns are taken to be quiet.

use std::fs;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The result of one thread, its duration, and its processor time.
#[derive(Debug)]
pub(super) struct ThreadResult<R> {
    pub(super) result: R,
    pub(super) time: Duration,
    /// Nothing where the system does not tell.
    pub(super) ran: Option<ProcessorUse>,
}

/// What a thread had of a processor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessorUse {
    /// How long it had one, up to the last tick of the system's clock.
    pub(super) running: Duration,
    /// How long it was runnable while others had the processor.
    pub(super) in_line: Duration,
}

/// Something on cache lines of its own, so that what its neighbours do is not felt.
#[repr(align(128))]
pub(super) struct OwnCacheLine<V>(pub(super) V);

/// Runs each part of the work on a thread of its own. The threads are spread over this many processors and begin when all
/// are there; each is told when that was, as it may itself get a processor only later.
///
/// # Panics
/// If one of them does.
pub(super) fn together<P: Send, R: Send>(
    parts: Vec<P>,
    processors: usize,
    work: impl Fn(P, Instant) -> R + Sync,
) -> Vec<ThreadResult<R>> {
    let start = Start { missing: AtomicUsize::new(parts.len()), begun: OnceLock::new() };
    let stay = |number: usize, part: P| {
        settle_on(number % processors.max(1));
        let before = ran_so_far();
        let begun = start.wait();
        let result = work(part, begun);
        let time = begun.elapsed();
        ThreadResult {
            result,
            time,
            ran: before.zip(ran_so_far()).map(|(before, after)| after.since(before)),
        }
    };
    let stay = &stay;
    thread::scope(|scope| {
        let parts = parts.into_iter().enumerate();
        let threads: Vec<_> = parts.map(|(number, part)| scope.spawn(move || stay(number, part))).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.collect()
    })
}

/// Where threads wait for each other before they begin.
#[repr(align(128))]
struct Start {
    missing: AtomicUsize,
    begun: OnceLock<Instant>,
}

impl Start {
    /// When the last one came.
    fn wait(&self) -> Instant {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            return *self.begun.get_or_init(Instant::now);
        }
        loop {
            match self.begun.get() {
                Some(begun) => return *begun,
                None => thread::yield_now(),
            }
        }
    }
}

/// How much all of them did in a second.
pub(super) fn per_second(stays: &[ThreadResult<u64>]) -> f64 {
    let done: u64 = stays.iter().map(|stay| stay.result).sum();
    let longest = stays.iter().map(|stay| stay.time).max().unwrap_or_default();
    done as f64 / longest.as_secs_f64().max(1e-9)
}

/// The share of their time in which others did not take the processors from them.
pub(super) fn quiet<R>(stays: &[ThreadResult<R>]) -> f64 {
    let in_line = |stay: &ThreadResult<R>| stay.ran.map_or(0.0, |ran| ran.in_line.as_secs_f64());
    let lost: f64 = stays.iter().map(in_line).sum();
    let time: f64 = stays.iter().map(|stay| stay.time.as_secs_f64()).sum();
    1.0 - (lost / time.max(1e-9)).min(1.0)
}

impl ProcessorUse {
    fn since(self, before: ProcessorUse) -> Self {
        Self {
            running: self.running.saturating_sub(before.running),
            in_line: self.in_line.saturating_sub(before.in_line),
        }
    }
}

/// What this thread has had of processors in its life.
fn ran_so_far() -> Option<ProcessorUse> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map(|word| word.parse().map(Duration::from_nanos));
    Some(ProcessorUse { running: numbers.next()?.ok()?, in_line: numbers.next()?.ok()? })
}

/// Pins this thread to one processor, if the system allows it and has that many; else does nothing.
fn settle_on(number: usize) {
    let processor = core_affinity::get_core_ids().and_then(|ids| ids.get(number).copied());
    processor.map(core_affinity::set_for_current);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_works_on_a_part_and_results_are_in_order() {
        let stays = together(vec![3, 1, 2], 2, |part, _| part * 10);
        assert_eq!(stays.iter().map(|stay| stay.result).collect::<Vec<_>>(), [30, 10, 20]);
    }

    #[test]
    fn a_rate_is_all_that_was_done_in_the_longest_time() {
        let stay = |result, millis| ThreadResult { result, time: Duration::from_millis(millis), ran: None };
        assert_eq!(per_second(&[stay(30, 500), stay(10, 250)]), 80.0);
    }

    #[test]
    fn who_stands_in_line_is_not_quiet() {
        let stay = |in_line| {
            let ran = ProcessorUse { running: Duration::ZERO, in_line: Duration::from_millis(in_line) };
            ThreadResult { result: (), time: Duration::from_millis(10), ran: Some(ran) }
        };
        assert_eq!(quiet(&[stay(0), stay(5)]), 0.75);
        assert_eq!(quiet(&[ThreadResult { ran: None, ..stay(5) }]), 1.0);
        assert_eq!(quiet(&[stay(99)]), 0.0);
    }
}
