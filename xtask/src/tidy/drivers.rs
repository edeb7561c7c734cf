//! Drivers do not name algorithms.

use super::Finding;
use super::places::{self, AlgorithmPage};
use super::source::{SourceFile, TokenKind, line_of, tests_in, words};

/// Names of algorithms that are ordinary words or name a clock as well: they count only as a whole string.
const ORDINARY: [&str; 5] = ["central", "lamport", "fast", "ring", "tournament"];

/// Looks for the names of all algorithms in what drivers run and in what they tell their authors. Documentation may
/// name an algorithm as an example, tests must.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let pages: Vec<AlgorithmPage<'_>> =
        sources.iter().filter_map(places::algorithm).filter(is_telling).collect();
    let drivers = sources.iter().filter(|source| places::is_driver(&source.path));
    drivers.flat_map(|source| mentions(source, &pages)).collect()
}

/// A specimen with a name of one word may be called after what it shows, and drivers speak of that.
fn is_telling(page: &AlgorithmPage<'_>) -> bool {
    page.shelf != "specimens" || page.stem.contains('_')
}

fn mentions(source: &SourceFile, pages: &[AlgorithmPage<'_>]) -> Vec<Finding> {
    let text = without_tests(source);
    let names = words_and_dashes(&text).filter(|&(at, name)| {
        let is_string = text[..at].ends_with('"') && text[at + name.len()..].starts_with('"');
        pages.iter().any(|page| is_name_of(name, page.stem) && (is_string || !ORDINARY.contains(&page.stem)))
    });
    names.map(|(at, name)| finding(source, line_of(&text, at), name)).collect()
}

fn finding(source: &SourceFile, line: usize, name: &str) -> Finding {
    let sentence = format!("`{name}` is an algorithm, and a driver knows none by name.");
    Finding::new(&source.path, line, sentence)
}

/// Code, strings and comments, but neither documentation nor tests.
fn without_tests(source: &SourceFile) -> String {
    let mut text = source.only(&[TokenKind::Code, TokenKind::Literal, TokenKind::Comment]);
    for range in tests_in(&source.code()) {
        let blank: String = text[range.clone()].chars().map(blanked).collect();
        text.replace_range(range, &blank);
    }
    text
}

/// The same length in blanks; a line stays a line.
fn blanked(c: char) -> String {
    if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) }
}

/// Words, where those that only a dash divides are one: `ricart-agrawala`.
fn words_and_dashes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut words = words(text).peekable();
    std::iter::from_fn(move || {
        let (start, word) = words.next()?;
        let mut end = start + word.len();
        while let Some((_, next)) = words.next_if(|&(at, _)| &text[end..at] == "-") {
            end += 1 + next.len();
        }
        Some((start, &text[start..end]))
    })
}

/// `ricart_agrawala`, `RicartAgrawala`, `RICART_AGRAWALA` and `ricart-agrawala` are one name.
fn is_name_of(name: &str, stem: &str) -> bool {
    let letters = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    letters(name) == letters(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let algorithms = ["message/ricart_agrawala.rs", "message/central.rs", "specimens/deadlock.rs"];
        let paths = algorithms.map(|path| format!("crates/algorithms/src/{path}"));
        let mut sources: Vec<SourceFile> =
            paths.iter().map(|path| SourceFile::new(path, "//! It.\n")).collect();
        sources.push(SourceFile::new(path, text));
        check(&sources).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_way_to_name_an_algorithm_is_found() {
        for name in ["ricart_agrawala", "RicartAgrawala", "\"ricart-agrawala\"", "// As RicartAgrawala does."]
        {
            for driver in ["simulator", "checker", "node"] {
                let path = format!("crates/{driver}/src/engine.rs");
                assert_eq!(found(&path, &format!("//! It.\n{name}\n")), [2], "{name}");
            }
        }
        assert_eq!(found("crates/simulator/src/lib.rs", "if name == \"central\" {}"), [1]);
    }

    #[test]
    fn documentation_tests_and_ordinary_words_are_fine() {
        let text = "\
//! As RicartAgrawala does.
/// Runs `ricart_agrawala`.
fn run(central: Queue) {} // The central queue sees a deadlock.
fn ricart_agrawala_like() {}
#[cfg(test)]
mod tests {
    // É
    fn t() { run(\"ricart-agrawala\") }
}
";
        assert!(found("crates/simulator/src/lib.rs", text).is_empty());
    }

    #[test]
    fn other_crates_may_name_algorithms() {
        for path in ["crates/cli/src/lib.rs", "crates/simulator/tests/runs.rs"] {
            assert!(found(path, "use ricart_agrawala;").is_empty());
        }
    }
}
