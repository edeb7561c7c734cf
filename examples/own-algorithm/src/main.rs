//! The command `doorway` with one algorithm more.

use std::process::ExitCode;

use doorway_core::Catalog;

fn main() -> ExitCode {
    doorway_cli::run(doorway_algorithms::catalog().with(own_algorithm::martin::entry()))
}
