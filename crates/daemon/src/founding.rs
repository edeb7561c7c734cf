//! Founding a cluster, and changing what its nodes are given: folders with configuration, certificates and first disks.
//!
//! All of it is files in one folder, one folder within it for each node, to be copied to the machine that the node runs on. The
//! cluster's authority stays behind: whoever has its key can make nodes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use doorway_node::disk::{self, Disk as _};

use crate::Config;
use crate::certificates::{Authority, PUBLIC, read_text, write_file};
use crate::config::{Peer, is_address};
use crate::identity::{certified_name, new_disk};

/// Founds a cluster: `authority.pem` and `authority.key` in the folder, and in a folder for each node all that it needs. What is
/// chosen for the algorithm is written as it is, and not checked.
///
/// # Errors
/// If a name or an address cannot be, if there is a cluster already, or if something cannot be written.
pub fn found(
    folder: &Path,
    cluster: &str,
    nodes: &[(String, String)],
    algorithm: &str,
    options: &BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let peers = numbered(nodes);
    let texts: Vec<String> =
        peers.iter().map(|me| node_file(cluster, me, algorithm, options, &peers)).collect();
    for (text, peer) in texts.iter().zip(&peers) {
        certified_name(&peer.name, cluster)?;
        Config::parse(text)?;
    }
    if texts.is_empty() {
        return Err(Refusal::new("a cluster has at least one node"));
    }
    if folder.join("authority.key").exists() {
        return Err(Refusal::new(format!("there is a cluster in {} already", folder.display())));
    }
    let authority = Authority::new(cluster)?;
    let voters: Vec<_> = peers.iter().map(|peer| (new_disk(), peer.id())).collect();
    for ((peer, text), first) in peers.iter().zip(&texts).zip(disk::found(&voters)) {
        write_node(folder, &authority, &peer.name, text, &first)?;
    }
    authority.write(folder)
}

fn numbered(nodes: &[(String, String)]) -> Vec<Peer> {
    let numbered = (1..).zip(nodes);
    numbered
        .map(|(number, (name, address))| Peer { name: name.clone(), number, address: address.clone() })
        .collect()
}

/// Adds a node to a founded cluster: a folder for it, and a word about it in those of all others. Its number is one that no other
/// has had; it begins with an empty disk and is taken in when it is started.
///
/// # Errors
/// If there is one of that name, or the cluster is not founded here, or something cannot be written.
pub fn add(folder: &Path, name: &str, address: &str) -> Result<(), Refusal> {
    let authority = Authority::read(folder)?;
    certified_name(name, authority.cluster())?;
    if !is_address(address) {
        return Err(Refusal::new(format!("{address:?} is no address of a node: write host:port")));
    }
    let files = node_files(folder)?;
    let configs = files.iter().map(|file| Config::load(file)).collect::<Result<Vec<Config>, Refusal>>()?;
    let Some(model) = configs.first() else {
        return Err(Refusal::new(format!("there is no node in {}", folder.display())));
    };
    let known = || configs.iter().flat_map(|config| &config.nodes).map(|peer| peer.get_ref());
    if known().any(|peer| peer.name == name) {
        return Err(Refusal::new(format!("there is a node {name:?} already")));
    }
    let number = 1 + known().map(|peer| peer.number).max().unwrap_or_default();
    let peer = Peer { name: name.to_owned(), number, address: address.to_owned() };
    let changed = files.iter().map(|file| {
        let text = read_text(file)? + &node_entry(&peer);
        Config::parse(&text).map_err(|refusal| Refusal::new(format!("{}, {refusal}", file.display())))?;
        Ok((file, text))
    });
    let changed = changed.collect::<Result<Vec<_>, Refusal>>()?;
    let mut peers: Vec<Peer> = model.nodes.iter().map(|peer| peer.get_ref().clone()).collect();
    peers.push(peer.clone());
    let algorithm = model.algorithm.get_ref();
    let mut text = node_file(authority.cluster(), &peer, algorithm, &model.options, &peers);
    copy_times(model, &mut text)?;
    Config::parse(&text)?;
    write_node(folder, &authority, name, &text, &disk::blank(new_disk()))?;
    changed.into_iter().try_for_each(|(file, text)| write_file(file, &text, PUBLIC))
}

/// A new node lives by the times of the others.
fn copy_times(model: &Config, text: &mut String) -> Result<(), Refusal> {
    let times = toml::to_string(&model.timing).map_err(|error| Refusal::new(error.to_string()))?;
    *text = text.replacen("[timing]\n", &format!("[timing]\n{times}"), 1);
    Ok(())
}

/// Signs new certificates for all nodes of a cluster.
///
/// With a new authority this is the first of three steps: certificates stay as they are, and all nodes learn to trust
/// the new authority beside the old one. When every node has its new files, rotate again, without a new authority: then all
/// certificates are signed by it. [`forget_old_authority`] ends it.
///
/// # Errors
/// If the cluster is not founded here, or something cannot be written.
pub fn rotate(folder: &Path, new_authority: bool) -> Result<(), Refusal> {
    let mut authority = Authority::read(folder)?;
    let change = folder.join(CHANGE);
    if new_authority {
        if change.exists() {
            return Err(Refusal::new(
                "the authority of this cluster is being changed already: rotate without a new one, and forget the old one, first",
            ));
        }
        authority = authority.successor()?;
        write_file(&change, "trusted\n", PUBLIC)?;
        authority.write(folder)?;
    } else if change.exists() {
        write_file(&change, SIGNED, PUBLIC)?;
    }
    for file in node_files(folder)? {
        let config = Config::load(&file)?;
        write_file(&config.tls.authority, authority.trusted(), PUBLIC)?;
        if !new_authority {
            let node = file.parent().unwrap_or(folder);
            authority.sign(config.node.get_ref())?.write(node)?;
        }
    }
    Ok(())
}

/// How far a change of the authority has come, beside the authority: all nodes trust it, or their certificates are signed by it.
const CHANGE: &str = "authority.change";
const SIGNED: &str = "signed\n";

/// The nodes of a cluster are to trust its newest authority alone.
///
/// # Errors
/// If the cluster is not founded here, or something cannot be written.
pub fn forget_old_authority(folder: &Path) -> Result<(), Refusal> {
    let mut authority = Authority::read(folder)?;
    match fs::read_to_string(folder.join(CHANGE)).as_deref() {
        Ok(SIGNED) => {}
        Ok(_) => {
            return Err(Refusal::new(
                "the certificates are still signed by the old authority: rotate them first, and give them to all nodes",
            ));
        }
        Err(_) => return Err(Refusal::new("there is no old authority to forget")),
    }
    authority.forget_predecessor();
    authority.write(folder)?;
    for file in node_files(folder)? {
        write_file(&Config::load(&file)?.tls.authority, authority.trusted(), PUBLIC)?;
    }
    let gone = fs::remove_file(folder.join(CHANGE));
    gone.map_err(|error| Refusal::new(format!("{CHANGE} cannot be removed: {error}")))
}

/// Makes one survivor go on when a majority of the voters is lost for good: from now on it is the only voter of its cluster, its
/// fences go on rising, and the others can come back with empty data folders only. The node must not run. What its disk
/// held before is kept beside it, as `node.log.before`.
///
/// If the others are not gone, there are two clusters from now on, and two may be inside: whoever calls this must be sure.
///
/// # Errors
/// If the node runs, or never was part of its cluster, or something cannot be written.
pub fn recover(config: &Config) -> Result<(), Refusal> {
    let cannot = |error: std::io::Error| {
        Refusal::new(format!("the data folder {} cannot be used: {error}", config.data.display()))
    };
    if !config.data.join("node.log").exists() {
        return Err(Refusal::new(format!("there is no disk of a node in {}", config.data.display())));
    }
    let mut disk = disk::FileDisk::open(&config.data, Vec::new).map_err(cannot)?;
    let bytes = disk.read().map_err(cannot)?;
    let recovered = disk::recover(&bytes, new_disk(), config.me().id())?;
    std::fs::write(config.data.join("node.log.before"), &bytes).map_err(cannot)?;
    disk.replace(&recovered).map_err(cannot)
}

/// The configurations of the nodes of a cluster, by their names.
fn node_files(folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| Refusal::new(format!("{} cannot be read: {error}", folder.display())))?;
    let files = entries.filter_map(Result::ok).map(|entry| entry.path().join("node.toml"));
    let mut files: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    files.sort();
    Ok(files)
}

/// The folder of one node.
fn write_node(
    folder: &Path,
    authority: &Authority,
    name: &str,
    text: &str,
    first: &[u8],
) -> Result<(), Refusal> {
    let folder = folder.join(name);
    let data = folder.join("data");
    let refuse = |error| Refusal::new(format!("{} cannot be written: {error}", data.display()));
    if data.join("node.log").exists() {
        return Err(Refusal::new(format!("there is a disk of a node in {} already", data.display())));
    }
    std::fs::create_dir_all(&data).map_err(refuse)?;
    std::fs::write(data.join("node.log"), first).map_err(refuse)?;
    write_file(&folder.join("authority.pem"), authority.trusted(), PUBLIC)?;
    authority.sign(name)?.write(&folder)?;
    write_file(&folder.join("node.toml"), text, PUBLIC)
}

/// The configuration of one node, with a word about every key.
fn node_file(
    cluster: &str,
    me: &Peer,
    algorithm: &str,
    options: &BTreeMap<String, String>,
    peers: &[Peer],
) -> String {
    let mut text = TEMPLATE.to_owned();
    for (key, value) in [("CLUSTER", cluster), ("NODE", &me.name), ("ALGORITHM", algorithm)] {
        text = text.replacen(key, &quoted(value), 1);
    }
    let chosen = options.iter().map(|(key, value)| format!("{} = {}\n", quoted(key), quoted(value)));
    text = text.replacen("CHOSEN\n", &chosen.collect::<String>(), 1);
    peers.iter().for_each(|peer| text.push_str(&node_entry(peer)));
    text
}

fn node_entry(peer: &Peer) -> String {
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
const TEMPLATE: &str = r#"# A node of a Doorway cluster. A line that begins with # shows what holds unless you say otherwise.
# Paths go from the folder of this file on.

# The cluster. Nodes of other clusters are not talked to.
cluster = CLUSTER

# Which of the nodes below this one is.
node = NODE

# The algorithm; all nodes of a cluster run the same, with the same choices under [options].
algorithm = ALGORITHM

# What must survive a restart. Whoever loses this folder comes back as a new node; never copy it, never run two nodes from it.
#data = "data"

# The Unix socket for clients of this machine, in the runtime folder of the user unless given.
#socket = "node.sock"

# Who may use it, as the bits of a file: 0o600 is its owner alone, 0o660 its group as well.
#socket_mode = 0o600

# Where to listen for the other nodes, if not at this node's own address (in a container, behind a translated address).
#listen = "0.0.0.0:7777"

# Where to answer GET /health and GET /ready in plain HTTP; nowhere unless given.
#health = "127.0.0.1:7778"

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
# For how long a node may act without hearing from a majority.
#lease = "1s"
# How long before the end of its lease it tells those inside to stop.
#margin = "100ms"
# By how much a clock may run fast or slow, in parts per million.
#drift_ppm = 10000
# The time between two heartbeats.
#heartbeat = "200ms"
# How long a member may be silent before it is left out; not shorter than the lease.
#detection = "1200ms"
# How long a member may take to report when members change.
#barrier = "1s"
# How long a voter waits for its leader before it stands for election.
#election = "500ms"
# How long a section must be idle before it is forgotten.
#idle = "5s"

# Limits of this node.
[limits]
# How many clients may be connected at once.
#clients = 10000
# How many connections of other nodes, or of who claims to be one, there may be at once.
#connections = 1024

# All nodes. A number is never given twice, not even when its node is gone.
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(names: &[&str]) -> Vec<(String, String)> {
        (1..).zip(names).map(|(port, name)| ((*name).to_owned(), format!("localhost:{port}"))).collect()
    }

    fn empty_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("doorway-founding-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn every_node_of_a_new_cluster_finds_what_it_needs() {
        let folder = empty_folder("found");
        let options = BTreeMap::from([("quorums".to_owned(), "grid".to_owned())]);
        found(&folder, "lab", &nodes(&["a", "b", "c"]), "maekawa", &options).expect("a good cluster");
        let config = Config::load(&folder.join("b").join("node.toml")).expect("what was written can be read");
        assert_eq!((config.cluster.as_str(), config.me().number), ("lab", 2));
        assert_eq!((config.algorithm.get_ref().as_str(), &config.options), ("maekawa", &options));
        assert_eq!(config.timing.timing(), doorway_node::Timing::default());
        for file in [&config.tls.authority, &config.tls.certificate, &config.tls.key] {
            assert!(file.is_file(), "{}", file.display());
        }
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!([mode(&config.tls.key), mode(&folder.join("authority.key"))], [0o600, 0o600]);
        let memory = disk::Memory::read(&std::fs::read(config.data.join("node.log")).expect("a disk"));
        assert_eq!(memory.expect("it is whole").boot, 0);
        let again = found(&folder, "lab", &nodes(&["d"]), "maekawa", &options);
        assert!(again.expect_err("there is one").to_string().contains("already"));
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn what_the_template_shows_in_its_comments_is_what_holds() {
        let peers = numbered(&nodes(&["a"]));
        let text = node_file("lab", &peers[0], "x", &BTreeMap::new(), &peers);
        let plain = Config::parse(&text).expect("it is good");
        let uncommented: String = text
            .lines()
            .map(|line| {
                let is_key = line.starts_with('#') && line.contains(" = ") && !line.starts_with("# ");
                format!("{}\n", if is_key { &line[1..] } else { line })
            })
            .collect();
        let mut spelled = Config::parse(&uncommented).expect("every line of it is good");
        assert!(spelled.socket.take().is_some() && spelled.listen.take().is_some());
        assert!(spelled.health.take().is_some());
        assert_eq!(spelled.timing.timing(), plain.timing.timing());
        spelled.timing = plain.timing.clone();
        let written = |config: &Config| toml::to_string(config).expect("it can be written");
        assert_eq!(written(&spelled), written(&plain));
    }

    #[test]
    fn a_node_that_is_added_has_a_new_number_and_all_others_know_it() {
        let folder = empty_folder("add");
        found(&folder, "lab", &nodes(&["a", "b"]), "x", &BTreeMap::new()).expect("a good cluster");
        let file = folder.join("a").join("node.toml");
        let slower = read_text(&file).expect("there").replace("#lease = \"1s\"", "lease = \"900ms\"");
        write_file(&file, &slower, PUBLIC).expect("room");
        add(&folder, "c", "localhost:9").expect("a good node");
        for node in ["a", "b", "c"] {
            let config = Config::load(&folder.join(node).join("node.toml")).expect("it is good");
            assert_eq!(config.peer("c").map(|peer| peer.number), Some(3), "at {node}");
        }
        let config = Config::load(&folder.join("c").join("node.toml")).expect("it is good");
        assert_eq!(config.timing.timing().lease, doorway_node::timing::milliseconds(900));
        assert!(add(&folder, "c", "localhost:9").is_err(), "there is one");
        assert!(add(&folder, "D", "localhost:9").is_err(), "no such name");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn a_new_authority_is_trusted_before_it_signs_and_the_old_one_until_it_is_forgotten() {
        let folder = empty_folder("rotate");
        found(&folder, "lab", &nodes(&["a"]), "x", &BTreeMap::new()).expect("a good cluster");
        let read = |name: &str| read_text(&folder.join("a").join(name)).expect("it is there");
        let (authority, certificate) = (read("authority.pem"), read("node.pem"));
        rotate(&folder, true).expect("room");
        assert!(read("authority.pem").ends_with(&authority) && read("authority.pem").len() > authority.len());
        assert_eq!(read("node.pem"), certificate);
        rotate(&folder, false).expect("room");
        assert_ne!(read("node.pem"), certificate);
        forget_old_authority(&folder).expect("room");
        assert!(!read("authority.pem").contains(&authority));
        assert_eq!(read("authority.pem"), read_text(&folder.join("authority.pem")).expect("it is there"));
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
