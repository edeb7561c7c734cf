//! How far a soak has come, in a small file that is replaced after each batch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::answer::{Answer, Counts};
use crate::stop::Stop;

/// How far a soak has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The first seed.
    pub first: u64,
    /// How many runs are to be made, if that was asked for.
    pub goal: Option<u64>,
    /// How many batches were made.
    pub batches: u64,
    /// How many runs that were.
    pub runs: u64,
    /// How often somebody was let in.
    pub entries: u64,
    /// How much virtual time that was, in microseconds.
    pub virtual_us: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What was seen, as the command tells it.
    pub maps: BTreeMap<String, Counts>,
}

/// The first line of the file, and the last, without which it was cut.
const FIRST: &str = "doorway soak 1";
const LAST: &str = "end";

impl State {
    /// Nothing was made yet.
    pub fn new(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// One batch more; all together have taken so long.
    pub fn add(&mut self, answer: &Answer, elapsed: Duration) {
        self.batches += 1;
        self.runs += answer.runs;
        self.entries += answer.entries;
        for (key, counts) in &answer.maps {
            let sum = self.maps.entry(key.clone()).or_default();
            counts.iter().for_each(|(name, count)| *sum.entry(name.clone()).or_default() += count);
        }
        self.virtual_us = self.count("microseconds", "virtual time");
        self.elapsed = elapsed;
    }

    fn count(&self, key: &str, name: &str) -> u64 {
        self.maps.get(key).and_then(|map| map.get(name)).copied().unwrap_or_default()
    }

    /// What was seen, and by name what was not.
    pub fn coverage(&self) -> String {
        let share = |name| (self.count("microseconds", name) * 100).checked_div(self.virtual_us).unwrap_or(0);
        let (one, two) = (share("under one fault"), share("under two faults"));
        let mut told =
            format!("{one} % of the virtual time under faults, {two} % under two or more at once\n");
        for (key, title) in [("faults", "faults"), ("aimed", "aimed at moments"), ("rules", "rules")] {
            told += &format!("\n{title}\n");
            let mut rows: Vec<(&String, &u64)> = self.maps.get(key).into_iter().flatten().collect();
            rows.sort_by_key(|(name, _)| (number_of(name), (*name).clone()));
            rows.iter().for_each(|(name, count)| told += &format!("{count:>12}  {name}\n"));
        }
        told + &self.missed("rules", "rules that never fired")
            + &self.missed("pairs", "pairs of faults that never met")
    }

    /// The names that were never seen, and how many were.
    fn missed(&self, key: &str, title: &str) -> String {
        let all: Vec<(&String, &u64)> = self.maps.get(key).into_iter().flatten().collect();
        let never: Vec<&str> =
            all.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str()).collect();
        let named = if never.is_empty() { "none".to_owned() } else { never.join("; ") };
        format!("\n{title}: {} of {}: {named}\n", never.len(), all.len())
    }

    /// As lines, each a word and what it says.
    fn text(&self) -> String {
        let mut text = format!("{FIRST}\nfirst {}\n", self.first);
        if let Some(goal) = self.goal {
            let _ = writeln!(text, "goal {goal}");
        }
        let Self { batches, runs, entries, virtual_us, .. } = self;
        let elapsed = self.elapsed.as_millis();
        let _ = write!(
            text,
            "batches {batches}\nruns {runs}\nentries {entries}\nvirtual {virtual_us}\nelapsed {elapsed}\n"
        );
        for (key, counts) in &self.maps {
            for (name, count) in counts {
                let _ = writeln!(text, "count {key}\t{name}\t{count}");
            }
        }
        text + LAST + "\n"
    }

    /// What such lines say, or nothing if they are damaged.
    fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix(FIRST)?.strip_prefix('\n')?;
        let inner = inner.strip_suffix('\n')?.strip_suffix(LAST)?;
        let (mut state, mut seen) = (Self::default(), 0);
        for line in inner.lines() {
            let (word, said) = line.split_once(' ')?;
            if word == "count" {
                state.parse_count(said)?;
                continue;
            }
            let number: u64 = said.parse().ok()?;
            match word {
                "first" => state.first = number,
                "goal" => state.goal = Some(number),
                "batches" => state.batches = number,
                "runs" => state.runs = number,
                "entries" => state.entries = number,
                "virtual" => state.virtual_us = number,
                "elapsed" => state.elapsed = Duration::from_millis(number),
                _ => return None,
            }
            seen += usize::from(word != "goal");
        }
        (seen == 6).then_some(state)
    }

    fn parse_count(&mut self, said: &str) -> Option<()> {
        let mut parts = said.split('\t');
        let (key, name, count) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        self.maps.entry(key.to_owned()).or_default().insert(name.to_owned(), count);
        parts.next().is_none().then_some(())
    }
}

/// The number that a name begins with, so that rules are in order.
fn number_of(name: &str) -> u64 {
    name.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Puts a state in the place of the one before it: whoever is ended meanwhile leaves the one or the other.
///
/// # Errors
/// If it cannot be written.
pub fn write(file: &Path, state: &State) -> Result<(), Stop> {
    let new = file.with_extension("state.new");
    let put = || {
        let mut open = File::create(&new)?;
        open.write_all(state.text().as_bytes())?;
        open.sync_all()?;
        fs::rename(&new, file)
    };
    put().map_err(|error| Stop::Failed(format!("{} cannot be written: {error}.", file.display())))
}

/// The state that was written last.
///
/// # Errors
/// If there is none, or it is damaged.
pub fn read(file: &Path) -> Result<State, Stop> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| {
        Stop::Failed(format!("There is nothing to resume, as {shown} cannot be read: {error}."))
    })?;
    let damaged =
        || Stop::Failed(format!("{shown} is damaged: remove it and begin again, without `--resume`."));
    State::parse(&text).ok_or_else(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(runs: u64) -> Answer {
        let map =
            |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let maps = [
            (
                "microseconds",
                map(&[("virtual time", 100), ("under one fault", 60), ("under two faults", 25)]),
            ),
            ("pairs", map(&[("crash + pause", 2), ("crash + loss", 0)])),
            ("rules", map(&[("16 the age rule", 0), ("2 a heartbeat", 7)])),
            ("aimed", map(&[("in a barrier", 1)])),
            ("faults", map(&[("crash", 4)])),
        ];
        let maps = maps.into_iter().map(|(key, counts)| (key.to_owned(), counts)).collect();
        Answer { runs, entries: 10, maps, replay: Vec::new() }
    }

    fn state() -> State {
        let mut state = State { goal: Some(100), ..State::new(17) };
        state.add(&answer(24), Duration::from_millis(1_500));
        state.add(&answer(24), Duration::from_millis(2_500));
        state
    }

    #[test]
    fn batches_add_up() {
        let state = state();
        assert_eq!((state.batches, state.runs, state.entries, state.virtual_us), (2, 48, 20, 200));
        assert_eq!(state.maps["pairs"]["crash + pause"], 4);
        assert_eq!(state.elapsed, Duration::from_millis(2_500));
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let file = std::env::temp_dir().join(format!("doorway-soak-{}.state", std::process::id()));
        for state in [state(), State::new(3)] {
            write(&file, &state).expect("it can be written");
            assert_eq!(read(&file), Ok(state));
        }
        fs::remove_file(&file).expect("it is there");
        let nothing = read(&file).expect_err("it is gone").to_string();
        assert!(nothing.starts_with("There is nothing to resume, as "), "{nothing}");
    }

    #[test]
    fn a_damaged_state_is_refused_with_a_sentence() {
        let whole = state().text();
        let cut = (0..whole.len() - 1).map(|length| whole[..length].to_owned());
        let wrong = ["runs 48", "count pairs", "first", "elapsed 2500", "\t4\n"];
        let wrong = wrong.map(|part| whole.replacen(part, "nonsense", 1));
        for text in cut.chain(wrong).chain([whole.clone() + "more\n", "\0\0\0".to_owned()]) {
            assert_eq!(State::parse(&text), None, "{text}");
        }
        let file = std::env::temp_dir().join(format!("doorway-soak-damaged-{}.state", std::process::id()));
        fs::write(&file, &whole[..40]).expect("it can be written");
        let refused = read(&file).expect_err("it is cut").to_string();
        fs::remove_file(&file).expect("it is there");
        let expected = " is damaged: remove it and begin again, without `--resume`.";
        assert!(refused.ends_with(expected) && refused.matches(". ").count() == 0, "{refused}");
    }

    #[test]
    fn what_was_missed_is_named() {
        let told = state().coverage();
        assert!(told.starts_with("60 % of the virtual time under faults, 25 % under two or more at once\n"));
        assert!(
            told.contains("\nrules\n          14  2 a heartbeat\n           0  16 the age rule\n"),
            "{told}"
        );
        assert!(told.contains("\nrules that never fired: 1 of 2: 16 the age rule\n"), "{told}");
        assert!(told.contains("\npairs of faults that never met: 1 of 2: crash + loss\n"), "{told}");
    }
}
