//! How far a soak has come, in a small file that is replaced after each batch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::Duration;

use super::answer::{BatchResult, Counts};
use super::campaign::{self, Campaign};
use crate::stop::ChoreError;

/// How far a soak has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// What it goes through.
    pub campaign: Campaign,
    /// How many runs are to be made, if that was asked for.
    pub goal: Option<u64>,
    /// How many batches were made.
    pub batches: u64,
    /// How many runs that were.
    pub runs: u64,
    /// The number of entries.
    pub entries: u64,
    /// How many views were decided.
    pub views: u64,
    /// The longest that anybody waited after the last fault of a run, in microseconds.
    pub slowest_us: u64,
    /// How much virtual time that was, in microseconds.
    pub virtual_us: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What was seen, as the command tells it, and the runs and entries of each size.
    pub maps: BTreeMap<String, Counts>,
}

/// The first line of the file, and the last, without which it was cut.
const FIRST: &str = "doorway soak 2";
const LAST: &str = "end";
/// The runs and the entries of each size.
const RUNS: &str = "runs by nodes";
const ENTRIES: &str = "entries by nodes";

impl State {
    /// Nothing was made yet.
    pub fn new(campaign: Campaign) -> Self {
        Self {
            campaign,
            goal: None,
            batches: 0,
            runs: 0,
            entries: 0,
            views: 0,
            slowest_us: 0,
            virtual_us: 0,
            elapsed: Duration::ZERO,
            maps: BTreeMap::new(),
        }
    }

    /// One batch more, of clusters of this size; all together have taken so long.
    pub fn add(&mut self, nodes: u64, answer: &BatchResult, elapsed: Duration) {
        self.batches += 1;
        self.runs += answer.runs;
        self.entries += answer.entries;
        self.views += answer.views;
        self.slowest_us = self.slowest_us.max(answer.slowest_us);
        for (key, more) in [(RUNS, answer.runs), (ENTRIES, answer.entries)] {
            *self.maps.entry(key.to_owned()).or_default().entry(nodes.to_string()).or_default() += more;
        }
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
        let (views, slowest) = (self.views, self.slowest_us as f64 / 1e6);
        let mut told = format!(
            "{one} % of the virtual time under faults, {two} % under two or more at once\n\
             {views} views; the longest wait after the last fault of a run: {slowest:.1} s\n\n\
             runs, entries and nodes\n"
        );
        for nodes in self.sizes_seen() {
            let (runs, entries) = (self.count(RUNS, nodes), self.count(ENTRIES, nodes));
            told += &format!("{runs:>12} {entries:>12}  {nodes}\n");
        }
        for (key, title) in [("faults", "faults"), ("aimed", "aimed at moments"), ("rules", "rules")] {
            told += &format!("\n{title}\n");
            let mut rows: Vec<(&String, &u64)> = self.maps.get(key).into_iter().flatten().collect();
            rows.sort_by_key(|(name, _)| (number_of(name), (*name).clone()));
            rows.iter().for_each(|(name, count)| told += &format!("{count:>12}  {name}\n"));
        }
        told + &self.missed("rules", "rules that never fired")
            + &self.missed("pairs", "pairs of faults that never met")
    }

    /// The sizes of which there were runs, the smallest first.
    fn sizes_seen(&self) -> Vec<&str> {
        let mut sizes: Vec<&str> =
            self.maps.get(RUNS).into_iter().flatten().map(|(size, _)| &**size).collect();
        sizes.sort_by_key(|size| number_of(size));
        sizes
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
        let Campaign { first, seeds, algorithm, .. } = &self.campaign;
        let sizes = self.campaign.typed_sizes();
        let mut text = format!("{FIRST}\nnodes {sizes}\nalgorithm {algorithm}\nfirst {first}\n");
        for (word, number) in [("seeds", *seeds), ("goal", self.goal)] {
            let _ = number.map(|number| writeln!(text, "{word} {number}"));
        }
        let Self { batches, runs, entries, views, slowest_us, virtual_us, .. } = self;
        let elapsed = self.elapsed.as_millis();
        let _ = write!(
            text,
            "batches {batches}\nruns {runs}\nentries {entries}\nviews {views}\nslowest {slowest_us}\n\
             virtual {virtual_us}\nelapsed {elapsed}\n"
        );
        for (key, counts) in &self.maps {
            for (name, count) in counts {
                let _ = writeln!(text, "count {key}\t{name}\t{count}");
            }
        }
        text + LAST + "\n"
    }

    /// Parses such lines; `None` if they are damaged.
    fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix(FIRST)?.strip_prefix('\n')?;
        let inner = inner.strip_suffix('\n')?.strip_suffix(LAST)?;
        let (mut state, mut seen) = (Self::new(Campaign::new(0)), 0);
        for line in inner.lines() {
            let (word, said) = line.split_once(' ')?;
            match word {
                "count" => state.parse_count(said)?,
                "nodes" => state.campaign.sizes = campaign::sizes(said)?,
                "algorithm" => state.campaign.algorithm = campaign::algorithm(said)?,
                _ => state.parse_number(word, said.parse().ok()?)?,
            }
            seen += usize::from(!matches!(word, "count" | "seeds" | "goal"));
        }
        (seen == 10).then_some(state)
    }

    fn parse_number(&mut self, word: &str, number: u64) -> Option<()> {
        match word {
            "first" => self.campaign.first = number,
            "seeds" => self.campaign.seeds = Some(number),
            "goal" => self.goal = Some(number),
            "batches" => self.batches = number,
            "runs" => self.runs = number,
            "entries" => self.entries = number,
            "views" => self.views = number,
            "slowest" => self.slowest_us = number,
            "virtual" => self.virtual_us = number,
            "elapsed" => self.elapsed = Duration::from_millis(number),
            _ => return None,
        }
        Some(())
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

/// Replaces the state atomically: a soak that is killed meanwhile leaves the old state or the new one.
///
/// # Errors
/// If it cannot be written.
pub fn write(file: &Path, state: &State) -> Result<(), ChoreError> {
    let new = file.with_extension("state.new");
    let put = || {
        let mut open = File::create(&new)?;
        open.write_all(state.text().as_bytes())?;
        open.sync_all()?;
        fs::rename(&new, file)
    };
    put().map_err(|error| ChoreError::Failed(format!("{} cannot be written: {error}.", file.display())))
}

/// The state that was written last.
///
/// # Errors
/// If there is none, or it is damaged.
pub fn read(file: &Path) -> Result<State, ChoreError> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| {
        ChoreError::Failed(format!("There is nothing to resume, as {shown} cannot be read: {error}."))
    })?;
    let damaged =
        || ChoreError::Failed(format!("{shown} is damaged: remove it and begin again, without `--resume`."));
    State::parse(&text).ok_or_else(damaged)
}

/// Keeps the state of the last soak under another name, if there is one: a new soak must not lose what it found by a forgotten word.
///
/// # Errors
/// If it cannot be renamed.
pub fn set_aside(file: &Path) -> Result<(), ChoreError> {
    match fs::rename(file, file.with_extension("state.before")) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ChoreError::Failed(format!("{} cannot be kept: {error}.", file.display())))
        }
        _ => Ok(()),
    }
}

/// Locks a file until it is dropped or the process ends, however that comes: two soaks would overwrite each other's state.
///
/// # Errors
/// If another soak has the lock.
pub fn lock(file: &Path) -> Result<File, ChoreError> {
    let failed = |error| ChoreError::Failed(format!("{} cannot be locked: {error}.", file.display()));
    let open = File::create(file).map_err(failed)?;
    match open.try_lock() {
        Ok(()) => Ok(open),
        Err(TryLockError::WouldBlock) => Err(ChoreError::Failed(
            "Another `cargo xtask soak` is under way here: wait for it, or end it.".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(runs: u64) -> BatchResult {
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
        BatchResult { runs, entries: 10, views: 3, slowest_us: 100_000 * runs, maps, replay: Vec::new() }
    }

    fn state() -> State {
        let mut state = State { goal: Some(100), ..State::new(Campaign::new(17)) };
        state.add(16, &answer(24), Duration::from_millis(1_500));
        state.add(9, &answer(23), Duration::from_millis(2_500));
        state
    }

    fn named() -> State {
        let algorithm = "naimi-trehel".to_owned();
        let campaign = Campaign { seeds: Some(1_500), sizes: vec![7, 9], algorithm, ..Campaign::new(3) };
        State::new(campaign)
    }

    #[test]
    fn batches_add_up() {
        let state = state();
        assert_eq!((state.batches, state.runs, state.entries, state.virtual_us), (2, 47, 20, 200));
        assert_eq!((state.views, state.slowest_us), (6, 2_400_000));
        assert_eq!(state.maps["pairs"]["crash + pause"], 4);
        assert_eq!(state.elapsed, Duration::from_millis(2_500));
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let file = std::env::temp_dir().join(format!("doorway-soak-{}.state", std::process::id()));
        for state in [state(), State::new(Campaign::new(3)), named()] {
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
        let wrong = [
            "runs 47",
            "nodes 3,",
            "algorithm all",
            "views",
            "count pairs",
            "first",
            "elapsed 2500",
            "\t4\n",
        ];
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
    fn a_new_soak_sets_the_state_of_the_last_one_aside() {
        let file = std::env::temp_dir().join(format!("doorway-soak-aside-{}.state", std::process::id()));
        assert_eq!(set_aside(&file), Ok(()), "there need not be one");
        write(&file, &state()).expect("it can be written");
        assert_eq!(set_aside(&file), Ok(()));
        let aside = file.with_extension("state.before");
        assert_eq!((read(&aside), file.exists()), (Ok(state()), false));
        fs::remove_file(&aside).expect("it is there");
    }

    #[test]
    fn only_one_soak_at_a_time_writes_a_state() {
        let file = std::env::temp_dir().join(format!("doorway-soak-{}.lock", std::process::id()));
        let first = lock(&file).expect("nobody has it");
        let refused = lock(&file).expect_err("the first one has it").to_string();
        assert_eq!(refused, "Another `cargo xtask soak` is under way here: wait for it, or end it.");
        drop(first);
        assert!(lock(&file).is_ok(), "the first one has ended");
        fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn what_was_missed_is_named() {
        let told = state().coverage();
        assert!(told.starts_with("60 % of the virtual time under faults, 25 % under two or more at once\n"));
        assert!(
            told.contains("\n6 views; the longest wait after the last fault of a run: 2.4 s\n"),
            "{told}"
        );
        let sizes =
            "\nruns, entries and nodes\n          23           10  9\n          24           10  16\n";
        assert!(told.contains(sizes), "{told}");
        assert!(
            told.contains("\nrules\n          14  2 a heartbeat\n           0  16 the age rule\n"),
            "{told}"
        );
        assert!(told.contains("\nrules that never fired: 1 of 2: 16 the age rule\n"), "{told}");
        assert!(told.contains("\npairs of faults that never met: 1 of 2: crash + loss\n"), "{told}");
    }
}
