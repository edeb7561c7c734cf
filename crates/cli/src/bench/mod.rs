//! `doorway bench`: how fast things are on this machine.

mod locks;

use clap::Subcommand;
use doorway_core::Refusal;

use crate::Answer;

/// Measure real time on this machine
///
/// What is compared takes turns, a few milliseconds each, so that a machine that changes its speed changes it for all. Only the
/// ratios within one run mean something.
#[derive(clap::Args)]
#[command(
    disable_help_subcommand = true,
    arg_required_else_help = false,
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What"
)]
#[command(after_help = "Examples:
  doorway bench locks
  doorway bench locks --quick --svg locks.svg")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Locks(locks::Arguments),
}

pub(crate) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    match &arguments.what {
        What::Locks(arguments) => locks::answer(arguments),
    }
}
