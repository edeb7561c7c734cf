//! JSON lines, in and out.

use std::borrow::Borrow;
use std::fmt;
use std::io::{self, BufRead, Read, Write};

use doorway_core::Ticks;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Event, Header, VERSION};

/// The longest line that is read.
const LONGEST_BYTES: u64 = 64 << 20;

/// What stands in the first line: the header, and how many events follow it where the writer knew.
#[derive(Serialize, Deserialize)]
struct First<H> {
    #[serde(flatten)]
    header: H,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
}

/// Writes a header and its events, one a line. If it is known how many there are, the first line says so, and a file that was
/// cut can be told from a whole one.
///
/// # Errors
/// If the writer fails.
pub fn write(
    mut to: impl Write,
    header: &Header,
    events: impl IntoIterator<Item: Borrow<Event>>,
) -> Result<(), TraceError> {
    let events = events.into_iter();
    let count = match events.size_hint() {
        (least, Some(most)) if least == most => Some(most as u64),
        _ => None,
    };
    write_first(&mut to, header, count)?;
    for event in events {
        write_line(&mut to, event.borrow())?;
    }
    to.flush().map_err(TraceError::Io)
}

pub(crate) fn write_first(
    to: &mut (impl Write + ?Sized),
    header: &Header,
    events: Option<u64>,
) -> Result<(), TraceError> {
    write_line(to, &First { header, events })
}

pub(crate) fn write_line(to: &mut (impl Write + ?Sized), what: &impl Serialize) -> Result<(), TraceError> {
    serde_json::to_writer(&mut *to, what).map_err(|error| TraceError::Io(error.into()))?;
    to.write_all(b"\n").map_err(TraceError::Io)
}

/// Reads the header at once and the events one by one, in memory for one line.
///
/// # Errors
/// If the first line is no header of this version. A later line that is no event, or none that can follow those before it,
/// ends the events with its error; so does the end of a file that should have gone on.
pub fn read<R: BufRead>(from: R) -> Result<(Header, Events<R>), TraceError> {
    let mut lines = Lines { from, number: 0, line: Vec::new() };
    let First { header, events }: First<Header> =
        lines.next()?.ok_or_else(|| lines.wrong("the file is empty".to_owned()))?;
    if header.version != VERSION {
        return Err(
            lines.wrong(format!("version {} of the format is not known, only {VERSION}", header.version))
        );
    }
    let events =
        Events { lines, nodes: header.nodes, declared: events, read: 0, last: (0, Ticks(0)), is_over: false };
    Ok((header, events))
}

/// The events of a file, read one by one and checked against each other.
#[derive(Debug)]
pub struct Events<R> {
    lines: Lines<R>,
    nodes: usize,
    declared: Option<u64>,
    read: u64,
    /// The number and the time of the event before.
    last: (u64, Ticks),
    is_over: bool,
}

impl<R> Events<R> {
    /// How many there should be, if the first line says so.
    #[must_use]
    pub fn declared(&self) -> Option<u64> {
        self.declared
    }
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.advance().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl<R: BufRead> Events<R> {
    fn advance(&mut self) -> Result<Option<Event>, TraceError> {
        let Some(event) = self.lines.next::<Event>()? else { return self.end().map(|()| None) };
        self.read += 1;
        match self.trouble(&event) {
            Some(what) => Err(self.lines.wrong(what)),
            None => {
                self.last = (event.id, event.time);
                Ok(Some(event))
            }
        }
    }

    fn end(&mut self) -> Result<(), TraceError> {
        match self.declared {
            Some(declared) if self.read < declared => {
                let read = self.read;
                Err(self.lines.wrong(format!("the file ends after {read} of {declared} events: it was cut")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Why an event cannot follow those before it.
    fn trouble(&self, event: &Event) -> Option<String> {
        let &Event { id, time, cause, .. } = event;
        let (last, last_time) = self.last;
        let stranger = event.nodes().into_iter().find(|node| node.index() >= self.nodes);
        if let Some(node) = stranger {
            return Some(format!("event {id} is about node {node}, but the run has {} nodes", self.nodes));
        }
        if id <= last {
            return Some(format!("event {id} comes after event {last}: events count upwards from 1"));
        }
        if time < last_time {
            return Some(format!("event {id} is at time {time}, after one at time {last_time}"));
        }
        if let Some(cause) = cause.filter(|cause| *cause >= id) {
            return Some(format!("event {id} is caused by event {cause}, which comes later"));
        }
        let declared = self.declared.filter(|declared| self.read > *declared);
        declared.map(|declared| {
            format!("the first line says that there are {declared} events, and here is one more")
        })
    }
}

/// The lines of a file, each no longer than is sensible.
#[derive(Debug)]
struct Lines<R> {
    from: R,
    /// How many were begun.
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// What the next line says; none if there is no further one.
    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, TraceError> {
        self.number += 1;
        self.line.clear();
        let mut limited = self.from.by_ref().take(LONGEST_BYTES);
        let length = limited.read_until(b'\n', &mut self.line).map_err(TraceError::Io)?;
        if length == 0 {
            return Ok(None);
        }
        if length as u64 == LONGEST_BYTES {
            return Err(self.wrong(format!("it is longer than {} MiB", LONGEST_BYTES >> 20)));
        }
        serde_json::from_slice(&self.line).map(Some).map_err(|error| self.wrong(error.to_string()))
    }
}

impl<R> Lines<R> {
    /// That the last line is not what it should be.
    fn wrong(&self, what: String) -> TraceError {
        TraceError::Line { number: self.number, what }
    }
}

/// Why a trace cannot be written or read.
#[derive(Debug)]
pub enum TraceError {
    /// The file or the disk is at fault.
    Io(io::Error),
    /// A line is not what it should be.
    Line {
        /// Which line, counted from 1.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Io(error) => write!(f, "the trace cannot be written or read: {error}"),
            TraceError::Line { number, what } => {
                write!(f, "line {number} of the trace cannot be read: {what}")
            }
        }
    }
}

impl std::error::Error for TraceError {}

/// For those who know of no other troubles than those of files.
impl From<TraceError> for io::Error {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Io(error) => error,
            TraceError::Line { .. } => io::Error::other(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::{Fence, NodeId};
    use serde_json::json;

    use super::*;
    use crate::{AccessKind, What};

    fn events() -> Vec<Event> {
        let (one, two) = (NodeId::new(0), NodeId::new(1));
        let message = json!({"REQUEST": 1});
        let whats = [
            (two, What::Request),
            (two, What::Send { to: one, kind: "REQUEST".into(), message: message.clone() }),
            (one, What::Deliver { from: two, kind: "REQUEST".into(), message }),
            (one, What::Lost { to: two, kind: "GRANT".into(), why: "drawn by lot".into() }),
            (two, What::Enter { fence: Fence(u64::MAX) }),
            (two, What::Release),
            (one, What::Crash),
            (one, What::Violation { what: "two are inside".to_owned() }),
            (one, What::Loop),
            (two, access(AccessKind::Read)),
            (two, access(AccessKind::Write)),
            (two, access(AccessKind::Begin)),
            (two, access(AccessKind::End)),
            (two, access(AccessKind::Reach)),
            (one, What::Start),
            (one, What::Timer),
            (one, What::Written),
            (one, What::Pause),
            (one, What::Resume),
        ];
        let event =
            |(id, (node, what))| Event { id, time: Ticks(id * 3), node, what, rule: None, cause: None };
        (1..).zip(whats).map(event).collect()
    }

    fn access(access: AccessKind) -> What {
        What::Access { access, register: "number[2]".into(), value: 3, line: 4 }
    }

    fn text() -> String {
        let mut text = Vec::new();
        write(&mut text, &Header::new("central", 2, 9), events()).expect("memory does not fail");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    #[test]
    fn what_is_written_is_read_again_as_it_was() {
        let text = text();
        let (header, again) = read(text.as_bytes()).expect("a header");
        assert_eq!(header, Header::new("central", 2, 9));
        assert_eq!(again.collect::<Result<Vec<_>, _>>().expect("events"), events());
    }

    #[test]
    fn nodes_count_from_one_and_fences_are_strings() {
        let text = text();
        let enter = text.lines().find(|line| line.contains("enter")).expect("an entry");
        assert_eq!(enter, r#"{"id":5,"time":15,"node":2,"event":"enter","fence":"18446744073709551615"}"#);
    }

    #[test]
    fn where_a_run_begins_to_repeat_itself_is_a_line_of_its_own() {
        assert_eq!(text().lines().nth(9), Some(r#"{"id":9,"time":27,"node":1,"event":"loop"}"#));
    }

    #[test]
    fn what_happens_to_a_node_by_itself_is_a_word() {
        let text = text();
        let last: Vec<&str> = text.lines().skip(16).collect();
        let line =
            |id: u64, word: &str| format!(r#"{{"id":{id},"time":{},"node":1,"event":"{word}"}}"#, id * 3);
        let words = ["timer", "written", "pause", "resume"];
        assert_eq!(last, (16..).zip(words).map(|(id, word)| line(id, word)).collect::<Vec<_>>());
    }

    #[test]
    fn an_access_tells_its_way_its_register_its_value_and_its_line() {
        let text = text();
        let accesses: Vec<&str> = text.lines().skip(10).take(5).collect();
        let line = |id: u64, access: &str| {
            let (time, rest) = (id * 3, r#""register":"number[2]","value":3,"line":4"#);
            format!(r#"{{"id":{id},"time":{time},"node":2,"event":"access","access":"{access}",{rest}}}"#)
        };
        let words = ["read", "write", "begin", "end", "reach"];
        let expected: Vec<String> = (10..).zip(words).map(|(id, word)| line(id, word)).collect();
        assert_eq!(accesses, expected);
    }

    #[test]
    fn an_access_without_a_line_is_read_and_one_in_no_known_way_is_not() {
        let event = |access: &str| -> Result<Event, serde_json::Error> {
            serde_json::from_str(&format!(
                r#"{{"id":1,"time":0,"node":1,"event":"access","access":"{access}","register":"x","value":0}}"#
            ))
        };
        let expected = What::Access { access: AccessKind::Read, register: "x".into(), value: 0, line: 0 };
        assert_eq!(event("read").expect("an event").what, expected);
        assert!(event("peek").unwrap_err().to_string().contains("unknown variant `peek`"));
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let first_error = |text: &str| match read(text.as_bytes()) {
            Err(error) => error.to_string(),
            Ok((_, mut events)) => events.find_map(Result::err).expect("some line is broken").to_string(),
        };
        assert_eq!(first_error(""), "line 1 of the trace cannot be read: the file is empty");
        assert!(first_error("{").starts_with("line 1 of the trace cannot be read"));
        let whole = text();
        let cut = &whole[..whole.len() - 5];
        assert!(first_error(cut).starts_with("line 20 of the trace cannot be read"), "{}", first_error(cut));
        let newer = whole.replacen("\"version\":1", "\"version\":2", 1);
        assert_eq!(
            first_error(&newer),
            "line 1 of the trace cannot be read: version 2 of the format is not known, only 1"
        );
        assert!(first_error(&whole.replace("\"node\":1", "\"node\":0")).starts_with("line 4"));
    }

    /// The error of the first line that is refused, of the file as it is written but for one change.
    fn refused(from: &str, to: &str) -> String {
        let changed = text().replacen(from, to, 1);
        let (_, mut events) = read(changed.as_bytes()).expect("a header");
        let error = events.find_map(Result::err).expect("some line is broken").to_string();
        assert!(events.next().is_none(), "nothing is read after an error");
        error
    }

    #[test]
    fn a_file_that_was_cut_between_two_lines_is_refused_with_the_line_that_is_missing() {
        let whole = text();
        assert!(whole.starts_with(
            r#"{"version":1,"algorithm":"central","nodes":2,"seed":9,"channels":"fifo","events":19}"#
        ));
        let cut = whole.lines().take(6).collect::<Vec<_>>().join("\n");
        let (_, mut events) = read(cut.as_bytes()).expect("a header");
        let error = events.find_map(Result::err).expect("the end is missing").to_string();
        assert_eq!(
            error,
            "line 7 of the trace cannot be read: the file ends after 5 of 19 events: it was cut"
        );
        let one_more = refused("\"events\":19", "\"events\":3");
        assert_eq!(
            one_more,
            "line 5 of the trace cannot be read: the first line says that there are 3 events, and here is one more"
        );
    }

    #[test]
    fn events_that_cannot_follow_each_other_are_refused_with_their_line() {
        for (from, to, line, part) in [
            ("\"id\":3", "\"id\":2", 4, "event 2 comes after event 2: events count upwards from 1"),
            ("\"id\":1", "\"id\":0", 2, "event 0 comes after event 0"),
            ("\"time\":9", "\"time\":1", 4, "event 3 is at time 1, after one at time 6"),
            ("\"node\":2", "\"node\":3", 2, "event 1 is about node 3, but the run has 2 nodes"),
            ("\"to\":1", "\"to\":7", 3, "event 2 is about node 7"),
            ("\"event\":\"request\"", "\"event\":\"request\",\"cause\":1", 2, "event 1 is caused by event 1"),
            ("\"event\":\"release\"", "\"event\":\"dance\"", 7, "unknown variant `dance`"),
        ] {
            let error = refused(from, to);
            let begin = format!("line {line} of the trace cannot be read: ");
            assert!(error.starts_with(&begin) && error.contains(part), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        let mut bytes = text().into_bytes();
        let place = bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 10;
        bytes[place] = 0xff;
        let (_, mut events) = read(bytes.as_slice()).expect("a header");
        assert!(events.find_map(Result::err).expect("it is broken").to_string().starts_with("line 2 of"));
    }
}
