//! All algorithms on the same work, side by side.
//!
//! Each cell of a comparison is a [`Trial`], so its numbers are those that `doorway simulate` prints for the same seed.

mod chart;
mod faults;
mod order;
mod traits;

use doorway_catalog::settings::{Definition, RunSpec, Spec};
use doorway_catalog::{Catalog, Trial};
use doorway_core::{About, Options, Refusal, Scale};
use doorway_quorums::{Construction, QuorumSystem};
use doorway_simulator::parallel::{JobEvent, in_order};
use doorway_simulator::{Load, Outcome, Settings};
use serde::Serialize;

pub use chart::{ChartStyle, Formulas, Measurement, charts, panels};
pub use faults::{Effect, FaultKind, FaultRow, Suffered};
pub use order::KeptOrder;
pub use traits::Traits;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The names of the algorithms.
    pub algorithms: Vec<String>,
    /// The numbers of nodes.
    pub nodes: Vec<usize>,
    /// The loads.
    pub loads: Vec<Load>,
    /// The options, for those algorithms that have them.
    pub options: Options,
    /// Everything else; nodes and load are taken from the lists.
    pub settings: Settings,
}

/// One algorithm at one size and one load. Times are in ticks.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonCell {
    /// The algorithm's name.
    pub algorithm: String,
    /// N.
    pub nodes: usize,
    /// The load, as one types it.
    pub load: String,
    /// Entries that were measured.
    pub entries: u64,
    /// Messages divided by entries.
    pub messages_per_entry: Option<f64>,
    /// What the literature promises: the formula.
    pub formula: &'static str,
    /// The least of the formula at this size, where it has one.
    pub formula_least: Option<f64>,
    /// The most of the formula at this size, where it has one and is bounded.
    pub formula_most: Option<f64>,
    /// The size of the smallest quorum, K in the formula, for an algorithm with quorums.
    pub quorum_least: Option<usize>,
    /// The size of the largest quorum.
    pub quorum_most: Option<usize>,
    /// Bytes divided by entries.
    pub bytes_per_entry: Option<f64>,
    /// The mean time from request to release.
    pub response_time: Option<f64>,
    /// The mean synchronisation delay: from a release to the next entry, while a node waited.
    pub sync_delay: Option<f64>,
    /// Entries per tick.
    pub throughput: Option<f64>,
    /// Jain's index over the entries of the nodes that asked.
    pub jain: Option<f64>,
    /// The largest number of entries by others that had asked later, while one node waited.
    pub max_bypass: Option<u64>,
    /// The order in which the algorithm serves requests, if that was decided: see [`Traits`].
    pub order: Option<KeptOrder>,
    /// The faults that the algorithm survives, if that was decided.
    pub survives: Option<String>,
    /// Whether the run stalled or something was violated.
    pub failed: bool,
    /// The command that makes this run.
    pub command: String,
}

/// A number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Messages per entry.
    Messages,
    /// Bytes per entry.
    Bytes,
    /// The mean response time.
    Response,
    /// The mean synchronisation delay.
    Delay,
    /// Entries per tick.
    Throughput,
    /// Jain's index.
    Fairness,
    /// The largest number of bypasses.
    Bypass,
}

impl Metric {
    /// All of them, in the order of the tables.
    pub const ALL: [Metric; 7] = [
        Metric::Messages,
        Metric::Bytes,
        Metric::Response,
        Metric::Delay,
        Metric::Throughput,
        Metric::Fairness,
        Metric::Bypass,
    ];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Metric::Messages => "messages",
            Metric::Bytes => "bytes",
            Metric::Response => "response",
            Metric::Delay => "delay",
            Metric::Throughput => "throughput",
            Metric::Fairness => "fairness",
            Metric::Bypass => "bypass",
        }
    }

    /// What it is, with its unit.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Metric::Messages => "messages per entry",
            Metric::Bytes => "bytes per entry",
            Metric::Response => "mean response time in ticks",
            Metric::Delay => "mean synchronisation delay in ticks",
            Metric::Throughput => "entries per tick",
            Metric::Fairness => "Jain's index of fairness",
            Metric::Bypass => "largest number of bypasses",
        }
    }

    /// Its value in a cell.
    #[must_use]
    pub fn of(self, cell: &ComparisonCell) -> Option<f64> {
        match self {
            Metric::Messages => cell.messages_per_entry,
            Metric::Bytes => cell.bytes_per_entry,
            Metric::Response => cell.response_time,
            Metric::Delay => cell.sync_delay,
            Metric::Throughput => cell.throughput,
            Metric::Fairness => cell.jain,
            Metric::Bypass => cell.max_bypass.map(|count| count as f64),
        }
    }

    /// The best of several values: the largest throughput and fairness, the smallest of all else. Where all are equal, none
    /// is the best.
    #[must_use]
    pub fn best(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        match self {
            _ if sorted.len() < 2 => None,
            Metric::Throughput | Metric::Fairness => sorted.last().copied(),
            Metric::Messages | Metric::Bytes | Metric::Response | Metric::Delay | Metric::Bypass => {
                sorted.first().copied()
            }
        }
    }
}

impl Comparison {
    /// The settings that all runs share; the sizes and loads are lists.
    pub const SHARED: [&'static str; 5] = ["entries", "hold", "latency", "channels", "seed"];

    /// The settings that all runs share, from what was typed.
    ///
    /// # Errors
    /// If another setting was given, or one cannot be read.
    pub fn settings(spec: &RunSpec) -> Result<Settings, Refusal> {
        let is_shared = |definition: &&Definition| Self::SHARED.contains(&definition.name);
        let mut others = RunSpec::SETTINGS.iter().filter(|definition| !is_shared(definition));
        if let Some(other) = others.find(|definition| !spec.words(definition.name).is_empty()) {
            return Err(Refusal::new(format!("a comparison has no setting {:?}", other.name)));
        }
        spec.settings(|_| Err(Refusal::new("latency: a comparison has many sizes, and a matrix only one")))
    }

    /// Sizes that quorums of every kind and small tables like.
    pub const USUAL_NODES: [usize; 4] = [4, 9, 16, 25];

    /// The names of all algorithms of a catalog that are right.
    pub fn everybody(catalog: &Catalog) -> Vec<String> {
        let right = catalog.list().into_iter().filter(|about| about.specimen.is_none());
        right.map(|about| about.name.to_owned()).collect()
    }

    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.algorithms.len() * self.nodes.len() * self.loads.len()
    }

    /// Makes all runs on this many threads, load by load and size by size; `watch` is told how many are done.
    ///
    /// # Errors
    /// The first run that cannot be made, by its command.
    pub fn run(
        &self,
        catalog: &Catalog,
        program: &str,
        threads: usize,
        mut watch: impl FnMut(u64),
    ) -> Result<Vec<ComparisonCell>, Refusal> {
        let mut cells = Vec::with_capacity(self.runs());
        let job = |place: u64| self.cell(catalog, program, place as usize);
        in_order(0..self.runs() as u64, threads, job, |step| {
            match step {
                JobEvent::Done(_, cell) => cells.push(cell?),
                JobEvent::Waiting(done) => watch(done),
            }
            Ok::<(), Refusal>(())
        })?;
        Ok(cells)
    }

    /// What is run in the cell at this place.
    ///
    /// Where a plane exists its lines are the quorums, unless something else was chosen. The usual cyclic quorums would mislead
    /// there: a node's quorum holds its successor, which under saturation enters next, so that the common member need not be
    /// asked and Maekawa's delay shows as T instead of up to 2T.
    fn trial(&self, about: &About, place: usize) -> Trial {
        let (algorithms, nodes) = (self.algorithms.len(), self.nodes.len());
        let settings = Settings {
            nodes: self.nodes[place / algorithms % nodes],
            load: self.loads[place / algorithms / nodes].clone(),
            ..self.settings.clone()
        };
        let mut options = Options::none();
        for (name, choice) in self.options.iter().filter(|(name, _)| about.parameter(name).is_some()) {
            options.set(name, choice.clone());
        }
        let takes_plane = about.parameter("quorum").is_some() && options.iter().next().is_none();
        if takes_plane && QuorumSystem::build(&Construction::Plane, settings.nodes).is_ok() {
            options = options.with("quorum", Construction::Plane.name());
        }
        Trial { algorithm: about.name.to_owned(), options, settings }
    }

    fn cell(&self, catalog: &Catalog, program: &str, place: usize) -> Result<ComparisonCell, Refusal> {
        let name = &self.algorithms[place % self.algorithms.len()];
        let about = about(catalog, name)?;
        let trial = self.trial(about, place);
        let blame = |refusal: Refusal| {
            Refusal::new(format!("{name} among {} nodes: {refusal}", trial.settings.nodes))
        };
        let outcome = trial.run(catalog).map_err(blame)?;
        Ok(ComparisonCell::new(about, &trial, &outcome, program))
    }
}

impl ComparisonCell {
    fn new(about: &About, trial: &Trial, outcome: &Outcome, program: &str) -> Self {
        let report = trial.report(outcome);
        let [least, most] = formula(about, trial).map_or([None; 2], |bounds| bounds.map(Some));
        let [quorum_least, quorum_most] =
            quorum_sizes(about, trial).map_or([None; 2], |sizes| sizes.map(Some));
        Self {
            algorithm: trial.algorithm.clone(),
            nodes: trial.settings.nodes,
            load: trial.settings.load.to_string(),
            entries: report.entries,
            messages_per_entry: report.messages_per_entry,
            formula: about.messages.formula,
            formula_least: least,
            formula_most: most.filter(|most| most.is_finite()),
            quorum_least,
            quorum_most,
            bytes_per_entry: (report.entries > 0).then(|| report.bytes as f64 / report.entries as f64),
            response_time: report.response_time.mean,
            sync_delay: report.sync_delay.summary.mean,
            throughput: report.throughput,
            jain: report.fairness.jain,
            max_bypass: report.fairness.max_bypass,
            order: None,
            survives: None,
            failed: !outcome.as_expected,
            command: trial.command(program),
        }
    }

    /// Whether the messages are fewer or more than the formula says; `None` where there is no formula to compare with.
    #[must_use]
    pub fn is_outside_formula(&self) -> Option<bool> {
        /// Means of many entries are a little off where the entries cost different numbers.
        const MARGIN: f64 = 0.05;
        let (measured, least) = self.messages_per_entry.zip(self.formula_least)?;
        let is_more = self.formula_most.is_some_and(|most| measured > most + MARGIN);
        Some(measured < least - MARGIN || is_more)
    }
}

fn about<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a About, Refusal> {
    catalog.about(name).ok_or_else(|| Refusal::new(format!("there is no algorithm {name:?}")))
}

/// The least and the most messages per entry at the size of a trial. Structures and trees other than the usual ones have other
/// formulas, which the catalog does not know.
#[must_use]
pub fn formula(about: &About, trial: &Trial) -> Option<[f64; 2]> {
    let is_unusual = |name: &str| {
        let parameter = about.parameter(name);
        parameter.is_some_and(|parameter| trial.options.choice(parameter).word != parameter.default)
    };
    if ["structure", "tree"].into_iter().any(is_unusual) {
        return None;
    }
    let n = trial.settings.nodes as f64;
    let k = match about.parameter("quorum") {
        None => [n; 2],
        Some(_) => quorum_sizes(about, trial)?.map(|size| size as f64),
    };
    Some((about.messages.bounds)(Scale { n, k }))
}

/// The sizes of the smallest and of the largest quorum in a trial; `None` for an algorithm without quorums.
fn quorum_sizes(about: &About, trial: &Trial) -> Option<[usize; 2]> {
    let choice = trial.options.choice(about.parameter("quorum")?);
    let construction = Construction::parse(&choice.word, choice.file.as_deref()).ok()?;
    let sizes = QuorumSystem::build(&construction, trial.settings.nodes).ok()?.sizes();
    Some([sizes.least, sizes.most])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        Comparison {
            algorithms: ["maekawa", "token-ring", "ricart-agrawala"].map(str::to_owned).to_vec(),
            nodes: vec![4, 9],
            loads: vec![Load::Isolated, Load::Saturated],
            options: Options::none().with("quorum", "grid"),
            settings: Settings { entries: 100, ..Settings::default() },
        }
    }

    #[test]
    fn every_cell_is_the_run_of_its_own_command() {
        let catalog = Catalog::textbook();
        let cells = comparison().run(&catalog, "doorway", 2, |_| ()).expect("all of them can be run");
        assert_eq!(cells.len(), 12);
        let first = &cells[0];
        assert_eq!(
            first.command,
            "doorway simulate maekawa --nodes 4 --entries 100 --load isolated --quorum grid --seed 1"
        );
        assert_eq!(
            (first.messages_per_entry, first.formula_least, first.formula_most),
            (Some(6.0), Some(6.0), Some(14.0))
        );
        let last = &cells[11];
        assert_eq!(last.command, "doorway simulate ricart-agrawala --nodes 9 --entries 100 --seed 1");
        assert_eq!((last.messages_per_entry, last.formula_least), (Some(16.0), Some(16.0)));
        assert!(cells.iter().all(|cell| cell.is_outside_formula() == Some(false)), "{cells:#?}");
    }

    #[test]
    fn quorums_are_the_lines_of_a_plane_where_there_is_one() {
        let catalog = Catalog::textbook();
        // Whether the quorums are those of a plane, and the delay in hundredths of a tick.
        let delays = |options: Options| -> Vec<(bool, Option<u64>)> {
            let comparison = Comparison {
                algorithms: vec!["maekawa".to_owned()],
                nodes: vec![13, 9],
                loads: vec![Load::Saturated],
                options,
                settings: Settings { entries: 1_000, ..Settings::default() },
            };
            let cells = comparison.run(&catalog, "doorway", 2, |_| ()).expect("all can be run");
            let delay = |cell: &ComparisonCell| cell.sync_delay.map(|delay| (delay * 100.0).round() as u64);
            cells.iter().map(|cell| (cell.command.contains("--quorum plane"), delay(cell))).collect()
        };
        assert_eq!(delays(Options::none()), [(true, Some(1768)), (false, Some(2000))]);
        let cyclic = Options::none().with("quorum", "cyclic");
        assert_eq!(delays(cyclic), [(false, Some(1001)), (false, Some(2000))], "resonance");
        let grid = Options::none().with("quorum", "grid");
        assert_eq!(delays(grid), [(false, Some(2000)), (false, Some(2000))]);
    }

    #[test]
    fn order_and_faults_are_decided_by_the_checker() {
        let catalog = Catalog::textbook();
        let names = Comparison::everybody(&catalog);
        let all = Traits::of_all(&names, &catalog, "doorway", 2).expect("all can be explored");
        let with = |order: KeptOrder| -> Vec<&str> {
            let kept = all.iter().filter(|traits| traits.order == order);
            kept.map(|traits| traits.faults.algorithm).collect()
        };
        assert_eq!(with(KeptOrder::HappenedBefore), ["lamport", "ricart-agrawala"]);
        assert_eq!(with(KeptOrder::Arrival), ["central", "replicated"]);
        assert_eq!(with(KeptOrder::None).len(), names.len() - 4);
        let mut cells = comparison().run(&catalog, "doorway", 2, |_| ()).expect("all can be run");
        Traits::note(&all, &mut cells);
        let told = |name: &str| {
            let cell = cells.iter().find(|cell| cell.algorithm == name).expect("it was run");
            (cell.order, cell.survives.clone().unwrap_or_default())
        };
        assert_eq!(told("ricart-agrawala"), (Some(KeptOrder::HappenedBefore), "one duplicate".to_owned()));
        assert_eq!(told("maekawa"), (Some(KeptOrder::None), "nothing".to_owned()));
    }

    #[test]
    fn a_formula_is_only_given_for_the_tree_that_it_is_about() {
        let catalog = Catalog::textbook();
        let about = catalog.about("raymond").expect("it is in the textbook");
        let trial = |tree: &str| Trial::new("raymond").with("tree", tree);
        assert!(formula(about, &Trial::new("raymond")).is_some());
        assert_eq!(formula(about, &trial("binary")), formula(about, &Trial::new("raymond")));
        assert_eq!(formula(about, &trial("chain")), None);
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let catalog = Catalog::textbook();
        let text = |threads| {
            let cells = comparison().run(&catalog, "doorway", threads, |_| ()).expect("all can be run");
            serde_json::to_string(&cells).expect("numbers")
        };
        assert_eq!(text(1), text(3));
    }
}
