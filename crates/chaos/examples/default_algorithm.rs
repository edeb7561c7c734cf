//! Which algorithm should a cluster run by default? Whole clusters in virtual time, without faults, under six loads.
//!
//! `cargo run --release -p doorway-chaos --example default_algorithm` takes 3, 5, 7 and 15 nodes; other numbers can be typed after
//! `--`. A message takes 0.25 to 2 ms (T = 1.125 ms on average), a client stays inside for 1 ms. Counted is what the algorithm
//! sends, then the acknowledgements that travel alone because no message took them along within 20 ms; heartbeats and consensus
//! cost the same with every algorithm and are left out, and so are the notices that tell a holder of a waiter. Sections are not
//! forgotten between two uses, but for the load that is about just that.

use std::collections::BTreeMap;

use doorway_catalog::Catalog;
use doorway_chaos::{Cluster, ClusterEvent, Design};
use doorway_core::{Fence, NodeId, Options, Refusal, SectionName, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, LockCommand, Notice, Recipe, RequestId, Timing};
use doorway_simulator::{Random, Span};

fn main() -> Result<(), Refusal> {
    let typed: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if typed.is_empty() { vec![3, 5, 7, 15] } else { typed };
    let catalog = Catalog::textbook();
    for n in sizes {
        print_head(n);
        for about in catalog.list().into_iter().filter(|about| about.specimen.is_none()) {
            let recipe = catalog.recipes().recipe(about.name, &Options::none())?;
            let cells = Load::ALL.map(|load| cell(n, &recipe, load));
            println!("| {:<18} | {} |", about.name, cells.join(" | "));
        }
    }
    Ok(())
}

fn print_head(n: usize) {
    println!("\n{n} nodes: messages + acknowledgements an entry, mean / longest wait in ms of 99 in 100\n");
    let heads = Load::ALL.map(|load| format!("{:<19}", load.name()));
    println!("| {:<18} | {} |", "", heads.join(" | "));
    println!("|---|{}", "---|".repeat(Load::ALL.len()));
}

fn cell(n: usize, recipe: &Recipe, load: Load) -> String {
    match Measurement::new(n, recipe, load).map(Measurement::make) {
        Ok(Costs { messages, acknowledgements, wait_ms, longest_ms }) => {
            format!(
                "{:<19}",
                format!("{messages:.1} + {acknowledgements:.1}, {wait_ms:.1} / {longest_ms:.0}")
            )
        }
        Err(_) => format!("{:<19}", "cannot run"),
    }
}

/// Which clients request, and when.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    /// The last node, again and again, 10 ms after it has left.
    Alone,
    /// The last two nodes by turns, 10 ms after the other has left.
    Alternating,
    /// Any node, 100 ms after the last one has left.
    Seldom,
    /// Any node, so much later that all nodes have forgotten the section; the messages to forget it are counted.
    Forgotten,
    /// Clients come every 10 ms on average (Poisson), half of them to the last node, the others to any of the rest.
    Skewed,
    /// Every node has one client, which asks again at once.
    Contended,
}

impl Load {
    const ALL: [Load; 6] =
        [Load::Alone, Load::Alternating, Load::Seldom, Load::Forgotten, Load::Skewed, Load::Contended];

    fn name(self) -> &'static str {
        match self {
            Load::Alone => "alone",
            Load::Alternating => "two by turns",
            Load::Seldom => "free, anybody",
            Load::Forgotten => "forgotten between",
            Load::Skewed => "half at one node",
            Load::Contended => "all at once",
        }
    }

    /// From a release, or for [`Load::Skewed`] from a request, to the next request.
    fn gap(self) -> Span {
        match self {
            Load::Alone | Load::Alternating => Span::Constant(10_000),
            Load::Seldom => Span::Constant(100_000),
            Load::Forgotten => Span::Constant(2_500_000),
            Load::Skewed => Span::Exponential(10_000),
            Load::Contended => Span::Constant(0),
        }
    }

    /// How long a section is idle before it is forgotten. The default of 5 s would only make the runs longer.
    fn idle(self) -> Ticks {
        if self == Load::Forgotten { milliseconds(500) } else { milliseconds(3_600_000) }
    }

    /// Entries that are not counted, and the number of entries after which the run is over.
    fn entries(self) -> (u64, u64) {
        if self == Load::Forgotten { (3, 43) } else { (100, 900) }
    }
}

/// What an entry costs on average.
struct Costs {
    messages: f64,
    acknowledgements: f64,
    wait_ms: f64,
    /// Of 99 entries in 100.
    longest_ms: f64,
}

/// One cluster under one load.
struct Measurement {
    cluster: Cluster,
    load: Load,
    section: SectionName,
    random: Random,
    /// Requests that were made, and entries that ended.
    made: u64,
    ended: u64,
    visits: BTreeMap<RequestId, Visit>,
    /// The waits of those entries that are counted.
    waits: Vec<Ticks>,
}

/// A request that is not over yet.
struct Visit {
    node: NodeId,
    since: Ticks,
    fence: Fence,
}

/// The token of the alarm at which a client requests; the others are the numbers of requests to release.
const ASK: u64 = 0;
const INSIDE: Ticks = milliseconds(1);
const SEED: u64 = 1;

impl Measurement {
    fn new(n: usize, recipe: &Recipe, load: Load) -> Result<Self, Refusal> {
        let hour = milliseconds(3_600_000);
        let mut design = Design::new(n, recipe.clone(), SEED);
        design.timing = Timing { idle: load.idle(), nudge: hour, ..Timing::default() };
        recipe.blueprint(n)?;
        Ok(Self {
            cluster: Cluster::new(design)?,
            load,
            section: SectionName::new("section")?,
            random: Random::new(SEED, 31),
            made: 0,
            ended: 0,
            visits: BTreeMap::new(),
            waits: Vec::new(),
        })
    }

    fn make(mut self) -> Costs {
        let (unmeasured, all) = self.load.entries();
        self.come_to_life();
        while self.ended < all {
            match self.cluster.next(Ticks(u64::MAX / 2)) {
                ClusterEvent::Notice(_, Notice::Granted { request, fences, .. }) => {
                    self.enter(request, fences.first().map(|(_, fence)| *fence).unwrap_or_default());
                }
                ClusterEvent::Alarm(ASK) => self.ask_as_drawn(),
                ClusterEvent::Alarm(request) => self.leave(RequestId(request)),
                ClusterEvent::Notice(..) => {}
                ClusterEvent::Over => break,
            }
        }
        self.costs((all - unmeasured) as f64)
    }

    fn costs(&mut self, entries: f64) -> Costs {
        self.waits.sort_unstable();
        let all: u64 = self.waits.iter().map(|wait| wait.0).sum();
        let longest = self.waits.get(self.waits.len() * 99 / 100).copied().unwrap_or_default();
        let sent = |wanted: &str, cluster: &mut Cluster| {
            let kinds = cluster.engine().traffic().kinds().filter(|(kind, _)| *kind == wanted);
            kinds.map(|(_, count)| count).sum::<u64>() as f64
        };
        Costs {
            messages: sent("PARCEL", &mut self.cluster) / entries,
            acknowledgements: sent("GOT", &mut self.cluster) / entries,
            wait_ms: all as f64 / 1_000.0 / self.waits.len() as f64,
            longest_ms: longest.0 as f64 / 1_000.0,
        }
    }

    /// Elections and the first view take no time of anybody's.
    fn come_to_life(&mut self) {
        let beginning = milliseconds(6_000);
        while !matches!(self.cluster.next(beginning), ClusterEvent::Over) {}
        match self.load {
            Load::Contended => NodeId::first(self.cluster.design().nodes).for_each(|node| self.ask(node)),
            _ => self.ask_as_drawn(),
        }
    }

    fn ask_as_drawn(&mut self) {
        let node = self.draw_node();
        self.ask(node);
        if self.load == Load::Skewed {
            self.ask_later();
        }
    }

    fn draw_node(&mut self) -> NodeId {
        let last = self.cluster.design().nodes - 1;
        let mut any_of = |count: usize| self.random.below(count as u64) as usize;
        NodeId::new(match self.load {
            Load::Alone => last,
            Load::Alternating => last - (self.made % 2) as usize,
            Load::Seldom | Load::Forgotten | Load::Contended => any_of(last + 1),
            Load::Skewed if any_of(2) == 0 => last,
            Load::Skewed => any_of(last),
        })
    }

    fn ask_later(&mut self) {
        let at = self.cluster.now() + Ticks(self.random.ticks(self.load.gap()));
        self.cluster.engine().put_alarm(at, ASK);
    }

    fn ask(&mut self, node: NodeId) {
        self.made += 1;
        let request = RequestId(self.made);
        self.visits.insert(request, Visit { node, since: self.cluster.now(), fence: Fence::default() });
        let lock = LockCommand {
            request,
            client: ClientId(self.made),
            names: vec![self.section.clone()],
            patience: None,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
        };
        self.cluster.command(node, Command::Lock(lock));
    }

    fn enter(&mut self, request: RequestId, fence: Fence) {
        let now = self.cluster.now();
        let Some(visit) = self.visits.get_mut(&request) else { return };
        visit.fence = fence;
        if self.ended >= self.load.entries().0 {
            self.waits.push(now - visit.since);
        }
        self.cluster.engine().put_alarm(now + INSIDE, request.0);
    }

    fn leave(&mut self, request: RequestId) {
        let Some(Visit { node, fence, .. }) = self.visits.remove(&request) else { return };
        self.cluster.command(node, Command::Release { request, fence });
        self.ended += 1;
        if self.ended == self.load.entries().0 {
            self.cluster.engine().restart_traffic();
        }
        match self.load {
            Load::Contended => self.ask(node),
            Load::Skewed => {}
            Load::Alone | Load::Alternating | Load::Seldom | Load::Forgotten => self.ask_later(),
        }
    }
}
