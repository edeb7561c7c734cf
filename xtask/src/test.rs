//! `cargo xtask test`: everything that a change must pass, part by part, with the time that each takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cargo::{cargo, root, target_directory};
use crate::manifest::{KeyValue, pairs};
use crate::stop::ChoreError;
use crate::{packages, tidy};

/// What `--help` prints.
pub const HELP: &str = "\
Runs all checks and tests in order, stops at the first part that fails, and says how long each part took.

  cargo xtask test                 all parts: fmt, tidy, clippy, tests, features, doctests, docs, examples, loom
  cargo xtask test --only clippy   one part";

/// One part of the whole.
struct Part {
    name: &'static str,
    run: fn() -> Result<(), ChoreError>,
}

/// All parts, the quickest to fail first. Clippy and the documents share the checked dependencies of profile `dev`;
/// tests, their documents' examples and the crates outside share the optimised ones of profile `test`.
const PARTS: [Part; 9] = [
    Part { name: "fmt", run: || cargo(&["fmt", "--all", "--check"], &[]) },
    Part { name: "tidy", run: || tidy::run(&[]) },
    Part { name: "clippy", run: clippy },
    Part { name: "tests", run: tests_of_workspace },
    Part { name: "features", run: features },
    Part { name: "doctests", run: || cargo(&["test", "--workspace", "--locked", "--doc"], &[]) },
    Part { name: "docs", run: docs },
    Part { name: "examples", run: examples },
    Part { name: "loom", run: loom },
];

/// Runs the parts that were asked for.
pub fn run(words: &[String]) -> Result<(), ChoreError> {
    let parts = parts_asked(words)?;
    let (times, outcome) = run_in_order(parts);
    print!("\n{}", table(parts, &times, outcome.is_ok()));
    outcome
}

fn parts_asked(words: &[String]) -> Result<&'static [Part], ChoreError> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('=')).collect();
    match words[..] {
        [] => Ok(&PARTS),
        ["--only", name] => match PARTS.iter().position(|part| part.name == name) {
            Some(at) => Ok(&PARTS[at..=at]),
            None => Err(ChoreError::Usage(format!("There is no part {name}; there are {}.", names()))),
        },
        ["--only"] => Err(ChoreError::Usage(format!("`--only` needs the name of a part: {}.", names()))),
        _ => Err(ChoreError::Usage("`cargo xtask test` takes nothing but `--only PART`.".to_owned())),
    }
}

fn names() -> String {
    PARTS.map(|part| part.name).join(", ")
}

/// The times of the parts that ran, the last of which may have failed.
fn run_in_order(parts: &[Part]) -> (Vec<Duration>, Result<(), ChoreError>) {
    let mut times = Vec::new();
    for part in parts {
        let begun = Instant::now();
        let outcome = (part.run)();
        times.push(begun.elapsed());
        if let Err(stop) = outcome {
            return (times, Err(failure(part, &stop)));
        }
    }
    (times, Ok(()))
}

fn failure(part: &Part, stop: &ChoreError) -> ChoreError {
    let name = part.name;
    let why = stop.to_string();
    let why = why.trim_end_matches('.');
    ChoreError::Failed(format!(
        "The part {name} failed ({why}); repeat it with `cargo xtask test --only {name}`."
    ))
}

/// A line for each part, the total, and how many parts passed and failed.
fn table(parts: &[Part], times: &[Duration], passed: bool) -> String {
    let minutes = |time: &Duration| format!("{:.1} min", time.as_secs_f64() / 60.0);
    let line = |(index, part): (usize, &Part)| match times.get(index) {
        None => format!("{:<9} not run\n", part.name),
        Some(time) if passed || index + 1 < times.len() => {
            format!("{:<9} {:>8}\n", part.name, minutes(time))
        }
        Some(time) => format!("{:<9} {:>8}  failed\n", part.name, minutes(time)),
    };
    let lines: String = parts.iter().enumerate().map(line).collect();
    let failed = usize::from(!passed);
    let passed = times.len() - failed;
    let total = minutes(&times.iter().sum());
    format!("{lines}{:<9} {total:>8}\nparts: {passed} passed, {failed} failed\n", "total")
}

fn clippy() -> Result<(), ChoreError> {
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[])
}

fn tests_of_workspace() -> Result<(), ChoreError> {
    packages::ensure(&packages::PARALLEL);
    packages::ensure(&packages::POSTGRESQL);
    packages::ensure(&packages::SUDO);
    packages::BROWSER.iter().chain(&packages::FAULTS).for_each(packages::ensure);
    // A picture that differs from its snapshot fails, and nothing is written beside it.
    let words = ["test", "--workspace", "--locked", "--tests", "--examples"];
    cargo(&words, &[("INSTA_UPDATE", "no")])
}

/// What is off unless it is asked for, and the locks without `std`.
fn features() -> Result<(), ChoreError> {
    // With the whole workspace, so that all but the laboratory has the features that it was built with for the tests.
    let parquet = ["--features", "doorway-experiments/parquet", "--test", "sweep", "parquet"];
    cargo(&[&["test", "--workspace", "--locked"], &parquet[..]].concat(), &[])?;
    let locks = ["-p", "doorway-locks", "--locked"];
    for features in [&["--all-features"][..], &[], &["--no-default-features"]] {
        let clippy = ["clippy", "--all-targets"];
        cargo(&[&clippy, &locks[..], features, &["--", "-D", "warnings"]].concat(), &[])?;
    }
    cargo(&[&["test", "--lib", "--tests", "--all-features"], &locks[..]].concat(), &[])?;
    cargo(&[&["test", "--lib", "--tests", "--no-default-features"], &locks[..]].concat(), &[])
}

fn docs() -> Result<(), ChoreError> {
    cargo(&["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])
}

/// The locks as they ship, in every order that Rust's memory model allows. Everything below is built anew for loom, so it has
/// a target directory of its own.
fn loom() -> Result<(), ChoreError> {
    let target = target_directory().join("loom").to_string_lossy().into_owned();
    let variables = [("RUSTFLAGS", "--cfg doorway_loom"), ("CARGO_TARGET_DIR", &target)];
    cargo(&["test", "-p", "doorway-locks", "--locked", "--test", "loom"], &variables)
}

/// The crates under `examples/` that are no members of the workspace, as a stranger's would be.
fn examples() -> Result<(), ChoreError> {
    let manifests = manifests_under(&root().join("examples"));
    if manifests.is_empty() {
        println!("\nexamples: there is no examples/*/Cargo.toml, so there is nothing to run.");
    }
    manifests.iter().try_for_each(|manifest| example(manifest))
}

/// Checks and tests one of them, in our target directory and our profile of tests so that dependencies are not built again. Our
/// own crates are dependencies there, too, so they are not optimised: only the algorithm that the example adds runs hot.
fn example(manifest: &Path) -> Result<(), ChoreError> {
    let path = manifest.strip_prefix(root()).unwrap_or(manifest).to_string_lossy().into_owned();
    let ours = fs::read_to_string(root().join("Cargo.toml"));
    let ours = ours.map_err(|error| ChoreError::Failed(format!("Cargo.toml cannot be read: {error}.")))?;
    let lock = fs::read_to_string(manifest.with_file_name("Cargo.lock")).unwrap_or_default();
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let profile = profile_of_tests(&ours, &lock);
    let locked: &[&str] = if lock.is_empty() { &[] } else { &["--locked"] };
    let target = target_directory().to_string_lossy().into_owned();
    let cargo = |arguments: &[&[&str]]| cargo(&arguments.concat(), &[("CARGO_TARGET_DIR", &target)]);
    let profile: Vec<&str> = profile.iter().flat_map(|setting| ["--config", setting]).collect();
    let manifest: &[&str] = &["--manifest-path", &path];
    cargo(&[&["fmt", "--check"], manifest])?;
    cargo(&[&["clippy", "--all-targets", "--no-deps"], manifest, locked, &["--", "-D", "warnings"]])?;
    if !has_blanks(&text) {
        return cargo(&[&["test"], manifest, locked, &profile]);
    }
    // Built apart, so that a failure below is a failure of the tests.
    cargo(&[&["test", "--no-run"], manifest, locked, &profile])?;
    match cargo(&[&["test", "--no-fail-fast"], manifest, locked, &profile]) {
        Ok(()) => {
            Err(ChoreError::Failed(format!("The tests of {path} pass although its blanks are not filled.")))
        }
        Err(_) => {
            println!("\n{path}: the tests fail, as they must while there are blanks.");
            Ok(())
        }
    }
}

/// Whether an example is homework whose tests fail until its blanks are filled.
fn has_blanks(manifest: &str) -> bool {
    let is_said = |pair: &KeyValue| pair.is_at("package.metadata.doorway.tests-fail");
    pairs(manifest).iter().any(|pair| is_said(pair) && pair.value.as_bool() == Some(true))
}

/// The settings of the workspace's profile `test`, as cargo's `--config` takes them: for all packages alike, and for those that
/// the example's own `Cargo.lock` has, because cargo warns of others.
fn profile_of_tests(manifest: &str, lock: &str) -> Vec<String> {
    let setting = |pair: KeyValue| {
        let ["profile", "test", keys @ ..] = &pair.path.iter().map(String::as_str).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let (keys, known) = match keys {
            ["package", "*", rest @ ..] => (format!("package.\"*\".{}", rest.join(".")), true),
            ["package", package, ..] => (keys.join("."), lock.contains(&format!("name = \"{package}\""))),
            _ => (keys.join("."), true),
        };
        known.then(|| format!("profile.test.{keys}={}", pair.value))
    };
    pairs(manifest).into_iter().filter_map(setting).collect()
}

fn manifests_under(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let manifests = entries.map(|entry| entry.path().join("Cargo.toml"));
    let mut found: Vec<PathBuf> = manifests.filter(|manifest| manifest.is_file()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Part = Part { name: "good", run: || Ok(()) };
    const BAD: Part = Part { name: "bad", run: || Err(ChoreError::Failed("`cargo x` failed.".to_owned())) };

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn all_parts_or_one_can_be_asked_for() {
        assert_eq!(parts_asked(&[]).map(<[Part]>::len), Ok(PARTS.len()));
        for line in ["--only clippy", "--only=clippy"] {
            let asked = parts_asked(&words(line)).map(|parts| parts[0].name);
            assert_eq!(asked, Ok("clippy"));
        }
    }

    #[test]
    fn anything_else_is_bad_usage() {
        for line in ["--only", "--only lint", "clippy", "--only fmt tidy"] {
            assert!(matches!(parts_asked(&words(line)), Err(ChoreError::Usage(_))), "{line} was accepted");
        }
    }

    #[test]
    fn the_first_failure_stops_the_run_and_says_how_to_repeat_it() {
        let (times, outcome) = run_in_order(&[GOOD, BAD, GOOD]);
        assert_eq!(times.len(), 2);
        let sentence =
            "The part bad failed (`cargo x` failed); repeat it with `cargo xtask test --only bad`.";
        assert_eq!(outcome, Err(ChoreError::Failed(sentence.to_owned())));
    }

    #[test]
    fn the_table_tells_what_passed_failed_and_did_not_run() {
        let times = [Duration::from_secs(24), Duration::from_secs(60)];
        let shown = table(&[GOOD, BAD, GOOD], &times, false);
        let expected = "\
good       0.4 min
bad        1.0 min  failed
good      not run
total      1.4 min
parts: 1 passed, 1 failed
";
        assert_eq!(shown, expected);
        assert!(table(&[GOOD, GOOD], &times, true).ends_with("parts: 2 passed, 0 failed\n"));
    }

    #[test]
    fn the_help_names_every_part() {
        assert!(HELP.contains(&names()));
    }

    #[test]
    fn only_homework_has_tests_that_must_fail() {
        let blanks = |name: &str| {
            let manifest = root().join("examples").join(name).join("Cargo.toml");
            has_blanks(&fs::read_to_string(manifest).expect("it is there"))
        };
        assert_eq!(["homework", "homework-solution", "own-algorithm"].map(blanks), [true, false, false]);
    }

    #[test]
    fn examples_are_built_with_the_profile_of_our_tests() {
        let manifest = "[profile.test]\nopt-level = 3\n[profile.dev]\nopt-level = 0\n\
                        [profile.test.package]\n\"*\".opt-level = 0\nserde.opt-level = 3\nxtask.opt-level = 1\n";
        let lock = "[[package]]\nname = \"serde\"\n";
        let expected = [
            "profile.test.opt-level=3",
            "profile.test.package.\"*\".opt-level=0",
            "profile.test.package.serde.opt-level=3",
        ];
        assert_eq!(profile_of_tests(manifest, lock), expected);
    }
}
