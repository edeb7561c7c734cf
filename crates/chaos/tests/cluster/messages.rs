//! What entries cost in messages of the algorithm.

use doorway_core::NodeId;
use doorway_node::timing::milliseconds;

use crate::scene::Scene;

/// How many parcels the nodes have sent since the traffic was counted anew.
fn parcels(scene: &mut Scene) -> u64 {
    let kinds = scene.cluster.engine().traffic().kinds();
    kinds.filter(|(kind, _)| *kind == "PARCEL").map(|(_, count)| count).sum()
}

fn enter_and_leave(scene: &mut Scene, node: NodeId) {
    let request = scene.hold(node, "x");
    scene.run(milliseconds(5));
    scene.release(request);
    scene.run(milliseconds(5));
}

#[test]
fn a_lone_user_costs_no_message_and_a_hand_over_costs_two() {
    for (nodes, seed) in [(2, 1), (3, 2), (5, 3), (9, 4)] {
        let mut scene = Scene::new(nodes, seed);
        let (one, other) = (NodeId::new(0), NodeId::new(nodes - 1));
        enter_and_leave(&mut scene, one);
        enter_and_leave(&mut scene, other);
        scene.cluster.engine().restart_traffic();
        for _ in 0..10 {
            enter_and_leave(&mut scene, other);
        }
        assert_eq!(parcels(&mut scene), 0, "{nodes} nodes, the same one again");
        for _ in 0..5 {
            enter_and_leave(&mut scene, one);
            enter_and_leave(&mut scene, other);
        }
        assert_eq!(parcels(&mut scene), 10 * 2, "{nodes} nodes, ten changes of hands");
        scene.finish();
    }
}
