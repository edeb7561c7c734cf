//! A disk that is damaged while its node is stopped: the node does not start, or its peers notice, or nothing is lost.

use doorway_chaos::damage;
use doorway_core::NodeId;
use doorway_node::disk::DiskContents;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_simulator::Random;

use crate::scene::Scene;

#[test]
fn a_damaged_disk_stops_a_node_or_has_lost_nothing() {
    let (mut refused, mut set_back, mut whole) = (0, 0, 0);
    for seed in 1..=300 {
        let mut random = Random::new(seed, 41);
        let mut scene = Scene::new(3, seed);
        let node = NodeId::new(random.below(3) as usize);
        // There is more than one write in the file, and the others were told so.
        scene.crash(node);
        scene.settle();
        scene.restart(node);
        scene.settle();
        scene.crash(node);
        let before = scene.cluster.disk(node).to_vec();
        let damaged = damage(&before, &mut random);
        scene.cluster.tamper(node, damaged.clone());
        if scene.cluster.try_restart(node).is_err() {
            refused += 1;
            scene.cluster.restart(node, true);
        } else {
            scene.run(milliseconds(4_000));
            let synced = |bytes: &[u8]| DiskContents::read(bytes).expect("it was started").synced;
            let has_lost = synced(&damaged) < synced(&before);
            let standing = scene.cluster.nodes()[node.index()].look().standing;
            assert_eq!(standing == Standing::SetBack, has_lost, "seed {seed}: {standing:?}");
            if has_lost {
                set_back += 1;
                scene.crash(node);
                scene.cluster.restart(node, true);
            } else {
                whole += 1;
            }
        }
        scene.settle();
        let request = scene.hold(node, "x");
        scene.release(request);
        scene.finish();
    }
    println!("refused {refused}, set back {set_back}, whole {whole}");
    assert!(refused > 0 && set_back > 0 && whole > 0, "{refused}, {set_back}, {whole}");
}
