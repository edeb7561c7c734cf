//! Honest nodes at their limits, and nodes that do not fit their cluster: each gets an answer, and none is suspected.

use doorway_core::Ticks;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{ClientId, Command, LockCommand, Notice, Reason, RequestId, Setup, Timing, wire};

use crate::cluster::{Cluster, recipe, setup};
use crate::corpus::{node, section};

fn setups(n: usize, change: impl Fn(usize, &mut Setup)) -> Vec<Setup> {
    let recipe = recipe("carvalho-roucairol");
    let one = |index| {
        let mut setup = setup(index, n, &recipe);
        change(index, &mut setup);
        setup
    };
    (0..n).map(one).collect()
}

/// A client of its own asks for these sections; answers with what was said to it at once.
fn ask(
    cluster: &mut Cluster,
    at: usize,
    request: u64,
    names: &[String],
    max_hold: Option<Ticks>,
) -> Option<Notice> {
    let names = names.iter().map(|name| section(name)).collect();
    let (request, client) = (RequestId(request), ClientId(request));
    let lock =
        LockCommand { request, client, names, patience: None, max_hold, ttl: None, tell_if_wanted: false };
    cluster.notices.clear();
    cluster.command(at, Command::Lock(lock));
    cluster.notices.pop().map(|(_, notice)| notice)
}

fn too_many(request: u64) -> Option<Notice> {
    Some(Notice::Refused { request: RequestId(request), why: Reason::TooMany })
}

#[test]
fn a_node_takes_requests_for_as_many_sections_as_it_can_report() {
    let mut cluster = Cluster::new(1, "carvalho-roucairol");
    cluster.run_until(milliseconds(4_000));
    let names: Vec<String> = (0..wire::MOST_INSIDE).map(|number| format!("s{number}")).collect();
    for (request, names) in (1..).zip(names.chunks(64)) {
        let granted = ask(&mut cluster, 0, request, names, None);
        assert!(matches!(granted, Some(Notice::Granted { .. })), "{granted:?}");
    }
    assert_eq!(ask(&mut cluster, 0, 1_000, &["one-more".to_owned()], None), too_many(1_000));
    assert_eq!(ask(&mut cluster, 0, 1_001, &names[..1], None), None, "it waits for what is in use already");
    cluster.command(0, Command::Gone(ClientId(1)));
    let granted = ask(&mut cluster, 0, 1_002, &["one-more".to_owned()], None);
    assert!(matches!(granted, Some(Notice::Granted { .. })), "{granted:?}");
}

#[test]
fn honest_nodes_never_exceed_each_others_limits() {
    const MOST_OPEN: usize = 60;
    let mut cluster = Cluster::founded(setups(3, |_, setup| setup.most_open = MOST_OPEN));
    cluster.run_until(milliseconds(4_000));
    let mut request = 0;
    let mut refused = [0; 3];
    for round in 0..20 {
        for number in 0..40 {
            for (at, refused) in refused.iter_mut().enumerate() {
                request += 1;
                let name = format!("{at}-{round}-{number}");
                let answer = ask(&mut cluster, at, request, &[name], Some(milliseconds(1)));
                *refused += usize::from(answer == too_many(request));
            }
            cluster.run_until(cluster.now + milliseconds(10));
        }
        for node in &cluster.nodes {
            let look = node.look();
            assert_eq!((look.counters.impossible, look.standing), (0, Standing::Active));
            assert!(look.counters.most_open <= MOST_OPEN as u64, "{}", look.counters.most_open);
        }
        // Meanwhile what was used is forgotten.
        cluster.run_until(cluster.now + milliseconds(12_000));
    }
    assert_eq!(refused, [20 * 30; 3], "each opens a sixth of what each can keep, twenty times");
}

#[test]
fn a_node_with_other_times_never_becomes_a_member() {
    let other = Timing { lease: milliseconds(900), ..Timing::default() };
    let setups = setups(3, |index, setup| {
        if index == 2 {
            setup.timing = other
        }
    });
    let mut cluster = Cluster::founded(setups);
    cluster.run_until(milliseconds(10_000));
    let told: Vec<_> = cluster.notices.iter().filter(|(at, _)| *at == 2).map(|(_, notice)| notice).collect();
    assert_eq!(told, [&Notice::WrongTiming { cluster: Timing::default() }], "once");
    let view = cluster.nodes[0].look().newest.cloned().expect("there is one");
    assert_eq!(view.members.keys().copied().collect::<Vec<_>>(), [node(0), node(1)]);
    assert_eq!(cluster.nodes[2].look().standing, Standing::Joining);
    assert_eq!(cluster.served("a", milliseconds(100)), [0, 1]);
}
