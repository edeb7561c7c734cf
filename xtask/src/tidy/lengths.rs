//! Limits on the length of files and functions.

use std::ops::RangeInclusive;

use super::Finding;
use super::exceptions::{self, Exception};
use super::places::{self, AlgorithmPage};
use super::source::{Function, SourceFile, functions, item_end, line_of, tests_in, words};

/// The lines of an algorithm.
const ALGORITHM: usize = 120;
/// The lines of an algorithm whose paper needs more pages.
const LONG_ALGORITHM: usize = 220;
/// The lines of any file, tests included.
const FILE: usize = 500;
/// The lines of a function.
const FUNCTION: usize = 60;

const LONG_ALGORITHMS: [&str; 4] = ["maekawa", "sanders", "singhal", "cao_singhal"];

/// Finds files and functions that are too long without an exception.
pub fn check(source: &SourceFile) -> Vec<Finding> {
    let code = source.code();
    let functions = functions(&code);
    let granted = exceptions::of(source, Exception::AllowLength);
    let spans: Vec<RangeInclusive<usize>> =
        functions.iter().map(|function| with_lines_above(source, function)).collect();
    let is_for_file = |line: &usize| !spans.iter().any(|span| span.contains(line));

    let mut found = Vec::new();
    if !granted.iter().any(is_for_file) {
        found.extend(too_long_algorithm(source, &code));
        found.extend(too_long(source, code.lines().count(), FILE, "file"));
    }
    for (function, span) in functions.iter().zip(&spans) {
        if !granted.iter().any(|line| span.contains(line)) {
            found.extend(too_long_function(source, function));
        }
    }
    found
}

fn too_long_algorithm(source: &SourceFile, code: &str) -> Option<Finding> {
    let page = places::algorithm(source)?;
    too_long(source, lines_of_algorithm(code), limit_of(page), "algorithm")
}

fn too_long(source: &SourceFile, lines: usize, limit: usize, what: &str) -> Option<Finding> {
    let sentence = || {
        format!(
            "This {what} has {lines} lines, more than {limit}: shorten it, or say `// tidy: allow length, because …`."
        )
    };
    (lines > limit).then(|| Finding::new(&source.path, limit + 1, sentence()))
}

fn too_long_function(source: &SourceFile, function: &Function) -> Option<Finding> {
    let lines = function.last - function.first + 1;
    let sentence = || {
        let name = &function.name;
        format!(
            "`{name}` has {lines} lines, more than {FUNCTION}: split it, or say `// tidy: allow length, because …` in it."
        )
    };
    (lines > FUNCTION).then(|| Finding::new(&source.path, function.first, sentence()))
}

/// A specimen may be as long as what it spoils, whose name it begins with.
fn limit_of(page: AlgorithmPage<'_>) -> usize {
    let is_of = |name: &str| match page.stem.strip_prefix(name) {
        Some("") => true,
        Some(rest) => page.shelf == "specimens" && rest.starts_with('_'),
        None => false,
    };
    if LONG_ALGORITHMS.iter().any(|name| is_of(name)) { LONG_ALGORITHM } else { ALGORITHM }
}

/// The lines of the paper's page: without imports, down to the appendix. The appendix begins at `mod proof;`, or, in one
/// file with the page, at `impl Explain` or at a program's `fields`.
fn lines_of_algorithm(code: &str) -> usize {
    let appendix = words(code).find(|&(at, word)| {
        let next = words(&code[at..]).nth(1).map_or("", |(_, name)| name);
        match word {
            "mod" => next == "proof",
            "impl" => is_of_explain(&code[at..]),
            "fn" => next == "fields",
            _ => false,
        }
    });
    let lines = appendix.map_or_else(|| lines_without_tests(code), |(at, _)| line_of(code, at) - 1);
    lines - lines_of_imports(code.lines().take(lines))
}

fn lines_of_imports<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let mut is_inside = false;
    lines
        .filter(|line| {
            let is_import = is_inside || line.starts_with("use ");
            is_inside = is_import && !line.trim_end().ends_with(';');
            is_import
        })
        .count()
}

fn is_of_explain(implementation: &str) -> bool {
    let head = implementation.split('{').next().unwrap_or_default();
    let mut words = words(head).map(|(_, word)| word).skip_while(|&word| word != "Explain").skip(1);
    words.next() == Some("for")
}

/// The lines down to the tests, if they are the last that the file has.
fn lines_without_tests(code: &str) -> usize {
    let is_last = |at: usize| code[item_end(code, at)..].trim().is_empty();
    match tests_in(code).into_iter().find(|tests| is_last(tests.start)) {
        Some(tests) => line_of(code, tests.start) - 1,
        None => code.lines().count(),
    }
}

/// A function's lines and the comments and attributes directly above it.
fn with_lines_above(source: &SourceFile, function: &Function) -> RangeInclusive<usize> {
    let lines: Vec<&str> = source.text.lines().take(function.first - 1).collect();
    let is_above = |line: &&&str| line.trim_start().starts_with("//") || line.trim_start().starts_with('#');
    let above = lines.iter().rev().take_while(is_above).count();
    function.first - above..=function.last
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAYMOND: &str = "crates/algorithms/src/message/raymond.rs";
    const MAEKAWA: &str = "crates/algorithms/src/message/maekawa.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        let found = check(&SourceFile::new(path, text));
        found.into_iter().map(|finding| finding.sentence).collect()
    }

    fn lines(many: usize) -> String {
        "//! A line.\n".repeat(many)
    }

    fn function(lines: usize) -> String {
        format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2))
    }

    #[test]
    fn files_have_a_limit() {
        for (path, limit) in [(RAYMOND, 120), (MAEKAWA, 220), ("crates/core/src/set.rs", 500)] {
            assert!(found(path, &lines(limit)).is_empty());
            assert_eq!(found(path, &lines(limit + 1)).len(), 1, "{path}");
        }
    }

    #[test]
    fn a_specimen_has_the_limit_of_what_it_spoils() {
        let limit = |shelf, stem| limit_of(AlgorithmPage { shelf, stem });
        assert_eq!(limit("specimens", "maekawa_basic"), 220);
        assert_eq!(limit("specimens", "raymond_basic"), 120);
        assert_eq!(limit("message", "singhal_simple"), 120);
    }

    #[test]
    fn what_an_algorithm_tells_about_itself_is_not_counted() {
        for head in ["impl Explain for R {", "impl<Q: Copy> doorway_core::Explain for R<Q> {"] {
            let text = format!("{}{head}\n{}}}\n", lines(120), "    // More.\n".repeat(50));
            assert!(found(RAYMOND, &text).is_empty(), "{head}");
        }
        let other = format!("{}impl Hints for R {{}}\n", lines(120));
        assert_eq!(found(RAYMOND, &other).len(), 1);
    }

    #[test]
    fn what_follows_mod_proof_is_not_counted() {
        for head in ["mod proof;", "pub(super) mod proof;"] {
            let text = format!("{}{head}\n{}", lines(120), function(20));
            assert!(found(RAYMOND, &text).is_empty(), "{head}");
        }
        let other = format!("{}mod tree;\n", lines(120));
        assert_eq!(found(RAYMOND, &other).len(), 1);
    }

    #[test]
    fn imports_are_not_counted() {
        let imports = "use core::{\n    A,\n    B,\n};\nuse serde::C;\n";
        assert!(found(RAYMOND, &format!("{imports}{}", lines(120))).is_empty());
        assert_eq!(found(RAYMOND, &format!("{imports}{}", lines(121))).len(), 1);
    }

    #[test]
    fn an_appendix_has_the_limit_of_any_file() {
        let proof = "crates/algorithms/src/message/raymond/proof.rs";
        assert!(found(proof, &lines(500)).is_empty());
        assert_eq!(found(proof, &lines(501)).len(), 1);
    }

    #[test]
    fn what_a_program_tells_about_itself_is_not_counted() {
        let bakery = "crates/algorithms/src/shared/bakery.rs";
        let text = format!("{}fn fields(&self) {{\n}}\n{}", lines(120), lines(50));
        assert!(found(bakery, &text).is_empty());
        assert_eq!(found(bakery, &text.replace("fields", "figures")).len(), 1);
    }

    #[test]
    fn tests_count_for_a_file_and_not_for_an_algorithm() {
        let tests = "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert!(found("a.rs", &format!("{}{tests}", lines(496))).is_empty());
        assert_eq!(found("a.rs", &format!("{}{tests}", lines(497))).len(), 1);
        assert!(found(RAYMOND, &format!("{}{tests}", lines(120))).is_empty());
        assert_eq!(found(RAYMOND, &format!("{}{tests}fn after() {{}}\n", lines(120))).len(), 1);
    }

    #[test]
    fn an_algorithm_with_its_appendix_has_the_limit_of_any_file() {
        let text = format!("{}mod proof;\n{}", lines(120), lines(379));
        assert!(found(RAYMOND, &text).is_empty());
        assert_eq!(found(RAYMOND, &format!("{text}{}", lines(1))).len(), 1);
    }

    #[test]
    fn functions_have_a_limit() {
        assert!(found("a.rs", &function(60)).is_empty());
        let sentences = found("a.rs", &function(61));
        assert!(sentences.len() == 1 && sentences[0].starts_with("`f` has 61 lines"), "{sentences:?}");
    }

    #[test]
    fn a_function_can_ask_above_or_inside() {
        let ask = "// tidy: allow length, because it is one table.\n";
        let above = format!("/// It.\n{ask}#[inline]\n{}", function(61));
        let inside = function(61).replacen('\n', &format!("\n    {ask}"), 1);
        for text in [&above, &inside] {
            assert!(found("a.rs", text).is_empty());
            assert_eq!(
                found("a.rs", &format!("{text}\n{}", lines(500))).len(),
                1,
                "the file is still too long"
            );
        }
    }

    #[test]
    fn a_file_can_ask_and_its_functions_must_ask_themselves() {
        let ask = "// tidy: allow length, because it is one table.\n\n";
        assert!(found("a.rs", &format!("{}{ask}", lines(500))).is_empty());
        assert_eq!(found("a.rs", &format!("{}{ask}{}", lines(500), function(61))).len(), 1);
    }
}
