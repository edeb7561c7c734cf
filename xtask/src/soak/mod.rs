//! `cargo xtask soak`: chaos for a long time, with seeds that nobody has seen before; then libFuzzer for a while.

mod answer;
mod state;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use self::answer::Answer;
use self::state::State;
use crate::cargo::{cargo, root, target_directory};
use crate::fuzz;
use crate::stop::Stop;

/// What `--help` prints.
pub const HELP: &str = "\
Runs `doorway chaos` with all algorithms and 3 to 9 and 16 nodes, of a release build, until the time is over, enough runs were
made, or something happens that must never happen. Seeds count upwards from a random one, which is printed. Every minute of
virtual time counts; at the end it tells the rate, which faults met, which rules were needed, and what was missed.
After each batch it writes target/soak.state, from which --resume goes on, however it was ended. With --minutes, libFuzzer
then makes up messages for a tenth of that time, as `cargo xtask fuzz` does.

  cargo xtask soak                  for ten minutes
  cargo xtask soak --minutes 480    for a night
  cargo xtask soak --runs 100000    until so many runs are made, however long it takes
  cargo xtask soak --resume         go on where the last one stopped, up to its runs or for ten minutes
  cargo xtask soak --seed 17        from this seed on
  cargo xtask soak --explore        instead, all interleavings of consensus and of the change of members, up to
                                    bounds that are too large for `cargo xtask test`: half an hour, 4 GB";

/// How long it takes, unless somebody says otherwise.
const USUAL_MINUTES: u64 = 10;
/// The sizes of clusters, one after the other.
const SIZES: [u64; 8] = [3, 4, 5, 6, 7, 8, 9, 16];
/// The seeds of each algorithm and size in one go: few, so that it stops soon after the time is over.
const SEEDS: u64 = 2;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    minutes: Option<u64>,
    runs: Option<u64>,
    seed: Option<u64>,
    is_resumed: bool,
    explores: bool,
}

/// The tests that explore: packages and programs.
const EXPLORING: [[&str; 2]; 2] = [["doorway-node", "consensus"], ["doorway-lab", "views"]];

/// Some runs: all algorithms, one size, a few seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Batch {
    nodes: u64,
    seed: u64,
}

/// Runs until the time is over, enough runs are made, or something is found.
pub fn run(words: &[String]) -> Result<(), Stop> {
    let asked = asked(words)?;
    if asked.explores {
        return explore();
    }
    let file = target_directory().join("soak.state");
    let mut state = begin(&asked, || state::read(&file))?;
    let minutes = asked.minutes.or_else(|| state.goal.is_none().then_some(USUAL_MINUTES));
    cargo(&["build", "--release", "--locked", "--package", "doorway-cli"], &[])?;
    println!("\nsoak: {}", told_before(&state, minutes));
    let (begun, before) = (Instant::now(), state.elapsed);
    let is_over = || minutes.is_some_and(|minutes| begun.elapsed() >= Duration::from_secs(60 * minutes));
    let outcome = soak(&mut state, is_over, |state| {
        let answer = doorway(batch_of(state)?)?;
        state.add(&answer, before + begun.elapsed());
        state::write(&file, state)?;
        println!("{}", progress(state));
        Ok(())
    });
    print!("\n{}", state.coverage());
    outcome?;
    println!("\nsoak: {}: nothing happened that must never happen", progress(&state));
    asked.minutes.map_or(Ok(()), |minutes| fuzz::run_for((minutes / 10).max(1)))
}

/// Makes the explorations that take long.
fn explore() -> Result<(), Stop> {
    EXPLORING.iter().try_for_each(|[package, test]| {
        let words = ["--", "--ignored", "--nocapture", "--test-threads", "1"];
        cargo(&[&["test", "--locked", "--package", package, "--test", test], &words[..]].concat(), &[])
    })
}

fn asked(words: &[String]) -> Result<Asked, Stop> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('=')).collect();
    let mut asked = Asked::default();
    let mut rest = &words[..];
    while let Some((word, after)) = rest.split_first() {
        let number = after.first().and_then(|word| word.parse::<u64>().ok());
        match (*word, number) {
            ("--minutes", Some(minutes @ 1..=100_000)) => asked.minutes = Some(minutes),
            ("--runs", Some(runs @ 1..)) => asked.runs = Some(runs),
            ("--seed", Some(seed)) => asked.seed = Some(seed),
            ("--resume", _) => asked.is_resumed = true,
            ("--explore", _) => asked.explores = true,
            _ => return Err(usage()),
        }
        let has_number = !matches!(*word, "--resume" | "--explore");
        rest = &after[usize::from(has_number)..];
    }
    let is_alone = asked == Asked { explores: true, ..Asked::default() };
    let is_wrong = asked.is_resumed && asked.seed.is_some() || asked.explores && !is_alone;
    if is_wrong { Err(usage()) } else { Ok(asked) }
}

fn usage() -> Stop {
    let sentence = "`cargo xtask soak` takes `--minutes M` from 1 to 100000, `--runs R` from 1, and either `--seed S`, a number, or `--resume`; or `--explore` alone.";
    Stop::Usage(sentence.to_owned())
}

/// Where it begins: from a seed, or where the last one stopped.
fn begin(asked: &Asked, last: impl FnOnce() -> Result<State, Stop>) -> Result<State, Stop> {
    let mut state =
        if asked.is_resumed { last()? } else { State::new(asked.seed.unwrap_or_else(random_seed)) };
    state.goal = asked.runs.or(state.goal);
    Ok(state)
}

/// A seed that differs each time, short enough to be typed.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}

/// What is about to be done.
fn told_before(state: &State, minutes: Option<u64>) -> String {
    let time = minutes.map(|minutes| format!("{minutes} min"));
    let goal = state.goal.map(|goal| format!("up to {goal} runs"));
    let how_long = [time, goal].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let first = state.first;
    match state.runs {
        0 => format!(
            "{how_long} from seed {first} on; repeat it with `cargo xtask soak --seed {first}`, go on after an end with --resume"
        ),
        runs => format!("{how_long}, after {runs} runs from seed {first} on"),
    }
}

/// The batch that comes next.
///
/// # Errors
/// If there are no larger seeds.
fn batch_of(state: &State) -> Result<Batch, Stop> {
    let count = SIZES.len() as u64;
    let nodes = SIZES[(state.batches % count) as usize];
    let seed = (state.batches / count).checked_mul(SEEDS).and_then(|more| state.first.checked_add(more));
    let last = seed.filter(|seed| seed.checked_add(SEEDS - 1).is_some());
    let none = || Stop::Failed("There are no larger seeds: begin with a smaller one.".to_owned());
    Ok(Batch { nodes, seed: last.ok_or_else(none)? })
}

/// Makes batch after batch until it is over or something is wrong; what was asked for is made at least once.
fn soak(
    state: &mut State,
    is_over: impl Fn() -> bool,
    mut make: impl FnMut(&mut State) -> Result<(), Stop>,
) -> Result<(), Stop> {
    while state.goal.is_none_or(|goal| state.runs < goal) {
        make(state)?;
        if is_over() {
            break;
        }
    }
    Ok(())
}

/// Makes one batch with the command.
fn doorway(batch: Batch) -> Result<Answer, Stop> {
    let output = Command::new(program()).args(arguments(batch)).current_dir(root()).output();
    let output = output.map_err(|error| Stop::Failed(format!("`doorway` could not be started: {error}.")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = arguments(batch).join(" ");
    let answer = Answer::read(&said);
    match answer {
        Some(answer) if output.status.success() => Ok(answer),
        Some(answer) => {
            answer.replay.iter().for_each(|replay| println!("\nfound: {replay}"));
            Err(Stop::Failed(format!("`doorway {line}` found something; `--resume` repeats that batch.")))
        }
        None => {
            println!("\n{said}{}", String::from_utf8_lossy(&output.stderr));
            Err(Stop::Failed(format!("`doorway {line}` failed.")))
        }
    }
}

fn program() -> PathBuf {
    target_directory().join("release").join(format!("doorway{}", std::env::consts::EXE_SUFFIX))
}

fn arguments(Batch { nodes, seed }: Batch) -> Vec<String> {
    let line = format!("chaos --algorithm all --nodes {nodes} --seeds {SEEDS} --seed {seed} --json");
    line.split(' ').map(str::to_owned).collect()
}

/// How far it is, and how quickly it goes.
fn progress(state: &State) -> String {
    let seconds = state.elapsed.as_secs_f64().max(0.001);
    let hours = state.virtual_us as f64 / 3.6e9;
    let goal = state.goal.map(|goal| format!(" of {goal}")).unwrap_or_default();
    let (runs, entries) = (state.runs, state.entries);
    let (rate, per_minute) = (runs as f64 / seconds, hours * 60.0 / seconds);
    format!(
        "{runs}{goal} runs, {entries} entries, {hours:.1} virtual hours; {rate:.1} runs/s, {per_minute:.1} virtual hours per minute"
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn time_runs_and_seed_can_be_asked_for() {
        assert_eq!(asked(&[]), Ok(Asked::default()));
        let all = Asked { minutes: Some(3), runs: Some(7), seed: Some(9), ..Asked::default() };
        assert_eq!(asked(&words("--minutes 3 --seed=9 --runs 7")), Ok(all));
        let resumed = Asked { minutes: Some(3), is_resumed: true, ..Asked::default() };
        assert_eq!(asked(&words("--resume --minutes 3")), Ok(resumed));
        assert_eq!(asked(&words("--explore")), Ok(Asked { explores: true, ..Asked::default() }));
    }

    #[test]
    fn anything_else_is_bad_usage() {
        let lines = ["--minutes", "--minutes 0", "--minutes soon", "--hours 3", "--seed -1", "5", "--runs 0"];
        for line in lines.into_iter().chain([
            "--resume --seed 1",
            "--resume 5",
            "--seed --resume",
            "--explore --runs 5",
        ]) {
            assert!(matches!(asked(&words(line)), Err(Stop::Usage(_))), "{line} was accepted");
        }
    }

    #[test]
    fn it_goes_on_where_the_last_one_stopped() {
        let last = || Ok(State { goal: Some(50), batches: 3, ..State::new(40) });
        let resumed = Asked { is_resumed: true, ..Asked::default() };
        let state = begin(&resumed, last).expect("it can be read");
        assert_eq!((state.first, state.goal, state.batches), (40, Some(50), 3));
        let more = Asked { runs: Some(90), ..resumed.clone() };
        assert_eq!(begin(&more, last).map(|state| state.goal), Ok(Some(90)));
        let broken = || Err(Stop::Failed("it is damaged".to_owned()));
        assert_eq!(begin(&resumed, broken), broken());
        let anew = Asked { seed: Some(7), ..Asked::default() };
        assert_eq!(begin(&anew, broken), Ok(State::new(7)), "an old state does not matter");
    }

    #[test]
    fn sizes_change_first_and_seeds_count_up() {
        let at =
            |batches| batch_of(&State { batches, ..State::new(40) }).map(|batch| (batch.nodes, batch.seed));
        let made: Vec<_> = (0..10).filter_map(|batches| at(batches).ok()).collect();
        let sizes =
            [(3, 40), (4, 40), (5, 40), (6, 40), (7, 40), (8, 40), (9, 40), (16, 40), (3, 42), (4, 42)];
        assert_eq!(made, sizes);
        assert!(batch_of(&State::new(u64::MAX - 1)).is_ok());
        assert!(batch_of(&State::new(u64::MAX)).is_err(), "there are no larger seeds");
    }

    #[test]
    fn it_ends_with_the_time_with_enough_runs_or_with_what_is_found() {
        let make = |state: &mut State| {
            state.runs += 24;
            Ok(())
        };
        let left = Cell::new(3);
        let mut state = State::new(1);
        assert_eq!(soak(&mut state, || left.replace(left.get() - 1) == 1, make), Ok(()));
        assert_eq!(state.runs, 72);
        let mut state = State { goal: Some(100), ..State::new(1) };
        assert_eq!(soak(&mut state, || false, make), Ok(()));
        assert_eq!(state.runs, 120, "batches are made whole");
        assert_eq!(soak(&mut state, || false, make), Ok(()));
        assert_eq!(state.runs, 120, "all are made already");
        let found = || Err(Stop::Failed("found".to_owned()));
        assert_eq!(soak(&mut State::new(1), || false, |_| found()), found());
    }

    #[test]
    fn a_batch_is_a_command() {
        let line = arguments(Batch { nodes: 7, seed: 5 }).join(" ");
        assert_eq!(line, "chaos --algorithm all --nodes 7 --seeds 2 --seed 5 --json");
    }

    #[test]
    fn progress_tells_runs_and_rates() {
        let elapsed = Duration::from_secs(120);
        let state = State {
            goal: Some(1_000),
            runs: 600,
            entries: 7,
            virtual_us: 36_000_000_000,
            elapsed,
            ..State::new(1)
        };
        let expected =
            "600 of 1000 runs, 7 entries, 10.0 virtual hours; 5.0 runs/s, 5.0 virtual hours per minute";
        assert_eq!(progress(&state), expected);
    }
}
