//! Long reports on slow links: each part travels once, nodes wait for a peer that makes progress, and never for ever.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::Ticks;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, LockCommand, Msg, ReportPart, RequestId, wire};

use crate::cluster::{Cluster, Event};
use crate::corpus::{life, node, section};

/// Three nodes: one is inside of many sections, one waits for its report, and one will be silent, so that there is a new view.
struct Scene {
    cluster: Cluster,
    leader: usize,
    holder: usize,
    /// The parts of the holder's report that are under way to the leader, and when they arrive.
    link: VecDeque<(Ticks, ReportPart)>,
    /// When the link can take the next part.
    free: Ticks,
    /// How often each part was sent.
    sent: BTreeMap<u16, u32>,
}

/// What becomes of a part of a report that is sent at a time.
type Road = fn(&mut Scene, ReportPart);

impl Scene {
    /// The holder is inside this many sections, whose names have 200 bytes.
    fn new(sections: usize) -> Self {
        let mut cluster = Cluster::new(3, "carvalho-roucairol");
        cluster.run_until(milliseconds(4_000));
        let leader = cluster.nodes.iter().position(|node| node.look().is_leader).expect("somebody leads");
        let holder = (leader + 1) % 3;
        let names: Vec<_> = (0..sections).map(|number| section(&format!("{number:0200}"))).collect();
        for (number, names) in (1..).zip(names.chunks(64)) {
            let (request, client, names) = (RequestId(number), ClientId(number), names.to_vec());
            let lock = LockCommand {
                request,
                client,
                names,
                patience: None,
                max_hold: None,
                ttl: None,
                tell_if_wanted: false,
            };
            cluster.command(holder, Command::Lock(lock));
            cluster.run_until(cluster.now + milliseconds(5));
        }
        cluster.run_until(cluster.now + milliseconds(500));
        assert_eq!(cluster.nodes[holder].look().counters.entries, sections as u64);
        let (link, free, sent) = (VecDeque::new(), Ticks(0), BTreeMap::new());
        Self { cluster, leader, holder, link, free, sent }
    }

    /// Everything happens up to this time, but nothing happens at the third node any more, and the holder's report takes this road.
    fn run(&mut self, span: Ticks, road: Road) {
        let until = self.cluster.now + span;
        loop {
            let next = self.link.front().map_or(until, |(at, _)| until.min(*at));
            if let Some(event) = self.cluster.step(next) {
                self.have(event, road);
            } else if self.link.front().is_some_and(|(at, _)| *at <= until)
                && let Some((at, part)) = self.link.pop_front()
            {
                self.cluster.now = at.max(self.cluster.now);
                self.cluster.deliver(self.leader, node(self.holder), Msg::Report(part));
            } else {
                self.cluster.now = until;
                return;
            }
        }
    }

    fn have(&mut self, event: Event, road: Road) {
        let silent = (self.holder + 1) % 3;
        match event {
            Event::Deliver { to, from, msg: Msg::Report(part) }
                if (to, from) == (self.leader, node(self.holder)) =>
            {
                *self.sent.entry(part.number).or_default() += 1;
                road(self, part);
            }
            Event::Deliver { to, from, .. } if to == silent || from == node(silent) => {}
            Event::Ring { at, .. } | Event::Written { at, .. } if at == silent => {}
            other => self.cluster.have(other),
        }
    }

    fn is_active(&self) -> bool {
        [self.leader, self.holder]
            .iter()
            .all(|at| self.cluster.nodes[*at].look().standing == Standing::Active)
    }

    fn view(&self) -> (u64, usize) {
        let view = self.cluster.nodes[self.leader].look().newest.expect("there is one");
        (view.number, view.members.len())
    }

    /// Goes on until the holder is left out, and tells how long that took.
    fn lose_holder(&mut self, road: Road) -> Ticks {
        let ((before, _), begun) = (self.view(), self.cluster.now);
        while self.view().0 == before {
            assert!(self.cluster.now < begun + milliseconds(20_000), "nobody is left out");
            self.run(milliseconds(10), road);
        }
        let view = self.cluster.nodes[self.leader].look().newest.expect("there is one");
        assert_eq!(view.members.keys().copied().collect::<Vec<_>>(), [node(self.leader)]);
        self.cluster.now - begun
    }

    /// Goes on until the view without the silent node is decided.
    fn lose_silent(&mut self, road: Road) {
        let (before, _) = self.view();
        let limit = self.cluster.now + milliseconds(3_000);
        while self.view().0 == before {
            assert!(self.cluster.now < limit, "nobody is left out");
            self.run(milliseconds(1), road);
        }
        assert_eq!(self.view(), (before + 1, 2));
    }
}

/// A link of 1 Mbit/s takes 66 ms for a part of 8 KiB.
fn slow(scene: &mut Scene, part: ReportPart) {
    scene.free = scene.free.max(scene.cluster.now) + milliseconds(66);
    scene.link.push_back((scene.free, part));
}

/// Each part comes, one every 0.9 s, however often it is sent.
fn trickle(scene: &mut Scene, part: ReportPart) {
    if scene.sent[&part.number] == 1 {
        scene.free = scene.free.max(scene.cluster.now) + milliseconds(900);
        scene.link.push_back((scene.free, part));
    }
}

fn nothing_comes(_: &mut Scene, _: ReportPart) {}

#[test]
fn a_slow_link_carries_each_part_of_a_report_once() {
    let mut scene = Scene::new(1_000);
    scene.lose_silent(slow);
    let (decided, view) = (scene.cluster.now, scene.view());
    while !scene.is_active() {
        scene.run(milliseconds(10), slow);
        assert_eq!(scene.view(), view, "a node is left out while its report arrives");
        assert!(scene.cluster.now < decided + milliseconds(9_000), "the view is never installed");
    }
    let span = scene.cluster.now - decided;
    println!("a report of 200 kB at 1 Mbit/s: {span} µs");
    assert!(span > milliseconds(1_500), "longer than the barrier: {span} µs");
    assert_eq!(scene.sent.len(), 25);
    assert!(scene.sent.values().all(|sent| *sent == 1), "{:?}", scene.sent);
}

#[test]
fn a_node_without_a_report_is_left_out_after_the_barrier() {
    let mut scene = Scene::new(300);
    scene.lose_silent(nothing_comes);
    let span = scene.lose_holder(nothing_comes);
    assert!((milliseconds(1_000)..milliseconds(1_400)).contains(&span), "{span} µs");
}

#[test]
fn a_node_whose_report_trickles_is_left_out_in_the_end() {
    let mut scene = Scene::new(1_000);
    scene.lose_silent(trickle);
    // It makes progress all the while, but no node waits for ever.
    let span = scene.lose_holder(trickle);
    assert!((milliseconds(10_000)..milliseconds(10_400)).contains(&span), "{span} µs");
}

#[test]
fn a_contradictory_report_makes_no_holder() {
    let mut scene = Scene::new(300);
    scene.lose_silent(nothing_comes);
    let (view, holder, leader) = (scene.view().0, scene.holder, scene.leader);
    let good = ReportPart {
        view,
        incarnation: life(holder),
        age: None,
        number: 0,
        count: 3,
        inside: vec![section("a"), section("b")],
    };
    let mut say = |part: ReportPart| {
        let msg = wire::decode(&wire::encode(&Msg::Report(part))).expect("it is spelled well");
        let impossible = |scene: &Scene| scene.cluster.nodes[leader].look().counters.impossible;
        let before = impossible(&scene);
        scene.cluster.deliver(leader, node(holder), msg);
        impossible(&scene) - before
    };
    assert_eq!(say(good.clone()), 0);
    assert_eq!(say(good.clone()), 0, "the same again is honest");
    let later =
        ReportPart { incarnation: doorway_node::Incarnation { boot: 9, ..life(holder) }, ..good.clone() };
    assert_eq!(say(later), 0, "another life is not in the view, and is not heard");
    assert_eq!(say(ReportPart { count: 4, ..good.clone() }), 1, "of another whole");
    assert_eq!(say(ReportPart { age: Some(Ticks(1)), ..good.clone() }), 1, "with another age");
    assert_eq!(say(ReportPart { inside: vec![section("a")], ..good.clone() }), 1, "with other names");
    assert_eq!(say(ReportPart { number: 1, inside: vec![section("b"), section("c")], ..good.clone() }), 0);
    assert_eq!(say(ReportPart { number: 2, inside: vec![section("d")], ..good }), 1, "two parts overlap");
    assert_eq!(scene.cluster.nodes[leader].look().standing, Standing::Limbo);
    scene.lose_holder(nothing_comes);
}
