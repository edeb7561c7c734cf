//! Leadership is handed over: at once, to a voter whose log is complete, and only on the leader's word.

use std::collections::BTreeSet;

use doorway_core::{NodeId, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{Ballot, Body, Command, Msg, Notice, Position, Timing};

use crate::cluster::{Cluster, Event};
use crate::corpus::{ballot, disk, node};

/// Three nodes in which everybody is active, the leader and the two others.
fn settled() -> (Cluster, usize, [usize; 2]) {
    let mut cluster = Cluster::new(3, "carvalho-roucairol");
    cluster.run_until(milliseconds(4_000));
    cluster.notices.clear();
    let leader = leaders(&cluster)[0];
    (cluster, leader, [(leader + 1) % 3, (leader + 2) % 3])
}

fn leaders(cluster: &Cluster) -> Vec<usize> {
    (0..cluster.nodes.len()).filter(|at| cluster.nodes[*at].look().is_leader).collect()
}

fn term(cluster: &Cluster, at: usize) -> u64 {
    cluster.nodes[at].look().term
}

fn view(cluster: &Cluster, at: usize) -> u64 {
    cluster.nodes[at].look().newest.expect("a view was decided").number
}

/// Everything happens up to this time but the messages to these nodes that are cut.
fn run_cut(cluster: &mut Cluster, until: Ticks, is_cut: impl Fn(usize, &Msg) -> bool) {
    while let Some(event) = cluster.step(until) {
        if !matches!(&event, Event::Deliver { to, msg, .. } if is_cut(*to, msg)) {
            cluster.have(event);
        }
    }
    cluster.now = until;
}

fn is_ballot(msg: &Msg) -> bool {
    matches!(msg, Msg::Ballot(_))
}

/// When the leader gives up: after an election timeout, at its next heartbeat.
fn patience() -> Ticks {
    let Timing { election, .. } = Timing::default();
    election + Ticks(election.0 / 5)
}

#[test]
fn leadership_moves_in_two_round_trips() {
    let (mut cluster, leader, [next, other]) = settled();
    let (before, number) = (term(&cluster, leader), view(&cluster, leader));
    cluster.command(leader, Command::Lead(node(next)));
    // The word, the candidate's own write, its question, a write for each vote, the vote, the first entry, its writes, and the answer.
    cluster.run_until(cluster.now + milliseconds(8));
    assert_eq!(leaders(&cluster), [next]);
    assert_eq!(cluster.notices, [(leader, Notice::Leads(node(next)))]);
    cluster.run_until(cluster.now + milliseconds(5_000));
    assert_eq!([leader, next, other].map(|at| term(&cluster, at)), [before + 1; 3]);
    assert_eq!(view(&cluster, next), number, "nobody was left out");
    // There and back again.
    for (from, to) in [(next, leader), (leader, next), (next, leader)] {
        cluster.command(from, Command::Lead(node(to)));
        cluster.run_until(cluster.now + milliseconds(8));
        assert_eq!(leaders(&cluster), [to]);
    }
}

#[test]
fn a_node_that_already_leads_says_so() {
    let (mut cluster, leader, _) = settled();
    let before = term(&cluster, leader);
    cluster.command(leader, Command::Lead(node(leader)));
    cluster.run_until(cluster.now + milliseconds(1_000));
    assert_eq!(cluster.notices, [(leader, Notice::Leads(node(leader)))]);
    assert_eq!((leaders(&cluster), term(&cluster, leader)), (vec![leader], before));
}

#[test]
fn a_leader_that_hands_over_proposes_nothing() {
    let (mut cluster, leader, [next, other]) = settled();
    let (before, number) = (term(&cluster, leader), view(&cluster, leader));
    // The log of the next one is not complete: it does not answer.
    let begun = cluster.now;
    run_cut(&mut cluster, begun + milliseconds(50), |to, msg| to == next && is_ballot(msg));
    cluster.command(leader, Command::Appoint([leader, next, other].map(node).to_vec()));
    run_cut(&mut cluster, begun + milliseconds(60), |to, msg| to == next && is_ballot(msg));
    assert_eq!(view(&cluster, leader), number + 1, "two of three decide");
    cluster.notices.clear();
    let asked = cluster.now;
    cluster.command(leader, Command::Lead(node(next)));
    cluster.command(leader, Command::Appoint([leader, next].map(node).to_vec()));
    run_cut(&mut cluster, asked + milliseconds(490), |to, msg| to == next && is_ballot(msg));
    assert_eq!((view(&cluster, leader), cluster.notices.as_slice()), (number + 1, &[][..]));
    run_cut(&mut cluster, asked + patience() + milliseconds(10), |to, msg| to == next && is_ballot(msg));
    let appointed = Notice::Appointed(
        [leader, next].map(node).into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
    );
    let told = [(leader, Notice::NotHandedOver { to: node(next) }), (leader, appointed)];
    assert_eq!(cluster.notices, told);
    assert_eq!((leaders(&cluster), term(&cluster, leader)), (vec![leader], before));
}

#[test]
fn a_successor_gets_missing_entries_before_it_leads() {
    let (mut cluster, leader, [next, other]) = settled();
    let number = view(&cluster, leader);
    let begun = cluster.now;
    run_cut(&mut cluster, begun + milliseconds(50), |to, msg| to == next && is_ballot(msg));
    cluster.command(leader, Command::Appoint([leader, next, other].map(node).to_vec()));
    run_cut(&mut cluster, begun + milliseconds(60), |to, msg| to == next && is_ballot(msg));
    assert_eq!([leader, next].map(|at| view(&cluster, at)), [number + 1, number]);
    cluster.command(leader, Command::Lead(node(next)));
    cluster.run_until(cluster.now + milliseconds(15));
    assert_eq!(leaders(&cluster), [next]);
    assert_eq!(view(&cluster, next), number + 1, "nothing that was decided is lost");
}

#[test]
fn a_word_that_is_lost_is_said_again() {
    let (mut cluster, leader, [next, _]) = settled();
    let is_word = |msg: &Msg| matches!(msg, Msg::Ballot(Ballot { body: Body::Lead { .. }, .. }));
    cluster.command(leader, Command::Lead(node(next)));
    let asked = cluster.now;
    run_cut(&mut cluster, asked + milliseconds(50), |_, msg| is_word(msg));
    assert_eq!(leaders(&cluster), [leader]);
    cluster.run_until(asked + milliseconds(150));
    assert_eq!(leaders(&cluster), [next]);
}

/// The end of the log of all, as the leader would tell it.
fn last_of(cluster: &mut Cluster) -> Position {
    let mut last = None;
    while last.is_none() {
        let event = cluster.step(milliseconds(60_000)).expect("a leader says that it lives");
        if let Event::Deliver { msg: Msg::Ballot(Ballot { body: Body::Append { after, .. }, .. }), .. } =
            &event
        {
            last = Some(*after);
        }
        cluster.have(event);
    }
    last.expect("it was heard")
}

#[test]
fn only_the_leader_can_call_for_an_early_election() {
    let (mut cluster, leader, [to, other]) = settled();
    let last = last_of(&mut cluster);
    let now = term(&cluster, leader);
    let earlier = Position { index: last.index - 1, ..last };
    let mut says = |to: usize, from: usize, term, last| {
        let lies = |cluster: &Cluster| cluster.nodes[to].look().counters.impossible;
        let before = lies(&cluster);
        let msg = ballot(from, term, Body::Lead { last });
        cluster.forge(to, from, msg);
        let until = cluster.now + milliseconds(20);
        cluster.run_until(until);
        assert_eq!((leaders(&cluster), cluster.nodes[to].look().term), (vec![leader], now));
        lies(&cluster) - before
    };
    assert_eq!(says(to, other, now, last), 1, "of another follower");
    assert_eq!(says(to, leader, now + 1, last), 1, "of a term that is not there yet");
    assert_eq!(says(leader, to, now, last), 1, "to the one who leads");
    assert_eq!(says(to, leader, now - 1, earlier), 0, "of an earlier term: it is late");
    assert_eq!(says(to, leader, now, earlier), 0, "of an earlier moment: it is late");
}

#[test]
fn a_late_word_of_a_leader_that_went_on_does_nothing() {
    let (mut cluster, leader, [next, other]) = settled();
    let before = term(&cluster, leader);
    let mut late = None;
    cluster.command(leader, Command::Lead(node(next)));
    let asked = cluster.now;
    while let Some(event) = cluster.step(asked + patience() + milliseconds(10)) {
        match &event {
            Event::Deliver { msg: word @ Msg::Ballot(Ballot { body: Body::Lead { .. }, .. }), .. } => {
                late = Some(word.clone());
            }
            _ => cluster.have(event),
        }
    }
    assert_eq!(cluster.notices, [(leader, Notice::NotHandedOver { to: node(next) })]);
    cluster.command(leader, Command::Appoint([leader, next, other].map(node).to_vec()));
    cluster.run_until(cluster.now + milliseconds(50));
    cluster.deliver(next, node(leader), late.expect("it was said"));
    cluster.run_until(cluster.now + milliseconds(100));
    assert_eq!((leaders(&cluster), term(&cluster, next)), (vec![leader], before));
    assert_eq!(cluster.nodes[next].look().counters.impossible, 0, "it was honest once");
}

#[test]
fn a_paused_voter_ignores_a_stale_order_to_lead() {
    let (mut cluster, leader, [next, _]) = settled();
    let before = term(&cluster, leader);
    let mut waiting = Vec::new();
    cluster.command(leader, Command::Lead(node(next)));
    let asked = cluster.now;
    // It stands still until the leader has given up, and finds all that was said meanwhile.
    while let Some(event) = cluster.step(asked + patience() + milliseconds(10)) {
        match event {
            Event::Deliver { to, .. } | Event::Ring { at: to, .. } | Event::Written { at: to, .. }
                if to == next =>
            {
                waiting.push(event);
            }
            _ => cluster.have(event),
        }
    }
    assert_eq!(cluster.notices, [(leader, Notice::NotHandedOver { to: node(next) })]);
    let is_word = |event: &Event| {
        matches!(event, Event::Deliver { msg: Msg::Ballot(Ballot { body: Body::Lead { .. }, .. }), .. })
    };
    assert_eq!(waiting.iter().filter(|event| is_word(event)).count(), 1, "again only if it answers");
    waiting.into_iter().for_each(|event| cluster.have(event));
    cluster.run_until(cluster.now + milliseconds(400));
    assert_eq!((leaders(&cluster), term(&cluster, next)), (vec![leader], before));
    // A while later it can lead.
    cluster.run_until(cluster.now + milliseconds(3_000));
    cluster.command(leader, Command::Lead(node(next)));
    cluster.run_until(cluster.now + milliseconds(10));
    assert_eq!(leaders(&cluster), [next]);
}

#[test]
fn a_node_that_cannot_lead_is_refused_in_a_sentence() {
    let (mut cluster, leader, [next, other]) = settled();
    cluster.command(leader, Command::Appoint([leader, next].map(node).to_vec()));
    cluster.run_until(cluster.now + milliseconds(1_000));
    cluster.notices.clear();
    let number = |index: usize| NodeId::new(index);
    for (asked, why) in [(node(other), "it does not vote"), (number(7), "it is not part of this cluster")] {
        cluster.command(leader, Command::Lead(asked));
        assert_eq!(cluster.notices.pop(), Some((leader, Notice::NotDone(why.to_owned()))));
    }
    cluster.command(next, Command::Lead(node(next)));
    assert_eq!(cluster.notices.pop(), Some((next, Notice::NotLeader { leader: Some(node(leader)) })));
    // The one that is told next is another.
    cluster.command(leader, Command::Lead(node(next)));
    cluster.command(leader, Command::Remove(node(leader)));
    let why = "leadership is being handed over already: try again";
    assert_eq!(cluster.notices.pop(), Some((leader, Notice::NotDone(why.to_owned()))));
}

#[test]
fn a_removed_leader_hands_over_first() {
    let (mut cluster, leader, _) = settled();
    let before = term(&cluster, leader);
    cluster.command(leader, Command::Remove(node(leader)));
    cluster.run_until(cluster.now + milliseconds(10));
    let next = leaders(&cluster)[0];
    assert_eq!(cluster.notices, [(leader, Notice::NotLeader { leader: Some(node(next)) })]);
    cluster.command(next, Command::Remove(node(leader)));
    cluster.run_until(cluster.now + milliseconds(2_000));
    assert!(cluster.notices.contains(&(next, Notice::Removed(node(leader)))));
    assert!(cluster.notices.contains(&(leader, Notice::Expelled)));
    assert_eq!((leaders(&cluster), term(&cluster, next)), (vec![next], before + 1));
    let voters = cluster.nodes[next].look().newest.expect("a view").voters.clone();
    assert!(!voters.contains_key(&disk(leader)) && voters.len() == 2, "{voters:?}");
}

#[test]
fn the_only_voter_cannot_be_removed() {
    let mut cluster = Cluster::new(1, "carvalho-roucairol");
    cluster.run_until(milliseconds(4_000));
    cluster.command(0, Command::Remove(node(0)));
    let why = "it leads, and no other voter is a member that could lead in its place";
    assert_eq!(cluster.notices.pop(), Some((0, Notice::NotDone(why.to_owned()))));
}
