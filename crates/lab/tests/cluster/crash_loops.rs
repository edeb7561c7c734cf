//! A node that keeps failing: for which share of the time free locks at the others are shut, exactly, in virtual time.

use doorway_core::{NodeId, Ticks};
use doorway_node::timing::milliseconds;

use crate::scene::Scene;

/// A lock that nobody holds is had within this time by a node of a healthy cluster.
const PROMPT: Ticks = milliseconds(10);

/// How often somebody asks for a free lock.
const PROBE: Ticks = milliseconds(50);

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
                scene.run(milliseconds(1));
                assert!(scene.now() < asked + milliseconds(30_000), "a free lock is shut for 30 s");
            }
            let waited = scene.granted_at(request) - asked;
            if waited > PROMPT {
                self.blocked = self.blocked + waited;
            }
            scene.release(request);
            while scene.now() < asked + PROBE {
                meanwhile(scene);
                scene.run(milliseconds(1));
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

/// The share of the time, in percent, in which a free lock is shut elsewhere while one node fails over and over.
fn blocked_percent(nodes: usize, seed: u64, span: Ticks, change: impl Fn(&mut Loop)) -> f64 {
    let mut scene = Scene::new(nodes, seed);
    let victim = scene.follower(0);
    let elsewhere = scene.leader();
    let begun = scene.now();
    let mut failing = Loop::of(victim, milliseconds(1_250), milliseconds(50), begun);
    change(&mut failing);
    let mut prober = Prober::at(elsewhere);
    prober.ask_until(&mut scene, begun + span, |scene| failing.go_on(scene));
    let percent = 100.0 * prober.blocked.0 as f64 / (scene.now() - begun).0 as f64;
    scene.finish();
    percent
}

#[test]
fn a_node_that_is_killed_every_1250_ms_blocks_free_locks_for_5_percent_at_most() {
    for (nodes, seed) in [(3, 1), (3, 2), (5, 3), (2, 4)] {
        let percent = blocked_percent(nodes, seed, milliseconds(60_000), |_| {});
        println!("{nodes} nodes, seed {seed}: blocked for {percent:.1} % of a minute");
        assert!(percent <= 5.0, "{nodes} nodes, seed {seed}: blocked for {percent:.1} %");
    }
}
