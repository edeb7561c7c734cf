//! Lies that are spelled well: each is noticed, counted and complained of, and changes nothing.

use doorway_core::{NodeId, SectionName, Ticks};
use doorway_node::node::{Backlog, Standing};
use doorway_node::timing::milliseconds;
use doorway_node::{
    Ack, Ballot, BallotEntry, Body, Command, DiskId, Hello, Incarnation, MemberReport, Msg, Notice, Parcel,
    Position, Timing, View, wire,
};

use crate::cluster::{Cluster, Event};
use crate::corpus::{ballot, disk, life, node, section, state, with_synced};

/// Three nodes that have come to life, and what the leader sent to everybody until then.
struct Scene {
    cluster: Cluster,
    leader: usize,
    /// A node that does not lead.
    other: usize,
    appends: Vec<(Position, Vec<BallotEntry>)>,
}

impl Scene {
    fn new() -> Self {
        let mut cluster = Cluster::new(3, "carvalho-roucairol");
        let mut appends = Vec::new();
        while let Some(event) = cluster.step(milliseconds(4_000)) {
            if let Event::Deliver { msg: Msg::Ballot(Ballot { body, .. }), .. } = &event
                && let Body::Append { after, entries, .. } = body
            {
                appends.push((*after, entries.clone()));
            }
            cluster.have(event);
        }
        let leader = cluster.nodes.iter().position(|node| node.look().is_leader).expect("somebody leads");
        Self { cluster, leader, other: (leader + 1) % 3, appends }
    }

    /// Delivers a message to a node; returns how many protocol violations the node has counted because of it.
    fn say(&mut self, to: usize, from: usize, msg: Msg) -> u64 {
        let msg = with_synced(msg, disk(from), self.cluster.nodes[from].look().synced);
        let msg = wire::decode(&wire::encode(&msg)).expect("it is spelled well");
        let impossible = |cluster: &Cluster| cluster.nodes[to].look().counters.impossible;
        let before = impossible(&self.cluster);
        self.cluster.deliver(to, node(from), msg);
        impossible(&self.cluster) - before
    }

    /// How often a node greets another in half a second.
    fn greetings(&mut self, of: usize, at: usize) -> u32 {
        let until = Ticks(self.cluster.now.0 + milliseconds(500).0);
        let mut count = 0;
        while let Some(event) = self.cluster.step(until) {
            let is_greeting = matches!(&event, Event::Deliver { to, from, msg: Msg::Greeting(_) }
                if *to == at && *from == node(of));
            count += u32::from(is_greeting);
            self.cluster.have(event);
        }
        count
    }

    /// The leader says something of the consensus to a node that follows.
    fn append(&mut self, after: Position, entries: Vec<BallotEntry>) -> u64 {
        let (term, from) = (self.term(), self.leader);
        let body = Body::Append { decided: 0, after, entries };
        self.say(self.other, from, ballot(from, term, body))
    }

    fn term(&self) -> u64 {
        self.cluster.nodes[self.leader].look().term
    }

    fn load(&self, at: usize) -> Backlog {
        self.cluster.nodes[at].load()
    }

    fn view(&self) -> View {
        self.cluster.nodes[self.leader].look().newest.expect("a view was decided").clone()
    }

    /// The decided entry that is the newest view, and where it follows.
    fn newest_view(&self) -> (Position, View) {
        let mut views = self.appends.iter().rev().filter_map(|(after, entries)| match entries.as_slice() {
            [BallotEntry::View(view)] => Some((*after, (**view).clone())),
            _ => None,
        });
        views.next().expect("a view was appended")
    }
}

fn parcel(scene: &Scene, seq: u64, ack: u64, parcel: Parcel) -> Msg {
    Msg::Parcel { view: scene.view().number, seq, ack, parcel }
}

/// A section whose home among three members is this one.
fn at_home(index: usize) -> SectionName {
    let mut names = (0..).map(|number| section(&format!("section-{number}")));
    let home = |name: &SectionName| crc32fast::hash(name.as_str().as_bytes()) as usize % 3;
    names.find(|name| home(name) == index).expect("there is one")
}

#[test]
fn a_decided_view_cannot_be_said_again_with_other_words() {
    let mut scene = Scene::new();
    let (after, view) = scene.newest_view();
    assert_eq!(
        scene.append(after, vec![BallotEntry::View(Box::new(view.clone()))]),
        0,
        "the same again is honest"
    );
    let mut other = view.clone();
    other.members.remove(&node(scene.other));
    assert_eq!(scene.append(after, vec![BallotEntry::View(Box::new(other))]), 1);
    assert_eq!(scene.cluster.nodes[scene.other].look().newest, Some(&view));
    assert_eq!(scene.load(scene.other).suspects, 1);
}

#[test]
fn a_leader_cannot_take_back_what_was_decided() {
    let mut scene = Scene::new();
    let (after, view) = scene.newest_view();
    let earlier = Position { index: after.index, term: after.term - 1 };
    assert_eq!(scene.append(earlier, Vec::new()), 1, "a decided entry of another term");
    let (to, from, term) = (scene.other, scene.leader, scene.term() + 1);
    let body = Body::Append { decided: 0, after, entries: vec![BallotEntry::Term(term)] };
    assert_eq!(
        scene.say(to, from, ballot(from, term, body)),
        1,
        "another entry in the place of a decided one"
    );
    assert_eq!(scene.cluster.nodes[to].look().newest, Some(&view));
}

#[test]
fn the_number_of_a_view_follows_that_of_its_predecessor() {
    let mut scene = Scene::new();
    let (after, view) = scene.newest_view();
    let last = Position { index: after.index + 1, ..after };
    let with_number = |number| vec![BallotEntry::View(Box::new(View { number, ..view.clone() }))];
    assert_eq!(scene.append(last, with_number(view.number + 2)), 1);
    assert_eq!(scene.append(last, with_number(view.number)), 1);
    assert_eq!(scene.append(last, with_number(view.number + 1)), 0);
}

#[test]
fn many_contradictions_in_a_row_mean_a_wrong_disk() {
    let mut scene = Scene::new();
    let (after, _) = scene.newest_view();
    let wrong = Position { index: after.index, term: after.term - 1 };
    for _ in 0..64 {
        assert_eq!(scene.append(wrong, Vec::new()), 1);
        assert_eq!(scene.cluster.nodes[scene.other].look().standing, Standing::Active);
    }
    assert_eq!(scene.append(after, Vec::new()), 0, "one that fits, and all is forgiven");
    (0..64).for_each(|_| assert_eq!(scene.append(wrong, Vec::new()), 1));
    assert_eq!(scene.cluster.nodes[scene.other].look().standing, Standing::Active);
    scene.append(wrong, Vec::new());
    assert_eq!(scene.cluster.nodes[scene.other].look().standing, Standing::Over);
    scene.cluster.notices.clear();
    scene.cluster.command(scene.other, Command::Leave { patience: milliseconds(100) });
    assert_eq!(
        scene.cluster.notices,
        [(scene.other, Notice::Left)],
        "whoever waits for that waits no longer"
    );
}

#[test]
fn a_term_does_not_leap_to_where_no_election_could_follow() {
    let mut scene = Scene::new();
    let (other, leader, term) = (scene.other, scene.leader, scene.term());
    let ask = |term| Body::AskVote { last: Position { index: 1, term } };
    for (leap, lies) in [((1 << 32) + 1, 1), (1 << 61, 1), (1, 0)] {
        assert_eq!(scene.say(other, leader, ballot(leader, term + leap, ask(1))), lies);
    }
    assert_eq!(scene.cluster.nodes[other].look().term, term + 1);
}

#[test]
fn no_node_speaks_for_the_disk_of_another() {
    let mut scene = Scene::new();
    let (other, leader, term) = (scene.other, scene.leader, scene.term());
    let third = 3 - other - leader;
    let support = || Body::Support { round: 1 };
    assert_eq!(scene.say(other, third, ballot(leader, term, support())), 1, "of the leader");
    assert_eq!(scene.say(other, third, ballot(other, term, support())), 1, "of the receiver");
    assert_eq!(scene.say(other, third, ballot(third, term, support())), 0);
    let hello = |incarnation| {
        let algorithm = "carvalho-roucairol".to_owned();
        let timing = Timing::default();
        Msg::Hello(Hello { incarnation, algorithm, timing, newest: 0, synced: 0, seq: 1, heard: Vec::new() })
    };
    assert_eq!(scene.say(other, third, hello(Incarnation { boot: 9, ..life(leader) })), 1);
    assert_eq!(scene.say(other, third, hello(Incarnation { disk: DiskId(77), ..life(third) })), 0);
}

#[test]
fn a_lease_counts_only_answers_of_voters_to_sent_heartbeats() {
    let mut scene = Scene::new();
    let (other, leader) = (scene.other, scene.leader);
    let third = 3 - other - leader;
    let before = scene.cluster.nodes[other].look().lease_until;
    let incarnation = scene.cluster.nodes[other].look().incarnation;
    let state = state(third, 1);
    let ack =
        |voter, seq| Msg::Ack(Ack { voter, state, incarnation, seq, is_granted: true, left_out_by: None });
    assert_eq!(scene.say(other, third, ack(disk(leader), 1)), 1, "the answer of another");
    assert_eq!(scene.say(other, third, ack(disk(third), u64::MAX)), 1, "to what was not sent");
    assert_eq!(scene.say(other, third, ack(DiskId(99), 1)), 0, "it may have been a voter once");
    assert_eq!(scene.cluster.nodes[other].look().lease_until, before);
}

/// A machine that is restored from a snapshot with its memory goes on in the same start and has synced less than it had said.
#[test]
fn a_node_that_has_synced_less_than_it_said_is_greeted_anew() {
    for behind in [0, 1] {
        let mut scene = Scene::new();
        let (other, leader) = (scene.other, scene.leader);
        assert_eq!(scene.greetings(leader, other), 0, "the two know each other");
        let msg = ballot(other, scene.term(), Body::Support { round: 0 });
        let synced = scene.cluster.nodes[other].look().synced - behind;
        scene.cluster.deliver(leader, node(other), with_synced(msg, disk(other), synced));
        assert_eq!(scene.greetings(leader, other) > 0, behind > 0, "{behind} writes behind");
        assert_eq!(scene.greetings(leader, other), 0, "it has answered");
    }
}

#[test]
fn nothing_is_acknowledged_that_was_not_sent() {
    let mut scene = Scene::new();
    let (other, leader, view) = (scene.other, scene.leader, scene.view().number);
    assert_eq!(scene.say(other, leader, Msg::Got { view, ack: 1_000 }), 1);
    let wanted = parcel(&scene, 1, 1_000, Parcel::Wanted(section("a")));
    assert_eq!(scene.say(other, leader, wanted), 1);
    assert_eq!(scene.say(other, leader, Msg::Got { view, ack: 0 }), 0);
}

#[test]
fn only_its_home_has_a_section_forgotten() {
    let mut scene = Scene::new();
    let (other, leader) = (scene.other, scene.leader);
    let verdict = |name| Parcel::Verdict { forget: vec![name], clock: 7, keep: Vec::new() };
    let (of_leader, of_other) = (verdict(at_home(leader)), verdict(at_home(other)));
    let msg = parcel(&scene, 1, 0, of_other);
    assert_eq!(scene.say(other, leader, msg), 1);
    let msg = parcel(&scene, 2, 0, of_leader);
    assert_eq!(scene.say(other, leader, msg), 0);
}

#[test]
fn invented_lives_are_forgotten_and_logged_ones_are_not() {
    let mut scene = Scene::new();
    let (other, leader, term) = (scene.other, scene.leader, scene.term());
    for number in 0..10_000 {
        let body = Body::Support { round: 1 };
        let msg = Msg::Ballot(Ballot {
            from: DiskId(1_000_000 + number),
            state: state(leader, 1),
            epoch: None,
            term,
            body,
        });
        assert_eq!(scene.say(other, leader, msg), 0);
        assert!(scene.load(other).disks <= 4_096);
    }
    assert_eq!(
        scene.say(other, leader, ballot(other, term, Body::Support { round: 1 })),
        1,
        "it knows its own"
    );
    scene.cluster.run_until(milliseconds(8_000));
    let standings = scene.cluster.nodes.iter().map(|node| node.look().standing);
    assert!(standings.into_iter().all(|standing| standing == Standing::Active));
}

#[test]
fn parcels_and_reports_of_later_views_are_limited() {
    let mut scene = Scene::new();
    let (other, leader, view) = (scene.other, scene.leader, scene.view().number);
    let say = |bytes: usize| Parcel::Section { section: section("a"), clock: 1, bytes: vec![0; bytes] };
    for seq in 0..6_000 {
        let later = Msg::Parcel { view: view + 1 + seq % 3, seq, ack: 0, parcel: say(100) };
        assert_eq!(scene.say(other, leader, later), 0);
        let report =
            MemberReport { view: view + seq, incarnation: life(leader), inside: Vec::new(), age: None };
        for part in report.parts() {
            scene.cluster.deliver(other, node(leader), Msg::Report(part));
        }
    }
    assert_eq!((scene.load(other).kept_parcels, scene.load(other).early_reports), (4_096, 1));
    for seq in 2..6_000 {
        let early = parcel(&scene, seq, 0, say(60_000));
        assert_eq!(scene.say(other, leader, early), 0);
    }
    assert_eq!(scene.load(other).early_parcels, 69, "4 MiB of parcels of 60 kB");
}

#[test]
fn messages_for_a_frozen_section_are_limited() {
    let mut scene = Scene::new();
    let (other, leader) = (scene.other, scene.leader);
    let name = at_home(leader);
    let question = parcel(&scene, 1, 0, Parcel::MayForget(vec![name.clone()]));
    assert_eq!(scene.say(other, leader, question), 0);
    let mut lies = 0;
    for seq in 2..402 {
        let bytes = vec![0; 60_000];
        let msg = parcel(&scene, seq, 0, Parcel::Section { section: name.clone(), clock: 1, bytes });
        lies += scene.say(other, leader, msg);
    }
    assert_eq!((scene.load(other).frozen, lies), (279, 121), "16 MiB of messages of 60 kB");
}

#[test]
fn questions_about_forgetting_end_at_their_limit() {
    let mut scene = Scene::new();
    let (other, leader) = (scene.other, scene.leader);
    let home = |name: &SectionName| crc32fast::hash(name.as_str().as_bytes()) as usize % 3;
    let names = (0..).map(|number| section(&format!("s{number}"))).filter(|name| home(name) == other);
    let names: Vec<SectionName> = names.take(9_000).collect();
    for (seq, names) in (1..).zip(names.chunks(1_000)) {
        let msg = parcel(&scene, seq, 0, Parcel::Idle(names.to_vec()));
        assert_eq!(scene.say(other, leader, msg), 0);
    }
    assert_eq!(scene.load(other).questions, 4_000);
}

#[test]
fn a_node_with_complaints_is_left_out_of_the_next_view() {
    let mut scene = Scene::new();
    let (other, leader, before) = (scene.other, scene.leader, scene.view().number);
    let third: NodeId = node(3 - other - leader);
    assert_eq!(scene.say(other, third.index(), Msg::Got { view: before, ack: 1_000 }), 1);
    let mut without = None;
    while without.is_none() {
        let until = scene.cluster.now + milliseconds(10);
        assert!(until < milliseconds(10_000), "it was never left out");
        scene.cluster.run_until(until);
        let view = scene.view();
        without =
            (!view.members.values().any(|member| *member == life(third.index()))).then_some(view.number);
    }
    assert_eq!(without, Some(before + 1));
}

#[test]
fn a_node_is_in_a_view_only_at_its_own_place() {
    let mut scene = Scene::new();
    let (to, from, term) = (scene.other, scene.leader, scene.term());
    let (after, view) = scene.newest_view();
    let after = Position { index: after.index + 1, ..after };
    let mut moved = view.successor();
    let own = moved.members.remove(&node(to)).expect("it is a member");
    moved.members.insert(node(7), own);
    let entries = vec![BallotEntry::View(Box::new(moved))];
    let body = Body::Append { decided: after.index + 1, after, entries };
    assert_eq!(scene.say(to, from, ballot(from, term, body)), 0);
    // The rest would have to happen on a node that has the whole cluster against it.
    scene.cluster.run_until(scene.cluster.now + milliseconds(2));
    let look = scene.cluster.nodes[to].look();
    assert_eq!((look.standing, look.incarnation.tenure), (Standing::Joining, own.tenure + 1));
}
