//! The file of a Unix socket: created with its permissions, and never taken from a daemon that listens there.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use doorway_core::Refusal;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// The file of a socket that this daemon listens at; it is removed when this is dropped, unless another process has replaced it by then.
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

/// Who can connect to a socket, as far as its file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketAccess {
    pub(crate) mode: u32,
    /// The group of the file, if not the daemon's own.
    pub(crate) group: Option<u32>,
}

impl SocketAccess {
    /// The daemon's own user, and root.
    pub(crate) const OWNER: Self = Self { mode: 0o600, group: None };
}

/// Listens at a path. The permissions of its file hold from the first moment on.
///
/// # Errors
/// If another process listens there, or the socket cannot be created.
pub(crate) fn bind(path: &Path, access: SocketAccess) -> Result<(UnixListener, SocketFile), Refusal> {
    let cannot =
        |error: io::Error| Refusal::new(format!("cannot listen for clients at {}: {error}", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(cannot)?;
    }
    check_stale(path)?;
    let aside = path.with_extension("new");
    let _ = fs::remove_file(&aside);
    let listener = listen(&aside, access).map_err(cannot)?;
    let inode = fs::symlink_metadata(&aside).map_err(cannot)?.ino();
    fs::rename(&aside, path).map_err(cannot)?;
    Ok((listener, SocketFile { path: path.to_owned(), inode }))
}

/// Listens only when the file has its group and mode: before that the system refuses every connection.
fn listen(path: &Path, SocketAccess { mode, group }: SocketAccess) -> io::Result<UnixListener> {
    const BACKLOG: i32 = 1_024;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    if group.is_some() {
        std::os::unix::fs::chown(path, None, group)?;
    }
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    rustix::net::listen(&socket, BACKLOG)?;
    let listener = UnixListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A file at the path may be replaced only if it is a socket at which no process listens.
fn check_stale(path: &Path) -> Result<(), Refusal> {
    match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(Refusal::new(format!("{} exists and is not a socket", path.display())));
        }
        Ok(_) => {}
    }
    match doorway_client::connect(path).map_err(|error| (error.kind(), error)) {
        Err((io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound, _)) => Ok(()),
        Ok(_) | Err((io::ErrorKind::WouldBlock, _)) => {
            Err(Refusal::new(format!("another daemon listens at {}", path.display())))
        }
        Err((_, error)) => {
            Err(Refusal::new(format!("the socket {} cannot be used: {error}", path.display())))
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_in_use_is_not_replaced() {
        let folder = std::env::temp_dir().join(format!("doorway-socket-{}", std::process::id()));
        let path = folder.join("a.sock");
        let (listener, file) = bind(&path, SocketAccess { mode: 0o620, group: None }).expect("a new place");
        assert_eq!(path.metadata().expect("it is there").mode() & 0o777, 0o620);
        assert_eq!(folder.metadata().expect("it is there").mode() & 0o777, 0o700);
        let refused = |path: &Path| bind(path, SocketAccess::OWNER).err().expect("it is refused").to_string();
        assert!(refused(&path).contains("another daemon"));
        rustix::net::listen(&listener, 0).expect("it listens to fewer");
        assert!(refused(&path).contains("another daemon"), "one who lets nobody in is there as well");
        drop(listener);
        let (_listener, newer) = bind(&path, SocketAccess::OWNER).expect("nobody listens there");
        drop(file);
        assert!(path.exists(), "it is somebody else's now");
        drop(newer);
        assert!(!path.exists());
        fs::write(&path, "text").expect("room");
        assert!(refused(&path).contains("not a socket"));
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
