//! The command `doorway` with the textbook's own catalog.

use std::process::ExitCode;

use doorway_catalog::Catalog;

fn main() -> ExitCode {
    doorway_cli::run(Catalog::textbook())
}
