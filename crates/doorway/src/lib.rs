//! A distributed lock without a lock server.
//!
//! Programs on several machines take turns in *sections*, which are names that they agree on. There is no server to ask: the
//! machines run a textbook algorithm for mutual exclusion among themselves, keep it alive through crashes by views and leases,
//! and hand out a *fence* with every entry, a number that only rises.
//!
//! # With the daemon of this machine
//!
//! Start one with `doorway node --dev`, or with the configuration that `doorway cluster init` has written. Then:
//!
//! ```no_run
//! # async fn example() -> Result<(), doorway::Error> {
//! let doorway = doorway::Doorway::connect().await?;
//! let guard = doorway.lock("nightly-report").await?;
//! println!("we alone are inside, with fence {}", guard.fence());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! It works on any async runtime. Without one, block:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), doorway::Error> {
//! let doorway = doorway::Doorway::connect_blocking()?;
//! match doorway.lock("nightly-report").wait(Duration::from_secs(30)).enter_blocking() {
//!     Ok(guard) => println!("inside, for at least {:?}", guard.time_left()),
//!     Err(error) if error.is_timeout() => println!("another client holds it"),
//!     Err(error) => return Err(error),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # With a node of its own
//!
//! A program can take part in the cluster itself; then nothing else has to run on its machine. The node has threads and a runtime
//! of its own.
//!
//! ```no_run
//! use std::path::Path;
//!
//! # async fn example() -> Result<(), doorway::Error> {
//! let config = doorway::Config::load(Path::new("cluster/a/node.toml"))?;
//! let doorway = doorway::Doorway::join(config).await?;
//! let guard = doorway.lock_all(["stock", "orders"]).await?;
//! drop(guard);
//! doorway.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! A configuration can be made in code as well:
//!
//! ```
//! use doorway::Config;
//! use doorway::config::HumanDuration;
//!
//! # fn main() -> Result<(), doorway::Error> {
//! let nodes = [("a", "10.0.0.1:7400"), ("b", "10.0.0.2:7400"), ("c", "10.0.0.3:7400")];
//! let mut config = Config::new("shop", "a", &nodes)?.in_folder("cluster/a");
//! config.timing.lease = Some("2s".parse::<HumanDuration>()?);
//! config.timing.detection = Some("2500ms".parse::<HumanDuration>()?); // never shorter than the lease
//! assert_eq!(config.tls.certificate.to_str(), Some("cluster/a/node.pem"));
//! # Ok(())
//! # }
//! ```
//!
//! # What a guard promises, and what it cannot
//!
//! As long as [`Guard::is_valid`] is true no other client is inside, on any machine. A guard can be lost: the machine may be cut
//! off from the others, its daemon may be restarted, an operator may break the lock. Then [`Guard::lost`] completes, and the guard is
//! never valid again; the library never acquires a lock again on its own. A guard keeps its deadline itself, on a clock that
//! keeps counting during suspend, and needs neither the daemon nor the program's runtime for that.
//!
//! ```no_run
//! # async fn one_step() -> bool { true }
//! # async fn example() -> Result<(), doorway::Error> {
//! let doorway = doorway::Doorway::connect().await?;
//! let guard = doorway.lock("nightly-report").tell_if_wanted().await?;
//! while guard.is_valid() && one_step().await {
//!     if guard.is_wanted() {
//!         break; // Another client waits: let it in, and come back later.
//!     }
//! }
//! guard.release()?; // An error if the lock was lost on the way.
//! # Ok(())
//! # }
//! ```
//!
//! Between a look at the guard and a write to a disk any time can pass, though. Only the resource can close that gap: it remembers
//! the highest fence that it has seen and refuses lower ones. [`FencedFile`] does so for a file, [`POSTGRESQL`] for a database; for
//! anything else, compare and remember in one step.
//!
//! - **Not reentrant.** A client that requests a section that it holds, or waits for, is refused at once. Tasks of one
//!   program that exclude each other take [`Doorway::another`] each.
//! - **Dropping releases.** A guard releases when it is dropped. A request that is dropped before it is answered is cancelled, and
//!   if it had just been granted, it is released.
//! - **A lost connection to the daemon** ends its guards at once. The next request connects again, with exponential backoff;
//!   [`Request::persistent`] waits until a daemon is back.

mod aside;
mod doorway;
mod fenced_file;
mod mark;

pub use doorway_client::clock;
pub use doorway_client::{Client, Error, Guard, Lost, NodeIdentity, PendingQuery, Request};
pub use doorway_core::{Fence, SectionName, Ticks};
pub use doorway_daemon::{Config, config};
pub use doorway_protocol::{AdminCommand, Status};
pub use doorway_protocol::{Loss, Reason};
pub use fenced_file::{FencedFile, FencedFileError};

pub use self::doorway::Doorway;

/// SQL for PostgreSQL that refuses old fences, as [`FencedFile`] does: a table and a function `doorway_pass(resource, fence)`
/// with which every transaction under the lock begins. A fence fits a `bigint`.
pub const POSTGRESQL: &str = include_str!("fence.sql");
