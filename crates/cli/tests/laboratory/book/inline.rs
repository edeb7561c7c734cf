//! Commands in the text of a page, between backquotes: they are not run, but their verbs and options must exist.

use std::collections::BTreeMap;

use super::{PAGES, read};
use crate::terminal::prints;

/// Verbs whose first word is a verb too, as in `doorway cluster init`.
const FAMILIES: [&str; 3] = ["cluster", "sweep", "trace"];

/// The commands between backquotes, without `doorway` and without the reader's own command after `--`.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let mut is_in_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_in_block = !is_in_block;
        } else if !is_in_block {
            let spans = line.split('`').skip(1).step_by(2);
            let typed = spans.filter_map(|span| span.strip_prefix("doorway "));
            found.extend(typed.map(|words| words.split(' ').take_while(|word| *word != "--").collect()));
        }
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|one| one == word)
}

/// The verb of a command, with its second word where that is a verb too.
fn verb(words: &[&str]) -> String {
    match words {
        [family, verb, ..] if FAMILIES.contains(family) && verb.starts_with(char::is_lowercase) => {
            format!("{family} {verb}")
        }
        [verb, ..] => (*verb).to_owned(),
        [] => String::new(),
    }
}

#[test]
fn a_command_in_the_text_has_a_verb_and_options_that_exist() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    for path in PAGES {
        let page = read(path);
        for words in commands(&page) {
            let verb = verb(&words);
            let help = helps.entry(verb.clone()).or_insert_with(|| prints(&format!("{verb} --help")));
            for option in words.iter().filter(|word| word.starts_with("--")) {
                assert!(has_word(help, option), "{path}: `doorway {}` has no {option}", words.join(" "));
            }
        }
    }
}

#[test]
fn commands_in_the_text_are_found_without_what_they_run() {
    let page = "Type `doorway lock NAME -- cp --all`, or `cargo`.\n```sh\n`doorway x`\n```\n`doorway cluster add lab --dry`\n";
    assert_eq!(commands(page), [vec!["lock", "NAME"], vec!["cluster", "add", "lab", "--dry"]]);
    assert_eq!(verb(&["cluster", "add", "lab"]), "cluster add");
    assert_eq!(verb(&["sweep", "--out"]), "sweep");
    assert!(has_word("--nodes <N>", "--nodes") && !has_word("--nodes-of <N>", "--nodes"));
}
