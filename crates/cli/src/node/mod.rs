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

/// Run the daemon that grants locks on this machine
///
/// Each machine that uses locks runs one daemon, and the daemons agree among themselves: there is no lock server. `doorway
/// cluster init` writes a configuration and certificates for each of them. Programs on the same machine, such as `doorway
/// lock`, reach the daemon through a Unix socket, NAME.sock, whose group and mode decide who may use locks. Only the daemon's
/// own user and root can open the second socket, NAME.admin.sock, which serves `doorway break`, `doorway cluster remove` and
/// `lead`, and `doorway node stop`.
///
/// With --dev, three nodes run in one process on this machine: there is nothing to configure, and everything works as it does
/// between machines. Without --folder every start is a new cluster, whose fences start over.
///
/// Stops on Ctrl-C, SIGTERM or `doorway node stop`: the daemon waits a while for its holders, hands over, and leaves the
/// cluster; a second signal stops it at once. SIGHUP reloads configuration and certificates. Under systemd the daemon reports
/// when it listens and whether it can grant locks, and feeds the watchdog; packaging/doorway@.service is a unit file.
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
    /// Keep the data of the three nodes in this folder and continue from it; it must be new, empty or from an earlier --dev
    #[arg(long, value_name = "DIR", requires = "dev", conflicts_with = "config")]
    folder: Option<PathBuf>,
    /// Only check whether a node could start with the configuration
    #[arg(long, requires = "config", conflicts_with = "dev")]
    check: bool,
    /// Format of the log
    #[arg(long, value_name = "HOW", value_enum, default_value_t = log::LogFormat::Text)]
    log: log::LogFormat,
    /// Most detailed level that is logged: error, warn, info, debug or trace; with --dev only errors unless given
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
    let watch = watch::DaemonWatch::new()?;
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

/// Prints before the verb ends, because the daemon runs until it is stopped.
fn say(lines: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{lines}").and_then(|()| out.flush());
}
