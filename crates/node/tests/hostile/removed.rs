//! A disk that an operator has removed: from the commit of the configuration without it, its ballots are dropped.

use std::collections::BTreeMap;

use doorway_core::Ticks;
use doorway_node::disk::{Recovery, recover};
use doorway_node::timing::milliseconds;
use doorway_node::{
    Ballot, BallotEntry, Body, Command, DiskId, Epoch, LockNode, Msg, Notice, Position, Revocation, View,
};

use crate::cluster::{Cluster, Event, recipe, setup};
use crate::corpus::{ballot, disk, node};

/// A cluster of `n` active nodes, its leader, and a follower that will be removed.
fn settled(n: usize) -> (Cluster, usize, usize) {
    let mut cluster = Cluster::new(n, "carvalho-roucairol");
    cluster.run_until(milliseconds(4_000));
    let leader = leader_of(&cluster);
    (cluster, leader, (leader + 1) % n)
}

fn leader_of(cluster: &Cluster) -> usize {
    cluster.nodes.iter().position(|node| node.look().is_leader).expect("one node leads")
}

fn term(cluster: &Cluster, at: usize) -> u64 {
    cluster.nodes[at].look().term
}

/// A log that ends later than anybody's.
const LATE: Position = Position { index: 1_000, term: 1 };

fn ask_vote() -> Body {
    Body::AskVote { last: LATE }
}

/// Everything happens up to this time but what the removed node hears and says.
fn run_without(cluster: &mut Cluster, gone: usize, until: Ticks) {
    while let Some(event) = cluster.step(until) {
        let is_cut = matches!(&event, Event::Deliver { to, from, .. } if *to == gone || *from == node(gone));
        if !is_cut {
            cluster.have(event);
        }
    }
    cluster.now = until;
}

#[test]
fn a_removed_candidate_deposes_no_leader() {
    let (mut cluster, leader, gone) = settled(3);
    cluster.command(leader, Command::Remove(node(gone)));
    cluster.run_until(cluster.now + milliseconds(500));
    assert!(cluster.notices.contains(&(leader, Notice::Removed(node(gone)))));
    let (before, others) = (term(&cluster, leader), [0, 1, 2].into_iter().filter(|at| *at != gone));
    let others: Vec<usize> = others.collect();
    for round in 1..=50 {
        for at in others.clone() {
            let mut bodies = vec![ask_vote(), Body::Vote { is_granted: true }, Body::Appended { last: LATE }];
            bodies.push(Body::Append { decided: 0, after: LATE, entries: Vec::new() });
            for body in bodies {
                cluster.forge(at, gone, ballot(gone, before + 10 * round, body));
            }
        }
        let until = cluster.now + milliseconds(100);
        run_without(&mut cluster, gone, until);
    }
    for at in others {
        assert_eq!((term(&cluster, at), leader_of(&cluster)), (before, leader), "node {at}");
        assert_eq!(cluster.nodes[at].look().counters.impossible, 0, "an honest node may be late, too");
    }
}

#[test]
fn a_removed_node_is_not_answered_before_an_election() {
    let (mut cluster, leader, gone) = settled(3);
    let other = 3 - leader - gone;
    cluster.command(leader, Command::Remove(node(gone)));
    cluster.run_until(cluster.now + milliseconds(500));
    // No node hears the leader any more: a voter would be supported.
    let silence = cluster.now + milliseconds(600);
    while let Some(event) = cluster.step(silence) {
        if !matches!(&event, Event::Deliver { .. }) {
            cluster.have(event);
        }
    }
    let asked = |cluster: &mut Cluster, body| {
        cluster.forge(other, gone, ballot(gone, 1, body));
        let mut answers = 0;
        while let Some(event) = cluster.step(cluster.now + milliseconds(1)) {
            answers += u32::from(matches!(&event, Event::Deliver { to, .. } if *to == gone));
        }
        answers
    };
    assert_eq!(asked(&mut cluster, Body::Sound { round: 1, last: LATE }), 0);
    assert_eq!(asked(&mut cluster, ask_vote()), 0);
}

#[test]
fn a_removed_node_votes_until_that_is_committed() {
    let (mut cluster, leader, gone) = settled(3);
    let before = term(&cluster, leader);
    cluster.command(leader, Command::Remove(node(gone)));
    // Until the leader proposes the configuration: the view that removes the node is decided then.
    let mut is_proposed = false;
    while !is_proposed {
        let event = cluster.step(milliseconds(60_000)).expect("something happens");
        is_proposed = matches!(&event, Event::Deliver { msg: Msg::Ballot(Ballot { body: Body::Append { entries, .. }, .. }), .. }
            if entries.iter().any(|entry| matches!(entry, BallotEntry::Config(_))));
        cluster.have(event);
    }
    assert!(cluster.notices.contains(&(leader, Notice::Removed(node(gone)))));
    cluster.run_until(cluster.now + milliseconds(1));
    cluster.forge(leader, gone, ballot(gone, before + 1, ask_vote()));
    cluster.run_until(cluster.now + milliseconds(2));
    assert_eq!(term(&cluster, leader), before + 1, "it still votes, so it may stand for election");
}

#[test]
fn two_nodes_become_one_by_the_vote_of_the_removed_one() {
    let (mut cluster, leader, gone) = settled(2);
    cluster.notices.clear();
    cluster.command(leader, Command::Remove(node(gone)));
    // A node that learns of its removal does nothing any more, as a daemon then ends.
    let until = cluster.now + milliseconds(5_000);
    while let Some(event) = cluster.step(until) {
        let is_over = cluster.notices.contains(&(gone, Notice::Expelled));
        let at = match &event {
            Event::Deliver { to, .. } => *to,
            Event::Ring { at, .. } | Event::Written { at, .. } => *at,
        };
        if !(is_over && at == gone) {
            cluster.have(event);
        }
    }
    assert!(cluster.notices.contains(&(gone, Notice::Expelled)), "it is told");
    let view = cluster.nodes[leader].look().newest.expect("there is one");
    assert_eq!(view.voters.keys().copied().collect::<Vec<_>>(), [disk(leader)]);
    assert!(cluster.nodes[leader].look().is_leader);
}

/// An operator revokes the certificates of a node up to a time.
fn revoke(gone: usize, name: &str, until: u64) -> Command {
    Command::Revoke { node: node(gone), name: name.to_owned(), until }
}

#[test]
fn every_member_keeps_a_revocation() {
    let (mut cluster, leader, gone) = settled(3);
    let others = [0, 1, 2].into_iter().filter(|at| *at != gone).collect::<Vec<_>>();
    cluster.notices.clear();
    cluster.command(leader, revoke(gone, "c", 1_000));
    let until = cluster.now + milliseconds(500);
    let mut seen = BTreeMap::new();
    while let Some(event) = cluster.step(until) {
        cluster.have(event);
        for at in &others {
            let look = cluster.nodes[*at].look();
            let view = look.newest.expect("there is one");
            let votes = view.all_voters().contains_key(&disk(gone));
            let steps: &mut Vec<_> = seen.entry(*at).or_default();
            let step = (view.revoked.len(), votes, cluster.nodes[*at].void_certificates().len());
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
    }
    // Agreed while the node still votes, void when the consensus goes on without it, and out of the views a moment later.
    let steps = vec![(0, true, 0), (1, true, 0), (1, true, 1), (1, false, 1)];
    assert_eq!(seen, others.iter().map(|at| (*at, steps.clone())).collect());
    let told = [Notice::Removed(node(gone)), Notice::Revoked(node(gone))].map(|notice| (leader, notice));
    assert!(told.iter().all(|notice| cluster.notices.contains(notice)), "{:?}", cluster.notices);
    for at in &others {
        assert_eq!(cluster.nodes[*at].void_certificates(), [("c".to_owned(), 1_000)].into());
    }
    // It is agreed under any leader, and an earlier time takes nothing back.
    let next = *others.iter().find(|at| **at != leader).expect("there are two");
    cluster.command(leader, Command::Lead(node(next)));
    cluster.run_until(cluster.now + milliseconds(50));
    for (time, void) in [(500, 1_000), (2_000, 2_000)] {
        cluster.notices.clear();
        cluster.command(next, revoke(gone, "c", time));
        cluster.run_until(cluster.now + milliseconds(100));
        assert_eq!(
            cluster.notices,
            [(next, Notice::Revoked(node(gone)))],
            "although it takes no part any more"
        );
        assert_eq!(cluster.nodes[leader].void_certificates(), [("c".to_owned(), void)].into());
    }
}

#[test]
fn a_restarted_node_still_ignores_removed_nodes() {
    let (mut cluster, leader, gone) = settled(3);
    cluster.command(leader, revoke(gone, "c", 1_000));
    cluster.run_until(cluster.now + milliseconds(500));
    let other = 3 - leader - gone;
    let bytes = cluster.disks[other].bytes().to_vec();
    let recipe = recipe("carvalho-roucairol");
    let again = LockNode::new(setup(other, 3, &recipe), &bytes).expect("a good disk");
    assert_eq!(again.void_certificates(), [("c".to_owned(), 1_000)].into());
    cluster.nodes[other] = again;
    cluster.restart(other);
    let before = term(&cluster, other);
    cluster.forge(other, gone, ballot(gone, before + 1, ask_vote()));
    cluster.run_until(cluster.now + milliseconds(5));
    assert_eq!(term(&cluster, other), before);
}

#[test]
fn a_survivor_that_begins_anew_forgets_no_revocation() {
    let (mut cluster, leader, gone) = settled(3);
    cluster.command(leader, revoke(gone, "c", 1_000));
    cluster.run_until(cluster.now + milliseconds(500));
    let recovery = Recovery { disk: DiskId(77), me: node(leader), epoch: Epoch(7), draw: 0 };
    let bytes = recover(cluster.disks[leader].bytes(), &recovery).expect("a survivor");
    let recipe = recipe("carvalho-roucairol");
    let alone = LockNode::new(setup(leader, 3, &recipe), &bytes).expect("a good disk");
    assert_eq!(alone.void_certificates(), [("c".to_owned(), 1_000)].into());
}

#[test]
fn revocations_are_limited() {
    let (mut cluster, leader, gone) = settled(3);
    let mut revoked = |name: &str| {
        cluster.notices.clear();
        cluster.command(leader, revoke(gone, name, 1_000));
        let until = cluster.now + milliseconds(20);
        cluster.run_until(until);
        let mut answers = cluster.notices.iter().filter(|(at, _)| *at == leader);
        answers.next_back().cloned().expect("an answer").1
    };
    let not_done = |why: &str| Notice::NotDone(why.to_owned());
    assert_eq!(revoked(""), not_done("its name must have 1 to 63 bytes"));
    assert_eq!(revoked(&"x".repeat(64)), not_done("its name must have 1 to 63 bytes"));
    for number in 0..256 {
        assert_eq!(revoked(&format!("n{number}")), Notice::Revoked(node(gone)), "number {number}");
    }
    assert_eq!(revoked("more"), not_done("a cluster can revoke 256 names in its life"));
    assert_eq!(revoked("n7"), Notice::Revoked(node(gone)), "one that is known takes no room");
    let mut view = View::genesis([(disk(0), node(0))].into());
    view.revoked = (0..256).map(|n| (n.to_string(), Revocation { node: node(1), until: n })).collect();
    assert!(view.is_sound());
    view.revoked.insert("more".to_owned(), Revocation { node: node(1), until: 1 });
    assert!(!view.is_sound());
    view.revoked = [("x".repeat(64), Revocation { node: node(1), until: 1 })].into();
    assert!(!view.is_sound());
}
