//! The command `doorway` with one algorithm more.

use std::process::ExitCode;

use doorway_catalog::Catalog;

fn main() -> ExitCode {
    doorway_cli::run(Catalog::textbook().with(own_algorithm::martin::entry()))
}
