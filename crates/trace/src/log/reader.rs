//! Reading a log from its beginning to its end.

use doorway_core::{Fence, NodeId, Ticks};
use serde_json::Value;

use super::word::{self, Alone, ESCAPE, Tag};
use super::{Log, Names, is_step, named};
use crate::{Event, What};

/// The events of a [`Log`] in order. It remembers sender and receiver of each message: about ten bytes an event.
pub struct Reader<'a> {
    log: &'a Log,
    /// The next word.
    at: usize,
    /// The messages that come later begin here.
    unread: usize,
    /// How many events were read.
    count: u32,
    time: Ticks,
    /// The step that was made last, and where.
    step: (u32, NodeId),
    seals: Vec<Seal>,
    /// For each event so far, what it has sent.
    letters: Vec<Option<SentMessage>>,
}

/// A message that is sent, by one node to some.
struct Seal {
    names: u16,
    begin: usize,
    end: usize,
}

/// A message that was sent to one node.
#[derive(Clone, Copy)]
struct SentMessage {
    from: NodeId,
    to: NodeId,
    seal: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(log: &'a Log) -> Self {
        let (seals, letters) = (Vec::new(), Vec::new());
        let step = (0, NodeId::new(0));
        Self { log, at: 0, unread: 0, count: 0, time: Ticks(0), step, seals, letters }
    }

    fn next_word(&mut self) -> u32 {
        self.at += 1;
        self.log.words[self.at - 1]
    }

    fn next_two(&mut self) -> u64 {
        word::joined([self.next_word(), self.next_word()])
    }

    fn read_time(&mut self, later: u32) {
        self.time = match later {
            ESCAPE => Ticks(self.next_two()),
            _ => self.time + Ticks(later.into()),
        };
    }

    fn read_seal(&mut self, rest: u32) {
        let (names, length) = word::unsealed(rest);
        let length = if length == word::LONG { self.next_word() } else { length };
        let begin = self.unread;
        self.unread += length as usize;
        self.seals.push(Seal { names, begin, end: self.unread });
    }

    fn read_distance(&mut self, rest: u32) -> u32 {
        if rest == ESCAPE { self.next_word() } else { rest }
    }

    fn read_event(&mut self, tag: Tag, rest: u32) -> Event {
        self.count += 1;
        let mut letter = None;
        let event = match tag {
            Tag::Send => {
                let ((step, from), seal) = (self.step, self.seals.len() as u32 - 1);
                let sent = SentMessage { from, to: NodeId::new(rest as usize), seal };
                letter = Some(sent);
                let (kind, message) = (self.names_of(sent).kind.into(), self.message(sent));
                let what = What::Send { to: sent.to, kind, message };
                self.event(from, what, self.names_of(sent).reason, Some(step))
            }
            Tag::Deliver => {
                let distance = self.read_distance(rest);
                self.delivery(self.count - distance)
            }
            Tag::Lost => {
                let distance = self.next_word();
                self.loss(self.count - distance, self.names(rest).reason)
            }
            Tag::Enter => {
                let (fence, (step, node)) = (Fence(self.next_two()), self.step);
                self.event(node, What::Enter { fence }, self.names(rest).reason, Some(step))
            }
            Tag::Whole => self.log.whole[rest as usize].clone(),
            Tag::Alone => {
                let (what, node) = Alone::read(rest);
                self.event(node, what, "", None)
            }
            Tag::Seal | Tag::Time => unreachable!("these are no events"),
        };
        self.letters.push(letter);
        if is_step(&event.what) {
            self.step = (self.count, event.node);
        }
        event
    }

    fn delivery(&self, sending: u32) -> Event {
        let letter = self.letter(sending);
        let (kind, message) = (self.names_of(letter).kind.into(), self.message(letter));
        self.event(letter.to, What::Deliver { from: letter.from, kind, message }, "", Some(sending))
    }

    fn loss(&self, sending: u32, why: &'static str) -> Event {
        let letter = self.letter(sending);
        let what = What::Lost { to: letter.to, kind: self.names_of(letter).kind.into(), why: why.into() };
        self.event(letter.from, what, "", Some(sending))
    }

    fn event(&self, node: NodeId, what: What, rule: &'static str, cause: Option<u32>) -> Event {
        let cause = cause.filter(|cause| *cause > 0).map(u64::from);
        Event { id: self.count.into(), time: self.time, node, what, rule: named(rule), cause }
    }

    fn letter(&self, sending: u32) -> SentMessage {
        self.letters[sending as usize - 1].expect("what arrives or is lost was sent")
    }

    fn message(&self, letter: SentMessage) -> Value {
        let Seal { begin, end, .. } = self.seals[letter.seal as usize];
        (self.log.decode)(&self.log.messages[begin..end])
    }

    fn names_of(&self, letter: SentMessage) -> Names {
        self.names(self.seals[letter.seal as usize].names.into())
    }

    fn names(&self, place: u32) -> Names {
        self.log.names[place as usize]
    }
}

impl Iterator for Reader<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.at < self.log.words.len() {
            match word::parts(self.next_word()) {
                (Tag::Time, later) => self.read_time(later),
                (Tag::Seal, rest) => self.read_seal(rest),
                (tag, rest) => return Some(self.read_event(tag, rest)),
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.log.len() - self.count as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Reader<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_of_any_size_is_read_as_it_was_written() {
        for distance in [1, ESCAPE - 1, ESCAPE, u32::MAX] {
            let mut log = Log::default();
            log.put_distance(Tag::Deliver, distance);
            let mut reader = Reader::new(&log);
            let (_, rest) = word::parts(reader.next_word());
            assert_eq!((reader.read_distance(rest), reader.at), (distance, log.words.len()));
        }
    }
}
