//! Daemons on loopback: what they do together, and what they bear.

#[path = "../addresses/mod.rs"]
mod addresses;
mod changes;
mod checks;
mod client;
mod cluster;
mod crash_loops;
mod ending;
mod floods;
mod full;
mod handshakes;
mod hostile;
mod operators;
#[path = "../ports/mod.rs"]
mod ports;
mod record;
mod requests;
mod rights;
mod strangers;
mod together;
