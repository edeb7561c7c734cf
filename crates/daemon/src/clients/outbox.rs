//! The queue of messages to a client.
//!
//! It is bounded, whatever the client does, and so are the unread long answers of all clients together. Of the renewals, which never end, only the latest deadline of each request is kept. If
//! the rest becomes too much, the client does not read, and the connection is closed: it must not miss a message and continue.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use doorway_core::Ticks;
use doorway_node::ClientId;
use doorway_protocol::DaemonMsg;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::told_frame;
use crate::shared::lock;

/// The queue of messages to one client.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Who that is, for the log.
    client: u64,
    /// How many bytes all clients together have not read yet.
    unread: Arc<AtomicUsize>,
    waiting: Mutex<Waiting>,
    bell: Notify,
    /// Signals that the connection is to be closed, even during a write that the client does not read.
    end: Notify,
}

#[derive(Default)]
struct Waiting {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The same of all clients.
    unread: Arc<AtomicUsize>,
    renewals: BTreeMap<u32, Ticks>,
    is_closed: bool,
    /// How many bytes were taken and are not written yet, and the room of the questions that they answer.
    writing: usize,
    writing_rooms: Vec<OwnedSemaphorePermit>,
}

/// Bytes to be written as one, and the room that the question behind them takes until they are.
struct Frame {
    bytes: Vec<u8>,
    room: Option<OwnedSemaphorePermit>,
}

impl Outbox {
    /// How many words may wait.
    const MOST: usize = 4_096;
    /// How many bytes may wait before one more word is too much: that one may be long, as the answer to a question is.
    const HEAVIEST: usize = 256 << 10;
    /// How much is written at once.
    const BATCH: usize = 16 << 10;
    /// How many bytes may wait for all clients before an answer to a question is one too many.
    const MOST_UNREAD: usize = 64 << 20;

    /// An empty queue. Its bytes count together with those of other clients.
    pub(crate) fn new(client: ClientId, unread: Arc<AtomicUsize>) -> Self {
        let waiting = Mutex::new(Waiting { unread: unread.clone(), ..Waiting::default() });
        Self { client: client.0, unread, waiting, ..Self::default() }
    }

    /// Tells the client.
    pub(crate) fn push(&self, told: &DaemonMsg) {
        self.push_with(told, None);
    }

    /// Answers a question of the client. The question's room is given back when the answer is written, not when it is queued: so a client
    /// that does not read has few answers waiting, and not as many as it asks for.
    pub(crate) fn answer(&self, told: &DaemonMsg, room: OwnedSemaphorePermit) {
        self.push_with(told, Some(room));
    }

    fn push_with(&self, told: &DaemonMsg, room: Option<OwnedSemaphorePermit>) {
        if let DaemonMsg::Status { number, .. } = told
            && self.unread.load(Ordering::Relaxed) > Self::MOST_UNREAD
        {
            let sentence = "too many answers are unread: read them and ask again".to_owned();
            return self.push_with(&DaemonMsg::Failed { number: *number, sentence }, room);
        }
        tracing::trace!(client = self.client, ?told, "told");
        // Long messages are encoded before the mutex is locked, because the node's thread may wait for it.
        let bytes = if matches!(told, DaemonMsg::Renewed { .. }) { Vec::new() } else { told_frame(told) };
        let frame = Frame { bytes, room };
        let mut waiting = lock(&self.waiting);
        match told {
            DaemonMsg::Renewed { number, until } => {
                waiting.renewals.insert(*number, *until);
            }
            DaemonMsg::Lost { number, .. }
            | DaemonMsg::Freed { number }
            | DaemonMsg::Refused { number, .. } => {
                waiting.renewals.remove(number);
                waiting.push(frame);
            }
            DaemonMsg::Welcome { .. }
            | DaemonMsg::Granted { .. }
            | DaemonMsg::Status { .. }
            | DaemonMsg::Wanted { .. }
            | DaemonMsg::Done { .. }
            | DaemonMsg::Failed { .. }
            | DaemonMsg::Goodbye { .. }
            | DaemonMsg::Clock { .. } => waiting.push(frame),
        }
        if waiting.is_closed {
            self.end.notify_one();
        }
        drop(waiting);
        self.bell.notify_one();
    }

    /// A request is over: drops its pending renewal.
    pub(crate) fn forget(&self, number: u32) {
        lock(&self.waiting).renewals.remove(&number);
    }

    /// The next bytes to write.
    pub(super) async fn next(&self) -> Vec<u8> {
        loop {
            {
                let mut waiting = lock(&self.waiting);
                let batch = waiting.take();
                if !batch.is_empty() {
                    return batch;
                }
            }
            self.bell.notified().await;
        }
    }

    /// Returns when the connection is to be closed.
    pub(super) async fn overflow(&self) {
        self.end.notified().await;
    }

    /// The bytes that were taken last are written.
    pub(super) fn written(&self) {
        lock(&self.waiting).written();
    }

    /// The client will read nothing any more.
    pub(crate) fn close(&self) {
        lock(&self.waiting).close();
    }

    /// Whether all of it has been written, or never will be.
    pub(crate) fn is_done(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.is_closed || (waiting.frames.is_empty() && waiting.writing == 0)
    }
}

impl Waiting {
    fn push(&mut self, frame: Frame) {
        if self.frames.len() >= Outbox::MOST || self.bytes > Outbox::HEAVIEST {
            self.close();
        }
        if !self.is_closed {
            self.bytes += frame.bytes.len();
            self.unread.fetch_add(frame.bytes.len(), Ordering::Relaxed);
            self.frames.push_back(frame);
        }
    }

    fn written(&mut self) {
        self.unread.fetch_sub(std::mem::take(&mut self.writing), Ordering::Relaxed);
        self.writing_rooms.clear();
    }

    fn close(&mut self) {
        self.written();
        self.unread.fetch_sub(self.bytes, Ordering::Relaxed);
        *self = Self { is_closed: true, unread: self.unread.clone(), ..Self::default() };
    }

    /// Words in their order; deadlines when there are none, so that no deadline overtakes the word that began it.
    fn take(&mut self) -> Vec<u8> {
        let mut batch = Vec::new();
        let fits = |batch: &Vec<u8>, next: &Frame| {
            batch.is_empty() || batch.len() + next.bytes.len() <= Outbox::BATCH
        };
        while self.frames.front().is_some_and(|next| fits(&batch, next))
            && let Some(Frame { bytes, room }) = self.frames.pop_front()
        {
            // An answer may be long: one that is alone is not copied.
            if batch.is_empty() {
                batch = bytes;
            } else {
                batch.extend(bytes);
            }
            self.writing_rooms.extend(room);
        }
        self.bytes -= batch.len();
        while self.frames.is_empty()
            && batch.len() <= Outbox::BATCH
            && let Some((number, until)) = self.renewals.pop_first()
        {
            let renewal = told_frame(&DaemonMsg::Renewed { number, until });
            self.unread.fetch_add(renewal.len(), Ordering::Relaxed);
            batch.extend(renewal);
        }
        self.writing = batch.len();
        batch
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::SectionName;
    use doorway_node::Loss;
    use doorway_protocol::{self as protocol, Status};
    use tokio::sync::Semaphore;

    use super::*;

    fn all(outbox: &Outbox) -> Vec<DaemonMsg> {
        let mut waiting = lock(&outbox.waiting);
        let (mut bytes, mut told) = (Vec::new(), Vec::new());
        while !waiting.frames.is_empty() || !waiting.renewals.is_empty() {
            bytes.extend(waiting.take());
            waiting.written();
        }
        let mut rest = bytes.as_slice();
        while let Some((head, body)) = rest.split_first_chunk::<4>() {
            let (frame, more) = body.split_at(u32::from_le_bytes(*head) as usize);
            told.push(protocol::read(frame).expect("a word"));
            rest = more;
        }
        told
    }

    #[test]
    fn only_the_latest_renewal_is_sent_and_none_after_a_loss() {
        let outbox = Outbox::default();
        let renewed = |number, until| DaemonMsg::Renewed { number, until: Ticks(until) };
        (0..1_000).for_each(|until| outbox.push(&renewed(7, until)));
        outbox.push(&renewed(8, 5));
        let granted = DaemonMsg::Granted { number: 7, fences: Vec::new(), until: Ticks(0) };
        outbox.push(&granted);
        assert_eq!(all(&outbox), [granted, renewed(7, 999), renewed(8, 5)]);
        outbox.push(&renewed(7, 1_000));
        let lost = DaemonMsg::Lost { number: 7, why: Loss::Lease };
        outbox.push(&lost);
        assert_eq!(all(&outbox), [lost]);
    }

    #[test]
    fn a_client_that_does_not_read_is_closed() {
        let outbox = Outbox::default();
        let section = SectionName::new("a").expect("a good name");
        let wanted = DaemonMsg::Wanted { number: 1, section };
        (0..4_096).for_each(|_| outbox.push(&wanted));
        assert!(!lock(&outbox.waiting).is_closed);
        outbox.push(&wanted);
        assert!(lock(&outbox.waiting).is_closed && lock(&outbox.waiting).frames.is_empty());
        outbox.push(&wanted);
        assert!(lock(&outbox.waiting).frames.is_empty());
    }

    #[test]
    fn unread_answers_are_limited_for_all_clients_together() {
        let unread = Arc::new(AtomicUsize::new(0));
        let status = |outbox: &Outbox| {
            let node = "x".repeat(1 << 20);
            let status = Status {
                cluster: String::new(),
                algorithm: String::new(),
                node,
                nodes: Vec::new(),
                sections: Vec::new(),
                is_cut: false,
            };
            outbox.push(&DaemonMsg::Status { number: 3, status: Box::new(status) });
        };
        let outboxes: Vec<Outbox> = (0..100).map(|_| Outbox::new(ClientId(1), unread.clone())).collect();
        outboxes.iter().for_each(status);
        assert!(unread.load(Ordering::Relaxed) < 66 << 20);
        let first = all(&outboxes[0]);
        assert!(matches!(first[..], [DaemonMsg::Status { number: 3, .. }]));
        assert!(matches!(all(&outboxes[99])[..], [DaemonMsg::Failed { number: 3, .. }]));
        outboxes[1..].iter().for_each(Outbox::close);
        assert_eq!(unread.load(Ordering::Relaxed), 0);
        status(&outboxes[0]);
        assert_eq!(all(&outboxes[0]), first);
    }

    #[test]
    fn a_written_answer_gives_back_the_room_of_its_question() {
        let rooms = Arc::new(Semaphore::new(2));
        let room = || rooms.clone().try_acquire_owned().expect("there is room");
        let outbox = Outbox::default();
        let done = DaemonMsg::Done { number: 1, sentence: "done".to_owned() };
        outbox.answer(&done, room());
        assert_eq!(rooms.available_permits(), 1, "it is queued");
        let batch = lock(&outbox.waiting).take();
        assert!(!batch.is_empty());
        outbox.answer(&done, room());
        assert_eq!(rooms.available_permits(), 0, "one is being written, one is queued");
        outbox.written();
        assert_eq!(rooms.available_permits(), 1, "one is written");
        outbox.close();
        assert_eq!(rooms.available_permits(), 2, "nobody reads the other one any more");
        outbox.answer(&done, room());
        assert_eq!(rooms.available_permits(), 2);
    }
}
