//! `doorway cluster`: founds a cluster and changes it.

mod backup;
mod files;
mod live;
mod recover;

use doorway_catalog::Catalog;
use doorway_core::Refusal;

use crate::Answer;
use crate::typed::Typed;

/// Set up a cluster, and change it
///
/// A cluster is a few nodes, three or five, each the daemon of one machine. `init` writes a folder for each of them with all that it needs, to
/// be copied to its machine. The folder that it writes them into also holds the key of the cluster's authority: keep it safe and apart,
/// as whoever has it can make nodes.
///
/// Three nodes go on when one of them fails, five when two do. One node works and survives nothing. Two are worse than one: either of them stops
/// both.
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
