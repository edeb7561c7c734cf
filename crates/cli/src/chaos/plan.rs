//! What is to be run, and whether it can be.

use doorway_catalog::{Catalog, settings};
use doorway_chaos::{Design, Flaw, Run};
use doorway_core::{Options, Refusal, Ticks};
use doorway_simulator::shell;

use super::Arguments;
use crate::typed::Typed;
use crate::{files, names, repetition};

/// The most nodes: each votes, and every one talks to every other.
const MOST_NODES: usize = 16;
/// The longest run.
const LONGEST: Ticks = Ticks(3_600_000_000);
/// The longest run that is written down: a minute of sixteen nodes takes some fifty megabytes.
const LONGEST_TRACE: Ticks = Ticks(600_000_000);
/// The runs of each algorithm, unless --seeds is given.
const USUAL_SEEDS: u64 = 200;
/// What stands for every algorithm that is right.
const ALL: &str = "all";

/// All runs: every seed of every algorithm.
pub(super) struct ChaosPlan<'a> {
    /// The algorithms, each with the cluster of its first seed.
    pub(super) algorithms: Vec<(&'a str, Design)>,
    /// How long each run lasts.
    pub(super) length: Ticks,
    /// How many seeds each of them has.
    pub(super) seeds: u64,
    pub(super) threads: usize,
    /// What was chosen for the algorithm.
    options: Options,
    program: &'a str,
}

impl<'a> ChaosPlan<'a> {
    /// # Errors
    /// If something of it makes no sense.
    pub(super) fn new(
        catalog: &'a Catalog,
        arguments: &Arguments,
        typed: &'a Typed,
    ) -> Result<Self, Refusal> {
        check(arguments)?;
        let usual = if arguments.trace.is_some() { 1 } else { USUAL_SEEDS };
        let seeds = arguments.seeds.unwrap_or(usual);
        let options = files::choices(arguments.choices.words())?;
        let algorithms = algorithms(catalog, arguments, &options, typed)?;
        let runs = seeds.saturating_mul(algorithms.len() as u64);
        check_seeds(arguments, seeds, algorithms.len())?;
        let threads = repetition::threads(arguments.threads, runs)?;
        Ok(Self { algorithms, length: arguments.length, seeds, threads, options, program: &typed.program })
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> u64 {
        self.seeds * self.algorithms.len() as u64
    }

    /// A run by its number, with the place of its algorithm.
    pub(super) fn run(&self, number: u64) -> (usize, Run) {
        let place = (number / self.seeds) as usize;
        let mut design = self.algorithms[place].1.clone();
        // What a run is made of depends on its own seed.
        design.seed += number % self.seeds;
        (place, Run::new(design, self.length))
    }

    /// The only run.
    ///
    /// # Errors
    /// If there are more.
    pub(super) fn only(&self) -> Result<(&'a str, Run), Refusal> {
        match (&self.algorithms[..], self.seeds) {
            ([(name, _)], 1) => Ok((name, self.run(0).1)),
            _ => Err(Refusal::new("--trace records one run: give --seeds 1 and one --algorithm")),
        }
    }

    /// The command that makes one run again.
    pub(super) fn replay(&self, algorithm: &str, run: &Run) -> String {
        let (nodes, seed) = (run.design.nodes.to_string(), run.design.seed.to_string());
        let (length, program) = (typed_span(run.length), self.program);
        let words = [program, "chaos", "--nodes", &nodes, "--algorithm", algorithm, "--virtual", &length];
        let choices: Vec<String> = settings::choice_words(&self.options).collect();
        let choices = choices.iter().map(String::as_str);
        let flaw = run.design.flaw.iter().flat_map(|flaw| ["--flaw", flaw.name()]);
        let seed = ["--seeds", "1", "--seed", &seed];
        let words: Vec<&str> = words.into_iter().chain(choices).chain(flaw).chain(seed).collect();
        shell::joined(&words)
    }
}

fn algorithms<'a>(
    catalog: &'a Catalog,
    arguments: &Arguments,
    options: &Options,
    typed: &Typed,
) -> Result<Vec<(&'a str, Design)>, Refusal> {
    let list = match arguments.algorithm.as_str() {
        ALL => catalog.list().into_iter().filter(|about| about.specimen.is_none()).collect(),
        name => vec![names::find(catalog, typed, name)?],
    };
    let design = |name: &'a str| {
        let recipe = catalog.subject(name, options)?.recipe();
        // Crashes leave views of any size, and the algorithm starts anew in each.
        (1..=arguments.nodes).try_for_each(|members| {
            let refuse = |why| Refusal::new(format!("a view can have {members} of the nodes: {why}"));
            recipe.blueprint(members).map(|_| ()).map_err(refuse)
        })?;
        let mut design = Design::new(arguments.nodes, recipe, arguments.seed);
        design.flaw = arguments.flaw;
        Ok((name, design))
    };
    list.into_iter().map(|about| design(about.name)).collect()
}

fn check(arguments: &Arguments) -> Result<(), Refusal> {
    let &Arguments { nodes, length, from, until, .. } = arguments;
    if !(1..=MOST_NODES).contains(&nodes) {
        return Err(Refusal::new(format!("--nodes {nodes}: a cluster here has 1 to {MOST_NODES} nodes")));
    }
    if !(Run::SHORTEST..=LONGEST).contains(&length) {
        let typed = typed_span(length);
        return Err(Refusal::new(format!("--virtual {typed}: a run lasts from 20s to 1h")));
    }
    if arguments.trace.is_some() && length > LONGEST_TRACE {
        return Err(Refusal::new("--trace records at most 10m of virtual time: make --virtual shorter"));
    }
    let from = from.unwrap_or_default();
    if from >= length {
        return Err(Refusal::new(format!("--from {}: the run is over by then", typed_span(from))));
    }
    if let Some(until) = until.filter(|until| *until <= from) {
        let (from, until) = (typed_span(from), typed_span(until));
        return Err(Refusal::new(format!("--until {until}: give a time after --from, which is {from}")));
    }
    Ok(())
}

fn check_seeds(arguments: &Arguments, seeds: u64, algorithms: usize) -> Result<(), Refusal> {
    let first = arguments.seed;
    if seeds == 0 {
        return Err(Refusal::new("--seeds must be at least 1"));
    }
    if first.checked_add(seeds - 1).is_none() || seeds.checked_mul(algorithms as u64).is_none() {
        return Err(Refusal::new(format!(
            "--seed {first} is too large for {seeds} runs: give a smaller one, or make fewer runs"
        )));
    }
    Ok(())
}

/// A flaw by its name.
pub(super) fn flaw(word: &str) -> Result<Flaw, Refusal> {
    let names = Flaw::ALL.map(Flaw::name);
    let refuse = || Refusal::new(format!("there is no flaw {word:?}: there are {}", names.join(", ")));
    Flaw::from_name(word).ok_or_else(refuse)
}

/// What a time can be counted in, and how many ticks that is: the largest first, and none that is the end of an earlier one.
const UNITS: [(&str, u64); 5] =
    [("ms", 1_000), ("us", 1), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000)];

/// A time with its unit: `60s`.
pub(super) fn span(word: &str) -> Result<Ticks, Refusal> {
    let refuse = || Refusal::new(format!("{word:?} is not a time, such as 60s, 1500ms, 5m or 1h"));
    let unit = UNITS.iter().find_map(|(unit, ticks)| Some((word.strip_suffix(unit)?, *ticks)));
    let (number, ticks) = unit.ok_or_else(refuse)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let count = number.parse::<u64>().ok().filter(|_| is_number).ok_or_else(refuse)?;
    count.checked_mul(ticks).map(Ticks).ok_or_else(refuse)
}

/// A time as one types it, in the largest unit that says it exactly.
pub(super) fn typed_span(time: Ticks) -> String {
    let fits = |(_, ticks): &&(&str, u64)| time.0.is_multiple_of(*ticks);
    let best = UNITS.iter().filter(|(unit, _)| ["us", "ms", "s"].contains(unit)).filter(fits);
    let (unit, ticks) = best.max_by_key(|(_, ticks)| *ticks).copied().unwrap_or(("us", 1));
    format!("{}{unit}", time.0 / ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units_and_written_so() {
        for (word, ticks, again) in [
            ("60s", 60_000_000, "60s"),
            ("1500ms", 1_500_000, "1500ms"),
            ("5m", 300_000_000, "300s"),
            ("1h", 3_600_000_000, "3600s"),
            ("7us", 7, "7us"),
        ] {
            assert_eq!(span(word), Ok(Ticks(ticks)), "{word}");
            assert_eq!(typed_span(Ticks(ticks)), again);
        }
        for word in
            ["", "60", "s", "-5s", "1.5s", "+1s", "60 s", "99999999999999999999s", "20000000000000000h"]
        {
            assert!(span(word).is_err(), "{word}");
        }
    }
}
