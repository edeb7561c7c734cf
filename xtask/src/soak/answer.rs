//! The result of a batch of runs, read from the JSON of `doorway chaos`.
//!
//! `xtask` depends on nothing, so this reads no JSON in general: only numbers, maps from names to numbers and lists of names,
//! by their keys. Names have neither quotes nor brackets.

use std::collections::BTreeMap;

/// Names, and how often each was seen.
pub type Counts = BTreeMap<String, u64>;

/// The maps of names to numbers that are summed.
pub const MAPS: [&str; 5] = ["faults", "aimed", "pairs", "rules", "microseconds"];

/// The result of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchResult {
    /// How many runs it had.
    pub runs: u64,
    /// The number of entries.
    pub entries: u64,
    /// How many views were decided.
    pub views: u64,
    /// The longest that anybody waited after the last fault of a run, in microseconds.
    pub slowest_us: u64,
    /// Each map by its key.
    pub maps: BTreeMap<String, Counts>,
    /// The commands that repeat runs in which something was found.
    pub replay: Vec<String>,
}

impl BatchResult {
    /// Reads the printed JSON; `None` if it has another form.
    pub fn read(text: &str) -> Option<Self> {
        let maps = MAPS.map(|key| Some((key.to_owned(), counts(text, key)?)));
        Some(Self {
            runs: number(text, "runs")?,
            entries: number(text, "entries")?,
            views: number(text, "views")?,
            slowest_us: number(text, "slowest_recovery")?,
            maps: maps.into_iter().collect::<Option<_>>()?,
            replay: names(text, "replay")?,
        })
    }
}

/// What follows a key.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("\"{key}\":");
    Some(&text[text.find(&key)? + key.len()..])
}

fn number(text: &str, key: &str) -> Option<u64> {
    let rest = after(text, key)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn counts(text: &str, key: &str) -> Option<Counts> {
    let (inner, _) = after(text, key)?.strip_prefix('{')?.split_once('}')?;
    let pair = |pair: &str| {
        let (name, count) = pair.strip_prefix('"')?.split_once("\":")?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    inner.split_terminator(",\"").map(|part| pair(&format!("\"{}", part.trim_start_matches('"')))).collect()
}

fn names(text: &str, key: &str) -> Option<Vec<String>> {
    let (inner, _) = after(text, key)?.strip_prefix('[')?.split_once(']')?;
    let inner = inner.trim_matches('"');
    Some(inner.split_terminator("\",\"").map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"version":1,"runs":24,"entries":812,"views":9,"faults":{"crash":3,"one-way cut":1},"coverage":{"microseconds":{"virtual time":5},"aimed":{"in a barrier":2},"pairs":{"crash + pause":7,"pause + pause":0},"never_met":["pause + pause"],"rules":{"16 the age rule is not used, as voters have just changed":1},"never_fired":[]},"violations":0,"slowest_recovery":17,"replay":["doorway chaos --seed 1","doorway chaos --seed 2"]}"#;

    #[test]
    fn what_the_command_prints_is_read() {
        let answer = BatchResult::read(PRINTED).expect("it is as printed");
        assert_eq!((answer.runs, answer.entries, answer.views, answer.slowest_us), (24, 812, 9, 17));
        assert_eq!(answer.maps["faults"], [("crash".to_owned(), 3), ("one-way cut".to_owned(), 1)].into());
        assert_eq!(answer.maps["pairs"]["crash + pause"], 7);
        assert_eq!(answer.maps["rules"]["16 the age rule is not used, as voters have just changed"], 1);
        assert_eq!(answer.replay, ["doorway chaos --seed 1", "doorway chaos --seed 2"]);
        let calm = PRINTED
            .replace(r#"{"crash":3,"one-way cut":1}"#, "{}")
            .replace(r#"["doorway chaos --seed 1","doorway chaos --seed 2"]"#, "[]");
        let answer = BatchResult::read(&calm).expect("it is as printed");
        assert_eq!((answer.maps["faults"].len(), answer.replay.len()), (0, 0));
    }

    #[test]
    fn anything_else_is_not() {
        for text in ["", "error: no", r#"{"runs":24}"#, &PRINTED.replace("7", "x"), &PRINTED[..200]] {
            assert_eq!(BatchResult::read(text), None, "{text}");
        }
    }
}
