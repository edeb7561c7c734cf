//! Chaos: whole clusters of lock nodes, with clients, under every fault that can be thought of, from a seed.
//!
//! A run has three parts: the cluster comes to life, then things go wrong for a while, then everything is mended and everybody
//! who waits must be served within a bound. All the time a [`Judge`] who knows the true time watches: never two inside one section
//! before their deadlines, fences that rise, leases that end in time, views that everybody agrees about.
//!
//! [`model`] has the rules of the view change as a small model for the checker, without the code of the lock.

mod clients;
mod cluster;
mod coverage;
mod design;
mod fault;
mod host;
mod judge;
pub mod model;
mod moment;
mod nemesis;
mod ordeals;
mod recorder;
mod rule;
mod rules;
mod trace;
mod violation;

use std::collections::BTreeMap;

use doorway_core::{Refusal, SectionName, Ticks};
use doorway_node::Damping;
pub use doorway_node::Flaw;
use serde::Serialize;

use self::clients::{Clients, section_names};
pub use self::cluster::{Cluster, Seen};
pub use self::coverage::{Coverage, Time};
pub use self::design::Design;
pub use self::fault::Fault;
pub use self::host::Host;
pub use self::judge::Judge;
pub use self::moment::Moment;
use self::nemesis::Nemesis;
pub use self::ordeals::damage;
pub use self::rule::{Rule, UNSEEN};
pub use self::rules::Breakable;
pub use self::trace::Telling;
pub use self::violation::{Kind, Violation};

/// One run of a cluster.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the cluster is made of.
    pub design: Design,
    /// How long it lasts, in virtual time.
    pub length: Ticks,
    /// How many clients each node has.
    pub clients: usize,
    /// How many sections there are.
    pub sections: usize,
}

impl Run {
    /// The shortest run in which something can go wrong and be mended.
    pub const SHORTEST: Ticks = Ticks(20_000_000);
    /// After what time an idle section is forgotten.
    const IDLE: Ticks = Ticks(100_000);
    /// How long nodes are kept out that keep failing: short enough for all to be back before the end of the run.
    const DAMPING: Damping =
        Damping { first: Ticks(800_000), longest: Ticks(1_600_000), calm: Ticks(2_000_000) };
    /// How long the cluster has to come to life.
    const BEGINNING: Ticks = Ticks(1_500_000);
    /// The time after the last fault.
    pub const RECOVERY: Ticks = Ticks(10_000_000);
    /// Everybody who waits is served within this time after the last fault: detection, barrier and waiting time, an election, and
    /// the longest time that a node must be heard before it is taken in again.
    pub const BOUND: Ticks = Ticks(8_000_000);

    /// A run of a design.
    #[must_use]
    pub fn new(mut design: Design, length: Ticks) -> Self {
        // Sections are idle for a short time only where everybody wants them all the time, and forgetting must be seen, too.
        design.timing.idle = Self::IDLE;
        // Nodes fail all the time, and the more of them take part, the more can go wrong.
        design.damping = Self::DAMPING;
        // Logs are short, so that snapshots are taken and taken over.
        let schedule = design.schedule();
        design.longest_log = 3 + schedule % 6;
        // In every third run the first three nodes begin, and the others join and become voters in good time.
        if schedule.is_multiple_of(3) && design.nodes > 3 && design.founders == design.nodes {
            design.founders = 3;
        }
        // In every fifth run the founders start with new disks and found the cluster within the run.
        design.begins_blank |= schedule % 5 == 4;
        Self { design, length, clients: 2, sections: 5 }
    }

    /// Makes the run.
    ///
    /// # Errors
    /// If it cannot be made: too short, or a cluster whose parts do not fit together.
    pub fn make(&self) -> Result<Outcome, Refusal> {
        if self.length < Self::SHORTEST {
            return Err(Refusal::new(format!(
                "a run lasts at least {} s of virtual time, so that the cluster can recover in it",
                Self::SHORTEST.0 / 1_000_000
            )));
        }
        let (nodes, schedule, ends) =
            (self.design.nodes, self.design.schedule(), self.length - Self::RECOVERY);
        let mut cluster = Cluster::new(self.design.clone())?;
        let mut clients = Clients::new(nodes, self.clients, self.sections, schedule, CLIENTS);
        let mut nemesis = Nemesis::new(nodes, schedule, ends, NEMESIS);
        clients.begin(&mut cluster);
        nemesis.begin(&mut cluster, Self::BEGINNING);
        run_until(ends, &mut cluster, &mut clients, &mut nemesis);
        nemesis.end(&mut cluster, &mut clients);
        clients.recover(&mut cluster);
        run_until(self.length, &mut cluster, &mut clients, &mut nemesis);
        let wait = clients.longest_wait(cluster.now()).max(clients.slowest);
        if wait >= Self::BOUND {
            let seconds = wait.0 as f64 / 1e6;
            cluster
                .judge_mut()
                .violate(Kind::Stall, format!("somebody has waited for {seconds:.1} s after the last fault"));
        }
        nemesis.coverage.end(self.length, cluster.judge().fired());
        Ok(Outcome {
            coverage: nemesis.coverage,
            entries: cluster.judge().entries,
            views: cluster.judge().views(),
            faults: nemesis.faults,
            violations: cluster.judge().violations().to_vec(),
            slowest_recovery: wait,
            refused_writes: cluster.judge().refused_writes,
            lost: clients.lost,
            log: cluster.into_log(),
        })
    }
}

/// Recording.
impl Run {
    /// Makes the run twice: once to see in which section something happens that must never happen, and once to write down what
    /// happens, with the clients of that section, or of the first one if all is well.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn record(&self) -> Result<(Outcome, SectionName), Refusal> {
        let violations = self.make()?.violations;
        let section = self.suspect(&violations)?;
        let mut again = self.clone();
        again.design.is_recorded = true;
        again.design.recorded_section = Some(section.clone());
        Ok((again.make()?, section))
    }

    /// The section that the first violation is about that is about one, else the first.
    fn suspect(&self, violations: &[Violation]) -> Result<SectionName, Refusal> {
        let names = section_names(self.sections);
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '-';
        let words =
            violations.iter().flat_map(|violation| violation.sentence.split(|letter| !is_letter(letter)));
        let suspect = words.filter_map(|word| names.iter().find(|name| name.as_str() == word)).next();
        let section = suspect.or(names.first()).cloned();
        section.ok_or_else(|| Refusal::new("there is no section that could be recorded"))
    }
}

const CLIENTS: u64 = 1;
const NEMESIS: u64 = 2;

fn run_until(limit: Ticks, cluster: &mut Cluster, clients: &mut Clients, nemesis: &mut Nemesis) {
    loop {
        match cluster.next(limit) {
            Seen::Notice(node, notice) => clients.hear(node, notice, cluster),
            Seen::Alarm(token) if token >> 56 == CLIENTS => clients.ring(token, cluster),
            Seen::Alarm(token) => nemesis.ring(token, cluster, clients),
            Seen::Over => return,
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How often somebody was let in.
    pub entries: u64,
    /// How many views were decided.
    pub views: u64,
    /// How often each thing went wrong.
    pub faults: BTreeMap<&'static str, u64>,
    /// What was seen of faults and rules.
    pub coverage: Coverage,
    /// What must never happen and did.
    pub violations: Vec<Violation>,
    /// The longest that anybody waited after the last fault.
    pub slowest_recovery: Ticks,
    /// How many writes the stores refused, because of clients that had slept through their deadlines.
    pub refused_writes: u64,
    /// How often somebody inside was told to stop.
    pub lost: u64,
    /// What happened, if it was recorded.
    pub log: Option<doorway_trace::Log>,
}

impl Outcome {
    /// The run as a summary of one.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new();
        summary.add(self, String::new);
        summary
    }
}

/// What came of many runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The version of this form.
    pub version: u32,
    /// How many runs were made.
    pub runs: u64,
    /// How often somebody was let in, in all of them.
    pub entries: u64,
    /// How many views were decided, in all of them.
    pub views: u64,
    /// How often each thing went wrong, in all of them.
    pub faults: BTreeMap<&'static str, u64>,
    /// What was seen of faults and rules, in all of them.
    pub coverage: Coverage,
    /// How many things happened that must never happen.
    pub violations: u64,
    /// The longest that anybody waited after the last fault of a run, in microseconds of virtual time.
    pub slowest_recovery: u64,
    /// The commands that make the runs again in which something happened that must never happen.
    pub replay: Vec<String>,
}

impl Summary {
    /// No runs yet.
    #[must_use]
    pub fn new() -> Self {
        Self { version: 1, ..Self::default() }
    }

    /// One run more, and the command that makes it again.
    pub fn add(&mut self, outcome: &Outcome, replay: impl FnOnce() -> String) {
        self.runs += 1;
        self.entries += outcome.entries;
        self.views += outcome.views;
        for (fault, count) in &outcome.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        self.coverage.merge(&outcome.coverage);
        self.violations += outcome.violations.len() as u64;
        self.slowest_recovery = self.slowest_recovery.max(outcome.slowest_recovery.0);
        if !outcome.violations.is_empty() {
            self.replay.push(replay());
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_catalog::Catalog;
    use doorway_core::Options;

    use super::*;

    #[test]
    fn a_recording_is_about_the_first_section_in_which_something_is_wrong() {
        let recipe = Catalog::textbook().recipes().recipe("central", &Options::none()).expect("a recipe");
        let run = Run::new(Design::new(3, recipe, 1), Run::SHORTEST);
        let suspect = |violations: &[&str]| {
            let sentences = violations.iter().map(|what| (*what).to_owned());
            let violations: Vec<Violation> =
                sentences.map(|sentence| Violation { kind: Kind::TwoInside, sentence }).collect();
            run.suspect(&violations).expect("there are sections").to_string()
        };
        assert_eq!(suspect(&[]), "section-1");
        assert_eq!(
            suspect(&["at 1.0 s: node 1 knows another view", "the store of section-3 refused"]),
            "section-3"
        );
        assert_eq!(suspect(&["let somebody into section-2, while", "into section-3"]), "section-2");
        assert_eq!(suspect(&["somebody into section-22"]), "section-1", "there is none of that name");
    }
}
