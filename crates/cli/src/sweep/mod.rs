//! `doorway sweep`: a run at every point of a grid, and a row for each run.

mod merge;
mod summary;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use doorway_catalog::Catalog;
use doorway_catalog::settings::{self, Definition};
use doorway_core::Refusal;
use doorway_experiments::sweep::{Axes, Format, Grid, Points, Shard, Surroundings, Sweep};
use doorway_simulator::shell;
use doorway_terminal::{ProgressLine, whole};

use crate::flags::{ChoiceLists, Lists, Use};
use crate::typed::Typed;
use crate::{Answer, files, names, repetition};

/// Run a grid of parameters and keep a row for each run
///
/// Makes a run at every point of a grid, on all processors, and writes a row for each to a folder: runs.csv (or .jsonl, or
/// .parquet) and manifest.json, which has version, command, grid, seeds, and the columns with their units. Rows are in the
/// order of the grid, whatever the number of threads.
///
/// The grid comes from a TOML file, from flags, or from both; a flag overrides the line of its name. A list has commas (4,8,16),
/// numbers have ranges with both ends (2..32), steps (4..64:4) and factors (2..1024:x2). A choice for algorithms, such as
/// --quorum, is an axis only for the algorithms that have it.
///
/// An interrupted sweep continues after its last row when the same command is typed again. A folder that holds anything else is
/// refused and left alone.
///
/// A point that cannot be run, such as a plane of ten nodes, gets a row with the reason in its column `error`; a value that
/// fits nowhere on the grid is refused before the first run. Exits 0 when all rows are there, even if runs stalled or violated
/// something: a sweep counts those. Exits 3 when --at-most has left some for later.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Examples:
  doorway sweep --algorithms all --nodes 2..64:x2 --seeds 1..20 --out costs
  doorway sweep --algorithms maekawa --nodes 7,13 --quorum plane,grid --out a
  doorway sweep --algorithms central --loss 0,0.01 --retransmit off,on --out b
  doorway sweep grid.toml --dry-run               how many runs there would be
  doorway sweep grid.toml --seeds 1..99 --out c   the file with more seeds

On several machines, with an engine that you have (more in docs/sweeps.md):
  GNU Parallel
    parallel doorway sweep grid.toml --shard {}/4 --out shards/{} ::: 1 2 3 4
  a Slurm array, #SBATCH --array=1-8
    I=$SLURM_ARRAY_TASK_ID
    doorway sweep grid.toml --shard $I/8 --out shards/$I
  an indexed Job of Kubernetes, completions: 8, whose index counts from 0
    I=$((JOB_COMPLETION_INDEX + 1))
    doorway sweep grid.toml --shard $I/8 --out shards/$I
  and then, for the bytes of one run
    doorway sweep merge shards/* --out merged

A grid.toml:
  algorithms = [\"ricart-agrawala\", \"maekawa\"]
  nodes = \"4..16:x2\"
  loads = [\"saturated\", \"light:100\"]
  seeds = \"1..5\""
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// A grid in a TOML file: the names of the axes below, without dashes
    grid: Option<PathBuf>,

    /// The algorithms, as `doorway algorithms` lists them; all stands for those that are no specimens
    #[arg(long, value_name = "all|A,B", help_heading = AXES)]
    algorithms: Option<Vec<String>>,
    #[command(flatten)]
    lists: Lists<Swept>,
    #[command(flatten)]
    choices: ChoiceLists,

    /// The folder for rows and manifest: new, empty, or with an earlier part of the same sweep
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    out: Option<PathBuf>,
    /// How rows are written; Parquet only if it was built in, with --features parquet
    #[arg(long, value_name = "csv|jsonl|parquet", default_value = "csv", help_heading = OUTPUT)]
    format: Format,
    /// Make every N-th run only, from the I-th on, for one of N machines
    #[arg(long, value_name = "I/N", allow_hyphen_values = true, help_heading = OUTPUT)]
    shard: Option<Shard>,
    /// Make at most this many runs now; the same command continues later
    #[arg(long, value_name = "RUNS", value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = OUTPUT)]
    at_most: Option<u64>,
    /// Number of threads, one per processor unless given; the files do not depend on it
    #[arg(long, value_name = "T", value_parser = whole::<usize>, allow_negative_numbers = true, help_heading = OUTPUT)]
    threads: Option<usize>,
    /// Tell how many runs there would be, and the first of them
    #[arg(long, help_heading = OUTPUT)]
    dry_run: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    Merge(merge::Arguments),
}

const AXES: &str = "Axes of the grid";
const OUTPUT: &str = "Work and output";

/// A sweep has every setting of a run that is an axis, or the same in all runs.
#[derive(Clone, Copy, Debug, Default)]
struct Swept;

impl Use for Swept {
    const HEADINGS: [&'static str; 2] = [AXES, "Every run"];

    fn has(definition: &Definition) -> bool {
        definition.sweep != settings::SweepRole::Fixed
    }
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    if let Some(Verb::Merge(arguments)) = &arguments.verb {
        return merge::answer(catalog, arguments, typed);
    }
    let points = points(catalog, arguments, typed)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    if arguments.dry_run {
        return Ok(summary::plan(&points, shard, typed, arguments.json));
    }
    let folder = arguments.out.as_deref().ok_or_else(homeless)?;
    let runs = shard.size(points.count());
    let sweep = Sweep {
        catalog,
        points: &points,
        shard,
        format: arguments.format,
        threads: repetition::threads(arguments.threads, runs)?,
        at_most: arguments.at_most,
        program: &typed.program,
        typed: &line(typed),
    };
    let mut progress = ProgressLine::new(runs, "runs");
    let swept = sweep.run(folder, |rows| progress.show(rows))?;
    drop(progress);
    Ok(summary::swept(&swept, folder, shard, arguments.json))
}

fn homeless() -> Refusal {
    Refusal::new("where to? give --out FOLDER, or --dry-run to see how many runs there would be")
}

/// What was typed, as one line.
fn line(typed: &Typed) -> String {
    let words: Vec<_> = typed.words.iter().map(|word| word.to_string_lossy()).collect();
    shell::joined(&words)
}

/// The points of the grid in the file, with what the flags change.
fn points(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Points, Refusal> {
    let file = arguments.grid.as_deref().map(|path| in_file(catalog, path)).transpose()?;
    let axes = file.unwrap_or_default().overridden_by(on_flags(arguments));
    let unknown = |name: &str| match names::find(catalog, typed, name) {
        Ok(about) => Refusal::new(format!("{} is an algorithm", about.name)),
        Err(refusal) => refusal,
    };
    let grid = Grid::read(&axes, catalog, &Surroundings { read: &files::read, unknown: &unknown })?;
    Points::new(grid, catalog)
}

fn in_file(catalog: &Catalog, path: &Path) -> Result<Axes, Refusal> {
    let folder = path.parent().unwrap_or(Path::new(""));
    Axes::from_toml(&files::read(path)?, &path.display().to_string(), folder, catalog)
}

fn on_flags(arguments: &Arguments) -> Axes {
    let mut axes = Axes::default();
    if let Some(words) = &arguments.algorithms {
        axes.set("algorithms", words.clone());
    }
    for (axis, words) in arguments.lists.iter().chain(arguments.choices.iter()) {
        axes.set(axis, words.to_vec());
    }
    axes
}
