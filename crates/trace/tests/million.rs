//! A file of a million events is converted in the memory of a short one. This test is alone in its file, as it measures the
//! memory of its process.

use std::io::{self, BufReader, Read, Write};

use doorway_trace::export::{ExportFormat, convert};
use doorway_trace::read;

/// Writes a run without end, of which nothing is kept: two nodes that send each other one message after another.
struct Endless {
    next: u64,
    events: u64,
    line: Vec<u8>,
    at: usize,
}

impl Endless {
    fn new(events: u64) -> Self {
        let line = format!(
            "{{\"version\":1,\"algorithm\":\"endless\",\"nodes\":2,\"seed\":1,\"channels\":\"fifo\",\"events\":{events}}}\n"
        );
        Self { next: 1, events, line: line.into_bytes(), at: 0 }
    }

    fn advance(&mut self) {
        self.line.clear();
        self.at = 0;
        if self.next > self.events {
            return;
        }
        let (id, node) = (self.next, self.next / 2 % 2 + 1);
        let (other, cause) = (3 - node, id - 1);
        let what = match id % 2 {
            1 => format!(
                "\"event\":\"send\",\"to\":{other},\"kind\":\"TOKEN\",\"message\":{{\"TOKEN\":[{id},{node}]}},\"rule\":\"pass on\""
            ),
            _ => format!(
                "\"event\":\"deliver\",\"from\":{other},\"kind\":\"TOKEN\",\"message\":{{\"TOKEN\":[{cause},{other}]}}"
            ),
        };
        let cause = if id == 1 { String::new() } else { format!(",\"cause\":{cause}") };
        let _ = writeln!(self.line, "{{\"id\":{id},\"time\":{id},\"node\":{node},{what}{cause}}}");
        self.next += 1;
    }
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.advance();
        }
        let count = into.len().min(self.line.len() - self.at);
        into[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Counts what is written and forgets it.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most memory that this process ever had, in KiB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn bytes(form: ExportFormat, events: u64) -> u64 {
    let (header, found) = read(BufReader::new(Endless::new(events))).expect("a header");
    let (mut counted, mut told) = (Counted::default(), 0);
    convert(form, &header, found, &mut counted, &mut |count| told = count).expect("it can be converted");
    assert_eq!(told, events);
    counted.0
}

/// The most memory, in KiB, that a long file may take beyond a short one.
const MOST_MORE: u64 = 2048;

#[test]
fn a_million_events_are_converted_in_the_memory_of_a_few() {
    // ShiViz has the most to remember: it gets the whole million.
    for (form, events) in [
        (ExportFormat::JsonLines, 200_000),
        (ExportFormat::Perfetto, 200_000),
        (ExportFormat::ShiViz, 1_000_000),
    ] {
        let short = bytes(form, 50_000);
        let before = peak();
        let long = bytes(form, events);
        assert!(long > events / 50_000 * short, "{form:?}: {short} and {long} bytes");
        let grown = peak().zip(before).map_or(0, |(after, before)| after - before);
        assert!(grown <= MOST_MORE, "{form:?}: {grown} KiB more");
    }
}
