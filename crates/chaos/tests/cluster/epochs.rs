//! Two recoveries of one cluster are two clusters: they refuse each other, and a new node that hears of both joins neither.

use doorway_core::NodeId;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{Epoch, Notice, Stranger};

use crate::scene::Scene;

const NEWCOMER: NodeId = NodeId::new(0);
const SURVIVORS: [NodeId; 2] = [NodeId::new(1), NodeId::new(3)];

/// The cluster to which a node belongs.
fn epoch_of(scene: &Scene, node: NodeId) -> Epoch {
    scene.cluster.nodes()[node.index()].look().epoch.expect("it belongs to one")
}

/// Five nodes, of which three are lost; an operator recovers both survivors, which is a mistake. The second starts when the first acts.
fn two_recoveries(seed: u64) -> Scene {
    let mut scene = Scene::new(5, seed);
    NodeId::first(5).for_each(|node| scene.crash(node));
    scene.announcements.clear();
    for (place, node) in SURVIVORS.into_iter().enumerate() {
        let epoch = scene.cluster.recover(node).expect("it took part in a cluster");
        if place == 0 {
            scene.cluster.judge_mut().follow(epoch);
        }
        scene.restart(node);
        scene.run(milliseconds(1_000 * (seed % 3)));
    }
    scene.run(milliseconds(5_000));
    scene
}

/// The nodes in the view in which a node acts.
fn members(scene: &Scene, node: NodeId) -> Vec<NodeId> {
    let look = scene.cluster.nodes()[node.index()].look();
    look.view.map(|view| view.members.keys().copied().collect()).unwrap_or_default()
}

fn strangers(scene: &Scene) -> Vec<(NodeId, Notice)> {
    let is_about = |(_, notice): &&(NodeId, Notice)| matches!(notice, Notice::Stranger { .. });
    let mut told: Vec<_> = scene.announcements.iter().filter(is_about).cloned().collect();
    told.sort_by_key(|(node, _)| *node);
    told
}

#[test]
fn two_recoveries_of_one_cluster_refuse_each_other() {
    let [one, other] = SURVIVORS;
    for seed in 1..=12 {
        let mut scene = two_recoveries(seed);
        let mut epochs = SURVIVORS.map(|node| epoch_of(&scene, node));
        let stranger = |node| Notice::Stranger { node, why: Stranger::OtherEpoch(epoch_of(&scene, node)) };
        assert_eq!(strangers(&scene), [(one, stranger(other)), (other, stranger(one))], "seed {seed}");
        epochs.sort();
        let is_split = |scene: &Scene| members(scene, one) == [one] && members(scene, other) == [other];
        assert!(is_split(&scene), "seed {seed}");
        scene.cluster.restart(NEWCOMER, true);
        scene.run(milliseconds(5_000));
        let torn = Notice::TwoClusters(epochs.to_vec());
        assert!(scene.announcements.contains(&(NEWCOMER, torn)), "seed {seed}: {:?}", scene.announcements);
        let look = scene.cluster.nodes()[NEWCOMER.index()].look();
        assert_eq!((look.standing, look.epoch), (Standing::Joining, None), "seed {seed}");
        assert!(is_split(&scene), "seed {seed}");
    }
}

/// A new node joins the first recovery while it cannot hear the second. Then it hears both, and is started again, so that it asks to
/// join. Tells whether it ever was in a view of the second.
fn is_in_both(seed: u64) -> (Scene, bool) {
    let [one, other] = SURVIVORS;
    let mut scene = two_recoveries(seed);
    scene.cut(NEWCOMER, other);
    scene.cluster.restart(NEWCOMER, true);
    scene.run(milliseconds(5_000));
    assert_eq!(members(&scene, one), [NEWCOMER, one], "seed {seed}");
    scene.cluster.heal_network();
    scene.crash(NEWCOMER);
    scene.run(milliseconds(100));
    scene.restart(NEWCOMER);
    let mut is_in_both = false;
    for _ in 0..250 {
        scene.run(milliseconds(20));
        let newest = scene.cluster.nodes()[other.index()].look().newest;
        is_in_both |= newest.is_some_and(|view| view.members.contains_key(&NEWCOMER));
    }
    (scene, is_in_both)
}

#[test]
fn a_node_of_one_recovery_is_never_taken_in_by_the_other() {
    let [one, other] = SURVIVORS;
    for seed in 1..=12 {
        let (scene, is_in_both) = is_in_both(seed);
        assert!(!is_in_both, "seed {seed}");
        assert_eq!(members(&scene, one), [NEWCOMER, one], "seed {seed}");
        assert_eq!(members(&scene, other), [other], "seed {seed}");
        let stranger = Notice::Stranger { node: NEWCOMER, why: Stranger::OtherEpoch(epoch_of(&scene, one)) };
        assert!(scene.announcements.contains(&(other, stranger)), "seed {seed}: {:?}", scene.announcements);
    }
}

#[test]
fn a_new_node_that_heard_of_two_clusters_joins_the_one_that_is_left() {
    let [one, other] = SURVIVORS;
    for seed in 1..=6 {
        let mut scene = two_recoveries(seed);
        scene.cluster.restart(NEWCOMER, true);
        scene.run(milliseconds(3_000));
        assert_eq!(scene.cluster.nodes()[NEWCOMER.index()].look().epoch, None, "seed {seed}");
        scene.crash(other);
        scene.run(milliseconds(8_000));
        assert_eq!(members(&scene, one), [NEWCOMER, one], "seed {seed}");
    }
}
