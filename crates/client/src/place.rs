//! Where the daemon of this machine is found.
//!
//! A daemon listens at a Unix socket `NAME.sock` in a folder that only those who may use it can enter. Unless somebody says
//! otherwise that folder is `doorway` in the user's runtime folder, or, for the superuser, in the machine's.

use std::env;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_core::Refusal;

/// What names a socket when nobody types one.
pub const VARIABLE: &str = "DOORWAY_SOCKET";

/// The folder in which sockets are made and looked for unless somebody says otherwise.
#[must_use]
pub fn folder() -> PathBuf {
    let runtime = env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    match runtime {
        Some(folder) => folder.join("doorway"),
        None if rustix::process::geteuid().is_root() => Path::new(MACHINE).join("doorway"),
        None => env::temp_dir().join(format!("doorway-{}", rustix::process::geteuid().as_raw())),
    }
}

/// The runtime folder of the machine, where every Linux has it.
const MACHINE: &str = "/run";

/// The socket of a node in that folder.
#[must_use]
pub fn socket_of(node: &str) -> PathBuf {
    folder().join(format!("{node}.sock"))
}

/// The socket to use: the one that is typed, or that the environment names, or that of the node that is named, or the only one
/// that there is; of several the first by name.
///
/// # Errors
/// If there is none.
pub fn find(typed: Option<&Path>, node: Option<&str>) -> Result<PathBuf, Refusal> {
    if let Some(path) = typed {
        return Ok(path.to_owned());
    }
    if let Some(node) = node {
        return Ok(socket_of(node));
    }
    if let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let found = first_in(&folder()).or_else(|| first_in(&Path::new(MACHINE).join("doorway")));
    found.ok_or_else(|| {
        Refusal::new(format!(
            "no Doorway daemon was found in {}: start one with `doorway node --dev`, or name its socket with --socket or {VARIABLE}",
            folder().display()
        ))
    })
}

fn first_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let mut sockets: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "sock")).collect();
    sockets.sort_unstable();
    // One that a killed daemon has left behind hides no other.
    let answers = sockets.iter().position(|path| UnixStream::connect(path).is_ok());
    (!sockets.is_empty()).then(|| sockets.swap_remove(answers.unwrap_or(0)))
}
