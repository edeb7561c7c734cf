//! A cgroup of its own for the command, where the machine allows it.
//!
//! Writing to `cgroup.kill` ends all processes in it at once, whatever user, session or process group they have changed to, and those that
//! are being started. It needs cgroup v2 of Linux 5.14 or later, and a cgroup of ours that we may divide: root's, or one delegated
//! to this user, as systemd does for the services of a user. Everywhere else there is no cgroup, and no message about it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{pread, pwrite};
use rustix::process::{Pid, getpid};

/// How the names of our cgroups begin.
const PREFIX: &str = "doorway-lock-";
/// How many names are tried: a process of the same number in another namespace may have taken one.
const ATTEMPTS: u32 = 4;
/// How many cgroups that others left behind are looked at, and how deep below ours the command's own ones are removed.
const MOST_SWEPT: usize = 64;
const DEEPEST: u32 = 16;
/// How long an unlocked cgroup is left alone: its owner may be about to lock it.
const YOUNG: Duration = Duration::from_secs(2);

/// A cgroup, removed when it is dropped, unless something is left in it.
pub(super) struct Cgroup {
    folder: PathBuf,
    /// As `/proc/PID/cgroup` tells it.
    name: PathBuf,
    /// Locked for as long as we live, so that no other takes it for one that was left behind.
    _lock: File,
    kill: File,
    events: File,
}

impl Cgroup {
    /// One below ours, if that can be made.
    pub(super) fn make() -> Option<Self> {
        let own = own_name(&fs::read("/proc/self/cgroup").ok()?)?;
        let mounts = fs::read("/proc/self/mountinfo").ok()?;
        folders(&mounts, &own).into_iter().find_map(|folder| {
            sweep(&folder);
            (0..ATTEMPTS).find_map(|attempt| Self::make_in(&folder, &own, attempt).ok())
        })
    }

    fn make_in(parent: &Path, own: &Path, attempt: u32) -> io::Result<Self> {
        let name = format!("{PREFIX}{}-{attempt}", getpid().as_raw_nonzero());
        let folder = parent.join(&name);
        fs::create_dir(&folder)?;
        Self::open(&folder, own.join(name)).inspect_err(|_| {
            let _ = fs::remove_dir(&folder);
        })
    }

    fn open(folder: &Path, name: PathBuf) -> io::Result<Self> {
        let lock = File::open(folder)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let kind = fs::read_to_string(folder.join("cgroup.type"))?;
        if !kind.starts_with("domain") || kind.contains("invalid") {
            return Err(io::Error::other("a cgroup of threads takes no processes"));
        }
        let kill = File::options().write(true).open(folder.join("cgroup.kill"))?;
        let events = File::open(folder.join("cgroup.events"))?;
        Ok(Self { folder: folder.to_owned(), name, _lock: lock, kill, events })
    }

    /// Where it is in the file system.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kills everything in it, and below it.
    pub(super) fn kill(&self) {
        // Nothing can be done about a failure here; what is left is seen.
        let _ = pwrite(&self.kill, b"1", 0);
    }

    /// Whether a process is in it, or below it.
    pub(super) fn holds(&self, process: Pid) -> bool {
        match fs::read(format!("/proc/{}/cgroup", process.as_raw_nonzero())) {
            Ok(text) => own_name(&text).is_some_and(|name| name.starts_with(&self.name)),
            // Others' processes may be hidden here.
            Err(_) => self.is_populated(),
        }
    }

    /// Whether any process is in it, or below it.
    pub(super) fn is_populated(&self) -> bool {
        let mut text = [0; 256];
        let length = pread(&self.events, &mut text, 0).unwrap_or(0);
        text[..length].split(|byte| *byte == b'\n').any(|line| line == b"populated 1")
    }
}

impl AsFd for Cgroup {
    /// To be polled for exceptional conditions: whether it is populated has changed since that was last asked.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.is_populated() {
            remove(&self.folder, DEEPEST);
        }
    }
}

/// Moves this process into a cgroup.
///
/// # Errors
/// If that is not allowed.
pub(super) fn enter(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), "0")
}

/// Removes what others of us have left behind, as they were killed, or as something of their command outlived them.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(PREFIX.as_bytes());
    let ours = entries.flatten().filter(|entry| is_ours(&entry.file_name())).take(MOST_SWEPT);
    for folder in ours.map(|entry| entry.path()) {
        let age = |lock: &File| lock.metadata().and_then(|data| data.modified()).ok()?.elapsed().ok();
        let is_old = |lock: &File| age(lock).is_some_and(|age| age > YOUNG);
        let is_left = |lock: &File| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if File::open(&folder).is_ok_and(|lock| is_old(&lock) && is_left(&lock)) {
            remove(&folder, DEEPEST);
        }
    }
}

/// Removes a cgroup and those below it, as far as they are empty.
fn remove(folder: &Path, depth: u32) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below.for_each(|entry| remove(&entry.path(), depth.saturating_sub(1)));
    let _ = fs::remove_dir(folder);
}

/// The name of a process's cgroup of version 2, from its `/proc/PID/cgroup`.
fn own_name(text: &[u8]) -> Option<PathBuf> {
    let name = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"0::"))?;
    let name = PathBuf::from(OsStr::from_bytes(name));
    let is_plain = name.has_root() && !name.components().any(|part| part == std::path::Component::ParentDir);
    is_plain.then_some(name)
}

/// The folders in which a cgroup of this name is mounted, from `/proc/self/mountinfo`.
fn folders(mounts: &[u8], name: &Path) -> Vec<PathBuf> {
    let folder = |line: &[u8]| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let separator = fields.iter().position(|field| *field == b"-")?;
        (*fields.get(separator + 1)? == b"cgroup2").then_some(())?;
        let (root, place) = (path(fields.get(3)?), path(fields.get(4)?));
        Some(place.join(name.strip_prefix(root).ok()?))
    };
    mounts.split(|byte| *byte == b'\n').filter_map(folder).collect()
}

/// A path as mountinfo writes it: blanks and the like as three octal digits behind a backslash.
fn path(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let Some((first, tail)) = rest.split_first() {
        let octal =
            tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_is_found_where_it_is_mounted() {
        let usual = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let hybrid = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
            32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let part = "50 1 0:26 /a/b /mnt/two\\040words rw shared:1 master:2 - cgroup2 none rw";
        for (mounts, name, expected) in [
            (usual, "/", Some("/sys/fs/cgroup")),
            (usual, "/user.slice/x", Some("/sys/fs/cgroup/user.slice/x")),
            (hybrid, "/x", Some("/sys/fs/cgroup/unified/x")),
            (part, "/a/b/c", Some("/mnt/two words/c")),
            (part, "/a/bc", None),
            ("", "/x", None),
            ("30 23 - cgroup2", "/x", None),
            ("nonsense\n\n -\n", "/x", None),
        ] {
            let found = folders(mounts.as_bytes(), Path::new(name));
            assert_eq!(found.first().map(PathBuf::as_path), expected.map(Path::new), "{mounts} {name}");
        }
    }

    #[test]
    fn the_name_of_the_own_cgroup_is_that_of_the_second_version() {
        for (text, expected) in [
            ("0::/user.slice/x\n", Some("/user.slice/x")),
            ("9:name=systemd:/\n1:cpu:/x\n0::/\n", Some("/")),
            ("1:cpu:/x\n", None),
            ("0::/../outside\n", None),
            ("", None),
        ] {
            assert_eq!(own_name(text.as_bytes()).as_deref(), expected.map(Path::new), "{text}");
        }
    }

    #[test]
    fn an_escaped_path_is_read_as_it_is() {
        for (field, expected) in
            [("/a\\134b", "/a\\b"), ("/a\\011", "/a\t"), ("/a\\04", "/a\\04"), ("\\", "\\")]
        {
            assert_eq!(path(field.as_bytes()), Path::new(expected));
        }
    }
}
