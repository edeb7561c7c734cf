//! `cargo xtask bench`: the benchmarks of all crates, in release.

use std::time::Instant;

use crate::cargo::cargo;
use crate::stop::Stop;

/// What `--help` prints.
pub const HELP: &str = "\
Runs the benchmarks of all crates in release, or the one that is named.

  cargo xtask bench             all of them
  cargo xtask bench simulator   only crates/*/benches/simulator/main.rs
  cargo xtask bench locks       only `doorway bench locks`, of a release build";

/// The one that is a verb of the command, because people want it on their own machines too.
const LOCKS: &str = "locks";

/// Runs them and says how long it took.
pub fn run(words: &[String]) -> Result<(), Stop> {
    let name = name_asked(words)?;
    let begun = Instant::now();
    let outcome = match name {
        LOCKS => locks(),
        "*" => benches(name).and_then(|()| locks()),
        name => benches(name),
    };
    println!("\nbench: {:.1} s", begun.elapsed().as_secs_f64());
    outcome
}

fn benches(name: &str) -> Result<(), Stop> {
    cargo(&["bench", "--workspace", "--locked", "--bench", name], &[])
}

fn locks() -> Result<(), Stop> {
    cargo(&["run", "--release", "--locked", "--package", "doorway-cli", "--", "bench", LOCKS], &[])
}

/// The benchmark that was asked for; the star is cargo's word for all, and leaves out the empty ones of libraries.
fn name_asked(words: &[String]) -> Result<&str, Stop> {
    match words {
        [] => Ok("*"),
        [name] if !name.starts_with('-') => Ok(name),
        [word] => Err(Stop::Usage(format!("`cargo xtask bench` has no option {word}; it takes a name."))),
        _ => Err(Stop::Usage("`cargo xtask bench` takes at most one name.".to_owned())),
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
        assert!(matches!(name_asked(&["--fast".to_owned()]), Err(Stop::Usage(_))));
        assert!(matches!(name_asked(&["one".to_owned(), "two".to_owned()]), Err(Stop::Usage(_))));
    }
}
