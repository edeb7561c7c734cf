//! Quotes words for a shell.

/// Joins words into one line that a shell splits into the same words.
#[must_use]
pub fn joined(words: &[impl AsRef<str>]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// A word, in quotes if a shell would change it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,@=+%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted() {
        assert_eq!(quoted("1,2|3@1..2"), "'1,2|3@1..2'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(joined(&["a", "--latency=uniform:5:15", "b c"]), "a --latency=uniform:5:15 'b c'");
    }
}
