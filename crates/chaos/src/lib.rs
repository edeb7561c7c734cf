//! Chaos: clusters of lock nodes, with clients, under faults that are drawn from a seed.
//!
//! A run has three parts: the cluster starts, then a nemesis injects faults for a while, then everything is repaired and every waiter
//! must get its lock within a bound. All the time a [`Judge`] that knows the true time watches: never two holders of one lock before
//! their deadlines, fences that rise, leases that end in time, views on which all nodes agree.
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
pub use self::cluster::{Cluster, ClusterEvent};
pub use self::coverage::{Coverage, Time};
pub use self::design::Design;
pub use self::fault::InjectedFault;
pub use self::host::Host;
pub use self::judge::Judge;
pub use self::moment::Moment;
use self::nemesis::Nemesis;
pub use self::ordeals::damage;
pub use self::rule::{ObservedRule, UNSEEN};
pub use self::rules::Breakable;
pub use self::trace::TraceFilter;
pub use self::violation::{ClusterViolation, ViolationKind};

/// One run of a cluster.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the cluster is made of.
    pub design: Design,
    /// Its length in virtual time.
    pub length: Ticks,
    /// Clients of each node.
    pub clients: usize,
    /// Number of locks.
    pub sections: usize,
}

impl Run {
    /// The shortest run that has time for faults and for the recovery.
    pub const SHORTEST: Ticks = Ticks(20_000_000);
    /// How long a section is idle before it is forgotten.
    const IDLE: Ticks = Ticks(100_000);
    /// Damping of nodes that keep failing: short enough for all to be back before the end of the run.
    const DAMPING: Damping =
        Damping { first: Ticks(800_000), longest: Ticks(1_600_000), calm: Ticks(2_000_000) };
    /// How long the cluster has to start.
    const BEGINNING: Ticks = Ticks(1_500_000);
    /// The time after the last fault.
    pub const RECOVERY: Ticks = Ticks(10_000_000);
    /// Every waiter gets its lock within this time after the last fault: detection, barrier and waiting time, an election, and
    /// the longest time that a node must be heard before it is admitted again.
    pub const BOUND: Ticks = Ticks(8_000_000);

    /// A run of a design.
    #[must_use]
    pub fn new(mut design: Design, length: Ticks) -> Self {
        // All clients want the few sections all the time, so idle times are short; forgetting must be covered, too.
        design.timing.idle = Self::IDLE;
        // Nodes fail all the time, and more members mean more faults to cover.
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
    pub fn make(&self) -> Result<ClusterOutcome, Refusal> {
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
            cluster.judge_mut().violate(
                ViolationKind::Stall,
                format!("a client has waited for {seconds:.1} s after the last fault"),
            );
        }
        nemesis.coverage.end(self.length, cluster.judge().fired());
        Ok(ClusterOutcome {
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
    /// Makes the run twice: once to find the section with the first violation, and once to record the trace with the clients of
    /// that section, or of the first one if there was no violation.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn record(&self) -> Result<(ClusterOutcome, SectionName), Refusal> {
        let violations = self.make()?.violations;
        let section = self.suspect(&violations)?;
        let mut again = self.clone();
        again.design.is_recorded = true;
        again.design.recorded_section = Some(section.clone());
        Ok((again.make()?, section))
    }

    /// The section that the first violation names, else the first section.
    fn suspect(&self, violations: &[ClusterViolation]) -> Result<SectionName, Refusal> {
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
            ClusterEvent::Notice(node, notice) => clients.hear(node, notice, cluster),
            ClusterEvent::Alarm(token) if token >> 56 == CLIENTS => clients.ring(token, cluster),
            ClusterEvent::Alarm(token) => nemesis.ring(token, cluster, clients),
            ClusterEvent::Over => return,
        }
    }
}

/// The result of one run.
#[derive(Debug)]
pub struct ClusterOutcome {
    /// Number of grants.
    pub entries: u64,
    /// Number of decided views.
    pub views: u64,
    /// How often each fault was injected.
    pub faults: BTreeMap<&'static str, u64>,
    /// Which faults overlapped and which rules fired.
    pub coverage: Coverage,
    /// The violations that the judge saw.
    pub violations: Vec<ClusterViolation>,
    /// The longest wait for a lock after the last fault.
    pub slowest_recovery: Ticks,
    /// Writes that the stores refused, from clients that had slept through their deadlines.
    pub refused_writes: u64,
    /// How often a holder was told to stop.
    pub lost: u64,
    /// The trace, if the run was recorded.
    pub log: Option<doorway_trace::Log>,
}

impl ClusterOutcome {
    /// The run as a summary of one.
    #[must_use]
    pub fn summary(&self) -> ChaosSummary {
        let mut summary = ChaosSummary::new();
        summary.add(self, String::new);
        summary
    }
}

/// The results of many runs together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChaosSummary {
    /// The version of this JSON.
    pub version: u32,
    /// Number of runs.
    pub runs: u64,
    /// Number of grants in all runs.
    pub entries: u64,
    /// Number of decided views in all runs.
    pub views: u64,
    /// How often each fault was injected in all runs.
    pub faults: BTreeMap<&'static str, u64>,
    /// Which faults overlapped and which rules fired in all runs.
    pub coverage: Coverage,
    /// Number of violations.
    pub violations: u64,
    /// The longest wait for a lock after the last fault of a run, in microseconds of virtual time.
    pub slowest_recovery: u64,
    /// The commands that replay the runs with violations.
    pub replay: Vec<String>,
}

impl ChaosSummary {
    /// No runs yet.
    #[must_use]
    pub fn new() -> Self {
        Self { version: 1, ..Self::default() }
    }

    /// Adds a run, with the command that replays it.
    pub fn add(&mut self, outcome: &ClusterOutcome, replay: impl FnOnce() -> String) {
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
    fn a_recording_is_about_the_first_section_with_a_violation() {
        let recipe = Catalog::textbook().recipes().recipe("central", &Options::none()).expect("a recipe");
        let run = Run::new(Design::new(3, recipe, 1), Run::SHORTEST);
        let suspect = |violations: &[&str]| {
            let sentences = violations.iter().map(|what| (*what).to_owned());
            let violations: Vec<ClusterViolation> = sentences
                .map(|sentence| ClusterViolation { kind: ViolationKind::TwoInside, sentence })
                .collect();
            run.suspect(&violations).expect("there are sections").to_string()
        };
        assert_eq!(suspect(&[]), "section-1");
        assert_eq!(
            suspect(&["at 1.0 s: node 1 knows another view", "the store of section-3 refused"]),
            "section-3"
        );
        assert_eq!(suspect(&["granted section-2 while", "granted section-3"]), "section-2");
        assert_eq!(suspect(&["granted section-22"]), "section-1", "there is none of that name");
    }
}
