//! Daemons on loopback: what they do together, and what they bear.

mod changes;
mod checks;
mod client;
mod cluster;
mod full;
mod hostile;
mod operators;
mod record;
mod requests;
mod strangers;
mod together;
