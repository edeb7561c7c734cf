//! Where the daemon of this machine is found.
//!
//! A daemon listens at a Unix socket `NAME.sock` in a folder that only its users can enter. By default that folder is `doorway` in the
//! user's runtime folder, or, for the superuser, in the machine's. A user without a runtime folder has `doorway-UID` in the temporary
//! one. There every user can make folders, so a folder of another user is refused: its owner could impersonate a daemon.

use std::env;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;

use crate::connection;
use crate::error;

/// The environment variable that names the socket where no argument does.
pub const VARIABLE: &str = "DOORWAY_SOCKET";

/// The default folder of sockets.
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

/// The administrators' socket beside a users' socket: `a.admin.sock` beside `a.sock`. A path that is named like an administrators'
/// socket is returned as it is.
#[must_use]
pub fn admin_socket_of(socket: &Path) -> PathBuf {
    if is_admin_socket(socket) {
        return socket.to_owned();
    }
    let name = socket.file_name().unwrap_or_default().to_string_lossy();
    socket.with_file_name(format!("{}{ADMIN}", name.strip_suffix(".sock").unwrap_or(&name)))
}

/// Whether a socket is named like an administrators' one.
#[must_use]
pub fn is_admin_socket(socket: &Path) -> bool {
    socket.file_name().unwrap_or_default().to_string_lossy().ends_with(ADMIN)
}

/// How the name of an administrators' socket ends.
const ADMIN: &str = ".admin.sock";

/// Creates that folder, for this user alone, if it does not exist.
///
/// # Errors
/// If it cannot be created, or another user may have created it or can enter it.
pub fn make_folder() -> Result<(), Refusal> {
    let folder = folder();
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Refusal::new(format!("cannot create the folder {}: {error}", folder.display())))?;
    check_owner(&folder, &[rustix::process::geteuid().as_raw()], 0o077)
}

/// Refuses a folder of sockets that another user may have created or can write to, where other users can create folders. A folder that
/// does not exist passes.
///
/// # Errors
/// If it belongs neither to this user nor to the superuser.
pub fn check_folder(folder: &Path) -> Result<(), Refusal> {
    const ROOT: u32 = 0;
    check_owner(folder, &[rustix::process::geteuid().as_raw(), ROOT], 0o022)
}

/// Checks owner and permissions of a folder, unless only its owner could have created it where it is.
fn check_owner(folder: &Path, owners: &[u32], forbidden: u32) -> Result<(), Refusal> {
    let Ok(found) = folder.symlink_metadata() else { return Ok(()) };
    let around = folder.parent().and_then(|parent| parent.metadata().ok());
    if around.is_some_and(|around| around.mode() & 0o022 == 0) {
        return Ok(());
    }
    let folder = folder.display();
    if !found.is_dir() || !owners.contains(&found.uid()) {
        return Err(Refusal::new(format!(
            "{folder} is not a folder of this user, and its owner could impersonate a daemon: remove it, or set XDG_RUNTIME_DIR to a folder of your own"
        )));
    }
    if found.mode() & forbidden != 0 {
        return Err(Refusal::new(format!("other users can access {folder}: chmod 700 {folder}")));
    }
    Ok(())
}

/// The socket to use: the argument, that of the named node, that of the environment, or the only one there is; of several the first
/// that answers, by name.
///
/// # Errors
/// If there is none, if this user may not look for it, or if its folder belongs to another user.
pub fn find(typed: Option<&Path>, node: Option<&str>) -> Result<PathBuf, Refusal> {
    if let Some(path) = typed {
        return Ok(path.to_owned());
    }
    if let Some(node) = node {
        check_folder(&folder())?;
        return Ok(socket_of(node));
    }
    if let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let machine = Path::new(MACHINE).join("doorway");
    let own = check_folder(&folder()).map(|()| first_in(&folder()));
    // A folder of another user must not hide the daemon of the machine.
    match (own, first_in(&machine)) {
        (Ok(Found::Socket(path)), _) | (_, Found::Socket(path)) => Ok(path),
        (Err(refusal), _) => Err(refusal),
        (Ok(Found::Unread(error)), _) => Err(unread(&folder(), &error)),
        (Ok(Found::Nothing), Found::Unread(error)) => Err(unread(&machine, &error)),
        (Ok(Found::Nothing), Found::Nothing) => Err(Refusal::new(format!(
            "no Doorway daemon was found in {}: start one with `doorway node --dev`, or name its socket with --socket or {VARIABLE}",
            folder().display()
        ))),
    }
}

/// What a folder of sockets has for lock users.
#[derive(Debug)]
enum Found {
    /// A socket, of several the first that answers.
    Socket(PathBuf),
    /// No socket.
    Nothing,
    /// This user may not read the folder: there may well be a daemon.
    Unread(io::Error),
}

fn first_in(folder: &Path) -> Found {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
        Err(error) => return Found::Unread(error),
    };
    let is_for_users = |path: &PathBuf| !is_admin_socket(path) && path.to_string_lossy().ends_with(".sock");
    let mut sockets: Vec<PathBuf> = entries.filter(is_for_users).collect();
    sockets.sort_unstable();
    // Live sockets come first, then closed ones: a socket that a killed daemon left behind must not hide them.
    let first = sockets.into_iter().min_by_key(|path| {
        match connection::connect(path).map_err(|error| error.kind()) {
            Ok(_) | Err(io::ErrorKind::WouldBlock) => 0,
            Err(io::ErrorKind::PermissionDenied) => 1,
            Err(_) => 2,
        }
    });
    first.map_or(Found::Nothing, Found::Socket)
}

/// The message for a user who may not open a socket. It must not suggest to start a daemon, which would make a second cluster.
#[must_use]
pub fn closed_socket(path: &Path) -> Refusal {
    let (uid, shown) = (rustix::process::geteuid().as_raw(), path.display());
    if is_admin_socket(path) {
        return Refusal::new(format!(
            "only administrators may use {shown}, and this user (uid {uid}) is not one: lock users have the socket beside it"
        ));
    }
    let is_hidden =
        path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let folder = path.parent().filter(|_| is_hidden);
    let how =
        folder.map(|folder| format!(", because it may not enter {}", folder.display())).unwrap_or_default();
    Refusal::new(format!(
        "this user (uid {uid}) may not use the locks of the daemon at {shown}{how}: {DECIDES}"
    ))
}

/// The message for a folder of sockets that cannot be read.
fn unread(folder: &Path, error: &io::Error) -> Refusal {
    let (uid, folder) = (rustix::process::geteuid().as_raw(), folder.display());
    if error::is_out_of_files(error) {
        return error::refused_by_system(error);
    }
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Refusal::new(format!("cannot look for a Doorway daemon in {folder}: {error}"));
    }
    Refusal::new(format!(
        "this user (uid {uid}) may not read {folder}, so it may not use the locks of a daemon there: {DECIDES}; or name another socket with --socket or {VARIABLE}"
    ))
}

/// The keys that grant access.
const DECIDES: &str =
    "`socket_group` and `socket_mode` in its node.toml decide who may, and the folder must let them in";

/// Whether a process listens at a socket, even one that accepts no connections.
#[must_use]
pub fn is_taken(path: &Path) -> bool {
    connection::connect(path).map_or_else(|error| error.kind() == io::ErrorKind::WouldBlock, |_| true)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn find_skips_administrators_sockets() {
        let beside = |path: &str| admin_socket_of(Path::new(path)).to_string_lossy().into_owned();
        assert_eq!(beside("/run/doorway/a.sock"), "/run/doorway/a.admin.sock");
        assert_eq!(beside("/run/doorway/a.admin.sock"), "/run/doorway/a.admin.sock");
        assert_eq!(beside("lock.1"), "lock.1.admin.sock");
        let folder = env::temp_dir().join(format!("doorway-admin-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("room");
        for name in ["a.admin.sock", "b.sock"] {
            fs::write(folder.join(name), "").expect("room");
        }
        assert!(matches!(first_in(&folder), Found::Socket(path) if path == folder.join("b.sock")));
        fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn a_folder_in_tmp_must_be_private_to_this_user() {
        let around = env::temp_dir().join(format!("doorway-place-{}", std::process::id()));
        let folder = around.join("doorway");
        fs::create_dir_all(&folder).expect("room");
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
        let me = rustix::process::geteuid().as_raw();
        let told = |owners: &[u32], forbidden| {
            check_owner(&folder, owners, forbidden).map_err(|refusal| refusal.to_string())
        };
        let is_told = |part: &str, owners: &[u32], forbidden| {
            told(owners, forbidden).is_err_and(|refusal| refusal.contains(part))
        };
        set(&folder, 0o755);
        set(&around, 0o755);
        assert_eq!(told(&[me + 1], 0o077), Ok(()), "only its owner makes folders here");
        set(&around, 0o1777);
        assert_eq!(told(&[me], 0o022), Ok(()));
        assert!(is_told("not a folder of this user", &[me + 1], 0o022));
        assert!(is_told("chmod 700", &[me], 0o077));
        set(&folder, 0o770);
        assert!(is_told("chmod 700", &[me], 0o022));
        fs::remove_dir(&folder).expect("it is empty");
        assert_eq!(told(&[me], 0o077), Ok(()), "it is not there");
        std::os::unix::fs::symlink(&around, &folder).expect("room");
        assert!(is_told("not a folder of this user", &[me], 0o022), "it only leads elsewhere");
        fs::remove_dir_all(&around).expect("it is ours");
    }
}
