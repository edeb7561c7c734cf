//! A run in memory: a few bytes an event, and the bytes of each message once.
//!
//! An [`Event`] is complete, so that it can be read alone; but most of it follows from the events before it. A send or an
//! entry belongs to the step that its node is making; a delivery happens at the receiver of the send, and brings what was
//! sent; time seldom moves. So the log is a sequence of words of four bytes each that tell only what is new:
//! most events are one word, and none that a run can have many of takes more than six. What does not fit is kept whole: moved
//! clocks, reported crashes, violations, where a loop begins. A reader goes from the beginning to the end and puts the events together again.

mod reader;
mod word;

use std::fmt;

use doorway_core::{Fence, Message, NodeId, Ticks, To};
use postcard::ser_flavors::Flavor;
use serde_json::Value;

pub use self::reader::Reader;
use self::word::{Alone, ESCAPE, Tag, word};
use crate::{Event, What};

/// The events of one run, written down in the order in which they happened.
///
/// A start, a request, a release, a delivery, a reported crash, a reminder and a write that is done are steps of a node. Sends and entries
/// that follow belong to this step, until the next one.
///
/// ```
/// use doorway_core::{NodeId, Ticks};
/// use doorway_trace::{Log, What};
///
/// let [one, two] = [0, 1].map(NodeId::new);
/// let mut log = Log::of::<u64>();
/// log.push(Ticks(3), one, What::Request, "", None);
/// log.seal("TICKET", "ask", &7_u64);
/// let sent = log.send(two);
/// log.deliver(Ticks(8), sent);
/// let last = log.iter().last().expect("three events");
/// assert_eq!((last.id, last.time, last.node, last.cause), (3, Ticks(8), two, Some(sent)));
/// assert_eq!(last.what, What::Deliver { from: one, kind: "TICKET".into(), message: 7.into() });
/// ```
#[derive(Clone)]
pub struct Log {
    words: Vec<u32>,
    /// All messages, one behind the other, as `postcard` writes them.
    messages: Vec<u8>,
    /// Names that occur together, each pair once.
    names: Vec<Names>,
    /// What does not fit into words.
    whole: Vec<Event>,
    /// How many events there are.
    count: u32,
    /// When the last one happened.
    time: Ticks,
    /// The step that is being made; 0 before the first.
    step: u32,
    /// Reads a message.
    decode: fn(&[u8]) -> Value,
}

const _: () = assert!(Log::MOST_BYTES_PER_EVENT <= 32);

/// The kind of a message and the rule that sent it; of an entry only the rule, of a loss only the reason.
#[derive(Clone, Copy)]
struct Names {
    kind: &'static str,
    reason: &'static str,
}

impl Log {
    /// The most that starts, requests, entries, releases, sendings, deliveries, reminders, writes, losses, pauses and crashes take
    /// in memory, each, besides their messages.
    pub const MOST_BYTES_PER_EVENT: usize = word::MOST_WORDS * size_of::<u32>();
    /// The largest number of events.
    pub const MOST_EVENTS: u32 = u32::MAX;
    /// The largest number of nodes.
    pub const MOST_NODES: usize = word::MOST_NODES;

    /// A log of nodes that send each other such messages, with nothing in it yet. They must come through `postcard` as they
    /// were, as they would on a wire; of one that does not, the log knows its kind only.
    #[must_use]
    pub fn of<M: Message>() -> Self {
        Self {
            words: Vec::new(),
            messages: Vec::new(),
            names: Vec::new(),
            whole: Vec::new(),
            count: 0,
            time: Ticks(0),
            step: 0,
            decode: decoded::<M>,
        }
    }

    /// Writes down anything at all; tells its number. For messages and entries there are cheaper ways.
    ///
    /// # Panics
    /// As all that write: if there are [`Log::MOST_EVENTS`] already.
    pub fn push(
        &mut self,
        time: Ticks,
        node: NodeId,
        what: What,
        rule: &'static str,
        cause: Option<u64>,
    ) -> u64 {
        let number = self.count();
        if is_step(&what) {
            self.step = number;
        }
        self.move_to(time);
        match Alone::of(&what).filter(|_| rule.is_empty() && cause.is_none()) {
            Some(alone) => self.words.push(alone.word(node)),
            None => {
                self.words.push(word(Tag::Whole, self.whole.len() as u32));
                let rule = named(rule);
                self.whole.push(Event { id: number.into(), time, node, what, rule, cause });
            }
        }
        number.into()
    }

    /// Writes down a message that the step sends by this rule, to be sent to one node or to many.
    pub fn seal(&mut self, kind: &'static str, rule: &'static str, msg: &impl Message) {
        let begin = self.messages.len();
        if postcard::serialize_with_flavor(msg, Arena(&mut self.messages)).is_err() {
            self.messages.truncate(begin);
        }
        let length = (self.messages.len() - begin) as u32;
        let names = self.names(kind, rule);
        self.words.push(word::seal(names, length));
        if length >= word::LONG {
            self.words.push(length);
        }
    }

    /// The step sends the message that was written down last; tells the number of its sending.
    #[inline]
    pub fn send(&mut self, to: NodeId) -> u64 {
        let number = self.count();
        self.words.push(word(Tag::Send, to.index() as u32));
        number.into()
    }

    /// The step sends the message that was written down last to all of these, in their order; each sending is an event.
    pub fn send_to(&mut self, to: &To) {
        match to {
            To::One(to) => {
                self.send(*to);
            }
            To::Set(nodes) => {
                for to in nodes {
                    self.send(to);
                }
            }
        }
    }

    /// What was sent arrives: a step of its receiver. Tells its number.
    #[inline]
    pub fn deliver(&mut self, time: Ticks, sending: u64) -> u64 {
        let number = self.count();
        self.move_to(time);
        self.put_distance(Tag::Deliver, number - sending as u32);
        self.step = number;
        number.into()
    }

    /// What was sent never arrives. Tells the number of this event.
    pub fn lose(&mut self, time: Ticks, sending: u64, why: &'static str) -> u64 {
        let number = self.count();
        self.move_to(time);
        let names = self.names("", why);
        self.words.extend([word(Tag::Lost, names.into()), number - sending as u32]);
        number.into()
    }

    /// The step lets its node in. Tells the number of this event.
    pub fn enter(&mut self, fence: Fence, rule: &'static str) -> u64 {
        let number = self.count();
        let names = self.names("", rule);
        self.words.push(word(Tag::Enter, names.into()));
        self.words.extend(word::halves(fence.0));
        number.into()
    }

    /// The step that is being made, if there was any.
    #[must_use]
    pub fn step(&self) -> Option<u64> {
        (self.step > 0).then_some(self.step.into())
    }

    /// The number of the next event, which there is now.
    #[inline]
    fn count(&mut self) -> u32 {
        assert!(self.count < Self::MOST_EVENTS, "a log holds at most {} events", Self::MOST_EVENTS);
        self.count += 1;
        self.count
    }

    /// What is written next happens at this time.
    #[inline]
    fn move_to(&mut self, time: Ticks) {
        if time != self.time {
            self.put_time(time);
        }
    }

    #[inline(never)]
    fn put_time(&mut self, time: Ticks) {
        match time.0.checked_sub(self.time.0) {
            Some(later) if later < ESCAPE.into() => self.words.push(word(Tag::Time, later as u32)),
            _ => {
                self.words.push(word(Tag::Time, ESCAPE));
                self.words.extend(word::halves(time.0));
            }
        }
        self.time = time;
    }

    /// How many events ago something happened.
    #[inline]
    fn put_distance(&mut self, tag: Tag, distance: u32) {
        self.words.push(word(tag, distance.min(ESCAPE)));
        if distance >= ESCAPE {
            self.words.push(distance);
        }
    }

    /// The place of a pair of names. There are few, so that a look at each is the quickest way.
    #[inline]
    fn names(&mut self, kind: &'static str, reason: &'static str) -> u16 {
        let is_same = |known: &Names| std::ptr::eq(known.kind, kind) && std::ptr::eq(known.reason, reason);
        match self.names.iter().position(is_same) {
            Some(place) => place as u16,
            None => self.add_names(Names { kind, reason }),
        }
    }

    #[cold]
    fn add_names(&mut self, names: Names) -> u16 {
        assert!(self.names.len() < word::MOST_NAMES, "a log knows at most {} names", word::MOST_NAMES);
        self.names.push(names);
        self.names.len() as u16 - 1
    }
}

/// What can be asked.
impl Log {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether nothing was written down.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The events in order, each put together when its turn comes.
    #[must_use]
    pub fn iter(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// What the events take in memory, in bytes, besides the messages.
    #[must_use]
    pub fn event_bytes(&self) -> usize {
        self.words.len() * size_of::<u32>() + self.whole.len() * size_of::<Event>()
    }

    /// What the messages take in memory, in bytes.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.messages.len()
    }
}

impl<'a> IntoIterator for &'a Log {
    type Item = Event;
    type IntoIter = Reader<'a>;

    fn into_iter(self) -> Reader<'a> {
        self.iter()
    }
}

/// A log of nothing.
impl Default for Log {
    fn default() -> Self {
        Self::of::<()>()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// Where messages are written, byte by byte: they are so short that to copy them in blocks takes longer.
struct Arena<'a>(&'a mut Vec<u8>);

impl Flavor for Arena<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        bytes.iter().for_each(|byte| self.0.push(*byte));
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

fn is_step(what: &What) -> bool {
    match what {
        What::Start | What::Request | What::Release | What::Deliver { .. } | What::Timer | What::Written => {
            true
        }
        What::Report { .. } => true,
        What::Send { .. } | What::Enter { .. } | What::Lost { .. } | What::Access { .. } => false,
        What::Clock { .. } | What::Crash | What::Pause | What::Resume => false,
        What::Violation { .. } | What::Loop => false,
    }
}

fn decoded<M: Message>(bytes: &[u8]) -> Value {
    let msg = postcard::from_bytes::<M>(bytes).ok();
    msg.and_then(|msg| serde_json::to_value(msg).ok()).unwrap_or_default()
}

fn named(rule: &'static str) -> Option<std::borrow::Cow<'static, str>> {
    (!rule.is_empty()).then_some(rule.into())
}
