//! `cargo xtask soak`: chaos for a long time, with new seeds; then libFuzzer for a while.

mod answer;
mod campaign;
mod state;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::answer::BatchResult;
use self::campaign::{Batch, Campaign};
use self::state::State;
use crate::cargo::{cargo, root, target_directory};
use crate::fuzz;
use crate::stop::ChoreError;

/// What `--help` prints.
pub const HELP: &str = "\
Runs `doorway chaos` with all algorithms and 3 to 9 and 16 nodes, of a release build, until the time is over, enough runs were
made, or a run has a violation. Seeds count upwards from a random one, which is printed. Every minute of
virtual time counts; at the end it tells the rate, which faults met, which rules were needed, and what was missed.
After each batch it writes target/soak.state, from which --resume goes on, however it was ended; the batch that was under way
is made again. A new soak keeps the state of the last one as target/soak.state.before. With --minutes, libFuzzer then makes up
messages for a tenth of that time, as `cargo xtask fuzz` does.

  cargo xtask soak                  for ten minutes
  cargo xtask soak --minutes 480    for a night
  cargo xtask soak --runs 100000    until so many runs are made, however long it takes
  cargo xtask soak --resume         go on where the last one stopped, up to its runs or seeds or for ten minutes
  cargo xtask soak --seed 17        from this seed on
  cargo xtask soak --nodes 7,9 --algorithm naimi-trehel --seeds 1500
                                    1500 seeds of one algorithm with 7 and with 9 nodes, however long it takes
  cargo xtask soak --explore        instead, all interleavings of consensus and of the change of members, up to
                                    bounds that are too large for `cargo xtask test`: half an hour, 4 GB";

/// The default duration.
const USUAL_MINUTES: u64 = 10;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    minutes: Option<u64>,
    runs: Option<u64>,
    seed: Option<u64>,
    seeds: Option<u64>,
    sizes: Option<Vec<u64>>,
    algorithm: Option<String>,
    is_resumed: bool,
    explores: bool,
}

/// The tests that explore: packages and programs.
const EXPLORING: [[&str; 2]; 2] = [["doorway-node", "consensus"], ["doorway-chaos", "model"]];

/// Runs until the time is over, enough runs are made, or something is found.
pub fn run(words: &[String]) -> Result<(), ChoreError> {
    let asked = asked(words)?;
    if asked.explores {
        return explore();
    }
    let file = target_directory().join("soak.state");
    let _alone = state::lock(&file.with_extension("lock"))?;
    let mut state = begin(&asked, &file)?;
    let is_endless = state.goal.is_none() && state.campaign.seeds.is_none();
    let minutes = asked.minutes.or_else(|| is_endless.then_some(USUAL_MINUTES));
    cargo(&["build", "--release", "--locked", "--package", "doorway-cli"], &[])?;
    println!("\nsoak: {}", told_before(&state, minutes));
    let (begun, before) = (Instant::now(), state.elapsed);
    let is_over = || minutes.is_some_and(|minutes| begun.elapsed() >= Duration::from_secs(60 * minutes));
    let outcome = soak(&mut state, is_over, |state, batch| {
        advance(state, &batch, &file, || before + begun.elapsed(), doorway)?;
        println!("{}", progress(state));
        Ok(())
    });
    print!("\n{}", state.coverage());
    outcome?;
    println!("\nsoak: {}: no violation", progress(&state));
    asked.minutes.map_or(Ok(()), |minutes| fuzz::run_for((minutes / 10).max(1)))
}

/// Runs the long explorations.
fn explore() -> Result<(), ChoreError> {
    EXPLORING.iter().try_for_each(|[package, test]| {
        let words = ["--", "--ignored", "--nocapture", "--test-threads", "1"];
        cargo(&[&["test", "--locked", "--package", package, "--test", test], &words[..]].concat(), &[])
    })
}

fn asked(words: &[String]) -> Result<Asked, ChoreError> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('=')).collect();
    let mut asked = Asked::default();
    let mut rest = &words[..];
    while let Some((word, after)) = rest.split_first() {
        let next = after.first().copied().unwrap_or_default();
        let number = next.parse::<u64>().ok();
        match *word {
            "--minutes" => {
                asked.minutes = Some(number.filter(|n| (1..=100_000).contains(n)).ok_or_else(usage)?)
            }
            "--runs" => asked.runs = Some(number.filter(|n| *n > 0).ok_or_else(usage)?),
            "--seed" => asked.seed = Some(number.ok_or_else(usage)?),
            "--seeds" => asked.seeds = Some(number.filter(|n| *n > 0).ok_or_else(usage)?),
            "--nodes" => asked.sizes = Some(campaign::sizes(next).ok_or_else(usage)?),
            "--algorithm" => asked.algorithm = Some(campaign::algorithm(next).ok_or_else(usage)?),
            "--resume" => asked.is_resumed = true,
            "--explore" => asked.explores = true,
            _ => return Err(usage()),
        }
        let has_value = !matches!(*word, "--resume" | "--explore");
        rest = &after[usize::from(has_value)..];
    }
    let is_alone = asked == Asked { explores: true, ..Asked::default() };
    let is_named =
        asked.seed.is_some() || asked.seeds.is_some() || asked.sizes.is_some() || asked.algorithm.is_some();
    let is_wrong = asked.is_resumed && is_named || asked.explores && !is_alone;
    if is_wrong { Err(usage()) } else { Ok(asked) }
}

fn usage() -> ChoreError {
    let sentence = "`cargo xtask soak` takes `--minutes M` from 1 to 100000, `--runs R` from 1, and either `--resume` or any of `--seed S`, a number, `--seeds N` from 1, `--nodes N,N` from 1 to 16 and `--algorithm NAME`; or `--explore` alone.";
    ChoreError::Usage(sentence.to_owned())
}

/// Where it begins: with its first batch, or where the last one stopped.
fn begin(asked: &Asked, file: &Path) -> Result<State, ChoreError> {
    let mut state = if asked.is_resumed {
        state::read(file)?
    } else {
        state::set_aside(file)?;
        State::new(campaign_of(asked))
    };
    state.goal = asked.runs.or(state.goal);
    // Also what is ended in its first batch can be resumed.
    state::write(file, &state)?;
    Ok(state)
}

fn campaign_of(asked: &Asked) -> Campaign {
    let usual = Campaign::new(asked.seed.unwrap_or_else(random_seed));
    Campaign {
        seeds: asked.seeds,
        sizes: asked.sizes.clone().unwrap_or(usual.sizes),
        algorithm: asked.algorithm.clone().unwrap_or(usual.algorithm),
        ..usual
    }
}

/// A seed that differs each time, short enough to be typed.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}

/// What is about to be done.
fn told_before(state: &State, minutes: Option<u64>) -> String {
    let time = minutes.map(|minutes| format!("{minutes} min"));
    let goal = state.goal.map(|goal| format!("up to {goal} runs"));
    let seeds = state.campaign.seeds.map(|seeds| format!("{seeds} seeds"));
    let how_long = [time, goal, seeds].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let (first, words) = (state.campaign.first, state.campaign.words());
    match state.runs {
        0 => format!(
            "{how_long} from seed {first} on; repeat it with `{words}`, go on after an end with --resume"
        ),
        runs => format!("{how_long}, after {runs} runs from seed {first} on (`{words}`)"),
    }
}

/// Makes batch after batch until all are made, it is over or something is wrong; one batch is made at least.
fn soak(
    state: &mut State,
    is_over: impl Fn() -> bool,
    mut make: impl FnMut(&mut State, Batch) -> Result<(), ChoreError>,
) -> Result<(), ChoreError> {
    while state.goal.is_none_or(|goal| state.runs < goal) {
        let Some(batch) = state.campaign.batch(state.batches)? else { break };
        make(state, batch)?;
        if is_over() {
            break;
        }
    }
    Ok(())
}

/// Makes one batch, and writes down that it was made. A soak that is killed before that makes the batch again; one that is killed
/// later does not.
fn advance(
    state: &mut State,
    batch: &Batch,
    file: &Path,
    elapsed: impl FnOnce() -> Duration,
    make: impl FnOnce(&Batch) -> Result<BatchResult, ChoreError>,
) -> Result<(), ChoreError> {
    let answer = make(batch)?;
    state.add(batch.nodes, &answer, elapsed());
    state::write(file, state)
}

/// Makes one batch with the command.
fn doorway(batch: &Batch) -> Result<BatchResult, ChoreError> {
    let arguments = batch.arguments();
    let output = Command::new(program()).args(&arguments).current_dir(root()).output();
    let output =
        output.map_err(|error| ChoreError::Failed(format!("`doorway` could not be started: {error}.")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = arguments.join(" ");
    let answer = BatchResult::read(&said);
    match answer {
        Some(answer) if output.status.success() => Ok(answer),
        Some(answer) => {
            answer.replay.iter().for_each(|replay| println!("\nfound: {replay}"));
            Err(ChoreError::Failed(format!(
                "`doorway {line}` found something; `--resume` repeats that batch."
            )))
        }
        None => {
            println!("\n{said}{}", String::from_utf8_lossy(&output.stderr));
            Err(ChoreError::Failed(format!("`doorway {line}` failed.")))
        }
    }
}

fn program() -> PathBuf {
    target_directory().join("release").join(format!("doorway{}", std::env::consts::EXE_SUFFIX))
}

/// How far it is, and how quickly it goes.
fn progress(state: &State) -> String {
    let seconds = state.elapsed.as_secs_f64().max(0.001);
    let hours = state.virtual_us as f64 / 3.6e9;
    let goal = state.goal.or(state.campaign.runs()).map(|goal| format!(" of {goal}")).unwrap_or_default();
    let (runs, entries) = (state.runs, state.entries);
    let (rate, per_minute) = (runs as f64 / seconds, hours * 60.0 / seconds);
    format!(
        "{runs}{goal} runs, {entries} entries, {hours:.1} virtual hours; {rate:.1} runs/s, {per_minute:.1} virtual hours per minute"
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn time_runs_seeds_sizes_and_an_algorithm_can_be_asked_for() {
        assert_eq!(asked(&[]), Ok(Asked::default()));
        let all = Asked { minutes: Some(3), runs: Some(7), seed: Some(9), ..Asked::default() };
        assert_eq!(asked(&words("--minutes 3 --seed=9 --runs 7")), Ok(all));
        let (sizes, algorithm) = (Some(vec![7, 9]), Some("raymond".to_owned()));
        let named = Asked { seeds: Some(1_500), sizes, algorithm, ..Asked::default() };
        assert_eq!(asked(&words("--nodes 7,9 --algorithm raymond --seeds 1500")), Ok(named.clone()));
        let made = campaign_of(&Asked { seed: Some(4), ..named });
        assert_eq!((made.first, made.seeds, &made.sizes[..]), (4, Some(1_500), &[7, 9][..]));
        assert_eq!(campaign_of(&Asked { seed: Some(4), ..Asked::default() }), Campaign::new(4));
        let resumed = Asked { minutes: Some(3), is_resumed: true, ..Asked::default() };
        assert_eq!(asked(&words("--resume --minutes 3")), Ok(resumed));
        assert_eq!(asked(&words("--explore")), Ok(Asked { explores: true, ..Asked::default() }));
    }

    #[test]
    fn anything_else_is_bad_usage() {
        let lines = ["--minutes", "--minutes 0", "--minutes soon", "--hours 3", "--seed -1", "5", "--runs 0"];
        let more = ["--resume --seed 1", "--resume 5", "--seed --resume", "--explore --runs 5", "--seeds 0"];
        let named =
            ["--nodes", "--nodes 17", "--algorithm --resume", "--resume --nodes 7", "--resume --seeds 5"];
        for line in lines.into_iter().chain(more).chain(named) {
            assert!(matches!(asked(&words(line)), Err(ChoreError::Usage(_))), "{line} was accepted");
        }
    }

    /// A file for a state of its own, gone in the beginning and at the end.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let place =
                Self(std::env::temp_dir().join(format!("doorway-{name}-{}.state", std::process::id())));
            place.clear();
            place
        }

        fn clear(&self) {
            for extension in ["state", "state.new", "state.before"] {
                let _ = fs::remove_file(self.0.with_extension(extension));
            }
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            self.clear();
        }
    }

    #[test]
    fn it_continues_where_the_last_one_stopped() {
        let place = Place::new("soak-resumed");
        let resumed = Asked { is_resumed: true, ..Asked::default() };
        let nothing = begin(&resumed, &place.0).expect_err("there is nothing").to_string();
        assert!(nothing.starts_with("There is nothing to resume"), "{nothing}");
        let asked = Asked { runs: Some(50), seed: Some(40), ..Asked::default() };
        let state = begin(&asked, &place.0).expect("it begins");
        assert_eq!(begin(&resumed, &place.0), Ok(state.clone()), "killed in its first batch");
        state::write(&place.0, &State { batches: 3, ..state }).expect("it can be written");
        let state = begin(&resumed, &place.0).expect("it can be read");
        assert_eq!((state.campaign.first, state.goal, state.batches), (40, Some(50), 3));
        let more = Asked { runs: Some(90), ..resumed };
        assert_eq!(begin(&more, &place.0).map(|state| state.goal), Ok(Some(90)));
        let anew = Asked { seed: Some(7), ..Asked::default() };
        assert_eq!(begin(&anew, &place.0), Ok(State::new(Campaign::new(7))), "an old state does not matter");
    }

    /// When a soak is killed: in which batch, counted from 0, and when in it.
    #[derive(Clone, Copy, Debug)]
    enum Kill {
        /// The command has not answered.
        WhileItRuns(u64),
        /// The command has answered, and the new state is only half written.
        WhileItWrites(u64),
        /// The new state is written.
        After(u64),
    }

    /// Soaks until it is killed, if it is; tells every batch that was begun.
    fn soak_until(kill: Option<Kill>, asked: &Asked, file: &Path) -> (Vec<Batch>, Result<State, ChoreError>) {
        let mut state = match begin(asked, file) {
            Ok(state) => state,
            Err(stop) => return (Vec::new(), Err(stop)),
        };
        let mut begun = Vec::new();
        let killed = || ChoreError::Failed("killed".to_owned());
        let outcome = soak(
            &mut state,
            || false,
            |state, batch| {
                let number = state.batches;
                begun.push(batch.clone());
                let make = |batch: &Batch| match kill {
                    Some(Kill::WhileItRuns(at)) if at == number => Err(killed()),
                    Some(Kill::WhileItWrites(at)) if at == number => {
                        fs::write(file.with_extension("state.new"), "doorway soak 2\nnod").expect("a file");
                        Err(killed())
                    }
                    _ => Ok(made_up(batch)),
                };
                advance(state, &batch, file, || Duration::from_secs(number + 1), make)?;
                if matches!(kill, Some(Kill::After(at)) if at == number) { Err(killed()) } else { Ok(()) }
            },
        );
        (begun, outcome.map(|()| state))
    }

    /// What a batch comes to, different for each.
    fn made_up(batch: &Batch) -> BatchResult {
        let maps = [("pairs".to_owned(), [("crash + pause".to_owned(), batch.seed)].into())].into();
        let entries = 1_000 * batch.nodes + batch.seed;
        BatchResult {
            runs: batch.seeds,
            entries,
            views: batch.seed,
            slowest_us: batch.seed,
            maps,
            replay: Vec::new(),
        }
    }

    #[test]
    fn killed_and_resumed_it_loses_no_run_and_counts_none_twice() {
        let asked = asked(&words("--nodes 7,9 --algorithm raymond --seeds 50 --seed 5")).expect("good words");
        let resumed = Asked { is_resumed: true, ..Asked::default() };
        let place = Place::new("soak-killed");
        let (batches, whole) = soak_until(None, &asked, &place.0);
        let whole = whole.expect("nobody kills it");
        assert_eq!((batches.len(), whole.runs, whole.batches), (6, 100, 6));
        for number in 0..6 {
            for (kill, again) in
                [(Kill::WhileItRuns(number), 1), (Kill::WhileItWrites(number), 1), (Kill::After(number), 0)]
            {
                place.clear();
                let (first, killed) = soak_until(Some(kill), &asked, &place.0);
                assert!(killed.is_err(), "{kill:?}");
                let (then, state) = soak_until(None, &resumed, &place.0);
                assert_eq!(state, Ok(whole.clone()), "{kill:?}");
                let kept = &first[..first.len() - again];
                assert_eq!([kept, &then].concat(), batches, "{kill:?}");
            }
        }
        let (then, state) = soak_until(None, &resumed, &place.0);
        assert_eq!((then.len(), state), (0, Ok(whole)), "all is made");
    }

    #[test]
    fn it_ends_with_the_time_with_enough_runs_or_with_what_is_found() {
        let make = |state: &mut State, _: Batch| {
            state.runs += 24;
            Ok(())
        };
        let left = Cell::new(3);
        let mut state = State::new(Campaign::new(1));
        assert_eq!(soak(&mut state, || left.replace(left.get() - 1) == 1, make), Ok(()));
        assert_eq!(state.runs, 72);
        let mut state = State { goal: Some(100), ..State::new(Campaign::new(1)) };
        assert_eq!(soak(&mut state, || false, make), Ok(()));
        assert_eq!(state.runs, 120, "batches are made whole");
        assert_eq!(soak(&mut state, || false, make), Ok(()));
        assert_eq!(state.runs, 120, "all are made already");
        let found = || Err(ChoreError::Failed("found".to_owned()));
        assert_eq!(soak(&mut State::new(Campaign::new(1)), || false, |_, _| found()), found());
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
            ..State::new(Campaign::new(1))
        };
        let expected =
            "600 of 1000 runs, 7 entries, 10.0 virtual hours; 5.0 runs/s, 5.0 virtual hours per minute";
        assert_eq!(progress(&state), expected);
    }
}
