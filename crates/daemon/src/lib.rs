//! The lock node of Doorway on a real network.

pub mod config;

pub use config::Config;
