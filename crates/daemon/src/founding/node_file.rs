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

/// What every configuration says of a node.
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

/// What every key is, and what holds where it is not given.
const TEMPLATE: &str = r#"# A node of a Doorway cluster. A line of # and a key, as #data, shows what holds unless you say otherwise.
# Paths go from the folder of this file on.

# The cluster. Nodes of other clusters are not talked to.
cluster = CLUSTER

# Which of the nodes below this one is.
node = NODE

# The nodes that found the cluster: the first lock is granted when all of them have met. A node that has a cluster does not look at it any more.
FOUNDERS

# The algorithm; all nodes of a cluster run the same, with the same choices under [options].
algorithm = ALGORITHM

# What must survive a restart; the node makes it. A node that loses it comes back as a new one. Never copy or restore it: the other nodes refuse a copy.
#data = "data"

# The Unix socket for users of locks on this machine; NAME.sock in the runtime folder of its user unless given. For example:
#   socket = "node.sock"
# Administrators have a socket beside it, as node.admin.sock, which only the daemon's own user and root can open.

# Who may use locks, as the bits of the file: 0o600 is its owner alone, 0o660 its group as well.
#socket_mode = 0o600

# The group of that file, by its name or number; the daemon's own unless given. For example:
#   socket_mode = 0o660
#   socket_group = "doorway"

# Where to listen for the other nodes, if not at this node's own address (in a container, behind a translated address).
#listen = ADDRESS

# Where to answer GET /health and GET /ready in plain HTTP; nowhere unless given. For example:
#   health = "127.0.0.1:7778"

# How long a node that is told to stop waits for those who are inside.
#stop_patience = "10s"

# Certificates: who signs them, this node's own, and its key.
[tls]
#authority = "authority.pem"
#certificate = "node.pem"
#key = "node.key"

# What is chosen for the algorithm.
[options]
CHOSEN

# The times of the cluster; the same at all nodes.
[timing]
# For how long a node may act without hearing from a majority; at least two margins and two heartbeats.
#lease = "1s"
# How long before the end of its lease it tells those inside to stop.
#margin = "100ms"
# By how much a clock may run fast or slow, in parts per million.
#drift_ppm = 10000
# The time between two heartbeats.
#heartbeat = "200ms"
# How long a member may be silent before it is left out; not shorter than the lease.
#detection = "1200ms"
# How long nothing may come of a member's report when members change; the whole may take ten times as long.
#barrier = "1s"
# How long a voter waits for its leader before it stands for election.
#election = "500ms"
# How long a section must be idle before it is forgotten.
#idle = "5s"

# Limits of this node.
[limits]
# How many clients may be connected at once.
#clients = 10000
# How many connections there may be at once of those who have not proved yet which node they are.
#connections = 1024
# How many clients of one user may be connected at once; half of all unless given. For example:
#   clients_per_uid = 5000
# How many sections the clients of one user may hold or wait for at once, and how many requests they may have.
#names_per_uid = 5000
#requests_per_uid = 50000

# All nodes. A number is never given twice, not even when its node is gone.
"#;
