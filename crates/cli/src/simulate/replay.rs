//! The one command that replays a run.

use doorway_simulator::shell::quoted;

use crate::typed::Typed;

/// What was typed, with this seed and one run only; words with blanks or bars are quoted for the shell.
pub(super) fn command(typed: &Typed, seed: u64) -> String {
    let mut words = vec![quoted(&typed.program)];
    let mut rest = typed.words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = rest.next() {
        let flag = word.split('=').next().unwrap_or_default();
        match flag {
            "--seed" | "--runs" | "--threads" | "--trace" | "--svg" | "--spacing" | "--theme" => {
                if flag == word {
                    rest.next();
                }
            }
            "--json" => {}
            _ => words.push(quoted(&word)),
        }
    }
    words.extend(["--seed".to_owned(), seed.to_string()]);
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn seed_and_number_of_runs_are_replaced_and_all_else_stays() {
        let typed = "/bin/doorway simulate lamport --runs 100 --seed=3 --threads 2 --json --channels any";
        let typed = Typed::new(typed.split(' ').map(OsString::from));
        assert_eq!(command(&typed, 17), "doorway simulate lamport --channels any --seed 17");
    }

    #[test]
    fn a_program_that_extends_the_catalog_is_called_by_its_own_name() {
        let typed = Typed::new(["target/own-algorithm", "simulate", "martin"].map(OsString::from));
        assert_eq!(command(&typed, 3), "own-algorithm simulate martin --seed 3");
    }
}
