//! The judge on its own: each test has a violation that the judge must find, and a similar run that it must accept.

use doorway_catalog::Catalog;
use doorway_core::{Fence, NodeId, Options, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::{DiskId, Incarnation, Nonce, ReportPart, RequestId, View};

use super::Judge;
use crate::cluster::{Cluster, ClusterEvent};
use crate::design::Design;
use crate::host::Said;
use crate::violation::ViolationKind;

/// A lease, unless a test says otherwise.
const LEASE: Ticks = Ticks(1_000_000);

fn design() -> Design {
    let recipe = Catalog::textbook().recipes().recipe("central", &Options::none()).expect("a recipe");
    Design::new(3, recipe, 1)
}

/// Three nodes that act in a view, with leases, and no holder.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new(design()).expect("a cluster");
    run_until(Ticks(3_000_000), &mut cluster);
    assert_eq!(cluster.judge().violations(), []);
    cluster
}

fn run_until(limit: Ticks, cluster: &mut Cluster) {
    while !matches!(cluster.next(limit), ClusterEvent::Over) {}
}

fn judge() -> Judge {
    Judge::new(&design())
}

fn kinds(judge: &Judge) -> Vec<ViolationKind> {
    judge.violations().iter().map(|violation| violation.kind).collect()
}

fn section() -> SectionName {
    SectionName::new("door").expect("a good name")
}

/// Has a node grant a lock with a fence; the deadline is half a second later on its clock. Returns that deadline.
fn grant(judge: &mut Judge, node: usize, request: u64, fence: u64, cluster: &mut Cluster) -> Ticks {
    let (node, engine) = (NodeId::new(node), &*cluster.engine());
    let until = engine.local_time(node, engine.now()) + Ticks(500_000);
    judge.grant(node, RequestId(request), vec![(section(), Fence(fence))], until, engine);
    until
}

/// The last moment at which a holder of node 0 with this deadline counts as inside, in true time.
fn last_moment(until: Ticks, cluster: &mut Cluster) -> Ticks {
    let margin = design().timing.margin;
    cluster.engine().true_time(NodeId::new(0), until + margin - Ticks(1))
}

#[test]
fn two_inside_are_found_until_a_margin_after_the_deadline() {
    for (late, expected) in [(Ticks(0), vec![ViolationKind::TwoInside]), (Ticks(2), vec![])] {
        let (mut cluster, mut judge) = (cluster(), judge());
        let until = grant(&mut judge, 0, 1, 1, &mut cluster);
        let moment = last_moment(until, &mut cluster) + late;
        run_until(moment, &mut cluster);
        grant(&mut judge, 1, 2, 2, &mut cluster);
        assert_eq!(kinds(&judge), expected, "{late:?} after the last moment");
    }
}

#[test]
fn who_has_left_or_is_in_another_section_is_not_inside() {
    let (mut cluster, mut judge) = (cluster(), judge());
    grant(&mut judge, 0, 1, 1, &mut cluster);
    judge.end(RequestId(1));
    grant(&mut judge, 1, 2, 2, &mut cluster);
    let other = SectionName::new("window").expect("a good name");
    let engine = &*cluster.engine();
    let until = engine.local_time(NodeId::new(2), engine.now()) + Ticks(500_000);
    judge.grant(NodeId::new(2), RequestId(3), vec![(other, Fence(1))], until, engine);
    assert_eq!(kinds(&judge), []);
}

#[test]
fn a_holder_that_was_freed_counts_as_inside_until_its_deadline() {
    let (mut cluster, mut judge) = (cluster(), judge());
    grant(&mut judge, 0, 1, 1, &mut cluster);
    judge.free(RequestId(1));
    grant(&mut judge, 1, 2, 2, &mut cluster);
    assert_eq!(kinds(&judge), [ViolationKind::TwoInside]);
}

#[test]
fn a_fence_must_be_larger_than_all_before_it() {
    for (second, expected) in [(6, vec![]), (5, vec![ViolationKind::Fence]), (4, vec![ViolationKind::Fence])]
    {
        let (mut cluster, mut judge) = (cluster(), judge());
        for (request, fence) in [(1, 5), (2, second)] {
            grant(&mut judge, 0, request, fence, &mut cluster);
            judge.end(RequestId(request));
        }
        assert_eq!(kinds(&judge), expected, "fence {second} after 5");
    }
}

/// The disks of voters have the numbers of their nodes.
fn disk(node: usize) -> DiskId {
    DiskId(node as u64)
}

fn life(node: usize) -> Incarnation {
    Incarnation { disk: disk(node), boot: 1, tenure: 0, nonce: Nonce(node as u128) }
}

/// A view of five members with these voters, and the next ones while they change.
fn view(number: u64, voters: &[usize], next: Option<&[usize]>) -> View {
    let set = |nodes: &[usize]| nodes.iter().map(|node| (disk(*node), NodeId::new(*node))).collect();
    let members = (0..5).map(|node| (NodeId::new(node), life(node))).collect();
    View { number, members, next_voters: next.map(set), ..View::genesis(set(voters)) }
}

/// Node 0 sends a heartbeat, and these voters stand behind it. Tells when it was sent, on its clock.
fn beat(judge: &mut Judge, seq: u64, at: Ticks, voters: &[usize], cluster: &mut Cluster) -> Ticks {
    let (node, engine) = (NodeId::new(0), &*cluster.engine());
    judge.now = at;
    judge.judge_said(node, vec![Said::Heartbeat { life: life(0), seq }], &[], engine);
    for voter in voters {
        let ack = Said::Ack { voter: disk(*voter), life: life(0), seq, is_allowed: true };
        judge.judge_said(NodeId::new(*voter % 3), vec![ack], &[], engine);
    }
    engine.local_time(node, at)
}

/// What the judge says of the lease of node 0 that is valid until some time; its clock is right.
fn judge_lease(judge: &mut Judge, until: Ticks, view: &View) -> Vec<ViolationKind> {
    judge.judge_lease_of(life(0), until, until, Some(view));
    kinds(judge)
}

#[test]
fn a_lease_that_grows_needs_a_majority_of_every_voter_set() {
    let old = view(1, &[0, 1, 2], None);
    let joint = view(2, &[0, 1, 2], Some(&[2, 3, 4]));
    let cases: [(&View, &[usize], Ticks, bool); 6] = [
        (&old, &[0, 1], Ticks(0), true),
        (&old, &[0, 1], Ticks(1), false),
        (&old, &[0], Ticks(0), false),
        (&old, &[0, 3, 4], Ticks(0), false),
        (&joint, &[0, 1], Ticks(0), false),
        (&joint, &[0, 2, 3], Ticks(0), true),
    ];
    for (view, voters, more, is_right) in cases {
        let (mut cluster, mut judge) = (cluster(), judge());
        let sent = beat(&mut judge, 1, Ticks(2_000_000), voters, &mut cluster);
        let found = judge_lease(&mut judge, sent + LEASE + more, view);
        assert_eq!(found.is_empty(), is_right, "{voters:?} of {view:?}, {more:?} more: {found:?}");
        assert!(found.iter().all(|kind| *kind == ViolationKind::Lease));
    }
}

#[test]
fn the_newest_heartbeat_of_a_minority_prolongs_nothing() {
    let (mut cluster, mut judge) = (cluster(), judge());
    let old = view(1, &[0, 1, 2], None);
    let first = beat(&mut judge, 1, Ticks(2_000_000), &[0, 1], &mut cluster);
    let second = beat(&mut judge, 2, Ticks(2_200_000), &[0], &mut cluster);
    assert_eq!(judge_lease(&mut judge, first + LEASE, &old), []);
    assert_eq!(judge_lease(&mut judge, second + LEASE, &old), [ViolationKind::Lease]);
}

/// A member sleeps through a change of voters and adopts the view with both sets, its lease long over. No new voter ever stood behind
/// that lease, and none had to.
#[test]
fn a_sleeper_adopts_a_joint_view_with_an_old_lease() {
    let (mut cluster, mut judge) = (cluster(), judge());
    let sent = beat(&mut judge, 1, Ticks(2_000_000), &[0, 1], &mut cluster);
    let until = sent + LEASE;
    assert_eq!(judge_lease(&mut judge, until, &view(1, &[0, 1, 2], None)), []);
    let awake = beat(&mut judge, 2, until + Ticks(5_000_000), &[], &mut cluster);
    judge.judge_lease_of(life(1), awake, awake, None);
    assert!(!judge.leases.contains_key(&life(0)), "its lease ended long ago");
    let joint = view(2, &[0, 1, 2], Some(&[2, 3, 4]));
    assert_eq!(judge_lease(&mut judge, until, &joint), []);
    // What does grow needs the new voters.
    assert_eq!(judge_lease(&mut judge, awake + LEASE, &joint), [ViolationKind::Lease]);
}

#[test]
fn a_lease_never_goes_back() {
    let (mut cluster, mut judge) = (cluster(), judge());
    let old = view(1, &[0, 1, 2], None);
    let sent = beat(&mut judge, 1, Ticks(2_000_000), &[0, 1], &mut cluster);
    assert_eq!(judge_lease(&mut judge, sent + LEASE, &old), []);
    assert_eq!(judge_lease(&mut judge, sent + LEASE, &old), []);
    assert_eq!(judge_lease(&mut judge, sent + LEASE - Ticks(1), &old), [ViolationKind::Lease]);
}

/// The same lease ends later if its clock stood still meanwhile: later than the nodes wait that left it out.
#[test]
fn a_lease_whose_clock_stood_still_is_judged_by_its_new_end() {
    let (mut cluster, mut judge) = (cluster(), judge());
    let old = view(1, &[0, 1, 2], None);
    let sent = beat(&mut judge, 1, Ticks(2_000_000), &[0, 1], &mut cluster);
    let (until, decided) = (sent + LEASE, Ticks(2_000_000));
    let mut without = View { number: 2, ..old.clone() };
    without.members.remove(&NodeId::new(0));
    judge.first_views.insert(life(0), 1);
    judge.views = [(1, (old.clone(), Ticks(0))), (2, (without, decided))].into();
    let longest = Ticks(LEASE.0 * 1_000_000 / (1_000_000 - judge.timing.drift_ppm));
    judge.judge_lease_of(life(0), until, decided + longest, Some(&old));
    assert_eq!(kinds(&judge), []);
    judge.judge_lease_of(life(0), until, decided + longest + Ticks(100), Some(&old));
    assert_eq!(kinds(&judge), [ViolationKind::LateLease]);
}

/// A paused node makes no step at which its lease could be looked at, and its clock may go at another rate meanwhile.
#[test]
fn the_lease_of_a_paused_node_ends_when_its_new_clock_says() {
    let (mut cluster, node) = (cluster(), NodeId::new(0));
    cluster.pause(node);
    run_until(cluster.now() + Ticks(100_000), &mut cluster);
    let (life, until) = (cluster.nodes()[0].look().incarnation, cluster.nodes()[0].look().lease_until);
    let mut ends = Vec::new();
    for _ in 0..8 {
        cluster.drift_anew(node);
        let end = cluster.engine().true_time(node, until);
        assert_eq!(cluster.judge().leases.get(&life), Some(&end));
        ends.push(end);
    }
    ends.sort_unstable();
    ends.dedup();
    assert!(ends.len() > 1, "its clock never changed");
}

fn report(number: u64, node: usize, inside: &[&str]) -> Said {
    let inside = inside.iter().map(|name| SectionName::new(name).expect("a good name")).collect();
    Said::Report(ReportPart { view: number, incarnation: life(node), age: None, number: 0, count: 1, inside })
}

#[test]
fn a_changed_report_is_found_however_old_its_view_is() {
    for (again, expected) in [(&["door"][..], vec![]), (&[][..], vec![ViolationKind::Report])] {
        let (mut cluster, mut judge) = (cluster(), judge());
        let mut say = |said| judge.judge_said(NodeId::new(0), vec![said], &[], cluster.engine());
        say(report(3, 0, &["door"]));
        (4..40).for_each(|number| say(report(number, 1, &[])));
        say(report(3, 0, again));
        assert_eq!(kinds(&judge), expected, "{again:?}");
    }
}

#[test]
fn a_section_that_two_report_for_one_view_is_found() {
    let (mut cluster, mut judge) = (cluster(), judge());
    let mut say = |said| judge.judge_said(NodeId::new(0), vec![said], &[], cluster.engine());
    say(report(3, 0, &["door"]));
    say(report(4, 1, &["door"]));
    say(report(3, 2, &["window"]));
    assert_eq!(kinds(&judge), []);
    let mut say = |said| judge.judge_said(NodeId::new(0), vec![said], &[], cluster.engine());
    say(report(3, 1, &["door"]));
    assert_eq!(kinds(&judge), [ViolationKind::Report]);
}

#[test]
fn an_entry_in_the_step_that_learns_a_view_counts_before_it() {
    let mut cluster = cluster();
    cluster.crash(NodeId::new(2));
    while cluster.engine().machines()[0].look().standing != Standing::Limbo {
        let limit = cluster.engine().now() + Ticks(20);
        run_until(limit, &mut cluster);
        assert!(limit < Ticks(10_000_000), "the others go on without the crashed node");
    }
    let (node, now) = (NodeId::new(0), cluster.engine().now());
    let look = cluster.engine().machines()[0].look();
    let (life, number) = (look.incarnation, look.view.expect("it has adopted one").number);
    let part =
        |inside| ReportPart { view: number, incarnation: life, age: None, number: 0, count: 1, inside };
    let judged = |froze, inside: Vec<SectionName>, cluster: &mut Cluster| {
        let mut judge = judge();
        judge.froze[node.index()] = froze;
        judge.reports.entry(number).or_default().insert((life, 0), part(inside));
        grant(&mut judge, 0, 1, 1, cluster);
        kinds(&judge)
    };
    assert_eq!(judged(Some(now), vec![section()], &mut cluster), []);
    assert_eq!(
        judged(Some(now), vec![], &mut cluster),
        [ViolationKind::Gate],
        "it was let in after the report"
    );
    assert_eq!(judged(Some(Ticks(1)), vec![section()], &mut cluster), [ViolationKind::Gate]);
    assert_eq!(judged(None, vec![section()], &mut cluster), [ViolationKind::Gate]);
}
