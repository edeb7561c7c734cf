//! The lock node of Doorway on a real network.

#[cfg(feature = "found")]
pub mod certificates;
pub mod config;
#[cfg(feature = "found")]
pub mod founding;
pub mod identity;

pub use config::Config;
