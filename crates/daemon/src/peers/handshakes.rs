//! Who may be in a handshake: few at a time, and addresses take turns.
//!
//! A handshake costs a signature, and all of them are made by the threads that also carry heartbeats. So few are under way at once, of
//! one address fewer still, and when there is room the next address has its turn: strangers of one address, however many, keep no peer of
//! another one out.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::shared::lock;

/// How many handshakes may be under way, and how many of one address.
const MOST: usize = 32;
const MOST_OF_ONE: usize = 8;

/// The connections in a handshake, and those that wait for one.
#[derive(Default)]
pub(super) struct Handshakes {
    line: Mutex<Line<oneshot::Sender<Slot>>>,
}

/// A handshake that may be under way, until this is dropped.
pub(super) struct Slot {
    handshakes: Arc<Handshakes>,
    address: IpAddr,
}

impl Handshakes {
    /// Waits until a handshake with this address may begin.
    pub(super) async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let (sender, receiver) = oneshot::channel();
        let admitted = lock(&self.line).arrive(address, sender);
        match admitted {
            Some(_) => Some(Slot { handshakes: self.clone(), address }),
            None => receiver.await.ok(),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.handshakes.line).leave(self.address);
        loop {
            let next = lock(&self.handshakes.line).next();
            let Some((address, sender)) = next else { return };
            // If its receiver is gone, the slot comes back and is dropped here, which calls the next one.
            let _ = sender.send(Slot { handshakes: self.handshakes.clone(), address });
        }
    }
}

/// The same without waiting: who is in, and what each of those waits with who are not.
struct Line<T> {
    under_way: BTreeMap<IpAddr, usize>,
    count: usize,
    waiting: BTreeMap<IpAddr, VecDeque<T>>,
    /// Whose turn was last.
    last: Option<IpAddr>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { under_way: BTreeMap::new(), count: 0, waiting: BTreeMap::new(), last: None }
    }
}

impl<T> Line<T> {
    fn has_room(&self, address: &IpAddr) -> bool {
        self.count < MOST && self.under_way.get(address).is_none_or(|count| *count < MOST_OF_ONE)
    }

    /// A connection gets a slot at once, or waits.
    fn arrive(&mut self, address: IpAddr, ticket: T) -> Option<T> {
        if self.has_room(&address) && !self.waiting.contains_key(&address) {
            self.begin(address);
            return Some(ticket);
        }
        self.waiting.entry(address).or_default().push_back(ticket);
        None
    }

    fn begin(&mut self, address: IpAddr) {
        self.count += 1;
        *self.under_way.entry(address).or_default() += 1;
    }

    fn leave(&mut self, address: IpAddr) {
        self.count -= 1;
        if let Some(count) = self.under_way.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&address);
            }
        }
    }

    /// The next connection for a free slot: the first of the next address.
    fn next(&mut self) -> Option<(IpAddr, T)> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let later = self.waiting.range((after, Bound::Unbounded)).map(|(address, _)| *address);
        let all = self.waiting.keys().copied();
        let address = later.chain(all).find(|address| self.has_room(address))?;
        let line = self.waiting.get_mut(&address)?;
        let ticket = line.pop_front()?;
        if line.is_empty() {
            self.waiting.remove(&address);
        }
        self.last = Some(address);
        self.begin(address);
        Some((address, ticket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_take_turns_and_no_address_takes_all() {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let mut line = Line::default();
        let mut at_once = |last, ticket| line.arrive(address(last), ticket).is_some();
        assert_eq!((0..100).filter(|ticket| at_once(1, *ticket)).count(), MOST_OF_ONE);
        assert!(at_once(9, 900), "a peer is in at once");
        assert_eq!((0..100).filter(|ticket| at_once(2, 200 + *ticket)).count(), MOST_OF_ONE);
        assert_eq!((0..100).filter(|ticket| at_once(3, 400 + *ticket)).count(), MOST_OF_ONE);
        let rest = MOST - 3 * MOST_OF_ONE - 1;
        assert_eq!((0..100).filter(|ticket| at_once(4, 600 + *ticket)).count(), rest);
        assert!(!at_once(9, 901), "all are taken");
        // The peer waits for two others at most, not for those hundreds.
        line.leave(address(1));
        let mut turns = std::iter::from_fn(|| {
            let next = line.next()?;
            line.leave(next.0);
            Some(next)
        });
        let place = turns.by_ref().take(5).position(|(address, _)| address == IpAddr::from([10, 0, 0, 9]));
        assert!(place.is_some_and(|place| place < 5), "{place:?}");
    }

    #[test]
    fn a_slot_goes_to_the_next_even_if_those_before_gave_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let handshakes = Arc::<Handshakes>::default();
            let address = IpAddr::from([10, 0, 0, 1]);
            let mut slots = Vec::new();
            for _ in 0..MOST_OF_ONE {
                slots.push(handshakes.enter(address).await);
            }
            let wait = || {
                let handshakes = handshakes.clone();
                tokio::spawn(async move { handshakes.enter(address).await.is_some() })
            };
            let (gives_up, stays) = (wait(), wait());
            tokio::task::yield_now().await;
            gives_up.abort();
            tokio::task::yield_now().await;
            slots.pop();
            assert!(stays.await.expect("it is let in"));
            drop(slots);
            assert_eq!(lock(&handshakes.line).count, 0);
        });
    }
}
