//! What clap says when the arguments make no sense, as one sentence; and the words that take more than clap to read.

use std::error::Error;
use std::str::FromStr;

use clap::error::{ContextKind, ErrorKind};
use doorway_core::{NodeId, Refusal};

use crate::Answer;

/// Help that was asked for is an answer; everything else is refused.
pub(crate) fn answer(error: &clap::Error) -> Result<Answer, Refusal> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Answer::holds(error.to_string())),
        _ => Err(Refusal::new(sentence(error))),
    }
}

fn sentence(error: &clap::Error) -> String {
    match (error.source(), error.get(ContextKind::InvalidArg)) {
        (Some(reason), Some(argument)) => {
            let argument = argument.to_string();
            let flag = argument.split(' ').next().unwrap_or_default();
            format!("{flag}: {reason}")
        }
        _ => joined(&error.to_string()),
    }
}

/// The lines of clap's message up to its usage, as one line.
fn joined(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let told =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut sentence = String::new();
    for line in told.filter(|line| !line.is_empty()) {
        let (between, line) = match line.strip_prefix("tip: ") {
            Some(tip) => ("; ", tip),
            None => (" ", line),
        };
        if !sentence.is_empty() {
            sentence.push_str(between);
        }
        sentence.push_str(line);
    }
    let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
    if message.contains("tip: ") {
        sentence.to_owned()
    } else {
        format!("{sentence}; --help shows what is right")
    }
}

/// A whole number.
pub(crate) fn whole<T: FromStr>(word: &str) -> Result<T, Refusal> {
    let all_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().map_err(|_| match all_digits {
        true => Refusal::new(format!("{word} is too large a number")),
        false => Refusal::new(format!("{word:?} is not a whole number, such as 5")),
    })
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
