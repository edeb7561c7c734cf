//! JSON lines, in and out.

use std::fmt;
use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;

use crate::{Event, Header, VERSION};

/// Writes a header and its events, one a line.
///
/// # Errors
/// If the writer fails.
pub fn write<'a>(
    mut to: impl Write,
    header: &Header,
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<(), TraceError> {
    let as_io = |error: serde_json::Error| TraceError::Io(error.into());
    serde_json::to_writer(&mut to, header).map_err(as_io)?;
    to.write_all(b"\n").map_err(TraceError::Io)?;
    for event in events {
        serde_json::to_writer(&mut to, event).map_err(as_io)?;
        to.write_all(b"\n").map_err(TraceError::Io)?;
    }
    to.flush().map_err(TraceError::Io)
}

/// Reads the header at once and the events one by one.
///
/// # Errors
/// If the first line is no header of this version. A later line that is no event ends the events with its error.
pub fn read(
    from: impl BufRead,
) -> Result<(Header, impl Iterator<Item = Result<Event, TraceError>>), TraceError> {
    let mut lines = (1..).zip(from.lines());
    let (number, first) =
        lines.next().ok_or(TraceError::Line { number: 1, what: "the file is empty".to_owned() })?;
    let header: Header = parse(number, first)?;
    if header.version != VERSION {
        let what = format!("version {} of the format is not known, only {VERSION}", header.version);
        return Err(TraceError::Line { number, what });
    }
    Ok((header, lines.map(|(number, line)| parse(number, line))))
}

fn parse<T: DeserializeOwned>(number: u64, line: io::Result<String>) -> Result<T, TraceError> {
    let line = line.map_err(TraceError::Io)?;
    serde_json::from_str(&line).map_err(|error| TraceError::Line { number, what: error.to_string() })
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

#[cfg(test)]
mod tests {
    use doorway_core::{Fence, NodeId, Ticks};
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
        write(&mut text, &Header::new("central", 2, 9), &events()).expect("memory does not fail");
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
    fn an_access_tells_its_way_its_register_its_value_and_its_line() {
        let text = text();
        let accesses: Vec<&str> = text.lines().skip(10).collect();
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
        assert!(first_error(cut).starts_with("line 15 of the trace cannot be read"), "{}", first_error(cut));
        let newer = whole.replacen("\"version\":1", "\"version\":2", 1);
        assert_eq!(
            first_error(&newer),
            "line 1 of the trace cannot be read: version 2 of the format is not known, only 1"
        );
        assert!(first_error(&whole.replace("\"node\":1", "\"node\":0")).starts_with("line 4"));
    }
}
