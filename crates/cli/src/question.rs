//! Questions to whoever sits at the terminal.

use std::io::{self, BufRead, Write};

use doorway_core::Refusal;

/// Whether a question is answered with yes.
///
/// # Errors
/// If nobody answers.
pub(crate) fn confirmed(question: &str) -> Result<bool, Refusal> {
    let answer = answer(question)?;
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}

/// What is answered to a question, in one line.
///
/// # Errors
/// If nobody answers.
pub(crate) fn answer(question: &str) -> Result<String, Refusal> {
    let mut err = io::stderr();
    let mut line = String::new();
    let asked = write!(err, "{question}").and_then(|()| err.flush());
    let heard = asked.and_then(|()| io::stdin().lock().read_line(&mut line));
    heard.map_err(|error| Refusal::new(format!("nobody can be asked: {error}")))?;
    Ok(line.trim().to_owned())
}
