//! `doorway cluster`: founds a cluster and changes it.

mod backup;
mod files;
mod live;
mod recover;

use doorway_catalog::Catalog;
use doorway_core::Refusal;

use crate::Answer;
use crate::typed::Typed;

/// Set up a cluster and manage its nodes
///
/// A cluster is a few nodes, usually three or five, each the daemon of one machine. `init` writes one folder for each node with
/// everything it needs; copy it to the node's machine. The folder above them also holds the key of the cluster's certificate
/// authority: keep it safe and in another place, because anyone who has it can create nodes.
///
/// Three nodes survive the failure of one, five that of two. One node works, but survives no failure. Two are worse than one:
/// the failure of either stops both.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster init lab --nodes a=n1:7700,b=n2:7700,c=n3:7700
  doorway cluster add lab d=n4:7700
  doorway cluster remove d
  doorway cluster lead b
  doorway cluster rotate-certificates lab
  doorway cluster recover --config node.toml
  doorway cluster backup > lab.backup
  doorway cluster restore lab.backup --config node.toml")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(clap::Subcommand)]
enum Act {
    Init(files::Init),
    Add(files::Add),
    Remove(live::Remove),
    Lead(live::Lead),
    RotateCertificates(files::Rotate),
    Recover(recover::Recover),
    Backup(backup::Backup),
    Restore(backup::Restore),
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    match &arguments.act {
        Act::Init(init) => files::init(catalog, init, typed),
        Act::Add(add) => files::add(add, typed),
        Act::Remove(remove) => live::remove(remove),
        Act::Lead(lead) => live::lead(lead),
        Act::RotateCertificates(rotate) => files::rotate(rotate, typed),
        Act::Recover(recover) => recover::answer(recover, typed),
        Act::Backup(backup) => backup::backup(backup),
        Act::Restore(restore) => backup::restore(restore, typed),
    }
}
