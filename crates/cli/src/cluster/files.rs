//! `doorway cluster init`, `add` and `rotate-certificates`: what is written before nodes run.

use std::path::{Path, PathBuf};

use doorway_catalog::Catalog;
use doorway_core::{Choice, Refusal};
use doorway_daemon::{Config, address, config, founding, identity};
use doorway_terminal::text::counted;

use crate::typed::Typed;
use crate::{Answer, names, usage};

/// Write configuration and certificates for a new cluster
///
/// Creates DIR with the cluster's certificate authority and one folder for each node: node.toml, its certificate and its key.
/// Writes nothing if DIR is not empty. Each node creates its data folder at its first start, and the first lock is granted when
/// all nodes have connected to each other.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster init lab --nodes a=n1:7700,b=n2:7700,c=n3:7700
  doorway cluster init lab --nodes a=n1:7700,b=n2:7700,c=n3:7700 --name backups
  doorway cluster init lab --nodes a=n1:7700,b=n2:7700 --algorithm lamport
  doorway cluster init lab --nodes a=n1:7700 --algorithm raymond --set tree=star")]
pub(super) struct Init {
    /// The folder to create
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The nodes, each with the address at which the others reach it
    #[arg(long, required = true, value_name = "NAME=HOST:PORT,…", value_delimiter = ',', value_parser = node)]
    nodes: Vec<(String, String)>,
    /// The cluster's name, if not that of the folder
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The algorithm that the nodes run
    #[arg(long, value_name = "ALGORITHM", default_value = Config::ALGORITHM)]
    algorithm: String,
    /// Set a parameter of the algorithm, as `doorway explain` lists them; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = usage::named)]
    set: Vec<(String, String)>,
}

/// A node as it is typed.
fn node(word: &str) -> Result<(String, String), Refusal> {
    let Some((name, place)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(Refusal::new(format!("{word:?} is not NAME=HOST:PORT, as in a=10.0.0.1:7700")));
    };
    identity::check_name("node", name)?;
    address::check(place)?;
    Ok((name.to_owned(), place.to_owned()))
}

pub(super) fn init(catalog: &Catalog, init: &Init, typed: &Typed) -> Result<Answer, Refusal> {
    let Init { folder, nodes, algorithm, .. } = init;
    let about = names::find(catalog, typed, algorithm)?;
    let chosen = init.set.iter().map(|(name, word)| (name.as_str(), word.as_str()));
    let chosen = crate::files::choices(chosen)?;
    config::recipe(&catalog.recipes(), about.name, &chosen, nodes.len())?;
    check_empty(folder)?;
    let cluster = cluster_name(init)?;
    let options = chosen.iter().map(|(name, choice)| (name.to_owned(), word_of(name, choice)));
    founding::found(folder, &cluster, nodes, about.name, &options.collect())?;
    let mut files = chosen.iter().filter_map(|(name, choice)| Some((name, choice.file.as_deref()?)));
    files.try_for_each(|(name, text)| founding::put_file(folder, &copy_of(name), text))?;
    Ok(Answer { notes: warnings(nodes.len()), ..Answer::holds(founded(init, &cluster, typed)) })
}

fn cluster_name(init: &Init) -> Result<String, Refusal> {
    if let Some(name) = &init.name {
        return identity::check_name("cluster", name).map(|()| name.clone());
    }
    let name = init.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let checked = identity::check_name("cluster", &name);
    checked
        .map_err(|refusal| Refusal::new(format!("{refusal}; --name gives it another than its folder's")))?;
    Ok(name)
}

/// What a node's configuration says of a choice. A file goes with the configuration, as a copy beside it.
fn word_of(name: &str, choice: &Choice) -> String {
    if choice.file.is_some() { format!("file:{}", copy_of(name)) } else { choice.word.clone() }
}

fn copy_of(name: &str) -> String {
    format!("{name}.txt")
}

fn check_empty(folder: &Path) -> Result<(), Refusal> {
    let is_empty = match folder.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_empty {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "{} exists already and is not overwritten: name another folder, or use `doorway cluster add`",
        folder.display()
    )))
}

/// Advice for founders of a small cluster.
fn warnings(n: usize) -> Vec<String> {
    let warning = match n {
        1 => "one node works, but when it fails there are no locks: three survive the failure of one",
        2 => "with two nodes, both stop when one of them fails: three survive the failure of one",
        n if n.is_multiple_of(2) => "an even number of nodes survives no more failures than one node less",
        _ => return Vec::new(),
    };
    vec![warning.to_owned()]
}

fn founded(init: &Init, cluster: &str, typed: &Typed) -> String {
    let (folder, program) = (init.folder.display(), &typed.program);
    let size = counted(init.nodes.len() as u64, "node");
    let copies = init.nodes.iter().map(|(name, address)| {
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        format!("  scp -rp {folder}/{name} {host}:doorway\n")
    });
    format!(
        "Cluster {cluster} of {size} is in {folder}. Next:
1. Copy the folder of each node to its machine:
{}2. On each of them run
  {program} node --config doorway/node.toml
   The cluster starts when all nodes have connected once; from then on a majority is enough.
3. Check the cluster, and use it:
  {program} status
  {program} lock demo -- echo inside
Keep {folder}/authority.key safe and off those machines: anyone who has it can create nodes.\n",
        copies.collect::<String>()
    )
}

/// Add a node to a cluster
///
/// Writes a folder for the new node and adds the node to the configuration of all others. The running nodes read it on SIGHUP,
/// and admit the new node when it is started. It gets a number that no node of the cluster has ever had, as far as DIR knows:
/// use the newest copy of DIR.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster add lab d=n4:7700")]
pub(super) struct Add {
    /// The folder of the cluster
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The new node, with the address at which the others reach it
    #[arg(value_name = "NAME=HOST:PORT", value_parser = node)]
    node: (String, String),
}

pub(super) fn add(add: &Add, typed: &Typed) -> Result<Answer, Refusal> {
    let (folder, (name, address)) = (&add.folder, &add.node);
    founding::add(folder, name, address)?;
    let (folder, program) = (folder.display(), &typed.program);
    let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
    Ok(Answer::holds(format!(
        "Node {name} is in {folder}/{name}. Next:
1. Copy node.toml from the folder of each other node in {folder} to its machine, and reload its daemon:
  systemctl reload doorway@NODE, or kill -HUP
2. Copy the new folder to its machine and start it there:
  scp -rp {folder}/{name} {host}:doorway
  {program} node --config doorway/node.toml
3. Watch it join:
  {program} status\n"
    )))
}

/// Give all nodes new certificates
///
/// Certificates are valid for ten years; replace them earlier if a key may have leaked. The new ones are written into the
/// folders of the nodes in DIR. Copy them to the machines and reload each daemon with SIGHUP, in any order.
///
/// With --new-authority it takes three rounds, so that no node is locked out: first all nodes learn to trust the new authority,
/// then all get certificates from it, then all stop trusting the old one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster rotate-certificates lab
  doorway cluster rotate-certificates lab --new-authority   if its key was seen
  doorway cluster rotate-certificates lab --forget-old      the last round of it")]
pub(super) struct Rotate {
    /// The folder of the cluster
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Start replacing the certificate authority as well
    #[arg(long)]
    new_authority: bool,
    /// Finish the replacement: the old authority is no longer trusted
    #[arg(long, conflicts_with = "new_authority")]
    forget_old: bool,
}

pub(super) fn rotate(rotate: &Rotate, typed: &Typed) -> Result<Answer, Refusal> {
    let Rotate { folder, new_authority, forget_old } = rotate;
    let (shown, program) = (folder.display(), &typed.program);
    if *forget_old {
        founding::forget_old_authority(folder)?;
    } else {
        founding::rotate(folder, *new_authority)?;
    }
    let copy = |files: &str| {
        format!(
            "Copy {files} from each node's folder in {shown} to its machine, and reload its daemon:
  systemctl reload doorway@NODE, or kill -HUP\n"
        )
    };
    Ok(Answer::holds(match (new_authority, forget_old) {
        (true, _) => format!(
            "The cluster in {shown} has a new authority, which its nodes do not trust yet. Next:
1. {}2. When all have done so, sign their certificates with it: {program} cluster rotate-certificates {shown}
3. When all nodes use them, finish: {program} cluster rotate-certificates {shown} --forget-old\n",
            copy("authority.pem")
        ),
        (_, true) => format!("The old authority is forgotten. {}", copy("authority.pem")),
        _ => format!("All nodes have new certificates in {shown}. {}", copy("node.pem and node.key")),
    }))
}
