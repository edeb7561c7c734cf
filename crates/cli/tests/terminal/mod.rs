//! The real command, as a person or a program meets it.

#![allow(dead_code)] // Each test file uses what it needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use doorway_catalog::Catalog;
use serde_json::Value;

/// Runs the command with the words of a line.
pub fn doorway(line: &str) -> Output {
    doorway_with(&line.split(' ').collect::<Vec<_>>())
}

pub fn doorway_with(words: &[&str]) -> Output {
    let words = words.iter().filter(|word| !word.is_empty());
    Command::new(env!("CARGO_BIN_EXE_doorway")).args(words).output().expect("the command starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the command prints UTF-8")
}

/// What it prints when all is well.
pub fn prints(line: &str) -> String {
    let output = doorway(line);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{line}");
    text(&output.stdout)
}

pub fn json(line: &str) -> Value {
    serde_json::from_str(&prints(line)).expect("it prints JSON")
}

/// The one sentence with which it refuses.
pub fn refusal(words: &[&str]) -> String {
    let output = doorway_with(words);
    let sentence = text(&output.stderr);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(2), String::new()),
        "{words:?}: {sentence}"
    );
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence.strip_prefix("doorway: ").expect("the sentence says who speaks").trim_end().to_owned()
}

pub fn refused(line: &str) -> String {
    refusal(&line.split(' ').collect::<Vec<_>>())
}

pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

pub fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("a file for the test");
    path.to_string_lossy().into_owned()
}

/// The names in the catalog: of the algorithms that are right, and of the specimens.
pub fn names() -> (Vec<&'static str>, Vec<&'static str>) {
    let catalog = Catalog::textbook();
    let (specimens, right): (Vec<_>, Vec<_>) =
        catalog.list().into_iter().partition(|about| about.specimen.is_some());
    let names = |list: Vec<&doorway_core::About>| list.iter().map(|about| about.name).collect();
    (names(right), names(specimens))
}

/// A script that comes out.
pub const SCRIPT: &str =
    "algorithm central\nnodes 3\nrequest 2\ndeliver 2->1 REQUEST\ndeliver 1->2 GRANT\nexpect inside 2\n";
