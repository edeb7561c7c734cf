//! A node's configuration as it is first written, with a word about every key.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::config::Peer;

/// The configuration of one node, with a word about every key.
pub(super) fn node_file(
    cluster: &str,
    me: &Peer,
    (algorithm, options): (&str, &BTreeMap<String, String>),
    founders: &[&str],
    peers: &[Peer],
) -> String {
    let mut text = TEMPLATE.to_owned();
    let list: Vec<String> = founders.iter().map(|name| quoted(name)).collect();
    let founders = match founders {
        [] => "# It joins a cluster that others have founded; the founders are named like this:\n#   founders = [\"a\", \"b\", \"c\"]".to_owned(),
        _ => format!("founders = [{}]", list.join(", ")),
    };
    text = text.replacen("FOUNDERS", &founders, 1);
    let values =
        [("CLUSTER", cluster), ("NODE", &me.name), ("ALGORITHM", algorithm), ("ADDRESS", &me.address)];
    for (key, value) in values {
        text = text.replacen(key, &quoted(value), 1);
    }
    let chosen = options.iter().map(|(key, value)| format!("{} = {}\n", quoted(key), quoted(value)));
    text = text.replacen("CHOSEN\n", &chosen.collect::<String>(), 1);
    peers.iter().for_each(|peer| text.push_str(&node_entry(peer)));
    text
}

/// The paragraph of a node in every configuration.
pub(super) fn node_entry(peer: &Peer) -> String {
    let Peer { name, number, address } = peer;
    let mut text = String::new();
    let _ = write!(
        text,
        "\n[[nodes]]\nname = {}\nnumber = {number}\naddress = {}\n",
        quoted(name),
        quoted(address)
    );
    text
}

/// Text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Every key with its meaning and its default.
const TEMPLATE: &str = r#"# A node of a Doorway cluster. A commented-out key, as #data, shows its default.
# Paths are relative to the folder of this file.

# The cluster. The node refuses nodes of other clusters.
cluster = CLUSTER

# The name of this node, as listed below.
node = NODE

# The nodes that found the cluster: the first lock is granted when all of them have met. A node that has a cluster ignores this list.
FOUNDERS

# The algorithm; all nodes of a cluster run the same, with the same [options].
algorithm = ALGORITHM

# The folder of what must survive a restart; the node creates it. A node that loses it comes back as a new one. Never copy or restore it: the other nodes refuse a copy.
#data = "data"

# The Unix socket for lock users on this machine; by default NAME.sock in the runtime folder of its user. For example:
#   socket = "node.sock"
# Administrators have a socket beside it, as node.admin.sock, which only the daemon's own user and root can open.

# Who may use locks, as the permissions of that socket: 0o600 is its owner alone, 0o660 its group as well.
#socket_mode = 0o600

# The group of that socket, by name or number; by default the daemon's own. For example:
#   socket_mode = 0o660
#   socket_group = "doorway"

# Where to listen for the other nodes, if not at this node's own address (in a container, behind a translated address).
#listen = ADDRESS

# Where to answer GET /health and GET /ready in plain HTTP; by default nowhere. For example:
#   health = "127.0.0.1:7778"

# How long a node that is told to stop waits for the holders of its locks.
#stop_patience = "10s"

# Certificates: who signs them, this node's own, and its key.
[tls]
#authority = "authority.pem"
#certificate = "node.pem"
#key = "node.key"

# The options of the algorithm.
[options]
CHOSEN

# The times of the cluster; the same at all nodes.
[timing]
# For how long a node may act without hearing from a majority; at least two margins and two heartbeats.
#lease = "1s"
# How long before the end of its lease the node tells holders to stop.
#margin = "100ms"
# By how much a clock may run fast or slow, in parts per million.
#drift_ppm = 10000
# The time between two heartbeats.
#heartbeat = "200ms"
# How long a member may be silent before it is left out; not shorter than the lease.
#detection = "1200ms"
# How long a member's report may make no progress when members change; the whole report may take ten times as long.
#barrier = "1s"
# How long a voter waits for its leader before it stands for election.
#election = "500ms"
# How long a section must be idle before it is forgotten.
#idle = "5s"

# Limits of this node.
[limits]
# How many clients may be connected at once.
#clients = 10000
# How many connections may be open at once that have not yet proved which node they belong to.
#connections = 1024
# How many clients of one user may be connected at once; by default half of all. For example:
#   clients_per_uid = 5000
# How many sections the clients of one user may hold or wait for at once, and how many requests they may have.
#names_per_uid = 5000
#requests_per_uid = 50000

# All nodes. A number is never given twice, not even when its node is gone.
"#;
