//! What happens to disks: stories of several stages. Each begins when the cluster is healthy, and until it is over only mild faults come
//! on top of it.

mod copies;
mod damage;
mod recoveries;
mod set_back;

use doorway_core::{NodeId, Ticks};
use doorway_node::node::Standing;
use doorway_node::{Epoch, View};
use doorway_simulator::Random;

use self::copies::Copies;
use self::damage::Damage;
pub use self::damage::damage;
use self::recoveries::Recoveries;
use self::set_back::SetBack;
use super::clients::Clients;
use super::cluster::Cluster;
use super::fault::InjectedFault;
use super::nemesis::set_up_anew;
use super::violation::ViolationKind;

/// A story that is about to begin, or has begun.
pub(super) struct FaultScenario {
    /// Until everything else is mended and all have acted in one view for a while.
    calm: Option<Calm>,
    story: Box<dyn Story>,
}

/// What happens to disks.
trait Story {
    /// What it is called among the faults.
    fn name(&self) -> &'static str;

    /// What it counts as where faults meet.
    fn fault(&self) -> InjectedFault;

    /// The next stage.
    fn go_on(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next;

    /// Brings everything in order at once, however far the story has come.
    fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients);
}

/// What is to be done next.
pub(super) enum Next {
    /// Go on after a while.
    After(Ticks),
    /// It is over.
    Over,
    /// It did not begin.
    GivenUp,
}

/// A wait for all to act in one view.
#[derive(Clone, Copy)]
struct Calm {
    since: Ticks,
    view: u64,
    until: Ticks,
}

impl FaultScenario {
    /// How long all must have acted in one view: by then all nodes know how far the disks have come.
    const STEADY: Ticks = Ticks(1_000_000);
    /// How long it waits for that.
    const PATIENCE: Ticks = Ticks(7_000_000);
    const POLL: Ticks = Ticks(100_000);

    /// Some story, if there are enough nodes; `copy` is an earlier copy of the disk of some node.
    pub(super) fn draw(copy: &(NodeId, Vec<u8>), cluster: &Cluster, random: &mut Random) -> Option<Self> {
        let now = cluster.now();
        let calm = Calm { since: now, view: 0, until: now + Self::PATIENCE };
        let story: Box<dyn Story> = match random.below(10) {
            0..5 => Box::new(SetBack::new(copy, cluster, random)),
            5..7 => Box::new(Copies::new(random)),
            7 => Box::new(Damage::new(cluster.nodes().len(), random)),
            _ => Box::new(Recoveries::new()),
        };
        (cluster.nodes().len() >= 3).then_some(Self { calm: Some(calm), story })
    }

    pub(super) fn name(&self) -> &'static str {
        self.story.name()
    }

    /// What it counts as where faults meet, if it has begun.
    pub(super) fn fault(&self) -> Option<InjectedFault> {
        self.calm.is_none().then(|| self.story.fault())
    }

    /// What happens next; `is_calm` tells whether nothing else is wrong.
    pub(super) fn go_on(
        &mut self,
        is_calm: bool,
        random: &mut Random,
        cluster: &mut Cluster,
        clients: &mut Clients,
    ) -> Next {
        let Some(calm) = &mut self.calm else { return self.story.go_on(random, cluster, clients) };
        let now = cluster.now();
        if now >= calm.until {
            return Next::GivenUp;
        }
        let present = common_view(cluster).filter(|_| is_calm);
        if present != Some(calm.view) {
            (calm.since, calm.view) = (now, present.unwrap_or_default());
        } else if now - calm.since >= Self::STEADY && calm.view > 0 {
            self.calm = None;
            return self.story.go_on(random, cluster, clients);
        }
        Next::After(Self::POLL)
    }

    /// Nothing goes wrong any more.
    pub(super) fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        if self.calm.is_none() {
            self.story.mend(cluster, clients);
        }
    }
}

/// The number of the view in which all nodes act, each of them with its present life.
fn common_view(cluster: &mut Cluster) -> Option<u64> {
    let number = cluster.nodes().first()?.look().view?.number;
    let is_in = |node: NodeId| {
        let look = cluster.nodes()[node.index()].look();
        let is_member = |view: &View| view.number == number && view.has(&look.incarnation);
        look.standing == Standing::Active && !look.is_leaving && look.view.is_some_and(is_member)
    };
    let is_common = all_nodes(cluster).into_iter().all(is_in);
    let is_up = all_nodes(cluster).into_iter().all(|node| !cluster.engine().is_crashed(node));
    (is_common && is_up).then_some(number)
}

fn all_nodes(cluster: &Cluster) -> Vec<NodeId> {
    NodeId::first(cluster.nodes().len()).collect()
}

/// Some of all nodes, in any order.
fn draw_nodes(count: usize, cluster: &Cluster, random: &mut Random) -> Vec<NodeId> {
    let mut nodes = all_nodes(cluster);
    while nodes.len() > count {
        nodes.swap_remove(random.below(nodes.len() as u64) as usize);
    }
    if random.happens(0.5) {
        nodes.reverse();
    }
    nodes
}

/// These nodes stop, all at once; and their clients with them, or not.
fn crash(nodes: &[NodeId], random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) {
    for node in nodes {
        cluster.crash(*node);
        clients.lose_node(*node, random.happens(0.5), cluster);
    }
}

/// An operator recovers the cluster at one node, of whose disk all is well, and sets up all others anew.
fn recover(node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
    for node in all_nodes(cluster) {
        cluster.crash(node);
        clients.lose_node(node, false, cluster);
    }
    if let Some(epoch) = recover_at(node, cluster) {
        cluster.judge_mut().follow(epoch);
    }
    set_up_others_anew(node, cluster, clients);
}

/// A node that has crashed begins a new epoch alone, with what its disk knows.
fn recover_at(node: NodeId, cluster: &mut Cluster) -> Option<Epoch> {
    let epoch = cluster.recover(node);
    if let Err(refusal) = &epoch {
        let what = format!("node {node} cannot be recovered: {refusal}");
        cluster.judge_mut().violate(ViolationKind::Stopped, what);
    }
    cluster.restart(node, false);
    epoch.ok()
}

fn set_up_others_anew(node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
    for other in all_nodes(cluster).into_iter().filter(|other| *other != node) {
        set_up_anew(other, cluster, clients);
    }
}

fn is_set_back(node: NodeId, cluster: &Cluster) -> bool {
    cluster.nodes()[node.index()].look().standing == Standing::SetBack
}

/// A disk was set back, and by now its node must have noticed.
fn demand_notice(node: NodeId, cluster: &mut Cluster) {
    if !is_set_back(node, cluster) {
        let what = format!("the disk of node {node} was set back, and no node noticed");
        cluster.judge_mut().violate(ViolationKind::SetBack, what);
    }
}
