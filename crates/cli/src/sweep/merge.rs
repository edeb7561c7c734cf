//! `doorway sweep merge`: join the shards of one sweep.

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_experiments::sweep::merge;
use doorway_terminal::ProgressLine;

use super::{line, summary};
use crate::Answer;
use crate::typed::Typed;

/// Join the shards of one sweep
///
/// Reads the folders of all shards, in any order, and writes rows and manifest to another folder, byte by byte those of a sweep
/// that was never divided. Shards of different sweeps are refused with the difference, and so is one that is missing, there
/// twice or not complete; nothing is overwritten.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway sweep merge shards/* --out merged")]
pub(super) struct Arguments {
    /// The folders of the shards
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The folder for the whole: new or empty
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let mut progress: Option<ProgressLine> = None;
    let watch = |rows, runs| progress.get_or_insert_with(|| ProgressLine::new(runs, "rows")).show(rows);
    let swept = merge(catalog, &arguments.folders, &arguments.out, &line(typed), watch)?;
    drop(progress);
    Ok(summary::merged(&swept, arguments.folders.len(), &arguments.out, arguments.json))
}
