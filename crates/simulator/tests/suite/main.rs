//! Tests the engine with test machines: timing, hosts and links. The catalog's tests run every algorithm in
//! it.

mod engine;
mod hosts;
mod links;
mod probe;
mod sections;

/// Parses a word.
fn typed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().expect("a valid word")
}
