//! What clients saw, as lines of JSON on the one clock of this machine; and the first judge of it.
//!
//! A client writes a line when it asks, when it is in, when it has written to the resource, when it leaves and when it learns that it
//! has lost. The test that kills a client writes that line for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When, in microseconds.
    pub at: u64,
    /// Who.
    pub client: String,
    /// Where.
    pub section: String,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// It asked.
    Asked,
    /// Its request failed.
    Refused,
    /// It is in.
    Entered { fence: u64 },
    /// It wrote to the resource, having begun to at a time; the resource took it or said that its fence is old.
    Wrote { fence: u64, began: u64, taken: bool },
    /// It is about to say that it leaves; it was valid until a time.
    Left { fence: u64, until: u64 },
    /// It has learned that it lost; it was valid until a time.
    Lost { fence: u64, until: u64 },
    /// Its process was killed.
    Killed,
}

/// A file that clients add lines to. A line goes there whole, by one write.
#[derive(Debug)]
pub struct Book {
    file: File,
}

impl Book {
    /// Opens the book.
    pub fn open(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path).expect("a book can be opened");
        Self { file }
    }

    /// Adds a line.
    pub fn write(&mut self, line: &Line) {
        let text = serde_json::to_string(line).expect("a line is data") + "\n";
        self.file.write_all(text.as_bytes()).expect("a book has room");
    }
}

/// The lines of all books, in the order of time. The last line of a killed client may be torn.
pub fn read(books: &[PathBuf]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for book in books {
        let text = std::fs::read_to_string(book).expect("a book can be read");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        lines.extend(whole.lines().map(|line| serde_json::from_str(line).expect("a line can be read")));
    }
    lines.sort_by_key(|line| line.at);
    lines
}

/// A stay inside a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Who.
    pub client: String,
    /// Its fence.
    pub fence: u64,
    /// When it knew that it was in.
    pub from: u64,
    /// When it was over at the latest: it said so, was told so, was dead, or its deadline had passed.
    pub until: u64,
    /// Whether it was lost.
    pub is_lost: bool,
}

/// The sections of a history.
pub fn sections(lines: &[Line]) -> BTreeSet<String> {
    lines.iter().map(|line| line.section.clone()).collect()
}

/// All stays in a section, in the order in which they began.
pub fn stays(lines: &[Line], section: &str) -> Vec<Stay> {
    let mut open: BTreeMap<&str, Stay> = BTreeMap::new();
    let mut stays = Vec::new();
    let here = |line: &&Line| line.section == section || line.event == Event::Killed;
    for line in lines.iter().filter(here) {
        let client = line.client.as_str();
        match line.event {
            Event::Entered { fence } => {
                let stay =
                    Stay { client: client.to_owned(), fence, from: line.at, until: u64::MAX, is_lost: false };
                assert!(open.insert(client, stay).is_none(), "{client} entered twice");
            }
            Event::Left { until, .. } | Event::Lost { until, .. } => {
                let stay = open.remove(client).expect("whoever leaves is in");
                let is_lost = matches!(line.event, Event::Lost { .. });
                stays.push(Stay { until: line.at.min(until), is_lost, ..stay });
            }
            Event::Killed => {
                let stay = open.remove(client);
                stays.extend(stay.map(|stay| Stay { until: line.at, is_lost: true, ..stay }));
            }
            Event::Asked | Event::Refused | Event::Wrote { .. } => {}
        }
    }
    stays.extend(open.into_values());
    stays.sort_by_key(|stay| stay.from);
    stays
}

/// What is wrong with a history: two inside at once, a fence that does not rise, a resource that took an old one.
pub fn judge(lines: &[Line]) -> Vec<String> {
    let mut wrong = Vec::new();
    for section in sections(lines) {
        for pair in stays(lines, &section).windows(2) {
            let [first, second] = pair else { continue };
            if first.until > second.from {
                wrong.push(format!("two inside {section}: {first:?} and {second:?}"));
            }
            if first.fence >= second.fence {
                wrong.push(format!("a fence of {section} does not rise: {first:?} and {second:?}"));
            }
        }
        let mut taken: Vec<(u64, u64, u64)> = lines
            .iter()
            .filter(|line| line.section == section)
            .filter_map(|line| match line.event {
                Event::Wrote { fence, began, taken: true } => Some((began, line.at, fence)),
                _ => None,
            })
            .collect();
        taken.sort_unstable();
        for (place, (_, ended, fence)) in taken.iter().enumerate() {
            let later = taken[place + 1..].iter().filter(|(began, _, _)| began > ended);
            wrong.extend(
                later.filter(|(_, _, other)| other < fence).map(|(_, _, other)| {
                    format!("the resource of {section} took fence {other} after {fence}")
                }),
            );
        }
    }
    wrong
}

/// A small history in which two clients take turns, for the tests of the judges.
pub fn honest() -> Vec<Line> {
    let line =
        |at, client: &str, event| Line { at, client: client.to_owned(), section: "s".to_owned(), event };
    vec![
        line(10, "a", Event::Asked),
        line(12, "b", Event::Asked),
        line(20, "a", Event::Entered { fence: 1 }),
        line(30, "a", Event::Wrote { fence: 1, began: 25, taken: true }),
        line(40, "a", Event::Left { fence: 1, until: 1_000 }),
        line(50, "b", Event::Entered { fence: 2 }),
        line(60, "b", Event::Wrote { fence: 2, began: 55, taken: true }),
        line(65, "a", Event::Wrote { fence: 1, began: 61, taken: false }),
        line(70, "b", Event::Left { fence: 2, until: 1_000 }),
        line(80, "a", Event::Asked),
        line(90, "a", Event::Entered { fence: 5 }),
        line(2_000, "a", Event::Lost { fence: 5, until: 1_500 }),
        line(1_600, "b", Event::Asked),
        line(1_700, "b", Event::Entered { fence: 9 }),
        line(1_800, "b", Event::Killed),
    ]
}

/// Forged histories: what each of the judges must refuse, with what is wrong.
pub fn forged() -> Vec<(&'static str, Vec<Line>)> {
    let change = |place: usize, at: u64, event: Event| {
        let mut lines = honest();
        lines[place] = Line { at, event, ..lines[place].clone() };
        lines.sort_by_key(|line| line.at);
        lines
    };
    vec![
        ("two inside at once", change(5, 35, Event::Entered { fence: 2 })),
        ("entered before the deadline of one that lost", change(13, 1_400, Event::Entered { fence: 9 })),
        ("a fence that comes again", change(5, 50, Event::Entered { fence: 1 })),
        ("a fence that falls", change(13, 1_700, Event::Entered { fence: 4 })),
        ("an old write that was taken", change(7, 65, Event::Wrote { fence: 1, began: 61, taken: true })),
    ]
}
