//! Connections from other addresses of this machine: daemons count strangers by address.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use rustix::net::{AddressFamily, SocketType};

/// Connects from the address 127.0.0.`last` of this machine.
///
/// # Errors
/// If the machine has no such address, or no server listens.
pub fn from_elsewhere(to: &str, last: u8) -> io::Result<TcpStream> {
    let to: SocketAddr = to.parse().map_err(io::Error::other)?;
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)))?;
    rustix::net::connect(&socket, &to)?;
    Ok(TcpStream::from(socket))
}
