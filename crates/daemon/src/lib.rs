//! The lock node of Doorway on a real network.
//!
//! A [`Daemon`] runs the pure node of `doorway-node` on threads of its own: one that owns the node, one that writes to its disk,
//! and a small runtime for its connections. Nodes talk over TCP with TLS and prove by their certificates who they are; clients
//! of the same machine connect to a Unix socket, and who may do that is a matter of the file's mode.
//!
//! ```no_run
//! use doorway_daemon::{Config, Daemon};
//! use doorway_node::Recipes;
//!
//! let config = Config::load("node.toml".as_ref())?;
//! let mut recipes = Recipes::default();
//! doorway_algorithms::register(&mut recipes);
//! let recipe = config.recipe(&recipes)?;
//! let daemon = Daemon::start(config, recipe)?;
//! daemon.wait()?;
//! # Ok::<(), doorway_core::Refusal>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`config`], [`address`] | a node's configuration, as a file that people write |
//! | `driver` | the thread that owns the node: inputs, effects, timers, requests, status, orders |
//! | `inbox`, `budget`, `throttle` | the queue of that thread and its order; limits of connections; limits of log lines |
//! | `disk` | the thread that writes, and its retries |
//! | `peers` | the other nodes: dialing, accepting, authentication |
//! | `clients` | the clients of this machine, and their outgoing messages |
//! | `tls`, [`identity`], `revocation` | identities, how nodes prove them, and revoked certificates |
//! | `certificates`, `founding` | making a cluster (feature `found`) |

pub mod address;
mod budget;
#[cfg(feature = "found")]
pub mod certificates;
mod clients;
pub mod config;
mod daemon;
mod disk;
mod driver;
#[cfg(feature = "found")]
pub mod founding;
mod frames;
mod health;
pub mod identity;
mod inbox;
mod peers;
mod revocation;
mod shared;
mod throttle;
mod tls;

pub use config::Config;
pub use daemon::Daemon;
pub use disk::DiskCheck;
