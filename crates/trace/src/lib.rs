//! What happened in a run, as data: one event type for simulator, checker and real node, written as JSON lines.
//!
//! The first line is a [`Header`], every further line an [`Event`]. Nodes count from 1, times are ticks, and each
//! event names the event that caused it, so that a run can be followed forwards and backwards. A finite
//! trace can tell of an endless run: what comes after [`What::Loop`] repeats itself.
//!
//! Nodes send messages or share registers. A step over shared memory is a [`What::Access`]; as a line:
//!
//! ```
//! # use doorway_trace::{AccessKind, Event, What};
//! let line = r#"{"id":7,"time":4,"node":1,"event":"access","access":"read","register":"number[2]","value":3,"line":4}"#;
//! let event: Event = serde_json::from_str(line)?;
//! let what = What::Access { access: AccessKind::Read, register: "number[2]".into(), value: 3, line: 4 };
//! assert_eq!(event.what, what);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! And a run from its beginning:
//!
//! ```
//! use doorway_core::{NodeId, Ticks};
//! use doorway_trace::{Event, Header, What, read, write};
//!
//! let header = Header::new("central", 2, 1);
//! let asks = Event { id: 1, time: Ticks(0), node: NodeId::new(1), what: What::Request, rule: None, cause: None };
//! let mut text = Vec::new();
//! write(&mut text, &header, [&asks])?;
//! let (again, events) = read(text.as_slice())?;
//! assert_eq!((again, events.collect::<Result<Vec<_>, _>>()?), (header, vec![asks]));
//! # Ok::<(), doorway_trace::TraceError>(())
//! ```

pub mod clocks;
mod event;
pub mod export;
mod lines;
mod log;
mod recording;
mod sentence;

pub use clocks::{ClockKind, Clocks, LogicalTime};
pub use event::{AccessKind, Event, Header, VERSION, What};
pub use lines::{Events, TraceError, read, write};
pub use log::{Log, Reader};
pub use recording::Recording;
