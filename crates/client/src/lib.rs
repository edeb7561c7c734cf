//! What a program uses to hold a lock through the Doorway daemon on its machine.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = doorway_client::Client::connect(doorway_client::place::find(None, None)?)?;
//! let guard = client.section("nightly-report").enter_blocking()?;
//! println!("inside, with fence {}", guard.fence());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! Everything can be awaited on any runtime, or blocked on with none. One thread of the client's own keeps the deadlines: it asks
//! neither the program's runtime nor the daemon. A program that has a loop of its own can drive a [`session`] without that thread.

pub mod alarm;
mod client;
pub mod clock;
mod error;
mod guard;
mod keeper;
mod ledger;
mod link;
pub mod pauses;
pub mod place;
mod policy;
mod question;
mod request;
mod seat;
pub mod session;
mod watched;

pub use client::Client;
pub use error::{Error, Lost, Strange, is_out_of_files, refused_by_system};
pub use guard::Guard;
pub use link::connect;
pub use question::Question;
pub use request::Request;
pub use session::Welcome;
