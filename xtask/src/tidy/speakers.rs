//! Clients and daemons alone speak the protocol between them.
//!
//! A second speaker would have its own idea of welcomes, renewals and restarts: `doorway lock` once had one. Everything else uses
//! `doorway-client`, and takes from `doorway-protocol` only what both sides agree on, such as reasons and the form of a status.

use super::Finding;
use super::source::{SourceFile, line_of, tests_in, words};

/// The crate with the messages, by its name in code.
const PROTOCOL: &str = "doorway_protocol";

/// The members that may send and read messages.
const SPEAKERS: [&str; 3] = ["protocol", "client", "daemon"];

/// What one needs for that: the messages, their frames, and the crate under another name, which would hide both.
const WORDS: [&str; 9] = [
    "ClientMsg",
    "DaemonMsg",
    "frame",
    "length",
    "read",
    "LONGEST_CLIENT_MSG",
    "LONGEST_DAEMON_MSG",
    "self",
    "as",
];

/// Looks for messages and frames in the sources of all other crates, outside of their tests.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    sources.iter().filter(|source| must_not_speak(&source.path)).flat_map(spoken).collect()
}

fn must_not_speak(path: &str) -> bool {
    let Some((member, inside)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else {
        return false;
    };
    inside.starts_with("src/") && !inside.ends_with("/tests.rs") && !SPEAKERS.contains(&member)
}

fn spoken(source: &SourceFile) -> Vec<Finding> {
    let code = source.code();
    let tests = tests_in(&code);
    let is_tested = |at: usize| tests.iter().any(|range| range.contains(&at));
    let named = words(&code).filter(|&(at, word)| word == PROTOCOL && !is_tested(at));
    let mut found = Vec::new();
    for (at, _) in named {
        let items = items(&code, at);
        let forbidden = words(items).find(|(_, word)| WORDS.contains(word)).map(|(_, word)| word);
        let glob = items.contains('*').then_some("*");
        found.extend(forbidden.or(glob).map(|word| finding(source, line_of(&code, at), word)));
    }
    found
}

/// What is taken from the crate that is named here: all of a `use`, or the rest of a path.
fn items(code: &str, at: usize) -> &str {
    let rest = &code[at + PROTOCOL.len()..];
    let is_use = words(&code[..at]).last().is_some_and(|(_, word)| word == "use");
    let is_path = |c: char| c == ':' || c == '_' || c.is_alphanumeric();
    let end = if is_use { rest.find(';') } else { rest.find(|c| !is_path(c)) };
    &rest[..end.unwrap_or(rest.len())]
}

fn finding(source: &SourceFile, line: usize, word: &str) -> Finding {
    let sentence = format!("`{word}` speaks the protocol between client and daemon: use `doorway-client`.");
    Finding::new(&source.path, line, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&[SourceFile::new(path, text)]).into_iter().map(|finding| finding.line).collect()
    }

    const VERB: &str = "crates/cli/src/lock/waiting.rs";

    #[test]
    fn every_way_to_speak_is_found() {
        for text in [
            "use doorway_protocol::ClientMsg;",
            "use doorway_protocol::{Reason,\n    Status, DaemonMsg};",
            "pub use doorway_protocol::*;",
            "use doorway_protocol as words;",
            "use doorway_protocol::{self, Status};",
            "let ask = doorway_protocol::ClientMsg::Alive;",
            "doorway_protocol::frame(&word, 7)",
        ] {
            assert_eq!(found(VERB, &format!("//! It.\n{text}\n")), [2], "{text}");
        }
    }

    #[test]
    fn what_both_sides_agree_on_is_for_all() {
        let text = "\
//! As `doorway_protocol::ClientMsg` says.
use doorway_protocol::{ClientStatus, Reason, Status};
enum Step { ClientMsg }
fn f(loss: doorway_protocol::Loss) -> Step { Step::ClientMsg }
#[cfg(test)]
mod tests {
    use doorway_protocol::{ClientMsg, DaemonMsg};
}
";
        assert!(found(VERB, text).is_empty());
    }

    #[test]
    fn clients_daemons_and_tests_speak() {
        for path in [
            "crates/client/src/session.rs",
            "crates/daemon/src/clients/mod.rs",
            "crates/cli/tests/locks/scripted.rs",
        ] {
            assert!(found(path, "use doorway_protocol::{ClientMsg, DaemonMsg, frame};").is_empty(), "{path}");
        }
    }
}
