//! The rules of the view change and the code that keeps them name each other.
//!
//! `docs/views.md` states each rule in a paragraph that begins with `**R15. Quiet time.**`, and says `(not built yet)` in the first line of one
//! that is only planned. The node cites a rule by a comment that begins with its number: `// R15: quiet time`.

use std::collections::BTreeMap;

use super::Finding;
use super::files::File;
use super::source::{SourceFile, TokenKind, line_of, words};

/// Where the rules are stated.
const RULES: &str = "docs/views.md";

/// Where they are kept.
const KEPT: &str = "crates/node/src/";

/// A rule as the document states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    line: usize,
    is_built: bool,
}

/// Holds the numbers that comments of the node name against those of the document, and the other way round.
pub fn check(files: &[File], sources: &[SourceFile]) -> Vec<Finding> {
    let text = files.iter().find(|file| file.path == RULES).map_or("", |file| &file.text);
    let (rules, mut found) = stated(text);
    let mut cited = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with(KEPT)) {
        found.extend(unknown(source, &rules));
        cited.extend(citations(source));
    }
    let is_kept = |number: &u32| cited.contains(number);
    let missing = rules.iter().filter(|(number, rule)| rule.is_built && !is_kept(number));
    found.extend(missing.map(|(number, rule)| {
        let sentence = format!(
            "No comment under {KEPT} cites this rule: mark the line that keeps it with `// R{number}: …`, or say `(not built yet)` here."
        );
        Finding::new(RULES, rule.line, sentence)
    }));
    found
}

/// The rules by number, and those that are stated twice.
fn stated(text: &str) -> (BTreeMap<u32, Rule>, Vec<Finding>) {
    let (mut rules, mut twice) = (BTreeMap::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let Some((_, word)) = line.strip_prefix("**").and_then(|rest| words(rest).next()) else { continue };
        let Some(number) = number(word).filter(|_| line.starts_with(&format!("**{word}."))) else { continue };
        let rule = Rule { line: index + 1, is_built: !line.contains("(not built yet)") };
        if let Some(first) = rules.insert(number, rule) {
            let sentence = format!("Rule {number} is stated in line {} already.", first.line);
            twice.push(Finding::new(RULES, rule.line, sentence));
        }
    }
    (rules, twice)
}

/// Numbers in comments, documentation included, that are no rule's or a planned one's.
fn unknown(source: &SourceFile, rules: &BTreeMap<u32, Rule>) -> Vec<Finding> {
    let comments = source.only(&[TokenKind::Comment, TokenKind::Doc]);
    let named = words(&comments).filter_map(|(at, word)| Some((at, number(word)?)));
    let wrong = named.filter_map(|(at, number)| {
        let sentence = match rules.get(&number) {
            Some(Rule { is_built: true, .. }) => return None,
            Some(_) => format!("Rule {number} is cited, but {RULES} says that it is not built yet."),
            None => format!("There is no rule {number} in {RULES}."),
        };
        Some(Finding::new(&source.path, line_of(&comments, at), sentence))
    });
    wrong.collect()
}

/// The rules that comments begin with. Documentation may mention a rule, but cites none.
fn citations(source: &SourceFile) -> impl Iterator<Item = u32> {
    let comments = source.only(&[TokenKind::Comment]);
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix("// ")?;
        number(rest.split_once(':')?.0)
    };
    let cited: Vec<u32> = comments.lines().filter_map(begins).collect();
    cited.into_iter()
}

/// The number of a rule: `R15`.
fn number(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('R').filter(|digits| digits.chars().all(|c| c.is_ascii_digit()))?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWS: &str = "# Views\n\n**R1. Clock.** It ticks.\n\n**R2. Beats.** They count (R1).\n**R9. Far** (not built yet). Later.\n";
    const BOTH: &str = "//! It.\n// R1: clock\nfn f() {} // R2: beats\n";

    /// The findings as `path:line` with the first words, for this document and this file of the node.
    fn found(views: &str, code: &str) -> Vec<String> {
        let files = [File { path: RULES.to_owned(), text: views.to_owned() }];
        let sources = [SourceFile::new("crates/node/src/lease.rs", code)];
        let told = |finding: Finding| {
            let words: Vec<&str> = finding.sentence.split(' ').take(3).collect();
            format!("{}:{}: {}", finding.path, finding.line, words.join(" "))
        };
        check(&files, &sources).into_iter().map(told).collect()
    }

    #[test]
    fn rules_that_are_stated_and_cited_are_fine() {
        assert_eq!(found(VIEWS, BOTH), [""; 0]);
    }

    #[test]
    fn a_built_rule_that_no_code_cites_is_reported() {
        for code in [
            "//! It.\n// R1: clock\n",
            "//! R2: beats.\n// R1: clock\n",
            "//! It.\n// R1: clock\n/// R2: beats\nfn f() {}\n",
            "//! It.\n// R1: clock\n// as R2: says\n",
            "//! It.\n// R1: clock\n// R2 beats\n",
            "//! It.\n// R1: clock\nf(\"// R2: beats\");\n",
        ] {
            assert_eq!(found(VIEWS, code), ["docs/views.md:5: No comment under"], "{code}");
        }
    }

    #[test]
    fn a_number_that_is_no_rules_is_reported_in_every_comment() {
        for line in ["// R3: what", "/// As R3 says.", "// see (R3)"] {
            let code = format!("{BOTH}{line}\nfn g() {{}}\n");
            assert_eq!(found(VIEWS, &code), ["crates/node/src/lease.rs:4: There is no"], "{line}");
        }
        for line in ["let R3 = 3;", "f(\"R3\");", "// R3D2, RFC 3, XR3, R"] {
            assert_eq!(found(VIEWS, &format!("{BOTH}{line}\n")), [""; 0], "{line}");
        }
    }

    #[test]
    fn a_rule_that_is_not_built_is_not_cited() {
        let code = format!("{BOTH}// R9: far\n");
        assert_eq!(found(VIEWS, &code), ["crates/node/src/lease.rs:4: Rule 9 is"]);
    }

    #[test]
    fn a_rule_that_is_stated_twice_is_reported() {
        let views = format!("{VIEWS}**R1. Clock.** Again.\n");
        assert_eq!(found(&views, BOTH), ["docs/views.md:7: Rule 1 is"]);
    }

    #[test]
    fn only_the_nodes_own_code_cites() {
        let files = [File { path: RULES.to_owned(), text: VIEWS.to_owned() }];
        let elsewhere =
            SourceFile::new("crates/checker/src/lib.rs", "// R1: clock\n// R2: beats\n// R3: what\n");
        assert_eq!(check(&files, &[elsewhere]).len(), 2, "both rules are cited nowhere");
    }

    #[test]
    fn without_the_document_every_citation_is_reported() {
        let sources = [SourceFile::new("crates/node/src/lease.rs", BOTH)];
        assert_eq!(check(&[], &sources).len(), 2);
    }

    #[test]
    fn our_own_document_states_every_rule_once() {
        let text = std::fs::read_to_string(crate::cargo::root().join(RULES)).expect("it is there");
        let (rules, twice) = stated(&text);
        assert_eq!(twice, []);
        assert!(rules.keys().copied().eq(1..=rules.len() as u32), "{rules:?}");
    }
}
