//! The chores of this repository: `cargo xtask test`, `tidy`, `bench`, `fuzz`, `soak`.

mod bench;
mod cargo;
mod fuzz;
mod manifest;
mod packages;
mod soak;
mod stop;
mod test;
mod tidy;

use std::process::ExitCode;

use stop::ChoreError;

/// One thing that can be asked of `cargo xtask`.
struct Verb {
    name: &'static str,
    about: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<(), ChoreError>,
}

/// All that can be asked; the help is made from it.
const VERBS: [Verb; 5] = [
    Verb { name: "test", about: "run all checks and tests, in order", help: test::HELP, run: test::run },
    Verb { name: "tidy", about: "check what a machine can of the style", help: tidy::HELP, run: tidy::run },
    Verb { name: "bench", about: "run the benchmarks", help: bench::HELP, run: bench::run },
    Verb { name: "fuzz", about: "let libFuzzer knock at a node's door", help: fuzz::HELP, run: fuzz::run },
    Verb { name: "soak", about: "let clusters suffer for a long time", help: soak::HELP, run: soak::run },
];

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match obey(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("{stop}");
            stop.code()
        }
    }
}

fn obey(words: &[String]) -> Result<(), ChoreError> {
    let Some((first, rest)) = words.split_first() else { return Err(ChoreError::Usage(help())) };
    if is_help(first) {
        println!("{}", help());
        return Ok(());
    }
    let verb = VERBS.iter().find(|verb| verb.name == first).ok_or_else(|| unknown(first))?;
    if rest.iter().any(|word| is_help(word)) {
        println!("{}", verb.help);
        return Ok(());
    }
    (verb.run)(rest)
}

fn is_help(word: &str) -> bool {
    matches!(word, "--help" | "-h" | "help")
}

fn unknown(word: &str) -> ChoreError {
    let known: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    ChoreError::Usage(format!("There is no `cargo xtask {word}`; there are {}.", known.join(", ")))
}

fn help() -> String {
    let lines = VERBS.iter().map(|verb| format!("  cargo xtask {:<6} {}\n", verb.name, verb.about));
    let list: String = lines.collect();
    format!(
        "The chores of this repository.\n\n{list}\n`cargo xtask test --help` says more, as for every one of them."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn an_unknown_verb_is_bad_usage_in_one_sentence() {
        let Err(ChoreError::Usage(sentence)) = obey(&words("polish")) else {
            panic!("`polish` was accepted")
        };
        assert_eq!(sentence, "There is no `cargo xtask polish`; there are test, tidy, bench, fuzz, soak.");
    }

    #[test]
    fn no_verb_is_bad_usage_and_shows_every_verb() {
        let Err(ChoreError::Usage(text)) = obey(&[]) else { panic!("nothing was accepted") };
        assert!(VERBS.iter().all(|verb| text.contains(verb.name)));
    }

    #[test]
    fn help_can_be_asked_of_everything() {
        assert!(obey(&words("--help")).is_ok());
        for verb in &VERBS {
            assert!(obey(&words(&format!("{} --help", verb.name))).is_ok());
            assert!(verb.help.contains(&format!("cargo xtask {}", verb.name)));
        }
    }
}
