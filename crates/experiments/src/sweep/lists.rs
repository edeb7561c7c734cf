//! Lists as people type them: `4,8,16`, `2..32`, `4..64:4`, `2..1024:x2`.

use doorway_core::Refusal;

/// A longer list is refused: no axis of a sweep has so many values.
const MOST_VALUES: u64 = 100_000;

/// The items between the commas.
pub(super) fn between_commas(word: &str) -> Vec<String> {
    word.split(',').map(|item| item.trim().to_owned()).collect()
}

/// The items between those commas after which a letter comes, so that `wall:1,2` is one of `grid,wall:1,2,plane`. The name of
/// a file is never taken apart.
pub(super) fn before_letters(word: &str) -> Vec<String> {
    if word.starts_with("file:") {
        return vec![word.to_owned()];
    }
    let mut items: Vec<String> = Vec::new();
    for part in word.split(',').map(str::trim) {
        match items.last_mut() {
            Some(last) if !part.starts_with(|letter: char| letter.is_ascii_alphabetic()) => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_owned()),
        }
    }
    items
}

/// The word as it is.
pub(super) fn whole(word: &str) -> Vec<String> {
    vec![word.trim().to_owned()]
}

/// The numbers of an item: a number, or a range from the first to the last, both included, with a step or a factor.
///
/// # Errors
/// If it is neither, or has too many numbers.
pub(super) fn numbers(item: &str) -> Result<Vec<u64>, Refusal> {
    let refusal = || {
        Refusal::new(format!(
            "{item:?} is neither a whole number nor a range: 8, 2..32, 4..64:4 (in steps of 4) or 2..1024:x2 (doubled)"
        ))
    };
    let number = |digits: &str| digits.trim().parse::<u64>().map_err(|_| refusal());
    let Some((first, rest)) = item.split_once("..") else { return Ok(vec![number(item)?]) };
    let (last, pace) = rest.split_once(':').unwrap_or((rest, "1"));
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(Refusal::new(format!("{item:?} ends before it begins: {last}..{first} would be right")));
    }
    let next = match pace.strip_prefix('x') {
        Some(factor) => Pace::Factor(number(factor)?),
        None => Pace::Step(number(pace)?),
    };
    if matches!(next, Pace::Step(0) | Pace::Factor(0 | 1)) || (first == 0 && matches!(next, Pace::Factor(_)))
    {
        return Err(Refusal::new(format!(
            "{item:?} would never come to its end: take a step from 1 on, or a factor above 1 that begins above 0"
        )));
    }
    let values =
        std::iter::successors(Some(first), |&value| next.after(value).filter(|&value| value <= last));
    limited(item, values)
}

/// How a range goes on.
enum Pace {
    Step(u64),
    Factor(u64),
}

impl Pace {
    fn after(&self, value: u64) -> Option<u64> {
        match self {
            Pace::Step(step) => value.checked_add(*step),
            Pace::Factor(factor) => value.checked_mul(*factor),
        }
    }
}

fn limited(item: &str, values: impl Iterator<Item = u64>) -> Result<Vec<u64>, Refusal> {
    let values: Vec<u64> = values.take(MOST_VALUES as usize + 1).collect();
    if values.len() as u64 > MOST_VALUES {
        return Err(Refusal::new(format!(
            "{item:?} has more than {MOST_VALUES} values: take larger steps, as in 1..1000000:x10"
        )));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends_a_step_or_a_factor() {
        assert_eq!(numbers("8"), Ok(vec![8]));
        assert_eq!(numbers("2..5"), Ok(vec![2, 3, 4, 5]));
        assert_eq!(numbers("4..14:4"), Ok(vec![4, 8, 12]));
        assert_eq!(numbers("2..1024:x2").map(|values| values.len()), Ok(10));
        assert_eq!(numbers("3..3"), Ok(vec![3]));
        let last = u64::MAX;
        assert_eq!(numbers(&format!("{}..{last}", last - 1)), Ok(vec![last - 1, last]));
        assert_eq!(numbers("1..100000").map(|values| values.len()), Ok(100_000));
    }

    #[test]
    fn ranges_without_end_or_sense_are_refused() {
        let refused = |item: &str| numbers(item).expect_err(item).to_string();
        for item in ["", "x", "-1", "1..", "..3", "1...3", "1..x", "1..9:", "1..9:y2", "1..9:x", "2.5"] {
            assert!(refused(item).contains("8, 2..32, 4..64:4"), "{item}: {}", refused(item));
        }
        assert_eq!(refused("9..2"), "\"9..2\" ends before it begins: 2..9 would be right");
        for item in ["1..9:0", "1..9:x1", "1..9:x0", "0..9:x2"] {
            let told =
                "never come to its end: take a step from 1 on, or a factor above 1 that begins above 0";
            assert!(refused(item).contains(told), "{item}: {}", refused(item));
        }
        assert!(refused("0..100000").contains("more than 100000 values"));
        assert!(refused("0..18446744073709551615").contains("more than 100000 values"));
    }

    #[test]
    fn words_with_commas_stay_whole() {
        assert_eq!(before_letters("grid,wall:1,2,plane"), ["grid", "wall:1,2", "plane"]);
        assert_eq!(before_letters("weighted:3,1,1"), ["weighted:3,1,1"]);
        assert_eq!(before_letters("file:a,b"), ["file:a,b"]);
        assert_eq!(between_commas("4, 8"), ["4", "8"]);
    }
}
