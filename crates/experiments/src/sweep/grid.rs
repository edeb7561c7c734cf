//! The grid of a sweep: the values of every axis, read and in normal form.

use std::path::Path;

use doorway_catalog::Catalog;
use doorway_core::{Channels, Choice, Refusal};
use doorway_simulator::{Crash, Latency, Load, Partition, Probability, Settings, Span, shell};

use super::axes::{Axes, Words};
use super::lists::{before_letters, between_commas, numbers, whole};

/// The values of every axis. A point of the grid takes one of each.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Names of the catalog.
    pub algorithms: Vec<String>,
    /// What is chosen for algorithms that have such a parameter, by its name.
    pub choices: Vec<(String, Vec<Choice>)>,
    /// How many nodes there are.
    pub nodes: Vec<usize>,
    /// When nodes ask.
    pub loads: Vec<Load>,
    /// How long a node stays inside.
    pub holds: Vec<Span>,
    /// How long a message is under way.
    pub latencies: Vec<Delay>,
    /// In what order channels deliver.
    pub channels: Vec<Channels>,
    /// The share of messages that are lost.
    pub losses: Vec<Probability>,
    /// The share of messages that arrive twice.
    pub duplicates: Vec<Probability>,
    /// Whether a layer below the algorithm resends what is lost.
    pub retransmit: Vec<bool>,
    /// The nodes that crash together in one run.
    pub crashes: Vec<Vec<Crash>>,
    /// The partitions of one run.
    pub partitions: Vec<Vec<Partition>>,
    /// What chance is drawn from.
    pub seeds: Seeds,
    /// How many requests each run issues.
    pub entries: u64,
    /// How many entries pass before measuring begins.
    pub warmup: u64,
    /// Whether the algorithms' own invariants are tested.
    pub invariants: bool,
    /// Whether entries out of happened-before order are counted.
    pub order: bool,
}

/// A latency, and the word for it: a matrix does not know the name of its file.
#[derive(Clone, Debug)]
pub struct Delay {
    /// What was typed.
    pub word: String,
    /// What it means.
    pub latency: Latency,
    /// The text of the file that it names.
    pub file: Option<String>,
}

/// Seeds that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// What a grid needs to know of the world that it is read in.
pub struct Surroundings<'a> {
    /// Reads a file that was named.
    pub read: &'a dyn Fn(&Path) -> Result<String, Refusal>,
    /// What to say about a name that no algorithm has.
    pub unknown: &'a dyn Fn(&str) -> Refusal,
}

impl Default for Grid {
    fn default() -> Self {
        let usual = Settings::default();
        let latency = Delay { word: usual.latency.to_string(), latency: usual.latency, file: None };
        Self {
            algorithms: Vec::new(),
            choices: Vec::new(),
            nodes: vec![usual.nodes],
            loads: vec![usual.load],
            holds: vec![usual.hold],
            latencies: vec![latency],
            channels: vec![usual.channels],
            losses: vec![usual.faults.loss],
            duplicates: vec![usual.faults.duplicate],
            retransmit: vec![usual.faults.retransmit],
            crashes: vec![Vec::new()],
            partitions: vec![Vec::new()],
            seeds: Seeds { first: usual.seed, count: 1 },
            entries: usual.entries,
            warmup: usual.warmup,
            invariants: usual.invariants,
            order: usual.order,
        }
    }
}

impl Grid {
    /// Reads the axes. What is not typed has the one value that the simulator has by default.
    ///
    /// # Errors
    /// One sentence about the first word that cannot be read, and where it was typed.
    pub fn read(axes: &Axes, catalog: &Catalog, surroundings: &Surroundings<'_>) -> Result<Self, Refusal> {
        let mut grid = Self::default();
        let missing = || Refusal::new("which algorithms? give --algorithms all, or some of them: a,b");
        let words = axes.get("algorithms").ok_or_else(missing)?;
        grid.algorithms = algorithms(words, catalog, surroundings)?;
        grid.choices = choices(axes, surroundings)?;
        let list = |axis: &str| axes.get(axis);
        take(list("nodes"), &mut grid.nodes, sizes)?;
        take(list("loads"), &mut grid.loads, |words| words.each(between_commas, str::parse))?;
        take(list("holds"), &mut grid.holds, |words| words.each(between_commas, str::parse))?;
        take(list("latencies"), &mut grid.latencies, |words| {
            words.each(between_commas, |word| delay(word, words, surroundings))
        })?;
        take(list("channels"), &mut grid.channels, |words| words.each(between_commas, str::parse))?;
        take(list("loss"), &mut grid.losses, |words| words.each(between_commas, str::parse))?;
        take(list("duplicate"), &mut grid.duplicates, |words| words.each(between_commas, str::parse))?;
        take(list("retransmit"), &mut grid.retransmit, |words| words.each(between_commas, switch))?;
        take(list("crashes"), &mut grid.crashes, |words| words.each(between_commas, together))?;
        take(list("partitions"), &mut grid.partitions, |words| words.each(whole, together))?;
        take(list("seeds"), &mut grid.seeds, seeds)?;
        take(list("entries"), &mut grid.entries, |words| single(words, number))?;
        take(list("warmup"), &mut grid.warmup, |words| single(words, number))?;
        take(list("invariants"), &mut grid.invariants, |words| single(words, switch))?;
        take(list("order"), &mut grid.order, |words| single(words, switch))?;
        grid.refuse_doubles()?;
        Ok(grid)
    }

    /// Every axis with its values as one types them: the normal form, in which two grids are compared. Two grids that differ
    /// only in how they were typed have the same.
    #[must_use]
    pub fn normal(&self) -> Vec<(String, Vec<String>)> {
        let mut axes = vec![("algorithms".to_owned(), self.algorithms.clone())];
        for (name, choices) in &self.choices {
            axes.push((name.clone(), choices.iter().map(|choice| choice.word.clone()).collect()));
        }
        let mut tell = |axis: &str, words: Vec<String>| axes.push((axis.to_owned(), words));
        tell("nodes", printed(&self.nodes));
        tell("loads", printed(&self.loads));
        tell("holds", printed(&self.holds));
        tell("latencies", self.latencies.iter().map(|delay| delay.word.clone()).collect());
        tell("channels", self.channels.iter().map(|channels| channels.name().to_owned()).collect());
        tell("loss", printed(&self.losses));
        tell("duplicate", printed(&self.duplicates));
        tell("retransmit", self.retransmit.iter().map(|&on| on_or_off(on)).collect());
        tell("crashes", self.crashes.iter().map(|crashes| joined(crashes)).collect());
        tell("partitions", self.partitions.iter().map(|partitions| joined(partitions)).collect());
        tell("seeds", vec![self.seeds.to_string()]);
        tell("entries", vec![self.entries.to_string()]);
        tell("warmup", vec![self.warmup.to_string()]);
        tell("invariants", vec![on_or_off(self.invariants)]);
        tell("order", vec![on_or_off(self.order)]);
        axes
    }

    /// The files that values name, each with a fingerprint of its text.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let choices = self.choices.iter().flat_map(|(_, choices)| choices);
        let chosen = choices.filter_map(|choice| Some((&choice.word, choice.file.as_ref()?)));
        let delays = self.latencies.iter().filter_map(|delay| Some((&delay.word, delay.file.as_ref()?)));
        chosen.chain(delays).map(|(word, text)| (word.clone(), fingerprint(text))).collect()
    }

    /// What to type to sweep this grid, without what does not change its rows: folder, threads and shard.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let usual = Self::default().normal();
        let mut words = vec![program.to_owned(), "sweep".to_owned()];
        for (axis, values) in self.normal() {
            if usual.contains(&(axis.clone(), values.clone())) {
                continue;
            }
            match axis.as_str() {
                "invariants" | "order" => words.push(format!("--{axis}")),
                "partitions" | "quorum" | "structure" | "tree" | "arbitration" => {
                    words.extend(values.into_iter().flat_map(|value| [format!("--{axis}"), value]));
                }
                _ if self.choices.iter().any(|(name, _)| *name == axis) => {
                    words.extend(
                        values.into_iter().flat_map(|value| ["--set".to_owned(), format!("{axis}={value}")]),
                    );
                }
                _ => words.extend([format!("--{axis}"), values.join(",")]),
            }
        }
        shell::joined(&words)
    }

    /// A value that is there twice would count double in every mean.
    fn refuse_doubles(&self) -> Result<(), Refusal> {
        for (axis, values) in self.normal() {
            let mut sorted = values;
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Refusal::new(format!(
                    "{} is among the {axis} twice: leave one of them out",
                    pair[0]
                )));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Seeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.first),
            count => write!(f, "{}..{}", self.first, self.first + (count - 1)),
        }
    }
}

/// A number for a text, to see whether two texts are the same: Fowler, Noll and Vo's FNV-1a.
pub(super) fn fingerprint(text: &str) -> String {
    Fingerprint::default().with(text.as_bytes()).to_string()
}

/// The same for bytes that come one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// The fingerprint of what came before and of these.
    pub(super) fn with(self, bytes: &[u8]) -> Self {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, mix))
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

fn take<T>(
    typed: Option<&Words>,
    place: &mut T,
    read: impl FnOnce(&Words) -> Result<T, Refusal>,
) -> Result<(), Refusal> {
    if let Some(words) = typed {
        *place = read(words)?;
    }
    Ok(())
}

fn algorithms(
    words: &Words,
    catalog: &Catalog,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<String>, Refusal> {
    let right = || {
        let list = catalog.list().into_iter();
        list.filter(|about| about.specimen.is_none()).map(|about| about.name.to_owned()).collect()
    };
    let named = words.each(between_commas, |word| match word {
        "all" => Ok(right()),
        _ => catalog.about(word).map(|_| vec![word.to_owned()]).ok_or_else(|| (surroundings.unknown)(word)),
    })?;
    Ok(named.concat())
}

/// What is chosen, by the names of the parameters.
fn choices(axes: &Axes, surroundings: &Surroundings<'_>) -> Result<Vec<(String, Vec<Choice>)>, Refusal> {
    let choice = |words: &Words, word: &str| {
        let file = word.strip_prefix("file:").map(|name| (surroundings.read)(&words.file(name)));
        Ok(Choice { word: word.to_owned(), file: file.transpose()? })
    };
    let read = |(axis, words): (&str, &Words)| {
        Ok((axis.to_owned(), words.each(before_letters, |word| choice(words, word))?))
    };
    axes.choices().map(read).collect()
}

fn sizes(words: &Words) -> Result<Vec<usize>, Refusal> {
    let all = words.each(between_commas, numbers)?.concat();
    let too_many = |number: u64| words.blame(&format_args!("{number} nodes are more than can be numbered"));
    all.into_iter().map(|number| usize::try_from(number).map_err(|_| too_many(number))).collect()
}

fn delay(word: &str, words: &Words, surroundings: &Surroundings<'_>) -> Result<Delay, Refusal> {
    let Some(name) = word.strip_prefix("matrix:") else {
        let latency = Latency::Span(word.parse()?);
        return Ok(Delay { word: latency.to_string(), latency, file: None });
    };
    let text = (surroundings.read)(&words.file(name))?;
    let latency = Latency::matrix(&text).map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))?;
    Ok(Delay { word: word.to_owned(), latency, file: Some(text) })
}

/// Several things of one run, with a plus between them, or none.
fn together<T: std::str::FromStr<Err = Refusal>>(word: &str) -> Result<Vec<T>, Refusal> {
    if word == "none" {
        return Ok(Vec::new());
    }
    word.split('+').map(|part| part.trim().parse()).collect()
}

fn seeds(words: &Words) -> Result<Seeds, Refusal> {
    let refusal = || Refusal::new("seeds are one number, 7, or a range, 1..20");
    single(words, |word| {
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        let (first, last) = (number(first).map_err(|_| refusal())?, number(last).map_err(|_| refusal())?);
        match last.checked_sub(first).map(|more| more.checked_add(1)) {
            None => {
                Err(Refusal::new(format!("{word:?} ends before it begins: {last}..{first} would be right")))
            }
            Some(None) => Err(Refusal::new("there are not so many seeds")),
            Some(Some(count)) => Ok(Seeds { first, count }),
        }
    })
}

fn single<T>(words: &Words, read: impl Fn(&str) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let mut all = words.each(whole, read)?;
    match (all.pop(), all.is_empty()) {
        (Some(one), true) => Ok(one),
        _ => Err(words.blame(&"one value is enough: this is no axis of the grid")),
    }
}

fn number(word: &str) -> Result<u64, Refusal> {
    let refusal = || Refusal::new(format!("{word:?} is not a whole number, such as 5"));
    word.trim().parse().map_err(|_| refusal())
}

fn switch(word: &str) -> Result<bool, Refusal> {
    match word {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(Refusal::new(format!("{word:?} is neither on nor off"))),
    }
}

fn on_or_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

fn printed(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// What happens together in one run, as one types it.
pub(super) fn joined(values: &[impl ToString]) -> String {
    if values.is_empty() { "none".to_owned() } else { printed(values).join("+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(typed: &[(&str, &str)]) -> Result<Grid, String> {
        let mut axes = Axes::default();
        for (axis, word) in typed {
            axes.set(axis, vec![(*word).to_owned()]);
        }
        let surroundings = Surroundings {
            read: &|path| match path.to_str() {
                Some("two.txt") => Ok("0 5\n5 0\n".to_owned()),
                _ => Err(Refusal::new(format!("{} cannot be read", path.display()))),
            },
            unknown: &|name| Refusal::new(format!("what is {name}?")),
        };
        Grid::read(&axes, &Catalog::textbook(), &surroundings).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn the_normal_form_does_not_depend_on_how_it_was_typed() {
        let short =
            [("algorithms", "maekawa"), ("nodes", "2..8:x2"), ("latencies", "constant:10"), ("loss", "0.50")];
        let long = [("algorithms", "maekawa"), ("nodes", "2,4,8"), ("loss", "0.5"), ("retransmit", "false")];
        let (short, long) = (grid(&short).expect("a grid"), grid(&long).expect("a grid"));
        assert_eq!(short.normal(), long.normal());
        assert_eq!(short.command("doorway"), "doorway sweep --algorithms maekawa --nodes 2,4,8 --loss 0.5");
    }

    #[test]
    fn the_command_of_a_grid_makes_the_same_grid() {
        let typed = [
            ("algorithms", "raymond,central"),
            ("tree", "star,chain"),
            ("crashes", "none,1@5+2@9"),
            ("partitions", "1,2|3@5..9"),
            ("latencies", "matrix:two.txt,uniform:1:3"),
            ("seeds", "3..5"),
            ("order", "on"),
        ];
        let grid = grid(&typed).expect("a grid");
        assert_eq!(
            grid.command("doorway"),
            "doorway sweep --algorithms raymond,central --tree star --tree chain --latencies \
             matrix:two.txt,uniform:1:3 --crashes none,1@5+2@9 --partitions '1,2|3@5..9' --seeds 3..5 --order"
        );
        assert_eq!(grid.files(), [("matrix:two.txt".to_owned(), fingerprint("0 5\n5 0\n"))]);
        assert_eq!(grid.seeds, Seeds { first: 3, count: 3 });
    }

    #[test]
    fn all_algorithms_are_those_that_are_right() {
        let grid = grid(&[("algorithms", "all")]).expect("a grid");
        let catalog = Catalog::textbook();
        let right = catalog.list().iter().filter(|about| about.specimen.is_none()).count();
        assert_eq!(grid.algorithms.len(), right);
        assert!(grid.algorithms.contains(&"maekawa".to_owned()));
        assert!(!grid.algorithms.iter().any(|name| name.contains('/')));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        let refused = |axis: &str, word: &str| {
            let typed = [("algorithms", "central"), (axis, word)];
            grid(&typed[usize::from(axis == "algorithms")..]).expect_err(word)
        };
        assert_eq!(refused("algorithms", "centarl"), "--algorithms: what is centarl?");
        assert_eq!(refused("nodes", "4,2..8"), "4 is among the nodes twice: leave one of them out");
        assert!(refused("nodes", "x").starts_with("--nodes: \"x\" is neither a whole number"));
        assert!(refused("loads", "light").contains("as in light:500"));
        assert!(refused("loss", "0,2").contains("from 0 to 1"));
        assert_eq!(refused("retransmit", "maybe"), "--retransmit: \"maybe\" is neither on nor off");
        assert_eq!(refused("seeds", "9..2"), "--seeds: \"9..2\" ends before it begins: 2..9 would be right");
        assert!(refused("seeds", "0..18446744073709551615").contains("not so many"));
        assert!(refused("latencies", "matrix:three.txt").contains("three.txt cannot be read"));
        assert!(refused("entries", "").contains("not a whole number"));
        assert!(grid(&[]).expect_err("nothing").contains("--algorithms all"));
    }

    #[test]
    fn a_fingerprint_is_the_published_one() {
        assert_eq!(
            (fingerprint(""), fingerprint("a")),
            ("cbf29ce484222325".to_owned(), "af63dc4c8601ec8c".to_owned())
        );
    }
}
