//! Every Rust file opens with a header, and no file has a name that says nothing.

use super::Finding;
use super::files::File;
use super::source::SourceFile;

/// Names that promise nothing about what is inside.
const EMPTY_NAMES: [&str; 5] = ["util", "utils", "common", "helpers", "misc"];

/// A Rust file says first what it is for.
pub fn header(source: &SourceFile) -> Option<Finding> {
    let sentence = "The first line of a Rust file is its header, `//! …`, which says what the file is for.";
    (!source.text.starts_with("//!")).then(|| Finding::new(&source.path, 1, sentence))
}

/// No file and no directory has an empty name; a directory is reported once.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut reported: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for file in files {
        let Some((upto, name)) = empty_name(&file.path) else { continue };
        if !reported.contains(&upto) {
            reported.push(upto);
            let sentence = format!("`{name}` is not a name: say what is inside.");
            found.push(Finding::new(&file.path, 1, sentence));
        }
    }
    found
}

/// The first part of a path that is named so, and the path up to it.
fn empty_name(path: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    for part in path.split('/') {
        end += part.len() + 1;
        let stem = part.split('.').next().unwrap_or(part);
        if EMPTY_NAMES.contains(&stem) {
            return Some((&path[..end - 1], stem));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> File {
        File { path: path.to_owned(), text: String::new() }
    }

    #[test]
    fn a_rust_file_opens_with_a_header() {
        assert_eq!(header(&SourceFile::new("a.rs", "//! What it is for.\n")), None);
        for text in ["", "use a;\n//! Late.\n", "// Not a header.\n", "\n//! Late.\n"] {
            assert!(header(&SourceFile::new("a.rs", text)).is_some(), "{text:?}");
        }
    }

    #[test]
    fn names_that_say_something_are_fine() {
        assert!(check(&[file("crates/core/src/set.rs"), file("crates/core/src/utility.rs")]).is_empty());
    }

    #[test]
    fn names_that_say_nothing_are_reported_once_each() {
        let files = [file("src/utils.rs"), file("tests/common/mod.rs"), file("tests/common/net.rs")];
        let paths: Vec<String> = check(&files).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["src/utils.rs", "tests/common/mod.rs"]);
    }
}
