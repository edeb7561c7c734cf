//! A distributed lock without a lock server.

mod fenced_file;

pub use doorway_core::Fence;
pub use fenced_file::{FencedFile, FencedFileError};

/// SQL for PostgreSQL that refuses old fences, as [`FencedFile`] does: a table and a function `doorway_pass(resource, fence)`
/// with which every transaction under the lock begins. A fence fits a `bigint`.
pub const POSTGRESQL: &str = include_str!("fence.sql");
