//! A correct algorithm's file knows nothing of the specimens that spoil it.

use super::Finding;
use super::places;
use super::source::{SourceFile, line_of, words};

/// Looks for specimens by word, by number and by fault, in code and comments alike.
pub fn check(source: &SourceFile) -> Vec<Finding> {
    if !places::is_correct(&source.path) {
        return Vec::new();
    }
    let text = &source.text;
    let mentions =
        words(text).filter(|&(at, word)| is_specimen(word) && !says_it_is_none(&text[at + word.len()..]));
    let others = variants(text).filter(|&(_, name)| Some(name) != own_name(text));
    let by_name = others.map(|(at, name)| finding(source, at, name));
    mentions.map(|(at, word)| finding(source, at, word)).chain(by_name).collect()
}

/// The name under which the file stands in the catalog: a correct variant has a slash in its own.
fn own_name(text: &str) -> Option<&str> {
    let (_, name) = text.split_once("name: \"")?;
    name.split('"').next()
}

/// Names such as `maekawa/basic`: words of small letters with a slash between them, where no path begins.
fn variants(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    text.match_indices('/').filter_map(move |(slash, _)| {
        let start = text[..slash].rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let end = text[slash + 1..].find(|c| !is_part(c)).map_or(text.len(), |at| slash + 1 + at);
        let after = text[end..].trim_start_matches('.');
        let has_suffix =
            after.len() < text.len() - end && after.starts_with(|c: char| c.is_ascii_alphabetic());
        let begins_inside = text[..start].ends_with(['/', '.', '_']);
        let is_path = begins_inside || has_suffix || after.starts_with(['/', '_', ':']);
        (start < slash && slash + 1 < end && !is_path).then(|| (start, &text[start..end]))
    })
}

fn finding(source: &SourceFile, at: usize, word: &str) -> Finding {
    let sentence =
        format!("`{word}` belongs to a specimen; a correct algorithm's file does not mention any.");
    Finding::new(&source.path, line_of(&source.text, at), sentence)
}

fn is_specimen(word: &str) -> bool {
    word.to_lowercase().contains("specimen") || word.contains("Fault") || is_number(word)
}

/// `specimen: None` is how a correct algorithm's entry in the catalog says that it is correct.
fn says_it_is_none(rest: &str) -> bool {
    let value = rest.trim_start().strip_prefix(':');
    value.is_some_and(|value| words(value).next().is_some_and(|(_, word)| word == "None"))
}

/// The numbers of specimens in the list of claims: E1 to E29, with a letter or without, B0 and T1.
fn is_number(word: &str) -> bool {
    let Some(digits) = word.strip_prefix('E') else { return matches!(word, "B0" | "T1") };
    let digits = digits.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(digits);
    matches!(digits.len(), 1 | 2) && digits.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let source = SourceFile::new(&format!("crates/algorithms/src/{path}"), text);
        check(&source).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_correct_file_without_specimens_is_fine() {
        let text = "//! Cost 3E+2T, §3.6, C27, M1, E123, ME3.\nimpl Default for X {}\nspecimen: None,\n";
        assert!(found("message/raymond.rs", text).is_empty());
    }

    #[test]
    fn every_kind_of_mention_is_found() {
        let mentions =
            ["E3", "E17b", "E29", "B0", "T1", "Fault", "Faults", "specimen", "Specimen", "maekawa/basic"];
        for mention in mentions {
            for line in [format!("// See {mention}."), format!("f({mention})"), format!("\"{mention}\"")] {
                let text = format!("//! It.\n{line}\n");
                assert_eq!(found("message/raymond.rs", &text), [2], "{line}");
                assert_eq!(found("shared/bakery.rs", &text), [2], "{line}");
            }
        }
        assert_eq!(found("message/raymond.rs", "specimen: Some(S)\n"), [1]);
    }

    #[test]
    fn a_correct_variant_may_say_its_own_name() {
        let text = "//! It.\nname: \"bakery/one-word\",\nf(\"bakery/one-word\")\nf(\"bakery/no-word\")\n";
        assert_eq!(found("shared/bakery_one_word.rs", text), [4]);
    }

    #[test]
    fn elsewhere_specimens_may_be_named() {
        assert!(found("specimens/lazy.rs", "//! E3: Fault\n").is_empty());
    }
}
