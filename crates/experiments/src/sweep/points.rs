//! The points of a grid in a defined order, and the run that each stands for.

use doorway_catalog::settings::{RawValue, Spec};
use doorway_catalog::{Catalog, Trial};
use doorway_core::{Members, Options, Refusal};
use doorway_simulator::{Settings, shell};

use super::columns::{self, Column, RequestedRun, Value};
use super::grid::{Axis, Grid};

/// All points of a grid. The first axis, the algorithms with what is chosen for them, changes slowest, and the seed fastest.
#[derive(Clone, Debug)]
pub struct Points {
    grid: Grid,
    combinations: Vec<Combination>,
    count: u64,
}

/// An algorithm with what is chosen for it: a choice is an axis only for those that have it.
#[derive(Clone, Debug)]
struct Combination {
    algorithm: String,
    options: Options,
}

impl Points {
    /// The most runs of one sweep.
    pub const MOST: u64 = 10_000_000;

    /// The points of a grid.
    ///
    /// # Errors
    /// If there are too many, or a value of an axis that can be run nowhere on the grid. What cannot be run at some points
    /// only is no error: those points get a row that says why.
    pub fn new(grid: Grid, catalog: &Catalog) -> Result<Self, Refusal> {
        let points = Self::unchecked(grid, catalog)?;
        check_values(&points.grid)?;
        check_choices(&points.grid, catalog)?;
        Ok(points)
    }

    /// The points of a grid that was checked when its runs were made.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn unchecked(grid: Grid, catalog: &Catalog) -> Result<Self, Refusal> {
        let count = count(&grid, catalog)?;
        let combinations = combinations(&grid, catalog);
        Ok(Self { grid, combinations, count })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The grid.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many different combinations there are: algorithms, each with every choice that it has.
    #[must_use]
    pub fn combinations(&self) -> usize {
        self.combinations.len()
    }

    /// The run at a point.
    #[must_use]
    pub fn trial(&self, index: u64) -> Trial {
        self.trial_and_latency(index).0
    }

    /// What to type to make the run at a point alone.
    #[must_use]
    pub fn command(&self, index: u64, program: &str) -> String {
        let (trial, latency) = self.trial_and_latency(index);
        let command = trial.command(program);
        command.replace(" --latency matrix ", &format!(" --latency {} ", shell::quoted(latency)))
    }

    /// What is wrong with a row that should be of this point.
    pub(super) fn foreign(
        &self,
        catalog: &Catalog,
        columns: &[Column],
        index: u64,
        row: &[Value],
    ) -> Option<String> {
        let (trial, latency) = self.trial_and_latency(index);
        let asked = RequestedRun::new(index, &trial, latency, catalog);
        columns::foreign(columns, row, &asked)
    }

    /// The run at a point, and its latency as it was typed.
    pub(super) fn trial_and_latency(&self, index: u64) -> (Trial, &str) {
        let grid = &self.grid;
        let mut place = Place(index);
        let seed = grid.seeds.first + place.digit(grid.seeds.count);
        let mut spec = grid.common.clone();
        let mut latency = "";
        for axis in grid.axes.iter().rev() {
            let words = place.of(&axis.values);
            if let ("latency", [word]) = (axis.setting.name, &words[..]) {
                latency = &word.0;
            }
            spec.set(axis.setting.name, words.clone());
        }
        let combination = place.of(&self.combinations);
        let settings = Settings { seed, ..grid.settings(spec) };
        let (algorithm, options) = (combination.algorithm.clone(), combination.options.clone());
        (Trial { algorithm, options, settings }, latency)
    }
}

/// What is left of a point's number when the axes that change faster have been read.
struct Place(u64);

impl Place {
    fn digit(&mut self, values: u64) -> u64 {
        let digit = self.0 % values;
        self.0 /= values;
        digit
    }

    fn of<'a, T>(&mut self, axis: &'a [T]) -> &'a T {
        &axis[self.digit(axis.len() as u64) as usize]
    }
}

/// How many points there are, before any of them is made.
fn count(grid: &Grid, catalog: &Catalog) -> Result<u64, Refusal> {
    let of_algorithm =
        |name: &String| product(chosen(grid, catalog, name).map(|(_, choices)| choices.len() as u64));
    let combinations =
        grid.algorithms.iter().try_fold(0_u64, |sum, name| sum.checked_add(of_algorithm(name)?));
    let lengths = grid.axes.iter().map(|axis| axis.values.len() as u64);
    let settings = product(lengths.chain([grid.seeds.count]));
    let count =
        combinations.zip(settings).and_then(|(combinations, settings)| combinations.checked_mul(settings));
    let refuse = |told: &str| {
        Err(Refusal::new(format!(
            "the grid has {told} runs and a sweep at most {}: shorten an axis, or make several sweeps",
            Points::MOST
        )))
    };
    match count {
        None => refuse("more than 2^64"),
        Some(count) if count > Points::MOST => refuse(&count.to_string()),
        Some(count) => Ok(count),
    }
}

fn product(lengths: impl IntoIterator<Item = u64>) -> Option<u64> {
    lengths.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// The choices of the grid that an algorithm has.
fn chosen<'a>(
    grid: &'a Grid,
    catalog: &'a Catalog,
    name: &str,
) -> impl Iterator<Item = &'a (String, Vec<doorway_core::Choice>)> {
    let about = catalog.about(name);
    grid.choices
        .iter()
        .filter(move |(choice, _)| about.is_some_and(|about| about.parameter(choice).is_some()))
}

/// Every algorithm with every combination of what can be chosen for it.
fn combinations(grid: &Grid, catalog: &Catalog) -> Vec<Combination> {
    let mut combinations = Vec::new();
    for name in &grid.algorithms {
        let mut chosen_so_far = vec![Options::none()];
        for (choice, values) in chosen(grid, catalog, name) {
            let with_each = |options: Options| {
                values.iter().map(move |value| {
                    let mut options = options.clone();
                    options.set(choice, value.clone());
                    options
                })
            };
            chosen_so_far = chosen_so_far.into_iter().flat_map(with_each).collect();
        }
        combinations.extend(
            chosen_so_far.into_iter().map(|options| Combination { algorithm: name.clone(), options }),
        );
    }
    combinations
}

/// Refuses a value that fits no number of nodes on the grid.
fn check_values(grid: &Grid) -> Result<(), Refusal> {
    let (sizes, others): (Vec<&Axis>, Vec<&Axis>) =
        grid.axes.iter().partition(|axis| axis.setting.name == "nodes");
    let sizes: Vec<&Vec<RawValue>> = sizes.iter().flat_map(|axis| &axis.values).collect();
    let settings = |nodes: &[RawValue], name: &str, value: &[RawValue]| {
        let mut spec = grid.common.clone();
        spec.set("nodes", nodes.to_vec());
        spec.set(name, value.to_vec());
        grid.settings(spec)
    };
    for nodes in &sizes {
        let settings = settings(nodes, "order", &[]);
        Members::new(settings.nodes)?;
        settings.check()?;
    }
    for (axis, value) in others.iter().flat_map(|axis| axis.values.iter().map(move |value| (axis, value))) {
        let mut tried = sizes.iter().map(|nodes| settings(nodes, axis.setting.name, value).check());
        let first = tried.next().unwrap_or(Ok(()));
        let last = tried.fold(first, |found, next| if found.is_ok() { found } else { next });
        last.map_err(|refusal| {
            Refusal::new(format!("no point of the grid can have this of its {}: {refusal}", axis.name))
        })?;
    }
    Ok(())
}

/// Refuses a choice that no algorithm of the grid has, or a word for it that none of them understands.
fn check_choices(grid: &Grid, catalog: &Catalog) -> Result<(), Refusal> {
    for (name, choices) in &grid.choices {
        let having: Vec<&String> = grid
            .algorithms
            .iter()
            .filter(|algorithm| catalog.about(algorithm).is_some_and(|about| about.parameter(name).is_some()))
            .collect();
        for choice in choices {
            let mut refused = Refusal::new(format!("no algorithm of the grid has a {name} to choose"));
            let understood = |algorithm: &&String| {
                let mut options = Options::none();
                options.set(name, choice.clone());
                bind(catalog, algorithm, options).map_err(|refusal| refused = refusal).is_ok()
            };
            if !having.iter().any(understood) {
                return Err(refused);
            }
        }
    }
    Ok(())
}

/// Whether an algorithm understands what is chosen for it, as far as that can be known without the number of nodes.
fn bind(catalog: &Catalog, algorithm: &str, options: Options) -> Result<(), Refusal> {
    let trial = Trial { options, ..Trial::new(algorithm) };
    match catalog.get(algorithm) {
        Some(listed) => listed.choose(&trial.resolved()?).map(drop),
        None => Ok(()),
    }
}
