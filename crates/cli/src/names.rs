//! From a name that somebody typed to an algorithm of the catalog.

use doorway_core::{About, Catalog, Refusal};

/// What is told about the algorithm of this name.
///
/// # Errors
/// If there is none, with the names that are nearest.
pub(crate) fn find<'a>(catalog: &'a impl Catalog, name: &str) -> Result<&'a About, Refusal> {
    catalog.about(name).ok_or_else(|| unknown(catalog, name))
}

fn unknown(catalog: &impl Catalog, name: &str) -> Refusal {
    let names: Vec<&str> = catalog.list().iter().map(|about| about.name).collect();
    let guess = match nearest(name, &names)[..] {
        [] => String::new(),
        [one] => format!(" did you mean {one}?"),
        [ref most @ .., last] => format!(" did you mean {} or {last}?", most.join(", ")),
    };
    Refusal::new(format!("there is no algorithm {name:?}:{guess} `doorway algorithms` lists them"))
}

/// At most three names that somebody may have meant, the likeliest first.
fn nearest<'a>(typed: &str, names: &[&'a str]) -> Vec<&'a str> {
    const SHOWN: usize = 3;
    const LIKELY: f64 = 0.8;
    let typed = typed.to_lowercase();
    let mut likely: Vec<(f64, &str)> = names
        .iter()
        .map(|&name| (likeness(&typed, name), name))
        .filter(|(likeness, _)| *likeness > LIKELY)
        .collect();
    likely.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    likely.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// How much a name is like what was typed, or one of its parts is: `agrawala` is a part of `ricart-agrawala`.
fn likeness(typed: &str, name: &str) -> f64 {
    let whole = strsim::jaro_winkler(typed, name);
    let parts = name.split(['-', '/']).map(|part| 0.99 * strsim::jaro_winkler(typed, part));
    parts.fold(whole, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_answered_with_the_near_ones() {
        let catalog = doorway_algorithms::catalog();
        let sentence = |name| unknown(&catalog, name).to_string();
        assert_eq!(
            sentence("ricart"),
            "there is no algorithm \"ricart\": did you mean ricart-agrawala? `doorway algorithms` lists them"
        );
        assert!(sentence("raimond").contains("raymond"), "{}", sentence("raimond"));
        assert!(sentence("trehel").contains("naimi-trehel"));
        assert!(sentence("maekawa/basics").contains("did you mean maekawa/basic"));
        assert_eq!(sentence("zzz"), "there is no algorithm \"zzz\": `doorway algorithms` lists them");
        assert_eq!(sentence(""), "there is no algorithm \"\": `doorway algorithms` lists them");
    }
}
