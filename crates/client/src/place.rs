//! Where the daemon of this machine is found.
//!
//! A daemon listens at a Unix socket `NAME.sock` in a folder that only those who may use it can enter. Unless somebody says
//! otherwise that folder is `doorway` in the user's runtime folder, or, for the superuser, in the machine's. A user who has no runtime folder
//! has `doorway-UID` in the temporary one. There anybody can make folders, so one that is somebody else's is not believed: whoever
//! made it could answer in a daemon's place.

use std::env;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use doorway_core::Refusal;

use crate::error;
use crate::link;

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

/// The administrators' socket that stands beside a socket for users of locks: `a.admin.sock` beside `a.sock`. One that is named like
/// an administrators' socket is that already.
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

/// Makes that folder, for this user alone, if it is not there.
///
/// # Errors
/// If it cannot be made, or others could have made it or can enter it.
pub fn make_folder() -> Result<(), Refusal> {
    let folder = folder();
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Refusal::new(format!("the folder {} cannot be made: {error}", folder.display())))?;
    check_owner(&folder, &[rustix::process::geteuid().as_raw()], 0o077)
}

/// Refuses a folder of sockets that somebody else may have made or can write to, if it stands where others can make folders. One that
/// is not there is refused nowhere.
///
/// # Errors
/// If it is neither this user's nor the superuser's.
pub fn check_folder(folder: &Path) -> Result<(), Refusal> {
    const ROOT: u32 = 0;
    check_owner(folder, &[rustix::process::geteuid().as_raw(), ROOT], 0o022)
}

/// Looks who has a folder, and what others may do there, unless only its owner could have made it where it is.
fn check_owner(folder: &Path, owners: &[u32], forbidden: u32) -> Result<(), Refusal> {
    let Ok(found) = folder.symlink_metadata() else { return Ok(()) };
    let around = folder.parent().and_then(|parent| parent.metadata().ok());
    if around.is_some_and(|around| around.mode() & 0o022 == 0) {
        return Ok(());
    }
    let folder = folder.display();
    if !found.is_dir() || !owners.contains(&found.uid()) {
        return Err(Refusal::new(format!(
            "{folder} was made by somebody else, who could answer in a daemon's place: remove it, or set XDG_RUNTIME_DIR to a folder of your own"
        )));
    }
    if found.mode() & forbidden != 0 {
        return Err(Refusal::new(format!("{folder} is open to others: chmod 700 {folder}")));
    }
    Ok(())
}

/// The socket to use: the one that is typed, or that the environment names, or that of the node that is named, or the only one
/// that there is; of several the first by name.
///
/// # Errors
/// If there is none, or this user may not look for it, or where it should be is somebody else's folder.
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
    // A stranger's folder keeps nobody from the daemon of the machine.
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

/// What a folder of sockets has for users of locks.
#[derive(Debug)]
enum Found {
    /// A socket, of several the first that answers.
    Socket(PathBuf),
    /// No socket.
    Nothing,
    /// The folder is there and cannot be read, as this user may not do so: there may well be a daemon.
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
    // A socket that a killed daemon left behind hides neither a daemon nor one that this user may not use.
    let first =
        sockets.into_iter().min_by_key(|path| match link::connect(path).map_err(|error| error.kind()) {
            Ok(_) | Err(io::ErrorKind::WouldBlock) => 0,
            Err(io::ErrorKind::PermissionDenied) => 1,
            Err(_) => 2,
        });
    first.map_or(Found::Nothing, Found::Socket)
}

/// What is said to a user who may not open a socket: starting another daemon would make a second cluster.
#[must_use]
pub fn closed_socket(path: &Path) -> Refusal {
    let (uid, shown) = (rustix::process::geteuid().as_raw(), path.display());
    if is_admin_socket(path) {
        return Refusal::new(format!(
            "{shown} is open to administrators only, and this user (uid {uid}) is none: users of locks have the socket beside it"
        ));
    }
    let is_hidden =
        path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let folder = path.parent().filter(|_| is_hidden);
    let how = folder.map(|folder| format!(", as it may not enter {}", folder.display())).unwrap_or_default();
    Refusal::new(format!(
        "this user (uid {uid}) may not use the locks of the daemon at {shown}{how}: {DECIDES}"
    ))
}

/// What is said of a folder of sockets that cannot be read.
fn unread(folder: &Path, error: &io::Error) -> Refusal {
    let (uid, folder) = (rustix::process::geteuid().as_raw(), folder.display());
    if error::is_out_of_files(error) {
        return error::refused_by_system(error);
    }
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Refusal::new(format!("no Doorway daemon can be looked for in {folder}: {error}"));
    }
    Refusal::new(format!(
        "this user (uid {uid}) may not read {folder}, so it may not use the locks of a daemon there: {DECIDES}; or name another socket with --socket or {VARIABLE}"
    ))
}

/// Who can change that, and how.
const DECIDES: &str =
    "`socket_group` and `socket_mode` in its node.toml decide who may, and the folder must let them in";

/// Whether somebody listens at a socket, even one who lets nobody in.
#[must_use]
pub fn is_taken(path: &Path) -> bool {
    link::connect(path).map_or_else(|error| error.kind() == io::ErrorKind::WouldBlock, |_| true)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_administrators_socket_stands_beside_the_users_one_and_is_not_taken_for_it() {
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
    fn a_folder_that_others_could_have_made_must_be_this_users_and_closed() {
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
        assert!(is_told("somebody else", &[me + 1], 0o022));
        assert!(is_told("chmod 700", &[me], 0o077));
        set(&folder, 0o770);
        assert!(is_told("chmod 700", &[me], 0o022));
        fs::remove_dir(&folder).expect("it is empty");
        assert_eq!(told(&[me], 0o077), Ok(()), "it is not there");
        std::os::unix::fs::symlink(&around, &folder).expect("room");
        assert!(is_told("somebody else", &[me], 0o022), "it only leads elsewhere");
        fs::remove_dir_all(&around).expect("it is ours");
    }
}
