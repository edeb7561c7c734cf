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
//! It needs no runtime, and works on each. Without one, block:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), doorway::Error> {
//! let doorway = doorway::Doorway::connect_blocking()?;
//! match doorway.lock("nightly-report").wait(Duration::from_secs(30)).enter_blocking() {
//!     Ok(guard) => println!("inside, for at least {:?}", guard.time_left()),
//!     Err(error) if error.is_timeout() => println!("somebody else is at it"),
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
//! use doorway::config::Span;
//!
//! # fn main() -> Result<(), doorway::Error> {
//! let nodes = [("a", "10.0.0.1:7400"), ("b", "10.0.0.2:7400"), ("c", "10.0.0.3:7400")];
//! let mut config = Config::new("shop", "a", &nodes)?.in_folder("cluster/a");
//! config.timing.lease = Some("2s".parse::<Span>()?);
//! config.timing.detection = Some("2500ms".parse::<Span>()?); // never shorter than the lease
//! assert_eq!(config.tls.certificate.to_str(), Some("cluster/a/node.pem"));
//! # Ok(())
//! # }
//! ```
//!
//! # What a guard promises, and what it cannot
//!
//! As long as [`Guard::is_valid`] says yes nobody else is inside, on whatever machine. A guard can be lost: the machine may be cut
//! off from the others, its daemon may be restarted, an operator may break the lock. Then [`Guard::lost`] ends, and the guard is
//! never valid again; nothing is entered once more behind the program's back. A guard keeps its deadline itself, on a clock that
//! goes on while the machine is suspended, and asks neither the daemon nor the program's runtime for that.
//!
//! ```no_run
//! # async fn one_step() -> bool { true }
//! # async fn example() -> Result<(), doorway::Error> {
//! let doorway = doorway::Doorway::connect().await?;
//! let guard = doorway.lock("nightly-report").tell_if_wanted().await?;
//! while guard.is_valid() && one_step().await {
//!     if guard.is_wanted() {
//!         break; // Somebody waits: let it in, and come back later.
//!     }
//! }
//! guard.release()?; // Says so if the lock was lost on the way.
//! # Ok(())
//! # }
//! ```
//!
//! Between a look at the guard and a write to a disk any time can pass, though. Only the resource can close that gap: it remembers
//! the highest fence that it has seen and refuses lower ones. [`FencedFile`] does so for a file, [`POSTGRESQL`] for a database; for
//! anything else, compare and remember in one step.
//!
//! - **Not reentrant.** A client that asks again for a section that it is inside of, or waits for, is refused at once. Tasks of one
//!   program that exclude each other take [`Doorway::another`] each.
//! - **Dropping is leaving.** A guard leaves when it is dropped. A request that is dropped before it has answered is withdrawn, and
//!   if it had just been let in, it leaves again.
//! - **A daemon that goes away** takes the guards with it, which are told at once. The next request connects anew, with pauses that
//!   grow while there is nobody; see [`Request::persistent`] for those who want to wait through that.

mod aside;
mod doorway;
mod fenced_file;
mod mark;

pub use doorway_client::clock;
pub use doorway_client::{Client, Error, Guard, Lost, Question, Request, Welcome};
pub use doorway_core::{Fence, SectionName, Ticks};
pub use doorway_daemon::{Config, config};
pub use doorway_protocol::{Loss, Reason};
pub use doorway_protocol::{Order, Status};
pub use fenced_file::{FencedFile, FencedFileError};

pub use self::doorway::Doorway;

/// SQL for PostgreSQL that refuses old fences, as [`FencedFile`] does: a table and a function `doorway_pass(resource, fence)`
/// with which every transaction under the lock begins. A fence fits a `bigint`.
pub const POSTGRESQL: &str = include_str!("fence.sql");
