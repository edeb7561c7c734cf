//! The lines of a file that ask for an exception: `// tidy: allow length, because …`.

use super::Finding;
use super::source::{SourceFile, TokenKind};

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// A function or a file may be longer than others.
    AllowLength,
    /// A file stands beside the algorithms and is none.
    NotAnAlgorithm,
}

impl Exception {
    const ALL: [Exception; 2] = [Exception::AllowLength, Exception::NotAnAlgorithm];

    fn words(self) -> &'static str {
        match self {
            Exception::AllowLength => "allow length",
            Exception::NotAnAlgorithm => "not an algorithm",
        }
    }
}

/// The lines, from 1, that ask for this exception and give a reason.
pub fn of(source: &SourceFile, wanted: Exception) -> Vec<usize> {
    let asked = requests(source).into_iter();
    asked.filter(|&(_, found)| found == Some(wanted)).map(|(line, _)| line).collect()
}

/// A line that asks for nothing we know, or gives no reason, is to mend: it would be a silent mistake.
pub fn check(source: &SourceFile) -> Vec<Finding> {
    let sentence =
        "A `// tidy:` line says `allow length, because …` or `not an algorithm, because …`, with a reason.";
    let wrong = requests(source).into_iter().filter(|(_, found)| found.is_none());
    wrong.map(|(line, _)| Finding::new(&source.path, line, sentence)).collect()
}

/// Every `// tidy:` line with what it asks for, if that can be understood.
fn requests(source: &SourceFile) -> Vec<(usize, Option<Exception>)> {
    let comments = source.only(&[TokenKind::Comment]);
    let lines = comments.lines().enumerate();
    let asked = lines.filter_map(|(index, line)| {
        let request = line.trim().strip_prefix("// tidy:")?;
        Some((index + 1, understood(request)))
    });
    asked.collect()
}

fn understood(request: &str) -> Option<Exception> {
    let (what, reason) = request.split_once(", because")?;
    let has_reason = reason.starts_with(' ') && reason.contains(char::is_alphanumeric);
    Exception::ALL.into_iter().find(|exception| has_reason && exception.words() == what.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(line: &str) -> SourceFile {
        SourceFile::new("a.rs", &format!("//! A.\n{line}\n"))
    }

    #[test]
    fn a_request_with_a_reason_is_heard() {
        let asked = source("    // tidy: allow length, because it is one table.");
        assert_eq!(of(&asked, Exception::AllowLength), [2]);
        assert!(of(&asked, Exception::NotAnAlgorithm).is_empty() && check(&asked).is_empty());
        let support = source("// tidy: not an algorithm, because two of them share it.");
        assert_eq!(of(&support, Exception::NotAnAlgorithm), [2]);
    }

    #[test]
    fn a_request_without_a_reason_is_to_mend() {
        for line in
            ["allow length", "allow length, because", "allow length, because …", "allow lenght, because x"]
        {
            let asked = source(&format!("// tidy: {line}"));
            assert_eq!(check(&asked).len(), 1, "{line}");
            assert!(of(&asked, Exception::AllowLength).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_request_in_a_string_is_none() {
        assert!(check(&source("const A: &str = \"\n// tidy: allow\n\";")).is_empty());
    }
}
