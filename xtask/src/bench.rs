//! `cargo xtask bench`: the benchmarks of all crates, in release.

use std::time::Instant;

use crate::cargo::cargo;
use crate::stop::ChoreError;

/// What `--help` prints.
pub const HELP: &str = "\
Runs the benchmarks of all crates in release, or the one that is named.

  cargo xtask bench             all of them
  cargo xtask bench simulator   only crates/*/benches/simulator/main.rs
  cargo xtask bench locks       our locks beside those of std, parking_lot, spin and mcslock

The bench of the locks takes options: --quick or --seconds S, --json, --svg FILE with --theme auto|light|dark.";

/// The one that is a program of its own, with options.
const LOCKS: &str = "locks";

/// Runs them and says how long it took.
pub fn run(words: &[String]) -> Result<(), ChoreError> {
    let begun = Instant::now();
    let outcome = match words {
        [first, options @ ..] if first == LOCKS => locks(options),
        _ => match name_asked(words)? {
            "*" => benches("*").and_then(|()| locks(&[])),
            name => benches(name),
        },
    };
    println!("\nbench: {:.1} s", begun.elapsed().as_secs_f64());
    outcome
}

fn benches(name: &str) -> Result<(), ChoreError> {
    cargo(&["bench", "--workspace", "--locked", "--bench", name], &[])
}

fn locks(options: &[String]) -> Result<(), ChoreError> {
    let program = ["run", "--release", "--locked", "--package", "doorway-lock-bench", "--"];
    let options = options.iter().map(String::as_str);
    cargo(&program.into_iter().chain(options).collect::<Vec<_>>(), &[])
}

/// The benchmark that was asked for; the star is cargo's word for all, and leaves out the empty ones of libraries.
fn name_asked(words: &[String]) -> Result<&str, ChoreError> {
    match words {
        [] => Ok("*"),
        [name] if !name.starts_with('-') => Ok(name),
        [word] => {
            Err(ChoreError::Usage(format!("`cargo xtask bench` has no option {word}; it takes a name.")))
        }
        _ => Err(ChoreError::Usage("`cargo xtask bench` takes at most one name.".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_all_are_run() {
        assert_eq!(name_asked(&[]), Ok("*"));
        assert_eq!(name_asked(&["memory".to_owned()]), Ok("memory"));
    }

    #[test]
    fn more_than_a_name_is_bad_usage() {
        assert!(matches!(name_asked(&["--fast".to_owned()]), Err(ChoreError::Usage(_))));
        assert!(matches!(name_asked(&["one".to_owned(), "two".to_owned()]), Err(ChoreError::Usage(_))));
    }
}
