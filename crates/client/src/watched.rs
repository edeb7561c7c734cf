//! A value with waiters: tasks wait by their wakers, threads by a condition variable.
//!
//! It depends on no async runtime. The caller that changes the value gets the wakers back and wakes them when it holds no lock,
//! because a waker may run any code.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The wakers of tasks to be woken.
pub(crate) type Woken = std::collections::btree_map::IntoValues<u64, Waker>;

/// A value that tasks and threads can wait for.
pub(crate) struct Watched<T> {
    value: Mutex<Value<T>>,
    changed: Condvar,
}

struct Value<T> {
    it: T,
    /// The waiting tasks, each under a number of its own, so that a dropped future can remove its waker.
    wakers: BTreeMap<u64, Waker>,
    last: u64,
}

impl<T> Watched<T> {
    pub(crate) fn new(it: T) -> Arc<Self> {
        let value = Mutex::new(Value { it, wakers: BTreeMap::new(), last: 0 });
        Arc::new(Self { value, changed: Condvar::new() })
    }

    /// Reads the value.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.lock().it)
    }

    /// Changes the value. The caller must wake the wakers that it gets back.
    pub(crate) fn change(&self, change: impl FnOnce(&mut T)) -> Woken {
        let mut value = self.lock();
        change(&mut value.it);
        self.changed.notify_all();
        std::mem::take(&mut value.wakers).into_values()
    }

    /// Changes a part of the value for which no task or thread waits.
    pub(crate) fn amend(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock().it);
    }

    /// Blocks this thread until `find` finds something, or the timeout.
    pub(crate) fn wait<R>(
        &self,
        timeout: Option<Duration>,
        mut find: impl FnMut(&T) -> Option<R>,
    ) -> Option<R> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut value = self.lock();
        loop {
            if let Some(found) = find(&value.it) {
                return Some(found);
            }
            value = match end.map(|end| end.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(value).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return None,
                Some(left) => {
                    self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// A future that completes when `find` finds something.
    pub(crate) fn until<R, F: FnMut(&T) -> Option<R>>(self: &Arc<Self>, find: F) -> Until<T, F> {
        Until { watched: Arc::clone(self), find, key: None }
    }

    fn lock(&self) -> MutexGuard<'_, Value<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a value has the wanted content.
pub(crate) struct Until<T, F> {
    watched: Arc<Watched<T>>,
    find: F,
    key: Option<u64>,
}

// It has no pinned fields.
impl<T, F> Unpin for Until<T, F> {}

impl<T, R, F: FnMut(&T) -> Option<R>> Future for Until<T, F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let me = &mut *self;
        let mut value = me.watched.lock();
        if let Some(found) = (me.find)(&value.it) {
            return Poll::Ready(found);
        }
        let key = *me.key.get_or_insert_with(|| {
            value.last += 1;
            value.last
        });
        // Dropping a waker may run any code as well, so the lock is dropped first.
        let old = value.wakers.insert(key, context.waker().clone());
        drop(value);
        drop(old);
        Poll::Pending
    }
}

impl<T, F> Drop for Until<T, F> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // The waker is dropped after the lock is.
            let _waker = self.watched.lock().wakers.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_returns_each_waiting_waker_once() {
        let number = Watched::new(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut stays = number.until(|it| (*it == 2).then_some("two"));
        let mut goes = number.until(|it| (*it == 2).then_some("two"));
        assert!(Pin::new(&mut stays).poll(&mut context).is_pending());
        assert!(Pin::new(&mut goes).poll(&mut context).is_pending());
        drop(goes);
        assert_eq!(number.change(|it| *it = 1).count(), 1);
        assert_eq!(number.change(|it| *it = 2).count(), 0, "it has not asked again");
        assert_eq!(Pin::new(&mut stays).poll(&mut context), Poll::Ready("two"));
        assert_eq!(number.wait(Some(Duration::ZERO), |it| (*it == 3).then_some(())), None);
        assert_eq!(number.look(|it| *it), 2);
    }
}
