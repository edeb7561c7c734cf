//! The command `doorway` with the textbook's own catalog.

use std::process::ExitCode;

fn main() -> ExitCode {
    doorway_cli::run(doorway_algorithms::catalog())
}
