//! `cargo xtask fuzz`: libFuzzer against the decoding of messages, for a while.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::cargo::{cargo, root, target_directory};
use crate::stop::ChoreError;

/// What `--help` prints.
pub const HELP: &str = "\
Lets libFuzzer make up messages, from those in crates/node/corpus, until the time is over or one of them is not refused as it
should be, takes more memory than it may, or is not written and read as itself. Installs cargo-fuzz below the target folder
if it is not there. What is found lies in fuzz/artifacts.

  cargo xtask fuzz                two minutes
  cargo xtask fuzz --minutes 60   an hour";

/// The default duration.
const USUAL_MINUTES: u64 = 2;

/// Runs it for as long as was asked for.
pub fn run(words: &[String]) -> Result<(), ChoreError> {
    run_for(minutes_asked(words)?)
}

/// Runs it for this many minutes.
pub fn run_for(minutes: u64) -> Result<(), ChoreError> {
    let tools = target_directory().join("tools");
    if !tools.join("bin").join(format!("cargo-fuzz{}", env::consts::EXE_SUFFIX)).is_file() {
        cargo(&["install", "cargo-fuzz", "--version", "^0.13", "--locked", "--root", &text(&tools)], &[])?;
    }
    let (target, found) = (target_directory().join("fuzz"), target_directory().join("fuzz-corpus"));
    fs::create_dir_all(&found)
        .map_err(|error| ChoreError::Failed(format!("{} could not be made: {error}.", found.display())))?;
    let examples = root().join("crates").join("node").join("corpus");
    let (target, found, examples) = (text(&target), text(&found), text(&examples));
    let time = format!("-max_total_time={}", 60 * minutes);
    let libfuzzer = ["--", &time, "-max_len=16384", "-malloc_limit_mb=32", "-rss_limit_mb=1024"];
    let words = ["fuzz", "run", "decode", "--target-dir", &target, &found, &examples];
    let path = with_tools(&tools.join("bin"))?;
    // The sanitizer is a flag of the compiler that is not stable.
    cargo(&[&words[..], &libfuzzer[..]].concat(), &[("RUSTC_BOOTSTRAP", "1"), ("PATH", &path)])
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Where programs are looked for, the tools first.
fn with_tools(tools: &Path) -> Result<String, ChoreError> {
    let known = env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = std::iter::once(tools.to_path_buf()).chain(env::split_paths(&known)).collect();
    let joined =
        env::join_paths(all).map_err(|error| ChoreError::Failed(format!("PATH is odd: {error}.")))?;
    Ok(joined.to_string_lossy().into_owned())
}

fn minutes_asked(words: &[String]) -> Result<u64, ChoreError> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('=')).collect();
    match (&words[..], words.last().and_then(|word| word.parse().ok())) {
        ([], _) => Ok(USUAL_MINUTES),
        (["--minutes", _], Some(minutes @ 1..=100_000)) => Ok(minutes),
        _ => Err(ChoreError::Usage("`cargo xtask fuzz` takes `--minutes M`, from 1 to 100000.".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<u64, ChoreError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        minutes_asked(&words)
    }

    #[test]
    fn the_time_can_be_asked_for() {
        assert_eq!([asked(""), asked("--minutes 9"), asked("--minutes=60")], [Ok(2), Ok(9), Ok(60)]);
    }

    #[test]
    fn anything_else_is_bad_usage() {
        for line in ["--minutes", "--minutes 0", "--minutes soon", "--hours 3", "5"] {
            assert!(matches!(asked(line), Err(ChoreError::Usage(_))), "{line} was accepted");
        }
    }
}
