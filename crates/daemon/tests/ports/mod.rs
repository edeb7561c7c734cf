//! Ports for servers of tests. A port that the kernel hands out is not kept: the next server may get the same one, and so may
//! any connection that is opened before the server starts. Therefore these are below the kernel's own range.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port, and how many there are: all below 32768, where Linux begins to choose by itself.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// A free address of this machine. No two calls of a process get the same one.
pub fn free_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Programs that run at the same time begin at different places.
    let begin = std::process::id().wrapping_mul(97);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(step < COUNT, "all ports of this program were handed out");
        let port = FIRST + begin.wrapping_add(step) % COUNT;
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
    panic!("no port from {FIRST} on is free")
}
