//! Sweeps: a grid of parameters, a run at each of its points, a row for each run.
//!
//! [`Axes`] are what was typed, [`Grid`] the values that it means, [`Points`] the runs in their defined order. A [`Sweep`]
//! makes the runs that a folder does not have yet and appends their rows in the order of the grid, whatever the number of
//! threads: so it can be interrupted at any byte and go on. A [`Shard`] is every N-th point, for one of N machines; [`merge`]
//! joins shards to the files of one run, byte by byte.
//!
//! What a point cannot be run with is no reason to lose the others: its row says why in the column `error`. Only a value that
//! can be run nowhere on the grid, most likely mistyped, is refused before the first run.

mod appended;
mod axes;
mod columns;
mod files;
mod format;
mod grid;
mod lists;
mod manifest;
mod merge;
#[cfg(feature = "parquet")]
mod parquet;
mod points;
mod rows;
mod run;
mod shard;
mod table;
mod tally;

pub use axes::{Axes, Words};
pub use columns::{Column, ColumnKind, Value};
pub use format::Format;
pub use grid::{FileLoader, Grid, Seeds, Surroundings};
pub use manifest::{FirstAndCount, Manifest};
pub use merge::merge;
pub use points::Points;
pub use run::{Sweep, Swept};
pub use shard::Shard;
pub use tally::RowTally;
