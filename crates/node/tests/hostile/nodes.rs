//! Hostile messages among honest ones: a node never stops because of them, and never keeps more than it may.

use doorway_core::{NodeId, Ticks};
use doorway_node::node::{Backlog, Standing};
use doorway_node::timing::milliseconds;
use doorway_node::{Ballot, Body, Hello, Msg, wire};

use crate::cluster::{Cluster, Event, recipes};
use crate::corpus::{self, node};
use crate::mutate::Mutator;

/// How much of each a node may keep. The strangers of these tests send from three nodes at most.
const LIMITS: Backlog = Backlog {
    kept_parcels: 4_096,
    early_parcels: 3 * 4_096,
    early_reports: 3,
    ballots: 256,
    disks: 4_096 + 128,
    joiners: 3,
    questions: 4_000,
    frozen: 1 << 20,
    suspects: 3,
};

fn assert_bounded(load: Backlog) {
    let Backlog {
        kept_parcels,
        early_parcels,
        early_reports,
        ballots,
        disks,
        joiners,
        questions,
        frozen,
        suspects,
    } = load;
    assert!(kept_parcels <= LIMITS.kept_parcels && early_parcels <= LIMITS.early_parcels, "{load:?}");
    assert!(early_reports <= LIMITS.early_reports && ballots <= LIMITS.ballots, "{load:?}");
    assert!(disks <= LIMITS.disks && joiners <= LIMITS.joiners, "{load:?}");
    assert!(questions <= LIMITS.questions && frozen <= LIMITS.frozen, "{load:?}");
    assert!(suspects <= LIMITS.suspects, "{load:?}");
}

/// What can only be believed, and changes what is true: the words of a leader, the votes for one, what a node says of its own life, and what
/// it knows of another's disk. No node can be protected from those.
fn is_believed(from: NodeId, msg: &Msg) -> bool {
    match msg {
        Msg::Ballot(Ballot { body, .. }) => {
            matches!(body, Body::Append { .. } | Body::Snapshot(_) | Body::Vote { .. })
        }
        Msg::Hello(Hello { incarnation, .. }) | Msg::Leave(incarnation) => {
            incarnation.disk == corpus::disk(from.index())
        }
        Msg::Greeting(_) => true,
        _ => false,
    }
}

/// What hostile messages are made of: the corpus, and what was said lately.
struct Enemy {
    mutator: Mutator,
    material: Vec<Vec<u8>>,
    fixed: usize,
    sent: u64,
    /// What it does not say.
    spares: fn(NodeId, &Msg) -> bool,
}

impl Enemy {
    const REMEMBERED: usize = 64;
    /// An enemy rests after this many messages: an algorithm whose messages never end would keep it busy for ever.
    const MOST: u64 = 20_000;

    fn new(seed: u64, spares: fn(NodeId, &Msg) -> bool) -> Self {
        let material = corpus::bytes();
        Self { mutator: Mutator::new(seed), fixed: material.len(), material, sent: 0, spares }
    }

    fn overhear(&mut self, msg: &Msg) {
        let bytes = wire::encode(msg);
        if self.material.len() < self.fixed + Self::REMEMBERED {
            self.material.push(bytes);
        } else {
            let at = self.fixed + self.mutator.below(Self::REMEMBERED);
            self.material[at] = bytes;
        }
    }

    /// A hostile message, if what comes out is one. It does not say that a disk has synced more than it has: that is believed, too, and
    /// the disk's node would think that it was set back.
    fn make(&mut self, from: NodeId) -> Option<Msg> {
        let bytes = self.mutator.mutate(&self.material);
        let mut msg = wire::decode(&bytes).ok().filter(|msg| !(self.spares)(from, msg))?;
        match &mut msg {
            Msg::Heartbeat(heartbeat) => heartbeat.synced = 0,
            Msg::Hello(hello) => hello.synced = 0,
            Msg::Ack(ack) => ack.state.synced = 0,
            Msg::Ballot(ballot) => ballot.state.synced = 0,
            _ => {}
        }
        self.sent += 1;
        Some(msg)
    }

    /// Lets a cluster run, and sends `each` hostile byte strings after each message that arrives, in the name of one of `names`
    /// nodes.
    fn harass(&mut self, cluster: &mut Cluster, until: Ticks, each: usize, names: usize) {
        let most = self.sent + Self::MOST;
        while let Some(event) = cluster.step(until).filter(|_| self.sent < most) {
            let (mut target, is_message) = (0, matches!(event, Event::Deliver { .. }));
            if let Event::Deliver { msg, to, .. } = &event {
                self.overhear(msg);
                target = *to;
            }
            cluster.have(event);
            for _ in 0..if is_message { each } else { 0 } {
                let from = node(self.mutator.below(names));
                if let Some(msg) = self.make(from).filter(|_| from != node(target)) {
                    cluster.deliver(target, from, msg);
                    assert_bounded(cluster.nodes[target].load());
                }
            }
        }
    }
}

/// A cluster in which everybody is active.
fn settled(n: usize, algorithm: &str) -> Cluster {
    let mut cluster = Cluster::new(n, algorithm);
    cluster.run_until(milliseconds(4_000));
    for node in &cluster.nodes {
        assert_eq!(node.look().standing, Standing::Active);
    }
    cluster
}

#[test]
fn the_honest_cluster_serves_all_clients() {
    let mut cluster = settled(3, "carvalho-roucairol");
    assert_eq!(cluster.served("acct-1", milliseconds(100)), [0, 1, 2]);
    for node in &cluster.nodes {
        let look = node.look();
        // The voters' first view has no member, the second the leader, and the third takes in the others.
        assert_eq!((look.counters.impossible, look.newest.map(|view| view.number)), (0, Some(3)));
    }
}

#[test]
fn three_nodes_bear_everything_that_can_be_decoded() {
    let mut sent = 0;
    // Lies about disks set nodes back, which then say little.
    for seed in 0..240 {
        println!("seed {seed}");
        let mut cluster = settled(3, "carvalho-roucairol");
        let mut enemy = Enemy::new(seed, |_, _| false);
        cluster.served("acct-1", milliseconds(100));
        let until = cluster.now + milliseconds(3_000);
        enemy.harass(&mut cluster, until, 40, 3);
        sent += enemy.sent;
    }
    assert!(sent > 300_000, "only {sent} hostile messages");
}

#[test]
fn three_nodes_survive_hostile_messages() {
    for seed in 0..40 {
        let mut cluster = settled(3, "carvalho-roucairol");
        let mut enemy = Enemy::new(seed, is_believed);
        cluster.served("acct-1", milliseconds(100));
        let until = cluster.now + milliseconds(3_000);
        enemy.harass(&mut cluster, until, 20, 3);
        cluster.run_until(until + milliseconds(20_000));
        assert_eq!(cluster.served("acct-1", milliseconds(3_000)), [0, 1, 2], "seed {seed}");
    }
}

#[test]
fn a_lone_node_survives_hostile_strangers() {
    for seed in 0..40 {
        let mut cluster = settled(1, "carvalho-roucairol");
        let mut enemy = Enemy::new(seed, is_believed);
        let until = cluster.now + milliseconds(5_000);
        enemy.harass(&mut cluster, until, 400, 3);
        cluster.run_until(until + milliseconds(5_000));
        assert_eq!(cluster.served("acct-1", milliseconds(3_000)), [0], "seed {seed}");
    }
}

#[test]
fn no_algorithm_of_the_catalog_is_hurt_by_hostile_parcels() {
    let recipes = recipes();
    for about in recipes.abouts().filter(|about| about.specimen.is_none()) {
        println!("{}", about.name);
        let mut cluster = settled(3, about.name);
        let mut enemy = Enemy::new(7, |_, msg| !matches!(msg, Msg::Parcel { .. }));
        for round in 0..3 {
            cluster.served("acct-1", milliseconds(20));
            let until = cluster.now + milliseconds(200);
            enemy.harass(&mut cluster, until, 100 * (round + 1), 3);
        }
    }
}
