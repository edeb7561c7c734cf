//! Crates that only compute use nothing of a particular operating system, so that they run in a browser as well.

use std::env;
use std::path::Path;
use std::process::Command;

use super::Finding;
use super::source::{SourceFile, line_of, tests_in};
use crate::cargo::cargo;
use crate::stop::ChoreError;

/// The members that may use Unix: those that talk to sockets, processes and files of a machine.
const MAY_USE_UNIX: [&str; 4] = ["cli", "client", "daemon", "doorway"];

/// How a file uses Unix.
const UNIX: [&str; 4] = ["std::os::", "rustix::", "nix::", "libc::"];

/// The packages that compute.
const PORTABLE: [&str; 9] = [
    "doorway-core",
    "doorway-quorums",
    "doorway-algorithms",
    "doorway-trace",
    "doorway-simulator",
    "doorway-checker",
    "doorway-catalog",
    "doorway-experiments",
    "doorway-picture",
];

/// What a browser runs.
const TARGET: &str = "wasm32-unknown-unknown";

/// Looks for the first use of Unix in every source outside of the members that may, tests excepted.
pub fn check(sources: &[SourceFile]) -> Vec<Finding> {
    sources.iter().filter_map(unix).collect()
}

fn unix(source: &SourceFile) -> Option<Finding> {
    let (member, rest) = source.path.strip_prefix("crates/")?.split_once('/')?;
    if MAY_USE_UNIX.contains(&member) || !rest.starts_with("src/") {
        return None;
    }
    let code = source.code();
    let tests = tests_in(&code);
    let is_used = |at: &usize| {
        let is_whole = !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        is_whole && !tests.iter().any(|range| range.contains(at))
    };
    let places = UNIX.iter().flat_map(|word| code.match_indices(word)).map(|(at, _)| at);
    let at = places.filter(is_used).min()?;
    let sentence = format!("Only {} use a particular system; `{member}` must not.", MAY_USE_UNIX.join(", "));
    Some(Finding::new(&source.path, line_of(&code, at), sentence))
}

/// Checks that what computes builds for a browser, where the compiler has that target.
pub fn check_target() -> Result<(), ChoreError> {
    if !is_installed() {
        println!("tidy: the target {TARGET} is not installed, so builds for it are not checked");
        return Ok(());
    }
    let packages = PORTABLE.iter().flat_map(|name| ["--package", name]);
    let words: Vec<&str> = ["check", "--locked", "--target", TARGET].into_iter().chain(packages).collect();
    cargo(&words, &[])
}

fn is_installed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout);
        output.status.success() && Path::new(folder.trim()).is_dir()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&[SourceFile::new(path, text)]).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn unix_is_found_outside_of_the_members_that_may_use_it() {
        for bad in ["use std::os::unix::fs::MetadataExt;", "fn f() { rustix::process::getpid(); }"] {
            let text = format!("//! It.\n{bad}\n");
            assert_eq!(found("crates/node/src/a.rs", &text), [2], "{bad}");
            for member in MAY_USE_UNIX {
                assert!(found(&format!("crates/{member}/src/a.rs"), &text).is_empty(), "{member}");
            }
        }
    }

    #[test]
    fn tests_comments_and_other_words_are_fine() {
        let path = "crates/node/src/a.rs";
        assert!(found(path, "// std::os::unix is not used\nlet s = \"nix::\";\nunix::f();").is_empty());
        assert!(found(path, "#[cfg(test)]\nmod tests { use std::os::fd::AsFd; }").is_empty());
        assert!(found("crates/node/tests/a.rs", "use std::os::fd::AsFd;").is_empty());
    }
}
