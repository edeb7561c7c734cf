//! The engine with machines of the tests' own: what happens when, on which host, over which link. What every algorithm does in it
//! is tested beside the catalog.

mod engine;
mod hosts;
mod links;
mod probe;
mod sections;

/// What people type, read.
fn typed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().expect("what people type")
}
