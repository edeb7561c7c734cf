//! What happened in a run, as data: one event type for simulator, checker and real node, written as JSON lines.
//!
//! The first line is a [`Header`], every further line an [`Event`]. Nodes count from 1, times are ticks, and each
//! event names the event that caused it, so that a run can be followed forwards and backwards. A finite
//! trace can tell of an endless run: what comes after [`What::Loop`] repeats itself.
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

#[cfg(feature = "draw")]
pub mod draw;
mod event;
mod lines;

pub use event::{Event, Header, VERSION, What};
pub use lines::{TraceError, read, write};
