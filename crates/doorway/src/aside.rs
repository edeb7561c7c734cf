//! Blocking work on a thread of its own, to be awaited on any async runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The result, or the waker of the waiting task.
struct Handover<R> {
    result: Option<R>,
    waker: Option<Waker>,
    is_over: bool,
}

/// Completes when the work is done; with `None` if it could not be begun, or panicked.
pub(crate) struct BlockingTask<R> {
    handover: Arc<Mutex<Handover<R>>>,
}

/// Runs `work` on a thread of its own. It runs on if the future is dropped.
pub(crate) fn aside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> BlockingTask<R> {
    let handover = Arc::new(Mutex::new(Handover { result: None, waker: None, is_over: false }));
    let last_word = CompleteOnDrop(Arc::clone(&handover));
    let worker = move || last_word.say(work());
    // If there is no thread, dropping the closure completes the future.
    let _ = std::thread::Builder::new().name("doorway-aside".to_owned()).spawn(worker);
    BlockingTask { handover }
}

/// Completes the future on drop, so that it never waits for ever, even after a panic.
struct CompleteOnDrop<R>(Arc<Mutex<Handover<R>>>);

impl<R> CompleteOnDrop<R> {
    fn say(self, result: R) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).result = Some(result);
    }
}

impl<R> Drop for CompleteOnDrop<R> {
    fn drop(&mut self) {
        let mut handover = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handover.is_over = true;
        let waker = handover.waker.take();
        drop(handover);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<R> Future for BlockingTask<R> {
    type Output = Option<R>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<R>> {
        let mut handover = self.handover.lock().unwrap_or_else(PoisonError::into_inner);
        if handover.is_over {
            return Poll::Ready(handover.result.take());
        }
        handover.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
