//! Unused names take no memory, and a view change in the middle of forgetting does no harm.

use doorway_catalog::Catalog;
use doorway_chaos::{Cluster, ClusterEvent, Design, Run};
use doorway_core::{NodeId, Options, SectionName, Ticks};
use doorway_node::{ClientId, Command, LockCommand, Notice, RequestId};
use doorway_simulator::Random;

use crate::scene::{Scene, lock, ms, node};

const NODES: usize = 3;

fn design(algorithm: &str, nodes: usize, seed: u64) -> Design {
    let recipe = Catalog::textbook().recipes().recipe(algorithm, &Options::none()).expect("it exists");
    Design::new(nodes, recipe, seed)
}

/// A cluster in which names are used once and never again, by each node in turn.
struct Mill {
    cluster: Cluster,
    /// The last fence of each name.
    fences: Vec<u64>,
    requests: u64,
}

impl Mill {
    /// The time between two requests: 20,000 a second.
    const PACE: Ticks = Ticks(50);

    fn new(names: usize) -> Self {
        let mut cluster = Cluster::new(design("carvalho-roucairol", NODES, 5)).expect("a good design");
        while !matches!(cluster.next(ms(2_500)), ClusterEvent::Over) {}
        Self { cluster, fences: vec![0; names], requests: 0 }
    }

    /// Uses the names of these numbers, one after the other; returns how many were granted.
    fn use_once(&mut self, numbers: impl Iterator<Item = usize>) -> usize {
        let mut asked: Vec<usize> = Vec::new();
        let (mut entered, first) = (0, self.requests);
        for number in numbers {
            let until = self.cluster.now() + Self::PACE;
            self.ask(number);
            asked.push(number);
            entered += self.run_until(until, first, &asked);
        }
        let until = self.cluster.now() + ms(1_000);
        entered + self.run_until(until, first, &asked)
    }

    /// Each name is asked for at a node of its turn; a name that is used again, at another.
    fn ask(&mut self, number: usize) {
        let request = RequestId(self.requests);
        let node = self.node_of(request);
        self.requests += 1;
        let lock = LockCommand {
            request,
            client: ClientId(request.0),
            names: vec![SectionName::new(&format!("job-{:06}", number + 1)).expect("a good name")],
            patience: None,
            // So long that the alarms of all these requests would still be set if their ends did not unset them.
            max_hold: Some(ms(3_600_000)),
            ttl: None,
            tell_if_wanted: false,
        };
        self.cluster.command(node, Command::Lock(lock));
    }

    fn node_of(&self, request: RequestId) -> NodeId {
        NodeId::new(request.0 as usize % NODES)
    }

    /// Every client releases as soon as it enters.
    fn run_until(&mut self, limit: Ticks, first: u64, asked: &[usize]) -> usize {
        let mut entered = 0;
        loop {
            match self.cluster.next(limit) {
                ClusterEvent::Notice(node, Notice::Granted { request, fences, .. }) => {
                    entered += 1;
                    let number = asked[(request.0 - first) as usize];
                    let fence = fences[0].1;
                    assert_eq!(node, self.node_of(request));
                    assert!(fence.0 > self.fences[number], "the fence of name {number} did not rise");
                    self.fences[number] = fence.0;
                    self.cluster.command(node, Command::Release { request, fence });
                }
                ClusterEvent::Notice(_, Notice::Renewed { .. }) => {}
                ClusterEvent::Notice(node, other) => panic!("node {node} said {other:?}"),
                ClusterEvent::Alarm(_) => {}
                ClusterEvent::Over => return entered,
            }
        }
    }

    /// Waits until all idle sections are forgotten.
    fn rest(&mut self) {
        let idle = self.cluster.design().timing.idle;
        let until = self.cluster.now() + idle + idle + ms(500);
        assert_eq!(self.run_until(until, 0, &[]), 0);
    }

    /// How many sections are open at each node.
    fn open(&self) -> [usize; NODES] {
        [0, 1, 2].map(|place| self.cluster.nodes()[place].look().open)
    }
}

/// The most memory that this process ever had, in megabytes, where the system tells.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1_024)
}

#[test]
fn a_million_names_used_once_are_forgotten_as_fast_as_they_are_used() {
    const NAMES: usize = 1_000_000;
    /// As many as are used in the time after which an idle section is forgotten, and a little.
    const MOST_OPEN: u64 = 101_000;
    let mut mill = Mill::new(NAMES);
    assert_eq!(mill.use_once(0..NAMES), NAMES);
    mill.rest();
    assert_eq!(mill.open(), [0; NODES]);
    for node in mill.cluster.nodes() {
        let counters = node.look().counters;
        assert!(counters.most_open <= MOST_OPEN, "{counters:?}");
        // The permission has moved where a client was inside, so no node can forget that section alone.
        assert_eq!((counters.forgotten_alone, counters.forgotten_together), (0, NAMES as u64));
    }
    let peak = peak_megabytes();
    println!("a million names took at most {peak:?} MB");
    assert!(peak.is_none_or(|megabytes| megabytes < 600), "{peak:?} MB");
    let some = || (0..NAMES).step_by(1_000);
    assert_eq!(mill.use_once(some()), 1_000);
    mill.rest();
    assert_eq!(mill.use_once(some()), 1_000);
    assert_eq!(mill.cluster.judge().violations(), []);
}

#[test]
fn forgetting_sections_in_use_confuses_no_algorithm() {
    const TURNS: u64 = 1_000;
    for algorithm in
        ["carvalho-roucairol", "naimi-trehel", "central", "maekawa", "ricart-agrawala", "lamport"]
    {
        for seed in 1..=3 {
            println!("{algorithm}, seed {seed}");
            let mut random = Random::new(seed, 83);
            let mut scene = Scene::new(algorithm, NODES, seed, |timing| timing.idle = Ticks(500));
            scene.stay = Some(Ticks(300));
            for turn in 1..=TURNS {
                let place = random.below(NODES as u64) as usize;
                let section = ["amber", "birch", "coral"][random.below(3) as usize];
                scene.ask(node(place), lock(turn, turn, &[section]));
                scene.run_for(Ticks(random.below(5_000)));
            }
            scene.run_for(ms(500));
            assert_eq!(
                (scene.entered.len() as u64, scene.wrong()),
                (TURNS, vec![]),
                "{algorithm}, seed {seed}"
            );
            assert_eq!(scene.open(), [0; NODES], "{algorithm}, seed {seed}");
            let counted = scene.cluster.nodes().iter().map(|node| node.look().counters);
            let counted: Vec<(u64, u64)> =
                counted.map(|counters| (counters.impossible, counters.forgotten_together)).collect();
            assert!(counted[0].1 > 100, "{algorithm}, seed {seed}: {counted:?}");
            assert_eq!(counted, [(0, counted[0].1); NODES], "{algorithm}, seed {seed}");
        }
    }
}

#[test]
fn a_view_that_changes_in_the_middle_of_forgetting_does_no_harm() {
    for (algorithm, seeds) in [("carvalho-roucairol", 60), ("naimi-trehel", 30), ("maekawa", 30)] {
        for seed in 1..=seeds {
            let nodes = 3 + seed as usize % 3;
            let mut design = design(algorithm, nodes, seed);
            design.timing.idle = ms(50);
            let outcome = Run::new(design, Ticks(30_000_000)).make().expect("a good run");
            assert_eq!(outcome.violations, [], "{algorithm}, {nodes} nodes, seed {seed}");
            assert!(outcome.entries > 0, "{algorithm}, {nodes} nodes, seed {seed}");
        }
    }
}
