//! `doorway cluster recover`: a cluster begun anew by one survivor.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use doorway_daemon::{Config, Daemon, founding};

use crate::typed::Typed;
use crate::{Answer, question};

/// Restart a cluster from one survivor, when the majority of the nodes is lost for good
///
/// A cluster without a majority grants no locks, because the survivors cannot know whether the others are only cut off. If you
/// know that the others are gone and will never come back, this makes the survivor a cluster of one, in a new epoch, that other
/// nodes can join again. Fences keep rising.
///
/// Be sure: if the others still run somewhere, there are two clusters, and two holders of one lock. Recover on one survivor
/// only: two recoveries make two clusters, which refuse each other and say so, but do not share locks. Stop this node's daemon
/// first. You must type the name of the cluster to confirm.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway cluster recover --config node.toml
  doorway cluster recover --config node.toml --yes-i-lost-the-majority lab")]
pub(super) struct Recover {
    /// The configuration of the survivor
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The name of the cluster, to confirm without a terminal
    #[arg(long, value_name = "NAME")]
    yes_i_lost_the_majority: Option<String>,
}

pub(super) fn answer(recover: &Recover, typed: &Typed) -> Result<Answer, Refusal> {
    let config = Config::load(&recover.config)?;
    let cluster = &config.cluster;
    if name_given(recover, &config)? != *cluster {
        return Err(Refusal::new(format!(
            "that is not the name of this cluster, {cluster:?}: nothing was changed"
        )));
    }
    let is_set_back = Daemon::examine_disk(&config)?.set_back.is_some();
    let kept = founding::recover(&config)?;
    let mut answer = Answer::holds(done(recover, &config, &kept, typed));
    if is_set_back {
        answer.notes.push(
            "the disk of this node was set back to an earlier copy, so it may know less than the other survivors: if one of them \
             has kept its disk, recover there instead, and empty this data folder"
                .to_owned(),
        );
    }
    Ok(answer)
}

fn name_given(recover: &Recover, config: &Config) -> Result<String, Refusal> {
    if let Some(name) = &recover.yes_i_lost_the_majority {
        return Ok(name.clone());
    }
    if !io::stdin().is_terminal() {
        return Err(Refusal::new(
            "recovery needs confirmation, and there is no terminal to ask at: pass --yes-i-lost-the-majority with the cluster's name",
        ));
    }
    let others =
        config.nodes.iter().map(|peer| &peer.get_ref().name).filter(|name| **name != config.me().name);
    let others: Vec<&str> = others.map(String::as_str).collect();
    question::answer(&format!(
        "Node {} will go on alone. If any of {} still runs with its data folder, two can hold one lock.
Type the name of the cluster to go on: ",
        config.me().name,
        others.join(", ")
    ))
}

fn done(recover: &Recover, config: &Config, kept: &Path, typed: &Typed) -> String {
    let (file, node, program) = (recover.config.display(), &config.me().name, &typed.program);
    format!(
        "Node {node} is a cluster of one now. Next:
1. Start it: {program} node --config {file}
2. When it runs, empty the data folder of each other node that is to come back, and start that: it joins as a new node. Do not recover it as well,
   and do not start all founders anew while {node} is stopped: they would found another cluster.
3. {program} status shows them join.
What the disk of {node} held before is kept in {}.\n",
        kept.display()
    )
}
