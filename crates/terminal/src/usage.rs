//! What is wrong with the words of a command line, in one sentence.

use std::error::Error;
use std::str::FromStr;

use clap::error::ContextKind;
use doorway_core::Refusal;

/// Clap's complaint as one sentence that names the flag.
#[must_use]
pub fn sentence(error: &clap::Error) -> String {
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
///
/// # Errors
/// If the word is none, or too large for its type.
pub fn whole<T: FromStr>(word: &str) -> Result<T, Refusal> {
    let all_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().map_err(|_| match all_digits {
        true => Refusal::new(format!("{word} is too large a number")),
        false => Refusal::new(format!("{word:?} is not a whole number, such as 5")),
    })
}
