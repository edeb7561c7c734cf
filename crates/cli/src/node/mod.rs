//! `doorway node`: the daemon of this machine, or a whole cluster to try things with.

pub(crate) mod dev;
mod log;
mod notify;
mod stop;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_daemon::{Config, Daemon};
use doorway_node::Recipe;

use crate::typed::Typed;
use crate::{Answer, Exit, names};

/// Run the daemon that locks are obtained through
///
/// Each machine that wants locks runs one daemon, and the daemons agree among themselves: there is no server. `doorway cluster init` writes
/// a configuration and certificates for each of them. Programs on the same machine, such as `doorway lock`, reach their daemon
/// through a Unix socket, NAME.sock, whose group and mode say who may use locks. A second one, NAME.admin.sock, only the daemon's own user and root
/// can open: there locks are broken, nodes removed and the daemon told to lead or to stop.
///
/// With --dev three nodes run in this one process on this machine: nothing to configure, and all the rest works as it does between machines. Without
/// --folder every start is a new cluster, whose fences begin anew.
///
/// Stops with Ctrl-C, SIGTERM or `doorway node stop`: it waits a while for those inside, hands over, and leaves its cluster; a second signal
/// stops at once. SIGHUP reads configuration and certificates again. Under systemd it tells when it listens, then whether it lets clients in, and feeds the watchdog;
/// packaging/doorway@.service is a unit for it.
#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["config", "dev"]),
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  doorway node --dev                           three nodes to try things with
  doorway lock demo -- echo inside             in another terminal
  doorway node --config node.toml              the daemon of this machine
  doorway node --config node.toml --check      is the configuration right?
  doorway node --config node.toml --log json --log-level debug
  doorway node stop                            leave the cluster and end"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    act: Option<Act>,
    /// The configuration of the node
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run three nodes a, b and c in this process
    #[arg(long)]
    dev: bool,
    /// Keep what the three nodes write in this folder, and go on from it; it must be empty or from an earlier --dev
    #[arg(long, value_name = "DIR", requires = "dev", conflicts_with = "config")]
    folder: Option<PathBuf>,
    /// Only look whether a node could start with the configuration
    #[arg(long, requires = "config", conflicts_with = "dev")]
    check: bool,
    /// How logs look
    #[arg(long, value_name = "HOW", value_enum, default_value_t = log::Look::Text)]
    log: log::Look,
    /// What is logged: error, warn, info, debug or trace; with --dev only errors unless given
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<log::Level>,
}

#[derive(clap::Subcommand)]
enum Act {
    Stop(stop::Stop),
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    if let Some(Act::Stop(stop)) = &arguments.act {
        return Ok(stop::answer(stop));
    }
    let Some(path) = &arguments.config else { return dev::answer(catalog, arguments, typed) };
    if arguments.check {
        return Ok(checked(catalog, path, typed));
    }
    let (config, recipe) = load(catalog, path, typed)?;
    log::begin(arguments.log, arguments.log_level.unwrap_or(log::Level::Info));
    // Signals before threads: those that begin later leave them alone.
    let watch = watch::Watch::new()?;
    Daemon::raise_file_limit();
    let patience = config.stop_patience.0;
    let daemon = Arc::new(Daemon::start(config, recipe)?);
    watch.over(vec![daemon], patience)?;
    Ok(Answer::holds(String::new()))
}

/// A configuration and the algorithm that it names.
fn load(catalog: &Catalog, path: &Path, typed: &Typed) -> Result<(Config, Recipe), Refusal> {
    let config = Config::load(path)?;
    let found = names::find(catalog, typed, config.algorithm.get_ref());
    found.map_err(|refusal| config.refuse("algorithm", &refusal))?;
    let recipe = config.recipe(&catalog.recipes())?;
    Ok((config, recipe))
}

/// Whether a configuration is right: the only verdict for which a bad file is an answer and no bad usage.
fn checked(catalog: &Catalog, path: &Path, typed: &Typed) -> Answer {
    let verdict = load(catalog, path, typed).and_then(|(config, recipe)| {
        Daemon::check(&config)?;
        let disk = Daemon::examine_disk(&config)?;
        if let Some(sentence) = &disk.set_back {
            return Err(config.refuse("data", sentence));
        }
        Ok((config, recipe, disk.torn_bytes))
    });
    match verdict {
        Ok((config, recipe, torn_bytes)) => {
            let Config { cluster, nodes, .. } = &config;
            let (node, algorithm) = (&config.me().name, recipe.name());
            let size = doorway_terminal::text::counted(nodes.len() as u64, "node");
            let torn = format!(
                "the last write of {} is unfinished: the next start cuts off {}",
                config.data.display(),
                doorway_terminal::text::counted(torn_bytes as u64, "byte")
            );
            let text = format!(
                "{}: right. Node {node} of cluster {cluster}, {size}, {algorithm}; clients at {}, administrators at {}\n",
                path.display(),
                config.socket().display(),
                config.admin_socket().display()
            );
            let notes = if torn_bytes > 0 { vec![torn] } else { Vec::new() };
            Answer { notes, ..Answer::holds(text) }
        }
        Err(refusal) => Answer { text: String::new(), notes: vec![refusal.to_string()], exit: Exit::Fails },
    }
}

/// Speaks before the end: nobody would know otherwise that all is running.
fn say(lines: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{lines}").and_then(|()| out.flush());
}
