//! From a typed name to an algorithm of the catalog.

use doorway_catalog::Catalog;
use doorway_core::shared::AboutProgram;
use doorway_core::{About, Refusal, Specimen};

use crate::typed::Typed;

/// What a name can stand for.
pub(crate) enum Named<'a> {
    /// An algorithm that sends messages.
    Algorithm(&'a About),
    /// A program over shared memory.
    Program(&'a AboutProgram),
}

/// What is told about the algorithm or program of this name.
///
/// # Errors
/// If there is none, with the names that are nearest.
pub(crate) fn find_any<'a>(catalog: &'a Catalog, typed: &Typed, name: &str) -> Result<Named<'a>, Refusal> {
    let algorithm = catalog.about(name).map(Named::Algorithm);
    let found = algorithm.or_else(|| catalog.about_program(name).map(Named::Program));
    found.ok_or_else(|| unknown(catalog, &typed.program, name))
}

/// What is told about the algorithm of this name, which sends messages.
///
/// # Errors
/// If there is none, with the names that are nearest.
pub(crate) fn find<'a>(catalog: &'a Catalog, typed: &Typed, name: &str) -> Result<&'a About, Refusal> {
    match find_any(catalog, typed, name)? {
        Named::Algorithm(about) => Ok(about),
        Named::Program(about) => {
            let (name, program) = (about.name, &typed.program);
            Err(Refusal::new(format!(
                "{name} sends no messages, it shares memory: `{program} check {name}` explores it"
            )))
        }
    }
}

fn unknown(catalog: &Catalog, program: &str, name: &str) -> Refusal {
    let algorithms = catalog.list().into_iter().map(|about| about.name);
    let names: Vec<&str> = algorithms.chain(catalog.programs().iter().map(|about| about.name)).collect();
    let numbered = with_number(catalog, name);
    let near = if numbered.is_empty() { nearest(name, &names) } else { numbered };
    let guess = match near[..] {
        [] => String::new(),
        [one] => format!(" did you mean {one}?"),
        [ref most @ .., last] => format!(" did you mean {} or {last}?", most.join(", ")),
    };
    Refusal::new(format!("there is no algorithm {name:?}:{guess} `{program} algorithms` lists them"))
}

/// The specimens that have this number in the list of claims: `E3`.
fn with_number<'a>(catalog: &'a Catalog, number: &str) -> Vec<&'a str> {
    let algorithms = catalog.list().into_iter().map(|about| (about.name, about.specimen));
    let programs = catalog.programs().into_iter().map(|about| (about.name, about.specimen));
    let has_it = |specimen: Option<Specimen>| specimen.is_some_and(|it| it.id.eq_ignore_ascii_case(number));
    algorithms.chain(programs).filter(|(_, specimen)| has_it(*specimen)).map(|(name, _)| name).collect()
}

/// At most three similar names, the likeliest first. A word without `/` means no specimen, if
/// anything else is near.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    const SHOWN: usize = 3;
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(usize, &str)> =
        names.iter().filter_map(|&name| Some((distance(&wanted, name)?, name))).collect();
    let is_right = |(_, name): &(usize, &str)| !name.contains('/');
    if !wanted.contains('/') && near.iter().any(is_right) {
        near.retain(is_right);
    }
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// How far a name is from what was wanted; none if it is too different. A word of at least three letters
/// matches a name that contains it. One letter in three may be wrong, in the name or in one of its parts. A specimen
/// matches by its name with the slash, or by all that stands after the slash.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    const PART: usize = 3;
    let letters = wanted.chars().count();
    if letters < PART {
        return None;
    }
    let wrong_letters = |word| Some(strsim::osa_distance(wanted, word)).filter(|wrong| 3 * wrong <= letters);
    if let Some((_, fault)) = name.split_once('/').filter(|_| !wanted.contains('/')) {
        return wrong_letters(fault);
    }
    if name.contains(wanted) {
        return Some(0);
    }
    let parts = name.split(['-', '/']).filter_map(wrong_letters).map(|wrong| wrong + 1);
    parts.chain(wrong_letters(name)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_answered_with_the_near_ones() {
        let catalog = Catalog::textbook();
        let sentence = |name| unknown(&catalog, "doorway", name).to_string();
        assert_eq!(
            sentence("ricart"),
            "there is no algorithm \"ricart\": did you mean ricart-agrawala? `doorway algorithms` lists them"
        );
        assert!(sentence("raimond").contains("raymond"), "{}", sentence("raimond"));
        assert!(sentence("trehel").contains("naimi-trehel"));
        assert!(sentence("maekawa/basics").contains("did you mean maekawa/basic"));
        assert!(sentence("no-chaise").contains("did you mean singhal/no-chase?"));
        assert!(sentence("Tréhel").contains("naimi-trehel"));
        assert!(sentence("centarl").contains("did you mean central?"));
    }

    #[test]
    fn the_number_of_a_specimen_is_answered_with_its_name() {
        let catalog = Catalog::textbook();
        let sentence = unknown(&catalog, "doorway", "e25").to_string();
        assert!(sentence.contains("did you mean bakery/maximum-by-position?"), "{sentence}");
        assert!(unknown(&catalog, "doorway", "E3").to_string().contains("maekawa/no-failed-when-overtaken"));
    }

    #[test]
    fn a_name_that_is_like_none_is_answered_with_none() {
        let catalog = Catalog::textbook();
        for name in ["nothing", "zzz", "no", "a", "", "lock", "mutex", "paxos", "something-else-entirely"] {
            let sentence = format!("there is no algorithm {name:?}: `doorway algorithms` lists them");
            assert_eq!(unknown(&catalog, "doorway", name).to_string(), sentence);
        }
    }
}
