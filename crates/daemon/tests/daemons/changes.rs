//! What a node that runs takes over from a changed configuration.

use std::fs;

use crate::cluster::Cluster;
use crate::ports::free_address;

#[test]
fn a_node_that_has_moved_is_reached_where_the_configuration_says() {
    let mut cluster = Cluster::running(2);
    let before = cluster.client("a").pass("door");
    cluster.kill("b");
    let (old, new) = (cluster.config("b").me().address.clone(), free_address());
    for name in ["a", "b"] {
        let file = cluster.folder.join(name).join("node.toml");
        let text = fs::read_to_string(&file).expect("it is there");
        fs::write(&file, text.replace(&old, &new)).expect("room");
    }
    cluster.start("b");
    cluster.daemons["a"].reload().expect("a good configuration");
    cluster.wait_until_ready();
    assert!(before < cluster.client("b").pass("door"));
}
