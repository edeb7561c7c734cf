//! What systemd is told of a service: that it has started, how it is, that it stops, that it is alive.
//!
//! A word is a datagram to the socket that the environment names; where none is named, nothing is sent. READY=1 says that the daemon
//! listens, not that its cluster has a majority: a unit that waited for that would be killed when its time to start is over,
//! just when the others need it. STATUS= says whether it lets clients in.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Where to, if anywhere.
pub(super) struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// How often a word that the service is alive is due, if at all.
    watchdog: Option<Duration>,
}

impl Notify {
    /// As the environment says. One that says nonsense is one that says nothing.
    pub(super) fn from_environment() -> Self {
        let process = std::env::var("WATCHDOG_PID").ok().and_then(|process| process.parse::<u32>().ok());
        let is_for_us = process.is_none_or(|process| process == std::process::id());
        let limit = std::env::var("WATCHDOG_USEC").ok().filter(|_| is_for_us);
        Self::new(std::env::var_os("NOTIFY_SOCKET"), limit.and_then(|limit| limit.parse().ok()))
    }

    fn new(socket: Option<OsString>, limit_microseconds: Option<u64>) -> Self {
        let address = socket.and_then(|name| address(&name).ok());
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        let watchdog = limit_microseconds.filter(|limit| *limit > 0 && socket.is_some());
        // Twice as often as needed, as systemd advises.
        Self { socket, watchdog: watchdog.map(|limit| Duration::from_micros(limit / 2)) }
    }

    /// How often a word that the service is alive is due.
    pub(super) fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// Whether anybody wants to know.
    pub(super) fn is_heard(&self) -> bool {
        self.socket.is_some()
    }

    /// Sends a message. A failure cannot be reported to systemd, so it is ignored.
    pub(super) fn say(&self, word: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(word.as_bytes(), address);
        }
    }
}

/// The address of a socket: a path, or a name of its own if it begins with @.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest),
        _ => SocketAddr::from_pathname(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 64];
        let count = socket.recv(&mut bytes).expect("a word");
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    #[test]
    fn words_reach_sockets_of_both_kinds() {
        let path = std::env::temp_dir().join(format!("doorway-notify-{}.sock", std::process::id()));
        let by_path = UnixDatagram::bind(&path).expect("a socket");
        Notify::new(Some(path.clone().into()), None).say("READY=1");
        assert_eq!(heard(&by_path), "READY=1");
        std::fs::remove_file(path).expect("it is ours");
        let name = format!("doorway-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a short name");
        let by_name = UnixDatagram::bind_addr(&address).expect("a socket");
        Notify::new(Some(format!("@{name}").into()), None).say("STOPPING=1");
        assert_eq!(heard(&by_name), "STOPPING=1");
    }

    #[test]
    fn the_watchdog_is_fed_twice_per_period_if_there_is_one() {
        let watchdog = |socket: Option<&str>, limit| Notify::new(socket.map(Into::into), limit).watchdog();
        assert_eq!(watchdog(Some("@x"), Some(2_000_000)), Some(Duration::from_secs(1)));
        assert_eq!(
            [watchdog(Some("@x"), None), watchdog(None, Some(2)), watchdog(Some("@x"), Some(0))],
            [None; 3]
        );
        Notify::new(None, None).say("nobody hears this");
    }
}
