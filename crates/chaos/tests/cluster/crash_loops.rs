//! A node that keeps failing: for which share of the time free locks at the others are shut, exactly, in virtual time.

use doorway_chaos::Design;
use doorway_core::{NodeId, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{Command, Damping, Notice};

use crate::scene::{DEFAULT, Scene, recipe_of};

/// A node of a healthy cluster gets a free lock within this time.
const PROMPT: Ticks = milliseconds(10);

/// How often a client requests a free lock.
const PROBE: Ticks = milliseconds(100);

/// A client that asks for one free lock after the other, and how long it was kept waiting.
struct Prober {
    node: NodeId,
    asked: u64,
    blocked: Ticks,
}

impl Prober {
    fn at(node: NodeId) -> Self {
        Self { node, asked: 0, blocked: Ticks(0) }
    }

    /// Asks until then, each time for a name that was never used before.
    fn ask_until(&mut self, scene: &mut Scene, until: Ticks, mut meanwhile: impl FnMut(&mut Scene)) {
        while scene.now() < until {
            self.asked += 1;
            let asked = scene.now();
            let request = scene.lock(self.node, &format!("free-{}", self.asked));
            while scene.story(request).granted.is_none() {
                meanwhile(scene);
                scene.run(milliseconds(5));
                assert!(scene.now() < asked + milliseconds(30_000), "a free lock is shut for 30 s");
            }
            let waited = scene.granted_at(request) - asked;
            // It may have been shut since the one before it.
            if waited > PROMPT {
                self.blocked = self.blocked + waited + PROBE;
            }
            scene.release(request);
            while scene.now() < asked + PROBE {
                meanwhile(scene);
                scene.run(milliseconds(5));
            }
        }
    }
}

/// Kills a node, starts it again a little later, and kills it again.
struct Loop {
    node: NodeId,
    period: Ticks,
    down: Ticks,
    next: Ticks,
    is_down: bool,
    /// Whether it is killed only while it is a member.
    spares_joiner: bool,
}

impl Loop {
    fn of(node: NodeId, period: Ticks, down: Ticks, now: Ticks) -> Self {
        Self { node, period, down, next: now, is_down: false, spares_joiner: false }
    }

    fn go_on(&mut self, scene: &mut Scene) {
        let is_spared = self.spares_joiner && !self.is_down && !scene.is_active(self.node);
        if scene.now() < self.next || is_spared {
            return;
        }
        if self.is_down {
            scene.restart(self.node);
            self.next = scene.now() + (self.period - self.down);
        } else {
            scene.crash(self.node);
            self.next = scene.now() + self.down;
        }
        self.is_down = !self.is_down;
    }
}

/// The effect of a node that fails over and over.
struct Outcome {
    /// The share of the time in which a free lock is shut elsewhere, in percent, rounded up by the time between two questions.
    blocked: f64,
    /// How many views were decided.
    views: u64,
}

fn fail_over_and_over(design: Design, span: Ticks, change: impl Fn(&mut Loop)) -> Outcome {
    let mut scene = Scene::of(design);
    let (victim, elsewhere) = (scene.follower(0), scene.leader());
    let (begun, views) = (scene.now(), scene.view_number());
    let mut failing = Loop::of(victim, milliseconds(1_250), milliseconds(50), begun);
    change(&mut failing);
    let mut prober = Prober::at(elsewhere);
    prober.ask_until(&mut scene, begun + span, |scene| failing.go_on(scene));
    let blocked = 100.0 * prober.blocked.0 as f64 / (scene.now() - begun).0 as f64;
    let views = scene.view_number() - views;
    scene.finish();
    Outcome { blocked, views }
}

fn design(nodes: usize, seed: u64) -> Design {
    Design::new(nodes, recipe_of(DEFAULT), seed)
}

#[test]
fn a_node_killed_every_1250_ms_blocks_free_locks_at_most_5_percent() {
    for (nodes, seed) in [(3, 1), (5, 3), (2, 4)] {
        let outcome = fail_over_and_over(design(nodes, seed), milliseconds(60_000), |_| {});
        let Outcome { blocked, views } = outcome;
        println!("{nodes} nodes, seed {seed}: blocked for {blocked:.1} % of a minute, {views} views");
        assert!(blocked <= 5.0, "{nodes} nodes, seed {seed}: blocked for {blocked:.1} %");
        assert!(
            views <= 4,
            "it is taken in once and left out twice, and kept out from then on: {views} views"
        );
    }
}

#[test]
fn without_a_pause_it_would_block_them_most_of_the_time() {
    let none = Damping { first: Ticks(0), longest: Ticks(0), calm: Ticks(0) };
    let outcome = fail_over_and_over(Design { damping: none, ..design(3, 1) }, milliseconds(20_000), |_| {});
    println!("without a pause: blocked for {:.1} %, {} views", outcome.blocked, outcome.views);
    assert!(outcome.blocked > 50.0, "blocked for {:.1} %", outcome.blocked);
}

#[test]
fn a_node_failing_on_entry_blocks_free_locks_at_most_5_percent() {
    let outcome = fail_over_and_over(design(3, 7), milliseconds(180_000), |failing| {
        failing.spares_joiner = true;
    });
    println!(
        "killed as soon as it is a member: blocked for {:.1} %, {} views",
        outcome.blocked, outcome.views
    );
    assert!(outcome.blocked <= 5.0, "blocked for {:.1} %", outcome.blocked);
}

/// How long a node takes to act again after a crash and a restart 50 ms later.
fn crash_and_come_back(scene: &mut Scene, node: NodeId) -> Ticks {
    scene.crash(node);
    scene.run(milliseconds(50));
    scene.restart(node);
    let begun = scene.now();
    while !scene.is_active(node) {
        scene.run(milliseconds(5));
        assert!(scene.now() < begun + milliseconds(70_000), "it never comes back");
    }
    scene.now() - begun
}

#[test]
fn rejoining_slows_with_crashes_and_recovers_after_a_good_run() {
    for seed in 1..=3 {
        let mut scene = Scene::new(3, seed);
        let node = scene.follower(0);
        let mut times: Vec<Ticks> = (0..4).map(|_| crash_and_come_back(&mut scene, node)).collect();
        scene.run(milliseconds(63_000));
        times.push(crash_and_come_back(&mut scene, node));
        // 5 W after the second, doubled after each further one; clocks drift by one percent.
        let bounds = [(0, 1_000), (5_000, 6_000), (10_000, 11_500), (20_000, 22_000), (0, 1_000)];
        for (time, (least, most)) in times.iter().zip(bounds.map(|(a, b)| (milliseconds(a), milliseconds(b))))
        {
            assert!((least..=most).contains(time), "seed {seed}: {times:?} µs");
        }
        scene.finish();
    }
}

#[test]
fn a_new_leader_keeps_failing_nodes_out_and_reports_them() {
    for seed in 1..=3 {
        let mut scene = Scene::new(5, seed);
        let (node, leader) = (scene.follower(0), scene.leader());
        crash_and_come_back(&mut scene, node);
        scene.crash(node);
        scene.run(milliseconds(50));
        scene.restart(node);
        scene.run(milliseconds(1_500));
        let told = scene.announcements.iter().filter(|(_, notice)| matches!(notice, Notice::KeptOut(_)));
        let told: Vec<_> = told.map(|(by, _)| *by).collect();
        assert_eq!(told, [leader], "seed {seed}: the leader says it once");
        scene.crash(leader);
        scene.run(milliseconds(2_000));
        let next = scene.leader();
        let kept_out = scene.cluster.nodes()[next.index()].look().kept_out;
        let first = kept_out.first().unwrap_or_else(|| panic!("seed {seed}: nobody is kept out"));
        assert_eq!((first.node, first.failures), (node, 2), "seed {seed}");
        assert!(!scene.is_active(node), "seed {seed}");
        scene.restart(leader);
        scene.run_while("keeping out", |scene| !scene.is_active(node));
        scene.finish();
    }
}

#[test]
fn a_node_that_leaves_by_itself_is_not_taken_for_one_that_fails() {
    let mut scene = Scene::new(3, 5);
    let node = scene.follower(0);
    for _ in 0..4 {
        scene.cluster.command(node, Command::Leave { patience: Ticks(0) });
        scene.run_while("leaving", |scene| scene.announcements.last() != Some(&(node, Notice::Left)));
        let span = crash_and_come_back(&mut scene, node);
        assert!(span <= milliseconds(1_000), "{span} µs");
    }
    scene.finish();
}
