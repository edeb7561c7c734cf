//! Daemons on loopback: what they do together, and what they bear.

mod client;
mod cluster;
mod operators;
mod together;
