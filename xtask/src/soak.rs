//! `cargo xtask soak`: chaos for a long time, with seeds that nobody has seen before; then libFuzzer for a while.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cargo::{cargo, root, target_directory};
use crate::fuzz;
use crate::stop::Stop;

/// What `--help` prints.
pub const HELP: &str = "\
Runs `doorway chaos` with all algorithms and 3, 5, 7 and 9 nodes, of a release build, until the time is over or
something happens that must never happen. Seeds count upwards from a random one, which is printed. Then libFuzzer
makes up messages for a tenth of that time, as `cargo xtask fuzz` does.

  cargo xtask soak                  for ten minutes
  cargo xtask soak --minutes 480    for a night
  cargo xtask soak --seed 17        from this seed on";

/// How long it takes, unless somebody says otherwise.
const USUAL_MINUTES: u64 = 10;
/// The sizes of clusters, one after the other.
const SIZES: [u64; 4] = [3, 5, 7, 9];
/// The seeds of each algorithm and size in one go: few, so that it stops soon after the time is over.
const SEEDS: u64 = 2;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    minutes: u64,
    seed: Option<u64>,
}

/// Some runs: all algorithms, one size, a few seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Batch {
    nodes: u64,
    seed: u64,
}

/// Runs until the time is over or something is found.
pub fn run(words: &[String]) -> Result<(), Stop> {
    let Asked { minutes, seed } = asked(words)?;
    cargo(&["build", "--release", "--locked", "--package", "doorway-cli"], &[])?;
    let first = seed.unwrap_or_else(random_seed);
    println!("\nsoak: {minutes} min from seed {first} on; repeat it with `cargo xtask soak --seed {first}`");
    let begun = Instant::now();
    let is_over = || begun.elapsed() >= Duration::from_secs(60 * minutes);
    let count = soak(first, is_over, doorway)?;
    println!("soak: {count} batches, nothing happened that must never happen");
    fuzz::run_for((minutes / 10).max(1))
}

fn asked(words: &[String]) -> Result<Asked, Stop> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('=')).collect();
    let mut asked = Asked { minutes: USUAL_MINUTES, seed: None };
    for pair in words.chunks(2) {
        match (pair, pair.last().and_then(|word| word.parse().ok())) {
            (["--minutes", _], Some(minutes @ 1..=100_000)) => asked.minutes = minutes,
            (["--seed", _], Some(seed)) => asked.seed = Some(seed),
            _ => {
                let sentence =
                    "`cargo xtask soak` takes `--minutes M` from 1 to 100000, and `--seed S`, a number.";
                return Err(Stop::Usage(sentence.to_owned()));
            }
        }
    }
    Ok(asked)
}

/// A seed that differs each time, short enough to be typed.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}

/// Makes batch after batch, at least one, and tells how many there were.
fn soak(
    first: u64,
    is_over: impl Fn() -> bool,
    mut make: impl FnMut(Batch) -> Result<(), Stop>,
) -> Result<u64, Stop> {
    let seeds = (0..).map_while(|round: u64| first.checked_add(round.checked_mul(SEEDS)?));
    let batches = seeds.flat_map(|seed| SIZES.map(|nodes| Batch { nodes, seed }));
    let mut count = 0;
    for batch in batches {
        make(batch)?;
        count += 1;
        if is_over() {
            break;
        }
    }
    Ok(count)
}

/// Makes one batch with the command, and shows its last line, or all that it says if something is wrong.
fn doorway(batch: Batch) -> Result<(), Stop> {
    let program = target_directory().join("release").join(format!("doorway{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(program).args(arguments(batch)).current_dir(root()).output();
    let output = output.map_err(|error| Stop::Failed(format!("`doorway` could not be started: {error}.")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        let Batch { nodes, seed } = batch;
        println!("{nodes} nodes, seed {seed}: {}", said.lines().last().unwrap_or_default());
        return Ok(());
    }
    println!("\n{said}{}", String::from_utf8_lossy(&output.stderr));
    Err(Stop::Failed(format!("`doorway {}` found something.", arguments(batch).join(" "))))
}

fn arguments(Batch { nodes, seed }: Batch) -> Vec<String> {
    let line = format!("chaos --algorithm all --nodes {nodes} --seeds {SEEDS} --seed {seed}");
    line.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn time_and_seed_can_be_asked_for() {
        assert_eq!(asked(&[]), Ok(Asked { minutes: 10, seed: None }));
        assert_eq!(asked(&words("--minutes 3 --seed=9")), Ok(Asked { minutes: 3, seed: Some(9) }));
    }

    #[test]
    fn anything_else_is_bad_usage() {
        for line in ["--minutes", "--minutes 0", "--minutes soon", "--hours 3", "--seed -1", "5"] {
            assert!(matches!(asked(&words(line)), Err(Stop::Usage(_))), "{line} was accepted");
        }
    }

    #[test]
    fn sizes_change_first_and_seeds_count_up_until_the_time_is_over() {
        let (made, left) = (RefCell::new(Vec::new()), Cell::new(6));
        let is_over = || left.replace(left.get() - 1) == 1;
        let make = |batch: Batch| {
            made.borrow_mut().push((batch.nodes, batch.seed));
            Ok(())
        };
        assert_eq!(soak(40, is_over, make), Ok(6));
        assert_eq!(*made.borrow(), [(3, 40), (5, 40), (7, 40), (9, 40), (3, 42), (5, 42)]);
    }

    #[test]
    fn the_first_thing_that_is_found_ends_it() {
        let stop = || Stop::Failed("found".to_owned());
        let make = |batch: Batch| if batch.nodes == 5 { Err(stop()) } else { Ok(()) };
        assert_eq!(soak(1, || false, make), Err(stop()));
        assert_eq!(soak(u64::MAX, || false, |_| Ok(())), Ok(4), "there are no larger seeds");
    }

    #[test]
    fn a_batch_is_a_command() {
        let line = arguments(Batch { nodes: 7, seed: 5 }).join(" ");
        assert_eq!(line, "chaos --algorithm all --nodes 7 --seeds 2 --seed 5");
    }
}
