//! How Doorway's commands show things to people: tables, wrapped prose, progress, files that are written whole or not at all,
//! and errors in one sentence.

mod destination;
mod picture;
mod progress;
pub mod table;
pub mod text;
mod usage;

pub use destination::Destination;
pub use picture::Picture;
pub use progress::ProgressLine;
pub use usage::{sentence, whole};
