//! What clap says when the arguments make no sense, as one sentence; and the words that take more than clap to read.

use clap::error::ErrorKind;
use doorway_core::{NodeId, Refusal};
use doorway_terminal::sentence;

use crate::Answer;

/// Help that was asked for is an answer; everything else is refused.
pub(crate) fn answer(error: &clap::Error) -> Result<Answer, Refusal> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Answer::holds(error.to_string())),
        _ => Err(Refusal::new(sentence(error))),
    }
}

/// The number of a node.
pub(crate) fn node(word: &str) -> Result<NodeId, Refusal> {
    let node = word.parse().ok().and_then(NodeId::from_number);
    node.ok_or_else(|| Refusal::new(format!("{word:?} is not the number of a node: nodes count from 1")))
}

/// A choice by its name: `tree=star`.
pub(crate) fn named(word: &str) -> Result<(String, String), Refusal> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Refusal::new(format!("{word:?} is not NAME=VALUE, as in tree=star"))),
    }
}
