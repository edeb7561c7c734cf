//! Three programs that take part in a cluster themselves, here in one process so that nothing else has to run.
//!
//! ```text
//! cargo run -p doorway --example embedded
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use doorway::{Config, Doorway};
use doorway_daemon::founding;

const NODES: [&str; 3] = ["a", "b", "c"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("doorway-embedded-{}", std::process::id()));
    found(&folder)?;
    // Together, because a majority of them has to be there before anybody is let in.
    let programs: Vec<_> = NODES
        .into_iter()
        .map(|node| {
            thread::spawn({
                let folder = folder.clone();
                move || program(&folder, node).map_err(|error| error.to_string())
            })
        })
        .collect();
    let outcomes: Vec<_> = programs.into_iter().map(|program| program.join()).collect();
    std::fs::remove_dir_all(&folder)?;
    for outcome in outcomes {
        outcome.map_err(|_| "a program panicked")??;
    }
    Ok(())
}

/// What `doorway cluster init` does: a folder for each node, with its configuration and certificates.
fn found(folder: &Path) -> Result<(), Box<dyn Error>> {
    let listeners = NODES.map(|_| TcpListener::bind(("127.0.0.1", 0)));
    let mut nodes = Vec::new();
    for (name, listener) in NODES.into_iter().zip(listeners) {
        nodes.push((name.to_owned(), listener?.local_addr()?.to_string()));
    }
    founding::found(folder, "example", &nodes, Config::ALGORITHM, &BTreeMap::new())?;
    Ok(())
}

fn program(folder: &Path, node: &str) -> Result<(), Box<dyn Error>> {
    let mut config = Config::load(&folder.join(node).join("node.toml"))?;
    config.socket = Some(folder.join(node).join("node.sock"));
    let doorway = Doorway::join_blocking(config)?;
    for _ in 0..3 {
        let guard = doorway.lock("the only pen").enter_blocking()?;
        println!("{node} writes with fence {}", guard.fence());
        guard.release()?;
    }
    doorway.leave_blocking();
    Ok(())
}
