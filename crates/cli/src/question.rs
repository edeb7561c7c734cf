//! Questions to the user at the terminal.

use std::io::{self, BufRead, Write};

use doorway_core::Refusal;

/// Whether the user answers a question with yes.
///
/// # Errors
/// If the answer cannot be read.
pub(crate) fn confirmed(question: &str) -> Result<bool, Refusal> {
    let answer = answer(question)?;
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}

/// The user's answer to a question, one line.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn answer(question: &str) -> Result<String, Refusal> {
    let mut err = io::stderr();
    let mut line = String::new();
    let asked = write!(err, "{question}").and_then(|()| err.flush());
    let heard = asked.and_then(|()| io::stdin().lock().read_line(&mut line));
    heard.map_err(|error| Refusal::new(format!("the confirmation cannot be read: {error}")))?;
    Ok(line.trim().to_owned())
}
