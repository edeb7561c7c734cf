//! Deliberately wrong variants, kept because each shows something and proves that tests and checker can fail.

pub mod lamport;
pub mod maekawa;
pub mod ricart_agrawala;
