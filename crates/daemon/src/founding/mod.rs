//! Founding a cluster, and changing what its nodes are given: folders with configuration and certificates. Disks are made by the nodes
//! themselves when they are first started, and the first view is decided when all founders have met.
//!
//! All of it is files in one folder, one folder within it for each node, to be copied to the machine that the node runs on. The
//! cluster's authority stays behind: its key can make nodes. So does the highest number that was given to a node, as no
//! node is to have the number of one that is gone.

mod node_file;
mod recovery;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use doorway_node::disk::FileDisk;
use doorway_node::wire::MOST_NODES;

pub use self::recovery::{recover, restore};

use self::node_file::{node_entry, node_file};
use crate::Config;
use crate::certificates::{Authority, PUBLIC, SECRET, read_text, write_file};
use crate::config::{FILE, Peer, check_peers};
use crate::identity::check_name;

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
    check(cluster, &peers)?;
    let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
    let file = |me| node_file(cluster, me, (algorithm, options), &names, &peers);
    let texts: Vec<String> = peers.iter().map(file).collect();
    texts.iter().try_for_each(|text| Config::parse(text).map(drop))?;
    if folder.join("authority.key").exists() {
        return Err(Refusal::new(format!("there is a cluster in {} already", folder.display())));
    }
    let authority = Authority::new(cluster)?;
    for (peer, text) in peers.iter().zip(&texts) {
        write_node(folder, &authority, &peer.name, text)?;
    }
    write_number(folder, peers.len())?;
    authority.write(folder)
}

/// Before there is a file with lines that could be wrong.
fn check(cluster: &str, peers: &[Peer]) -> Result<(), Refusal> {
    check_name("cluster", cluster)?;
    if peers.is_empty() {
        return Err(Refusal::new("a cluster has at least one node"));
    }
    let peers: Vec<&Peer> = peers.iter().collect();
    check_peers(&peers).map_err(|fault| Refusal::new(fault.to_string()))
}

fn numbered(nodes: &[(String, String)]) -> Vec<Peer> {
    let numbered = (1..).zip(nodes);
    numbered
        .map(|(number, (name, address))| Peer { name: name.clone(), number, address: address.clone() })
        .collect()
}

/// Puts a file beside the configuration of every node, where an option of the algorithm can name it as `file:NAME`.
///
/// # Errors
/// If it cannot be written.
pub fn put_file(folder: &Path, name: &str, text: &str) -> Result<(), Refusal> {
    let mut places = node_files(folder)?.into_iter().map(|file| file.with_file_name(name));
    places.try_for_each(|place| write_file(&place, text, PUBLIC))
}

/// Adds a node to a founded cluster: a folder for it, and a word about it in those of all others. Its number is higher than all that
/// were given here before, even if their nodes are gone; it begins with an empty disk and is taken in when it is started.
///
/// If the folder is an old copy, which does not know of all numbers, a number may be given a second time. Then nodes that still know
/// the one who had it do not talk to the new one, and their logs say why.
///
/// # Errors
/// If there is one of that name or address, or the cluster is not founded here, or something cannot be written.
pub fn add(folder: &Path, name: &str, address: &str) -> Result<(), Refusal> {
    let authority = Authority::read(folder)?;
    let files = node_files(folder)?;
    let configs = files.iter().map(|file| Config::load(file)).collect::<Result<Vec<Config>, Refusal>>()?;
    let Some(model) = configs.first() else {
        return Err(Refusal::new(format!("there is no node in {}", folder.display())));
    };
    let known = || configs.iter().flat_map(|config| &config.nodes).map(|peer| peer.get_ref());
    if known().any(|peer| peer.name == name) {
        return Err(Refusal::new(format!("there is a node {name:?} already")));
    }
    let number = next_number(folder, known())?;
    let peer = Peer { name: name.to_owned(), number, address: address.to_owned() };
    for config in &configs {
        let mut peers: Vec<Peer> = config.nodes.iter().map(|peer| peer.get_ref().clone()).collect();
        peers.push(peer.clone());
        check(authority.cluster(), &peers)?;
    }
    let mut peers: Vec<Peer> = model.nodes.iter().map(|peer| peer.get_ref().clone()).collect();
    peers.push(peer.clone());
    let algorithm = model.algorithm.get_ref();
    let mut text = node_file(authority.cluster(), &peer, (algorithm, &model.options), &[], &peers);
    copy_times(model, &mut text)?;
    Config::parse(&text)?;
    // A number that is lost when the rest fails is better than one that is given twice.
    write_number(folder, number)?;
    write_node(folder, &authority, name, &text)?;
    copy_files(model, &folder.join(name))?;
    files.iter().try_for_each(|file| write_file(file, &(read_text(file)? + &node_entry(&peer)), PUBLIC))
}

/// The highest number that was ever given to a node of a cluster, in a file beside its authority.
const NUMBER: &str = "last-number";

fn write_number(folder: &Path, number: usize) -> Result<(), Refusal> {
    write_file(&folder.join(NUMBER), &format!("{number}\n"), PUBLIC)
}

/// The number of the next node.
fn next_number<'a>(folder: &Path, known: impl Iterator<Item = &'a Peer>) -> Result<usize, Refusal> {
    let file = folder.join(NUMBER);
    let given = match fs::read_to_string(&file) {
        Ok(text) => text.trim().parse().map_err(|_| {
            Refusal::new(format!("{} should be one number, the highest that a node ever had", file.display()))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(Refusal::new(format!("{} cannot be read: {error}", file.display()))),
    };
    let number = 1 + known.map(|peer| peer.number).max().unwrap_or_default().max(given);
    if number > MOST_NODES {
        return Err(Refusal::new(format!(
            "all {MOST_NODES} numbers of this cluster have been given: one that was removed can come back, under its name and with an empty data folder"
        )));
    }
    Ok(number)
}

/// Files that are chosen for the algorithm go with the configuration that names them.
fn copy_files(model: &Config, folder: &Path) -> Result<(), Refusal> {
    let beside = model.source.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let named = model.options.values().filter_map(|word| word.strip_prefix(FILE));
    for path in named.map(Path::new).filter(|path| path.is_relative()) {
        write_file(&folder.join(path), &read_text(&beside.join(path))?, PUBLIC)?;
    }
    Ok(())
}

/// A new node lives by the times of the others.
fn copy_times(model: &Config, text: &mut String) -> Result<(), Refusal> {
    let times = toml::to_string(&model.timing).map_err(|error| Refusal::new(error.to_string()))?;
    *text = text.replacen("[timing]\n", &format!("[timing]\n{times}"), 1);
    Ok(())
}

/// Gives all nodes of a cluster new certificates, or begins to give the cluster a new authority. Only files of the cluster's folder change;
/// the operator copies them to the nodes and reloads those.
///
/// A new authority comes in three steps, between which every node must have read its new files, or it is locked out. First
/// nodes learn to trust the new authority beside the old one, and keep their certificates. Then this is called again, without a
/// new authority, and certificates are signed by the new one. At last [`forget_old_authority`] ends the trust in the old one.
///
/// # Errors
/// If the cluster is not founded here, or a node names files elsewhere, or something cannot be written.
pub fn rotate(folder: &Path, new_authority: bool) -> Result<(), Refusal> {
    let authority = Authority::read(folder)?;
    let change = folder.join(CHANGE);
    let configs = own_configs(folder)?;
    if new_authority {
        if change.exists() {
            return Err(Refusal::new(
                "the authority of this cluster is being changed already: rotate without a new one, and forget the old one, first",
            ));
        }
        let authority = authority.successor()?;
        write_trusted(&configs, &authority)?;
        // Before the authority: an interruption in between has changed nothing, and the command can be repeated.
        write_file(&change, "trusted\n", PUBLIC)?;
        return authority.write(folder);
    }
    write_trusted(&configs, &authority)?;
    for config in &configs {
        let pair = authority.sign(config.node.get_ref())?;
        write_file(&config.tls.key, &pair.key, SECRET)?;
        write_file(&config.tls.certificate, &pair.certificate, PUBLIC)?;
    }
    if change.exists() { write_file(&change, SIGNED, PUBLIC) } else { Ok(()) }
}

/// How far a change of the authority has come in the files of the cluster's folder, in a file beside the authority: nodes are to trust
/// the new one, or have certificates that it has signed. Whether the nodes have loaded them is for the operator to know.
const CHANGE: &str = "authority.change";
const SIGNED: &str = "signed\n";

/// The nodes of a cluster are to trust its newest authority alone.
///
/// # Errors
/// If there is no old one, or certificates are still signed by it, or a node names files elsewhere, or something cannot be written.
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
    let configs = own_configs(folder)?;
    authority.forget_predecessor();
    authority.write(folder)?;
    write_trusted(&configs, &authority)?;
    let gone = fs::remove_file(folder.join(CHANGE));
    gone.map_err(|error| Refusal::new(format!("{CHANGE} cannot be removed: {error}")))
}

fn write_trusted(configs: &[Config], authority: &Authority) -> Result<(), Refusal> {
    configs.iter().try_for_each(|config| write_file(&config.tls.authority, authority.trusted(), PUBLIC))
}

/// The configurations of the nodes of a cluster, whose certificates are files of the cluster's folder and of no other.
fn own_configs(folder: &Path) -> Result<Vec<Config>, Refusal> {
    let configs = node_files(folder)?.iter().map(|file| Config::load(file)).collect::<Result<Vec<_>, _>>()?;
    let own = folder.canonicalize();
    let is_within = |path: &Path| {
        let parent = path.parent().map(Path::canonicalize);
        parent.is_some_and(|parent| {
            parent.is_ok_and(|parent| own.as_ref().is_ok_and(|own| parent.starts_with(own)))
        })
    };
    for config in &configs {
        let tls = &config.tls;
        let files =
            [("tls.authority", &tls.authority), ("tls.certificate", &tls.certificate), ("tls.key", &tls.key)];
        if let Some((key, path)) = files.into_iter().find(|(_, path)| !is_within(path)) {
            return Err(config.refuse(
                key,
                &format_args!(
                    "{} is outside {}, and only files inside it are written: name it by a path relative to the node's folder",
                    path.display(),
                    folder.display()
                ),
            ));
        }
    }
    Ok(configs)
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
fn write_node(folder: &Path, authority: &Authority, name: &str, text: &str) -> Result<(), Refusal> {
    let folder = folder.join(name);
    let data = folder.join("data");
    if data.join(FileDisk::NAME).exists() {
        return Err(Refusal::new(format!("there is a disk of a node in {} already", data.display())));
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| Refusal::new(format!("{} cannot be written: {error}", folder.display())))?;
    write_file(&folder.join("authority.pem"), authority.trusted(), PUBLIC)?;
    authority.sign(name)?.write(&folder)?;
    write_file(&folder.join("node.toml"), text, PUBLIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(names: &[&str]) -> Vec<(String, String)> {
        (1..).zip(names).map(|(port, name)| ((*name).to_owned(), format!("localhost:{port}"))).collect()
    }

    pub(super) fn empty_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("doorway-founding-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn every_node_of_a_new_cluster_has_its_files() {
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
        assert!(!config.data.exists(), "a node makes its disk at its first start");
        assert_eq!(config.founders, ["a", "b", "c"]);
        let again = found(&folder, "lab", &nodes(&["d"]), "maekawa", &options);
        assert!(again.expect_err("there is one").to_string().contains("already"));
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn the_commented_keys_of_the_template_are_the_defaults() {
        let peers = numbered(&nodes(&["a"]));
        let text = node_file("lab", &peers[0], ("x", &BTreeMap::new()), &["a"], &peers);
        let plain = Config::parse(&text).expect("it is good");
        let uncommented: String = text
            .lines()
            .map(|line| {
                let is_key = line.starts_with('#') && line.contains(" = ") && !line.starts_with("# ");
                format!("{}\n", if is_key { &line[1..] } else { line })
            })
            .collect();
        let mut spelled = Config::parse(&uncommented).expect("every line of it is good");
        assert_eq!(spelled.listen.take().as_deref(), Some("localhost:1"), "where it listens anyway");
        assert_eq!(spelled.timing.timing(), plain.timing.timing());
        spelled.timing = plain.timing.clone();
        let written = |config: &Config| toml::to_string(config).expect("it can be written");
        assert_eq!(written(&spelled), written(&plain));
        let examples = Config::parse(&text.replace("#   ", "")).expect("the examples are good, too");
        assert!(examples.socket.is_some() && examples.health.is_some());
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
        let refused = |name, address| add(&folder, name, address).expect_err("it cannot be").to_string();
        assert_eq!(refused("c", "localhost:8"), "there is a node \"c\" already");
        assert!(refused("D", "localhost:8").starts_with("\"D\" is not a name for a node"));
        assert!(refused("d", "0.0.0.0:8").starts_with("other nodes cannot dial \"0.0.0.0:8\""));
        assert_eq!(refused("d", "LOCALHOST:9"), "the nodes \"c\" and \"d\" have the same address");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn refusals_of_init_name_no_lines_of_missing_files() {
        let folder = empty_folder("odd");
        for (nodes, sentence) in [
            (vec![("a", "ho st:1")], "\"ho st:1\" is not a node's address: write host:port"),
            (vec![("a", "h\"x:1")], "\"h\\\"x:1\" is not a node's address: write host:port"),
            (vec![("a", "n:1"), ("b", "N:1")], "the nodes \"a\" and \"b\" have the same address"),
            (vec![("a", "n:1"), ("a", "n:2")], "two nodes are named \"a\""),
            (vec![], "a cluster has at least one node"),
        ] {
            let nodes: Vec<_> =
                nodes.iter().map(|(name, place)| (name.to_string(), place.to_string())).collect();
            let refused =
                found(&folder, "lab", &nodes, "x", &BTreeMap::new()).expect_err(sentence).to_string();
            assert!(refused.starts_with(sentence), "{refused}");
            assert!(!folder.exists());
        }
    }

    #[test]
    fn the_number_of_a_node_that_is_gone_is_never_given_again() {
        let folder = empty_folder("number");
        found(&folder, "lab", &nodes(&["a", "b"]), "x", &BTreeMap::new()).expect("a good cluster");
        let files: Vec<_> = ["a", "b"].iter().map(|node| folder.join(node).join("node.toml")).collect();
        let before: Vec<_> = files.iter().map(|file| read_text(file).expect("there")).collect();
        let number = |node: &str| {
            let config = Config::load(&folder.join(node).join("node.toml")).expect("it is good");
            config.me().number
        };
        add(&folder, "c", "localhost:9").expect("a good node");
        assert_eq!(number("c"), 3);
        // As its operator does when it is gone: no file mentions it any more.
        std::fs::remove_dir_all(folder.join("c")).expect("it is ours");
        files.iter().zip(&before).for_each(|(file, text)| write_file(file, text, PUBLIC).expect("room"));
        add(&folder, "d", "localhost:10").expect("a good node");
        assert_eq!(number("d"), 4);
        std::fs::remove_file(folder.join(NUMBER)).expect("it is ours");
        add(&folder, "e", "localhost:11").expect("a good node");
        assert_eq!(number("e"), 5, "what the others know of counts as well");
        write_number(&folder, MOST_NODES).expect("room");
        let refused = add(&folder, "f", "localhost:12").expect_err("there are no more").to_string();
        assert!(refused.starts_with("all 128 numbers"), "{refused}");
        write_file(&folder.join(NUMBER), "many", PUBLIC).expect("room");
        let refused = add(&folder, "f", "localhost:12").expect_err("nobody knows").to_string();
        assert!(refused.contains("should be one number"), "{refused}");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn option_files_are_copied_beside_every_configuration() {
        let folder = empty_folder("chosen");
        let options = BTreeMap::from([("quorum".to_owned(), "file:mine".to_owned())]);
        found(&folder, "lab", &nodes(&["a", "b"]), "x", &options).expect("a good cluster");
        put_file(&folder, "mine", "1 2\n").expect("room");
        add(&folder, "c", "localhost:9").expect("a good node");
        for node in ["a", "b", "c"] {
            assert_eq!(read_text(&folder.join(node).join("mine")).expect("it is there"), "1 2\n");
        }
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn certificates_are_written_only_in_the_clusters_folder() {
        let folder = empty_folder("within");
        let (lab, other) = (folder.join("lab"), folder.join("other.pem"));
        found(&lab, "lab", &nodes(&["a", "b"]), "x", &BTreeMap::new()).expect("a good cluster");
        let file = lab.join("b").join("node.toml");
        let text = read_text(&file).expect("there");
        let own = read_text(&lab.join("a").join("node.pem")).expect("there");
        for (key, path) in [
            ("authority", other.to_string_lossy().into_owned()),
            ("certificate", "../../other.pem".to_owned()),
            ("key", "nowhere/node.key".to_owned()),
        ] {
            let line =
                1 + text.lines().position(|line| line.starts_with(&format!("#{key} = "))).expect("there");
            let changed = text.replace(&format!("#{key} = "), &format!("{key} = {path:?} #"));
            write_file(&file, &changed, PUBLIC).expect("room");
            let refused = rotate(&lab, false).expect_err("it is elsewhere").to_string();
            assert!(refused.contains(&format!("node.toml, line {line}: ")), "{refused}");
            assert!(refused.contains("and only files inside it are written"), "{refused}");
            assert!(rotate(&lab, true).is_err() && !lab.join(CHANGE).exists() && !other.exists());
            assert_eq!(
                read_text(&lab.join("a").join("node.pem")).expect("there"),
                own,
                "nothing was written"
            );
        }
        write_file(&file, &text.replace("#certificate = ", "certificate = \"mine.pem\" #"), PUBLIC)
            .expect("room");
        rotate(&lab, false).expect("it is within");
        assert!(read_text(&lab.join("b").join("mine.pem")).expect("it is there").contains("CERTIFICATE"));
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn a_new_authority_is_trusted_before_it_signs() {
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
