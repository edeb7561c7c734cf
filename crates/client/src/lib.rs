//! The client library: holds locks through the Doorway daemon on this machine.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = doorway_client::Client::connect(doorway_client::sockets::find(None, None)?)?;
//! let guard = client.section("nightly-report").enter_blocking()?;
//! println!("inside, with fence {}", guard.fence());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! Every call can be awaited on any async runtime, or blocked on without one. The client's own watchdog thread keeps the deadlines and
//! depends neither on the program's runtime nor on the daemon. A program with its own event loop can drive a [`session`] without it.

pub mod alarm;
pub mod backoff;
mod client;
pub mod clock;
mod connection;
mod error;
mod guard;
mod ledger;
mod lock_cell;
mod policy;
mod question;
mod request;
pub mod session;
pub mod sockets;
mod watchdog;
mod watched;

pub use client::Client;
pub use connection::connect;
pub use error::{Error, Incompatible, Lost, is_out_of_files, refused_by_system};
pub use guard::Guard;
pub use question::PendingQuery;
pub use request::Request;
pub use session::NodeIdentity;
