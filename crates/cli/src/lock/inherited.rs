//! What the command inherits, so that its section stays taken for as long as anything of it lives.
//!
//! The daemon frees a section when the last copy of its client's connection is closed. The command must keep such a copy open, in case this
//! process is killed, and must not be able to write to it by mistake: one stray byte breaks the protocol and loses the lock. So it does
//! not inherit the connection itself, but a listening socket that cannot be read or written. In the queue of that socket lies one
//! connection that nobody accepts, and in the queue of that one a copy of the daemon's connection:
//!
//! ```text
//! command ── listening socket ── waiting connection ── unread message ── the daemon's connection
//! ```
//!
//! When the last process closes the listening socket, the kernel drops the whole chain.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, bind, connect, getsockname, listen, sendmsg, socket_with,
};
use rustix::process::{Resource, getrlimit};

/// The least number of an inherited descriptor: above those that scripts choose (`exec 9>file`, `exec 200>file`), and below the usual
/// limit of 1,024.
const HIGH: u64 = 1_000;
/// How many numbers below a lower limit are tried.
const SPARE: u64 = 8;

/// A descriptor that keeps a connection open in every process that inherits it, which the next process to be started does.
///
/// # Errors
/// If there are no descriptors left.
pub(super) fn keeping_open(connection: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // Where a connection cannot be put away, as with too many of them, a copy of it serves the purpose without the protection.
    let sealed = seal(connection);
    let kept = moved_up(sealed.as_ref().map_or(connection, AsFd::as_fd))?;
    fcntl_setfd(&kept, FdFlags::empty())?;
    Ok(kept)
}

/// A listening socket with a copy of a connection in its queue.
fn seal(connection: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = || socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let (seal, envelope) = (socket()?, socket()?);
    // The kernel chooses a name, which is of no use to others: the queue takes one connection, and that is ours.
    bind(&seal, &SocketAddrUnix::new_unnamed())?;
    listen(&seal, 0)?;
    connect(&envelope, &getsockname(&seal)?)?;
    let descriptors = [connection];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("a descriptor does not fit into a message"));
    }
    sendmsg(&envelope, &[io::IoSlice::new(&[0])], &mut message, SendFlags::NOSIGNAL)?;
    Ok(seal)
}

/// A copy with a high number, which is closed when a program starts.
fn moved_up(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let lowest = i32::try_from(HIGH.min(limit.saturating_sub(SPARE))).unwrap_or(0);
    fcntl_dupfd_cloexec(descriptor, lowest)
        .or_else(|_| fcntl_dupfd_cloexec(descriptor, 0))
        .map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_connection_stays_open_until_the_inherited_descriptor_is_closed() {
        let (mut daemon, connection) = UnixStream::pair().expect("a pair");
        let kept = keeping_open(connection.as_fd()).expect("a descriptor");
        assert!(kept.as_raw_fd() >= 200, "{kept:?} is a number that scripts use");
        drop(connection);
        daemon.set_nonblocking(true).expect("it can");
        let nothing = daemon.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(nothing, Err(io::ErrorKind::WouldBlock), "it is still open");
        let mut kept = std::fs::File::from(kept);
        assert!(kept.write(b"stray").is_err(), "nothing can be said on it");
        assert!(kept.read(&mut [0]).is_err(), "and nothing be taken from it");
        let nothing = daemon.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(nothing, Err(io::ErrorKind::WouldBlock), "and it stays open");
        drop(kept);
        daemon.set_nonblocking(false).expect("it can");
        daemon.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a limit");
        assert_eq!(daemon.read(&mut [0]).expect("the end"), 0);
    }
}
