//! Prose on a terminal.

use std::io;

use doorway_core::Channels;
use terminal_size::{Width, terminal_size_of};

/// The columns that tables may use: those of the terminal, or of `COLUMNS`, or 100.
#[must_use]
pub fn width() -> usize {
    const LEAST: usize = 40;
    let of_terminal = || terminal_size_of(io::stdout()).map(|(Width(columns), _)| usize::from(columns));
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal().or_else(of_environment).unwrap_or(100).max(LEAST)
}

/// The columns for prose: long lines are hard to read.
#[must_use]
pub fn prose_width() -> usize {
    width().min(100)
}

/// Breaks a text between words. Every line but the first begins with `indent` blanks.
#[must_use]
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    wrap_from(0, text, width, indent)
}

/// A prefix that is kept as it is, and after it a text that is wrapped and goes on below its own beginning, `hang` columns further in.
#[must_use]
pub fn wrap_after(prefix: &str, text: &str, width: usize, hang: usize) -> String {
    let column = prefix.chars().count();
    format!("{prefix}{}", wrap_from(column, text, width, column + hang))
}

/// The same for a text that begins in a later column, because something stands before it.
fn wrap_from(begin: usize, text: &str, width: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut column = begin;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if wrapped.is_empty() {
            column += length;
        } else if column + 1 + length <= width {
            wrapped.push(' ');
            column += 1 + length;
        } else {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            column = indent + length;
        }
        wrapped.push_str(word);
    }
    wrapped
}

/// A term and what it means, with the meaning in a column of its own.
#[must_use]
pub fn item(term: &str, meaning: &str, column: usize, width: usize) -> String {
    let length = 2 + term.chars().count();
    let gap = " ".repeat(column.saturating_sub(length).max(2));
    format!("  {term}{gap}{}", wrap_from(length + gap.len(), meaning, width, column))
}

/// A number with at most three decimals.
#[must_use]
pub fn decimal(number: f64) -> String {
    let digits = format!("{number:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with three digits that count, if it is less than one; else as above.
#[must_use]
pub fn rate(number: f64) -> String {
    if number <= 0.0 || number >= 1.0 {
        return decimal(number);
    }
    let zeros = (-number.log10()).floor() as usize;
    let digits = format!("{number:.*}", zeros + 3);
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Channels that deliver in this order.
#[must_use]
pub fn channels(order: Channels) -> String {
    match order {
        Channels::Any => "channels of any order".to_owned(),
        Channels::Fifo | Channels::Causal => format!("{} channels", order.name()),
    }
}

/// A count and its noun: `1 node`, `2 nodes`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A number of processes: `1 process`, `3 processes`.
#[must_use]
pub fn processes(count: usize) -> String {
    format!("{count} {}", if count == 1 { "process" } else { "processes" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_never_exceed_the_width() {
        assert_eq!(wrap("one two three", 7, 0), "one two\nthree");
        assert_eq!(wrap("one two three", 8, 2), "one two\n  three");
        assert_eq!(wrap("  one\n two ", 80, 0), "one two");
        assert_eq!(wrap("", 80, 0), "");
    }

    #[test]
    fn meanings_stand_in_a_column() {
        assert_eq!(item("ask", "one two three", 7, 14), "  ask  one two\n       three");
        assert_eq!(item("a longer term", "one", 7, 80), "  a longer term  one");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([8.0, 2.5, 0.066_666, 0.0].map(decimal), ["8", "2.5", "0.067", "0"]);
        assert_eq!(
            [0.1, 0.066_666, 0.000_04, 1.0, 0.999_9].map(rate),
            ["0.1", "0.0667", "0.00004", "1", "1"]
        );
        assert_eq!((counted(1, "node"), counted(0, "node")), ("1 node".to_owned(), "0 nodes".to_owned()));
    }
}
