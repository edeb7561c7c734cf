//! The grid of a sweep: the values of every axis, read and in normal form.

use std::collections::BTreeMap;
use std::path::Path;

use doorway_catalog::Catalog;
use doorway_catalog::settings::{self, Definition, RawValue, RunSpec, SettingKind, Spec};
use doorway_core::{Choice, Refusal};
use doorway_simulator::{Latency, Settings, Span, shell};

use super::axes::{Axes, Words, axes, shared};
use super::lists::{before_letters, between_commas, numbers, whole};

/// The values of every axis. A point of the grid takes one of each.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Names of the catalog.
    pub algorithms: Vec<String>,
    /// Choices for the algorithms that have such a parameter, by its name.
    pub choices: Vec<(String, Vec<Choice>)>,
    /// The settings of a run that are axes, but for the seed, which is a range.
    pub(super) axes: Vec<Axis>,
    /// The seeds of each point.
    pub seeds: Seeds,
    /// The settings that all runs share.
    pub(super) common: RunSpec,
    /// The latencies that come from files, by the words that name these.
    matrices: BTreeMap<String, Matrix>,
}

/// A setting of a run with its values on the grid, each in its normal form.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) setting: &'static Definition,
    /// The words of each value: one, or any number for a setting that takes a list.
    pub(super) values: Vec<Vec<RawValue>>,
}

#[derive(Clone, Debug)]
struct Matrix {
    latency: Latency,
    text: String,
}

/// Seeds that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// Reads a file that a value names.
pub type FileLoader<'a> = dyn Fn(&Path) -> Result<String, Refusal> + 'a;

/// What a grid needs from its caller.
pub struct Surroundings<'a> {
    /// Reads a file that was named.
    pub read: &'a FileLoader<'a>,
    /// What to say about a name that no algorithm has.
    pub unknown: &'a dyn Fn(&str) -> Refusal,
}

impl Default for Grid {
    /// No algorithm, and the usual value of every setting.
    fn default() -> Self {
        let axis = |(name, setting): (&'static str, &'static Definition)| Axis {
            name,
            setting,
            values: vec![usual(setting)],
        };
        let mut common = RunSpec::default();
        for setting in shared() {
            common.set(setting.name, usual(setting));
        }
        Self {
            algorithms: Vec::new(),
            choices: Vec::new(),
            axes: axes().filter(|(_, setting)| !is_seed(setting)).map(axis).collect(),
            seeds: Seeds { first: Settings::default().seed, count: 1 },
            common,
            matrices: BTreeMap::new(),
        }
    }
}

fn usual(setting: &Definition) -> Vec<RawValue> {
    if setting.usual.is_empty() { Vec::new() } else { vec![setting.usual.into()] }
}

pub(super) fn is_seed(setting: &Definition) -> bool {
    setting.name == "seed"
}

impl Grid {
    /// Reads the axes. A setting that is not typed has its usual value.
    ///
    /// # Errors
    /// One sentence about the first word that cannot be read, and where it was typed.
    pub fn read(axes: &Axes, catalog: &Catalog, surroundings: &Surroundings<'_>) -> Result<Self, Refusal> {
        let mut grid = Self::default();
        let missing = || Refusal::new("which algorithms? give --algorithms all, or some of them: a,b");
        let words = axes.get("algorithms").ok_or_else(missing)?;
        grid.algorithms = algorithms(words, catalog, surroundings)?;
        grid.choices = choices(axes, surroundings)?;
        grid.take(axes, surroundings.read)?;
        grid.refuse_doubles()?;
        Ok(grid)
    }

    /// The same with these values of one setting, as they are typed.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn with(mut self, axis: &str, words: &[&str]) -> Result<Self, Refusal> {
        let mut axes = Axes::default();
        axes.set(axis, words.iter().map(|&word| word.to_owned()).collect());
        let no_files = |path: &Path| Err(Refusal::new(format!("{} is not read here", path.display())));
        self.take(&axes, &no_files)?;
        Ok(self)
    }

    /// Takes the settings that were typed.
    fn take(&mut self, axes: &Axes, read: &FileLoader<'_>) -> Result<(), Refusal> {
        for axis in &mut self.axes {
            if let Some(words) = axes.get(axis.name) {
                axis.values = values(axis.setting, words, read, &mut self.matrices)?;
            }
        }
        if let Some(words) = axes.get("seeds") {
            self.seeds = seeds(words)?;
        }
        for setting in shared() {
            if let Some(words) = axes.get(setting.name) {
                self.common.set(setting.name, vec![RawValue(single(words, setting.normal)?)]);
            }
        }
        Ok(())
    }

    /// The settings of a run, whose words are values of this grid.
    pub(super) fn settings(&self, mut spec: RunSpec) -> Settings {
        // Whether there can be so many nodes is for the run to say, which then has a row with the reason.
        let nodes = spec.nodes.one().ok().flatten().unwrap_or(Settings::default().nodes);
        spec.nodes.set(Vec::new());
        let matrix = |file: &str| match self.matrices.get(&format!("matrix:{file}")) {
            Some(matrix) => Ok(matrix.latency.clone()),
            None => Err(Refusal::new(format!("{file} was not read"))),
        };
        let settings = spec.settings(matrix).expect("the values of a grid were read before");
        Settings { nodes, ..settings }
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
        for axis in &self.axes {
            tell(axis.name, axis.values.iter().map(|words| text(axis.setting, words)).collect());
        }
        tell("seeds", vec![self.seeds.to_string()]);
        for setting in shared() {
            tell(setting.name, vec![text(setting, self.common.words(setting.name))]);
        }
        axes
    }

    /// The files that values name, each with a fingerprint of its text.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let choices = self.choices.iter().flat_map(|(_, choices)| choices);
        let chosen = choices.filter_map(|choice| Some((&choice.word, choice.file.as_ref()?)));
        let words = self.axes.iter().flat_map(|axis| axis.values.iter().flatten());
        let delays = words.filter_map(|RawValue(word)| Some((word, &self.matrices.get(word)?.text)));
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
            let repeat =
                |values: Vec<String>| values.into_iter().flat_map(|value| [format!("--{axis}"), value]);
            let setting = self.axes.iter().find(|known| known.name == axis).map(|known| known.setting);
            let is_switch =
                || shared().any(|shared| shared.name == axis && shared.kind == SettingKind::Switch);
            if setting.is_some_and(has_commas) || settings::is_flag(&axis) {
                words.extend(repeat(values));
            } else if self.choices.iter().any(|(name, _)| *name == axis) {
                let set =
                    values.into_iter().flat_map(|value| ["--set".to_owned(), format!("{axis}={value}")]);
                words.extend(set);
            } else if is_switch() {
                words.push(format!("--{axis}"));
            } else {
                words.extend([format!("--{axis}"), values.join(",")]);
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

/// The values of a setting that is an axis.
fn values(
    setting: &'static Definition,
    words: &Words,
    read: &FileLoader<'_>,
    matrices: &mut BTreeMap<String, Matrix>,
) -> Result<Vec<Vec<RawValue>>, Refusal> {
    let one = |word: &str| Ok(vec![RawValue((setting.normal)(word)?)]);
    match setting.kind {
        _ if setting.name == "latency" => {
            let delays = words.each(between_commas, |word| delay(word, words, read))?;
            Ok(delays
                .into_iter()
                .map(|(word, matrix)| {
                    matrices.extend(matrix.map(|matrix| (word.clone(), matrix)));
                    vec![RawValue(word)]
                })
                .collect())
        }
        SettingKind::Count => {
            let all = words.each(between_commas, numbers)?.concat();
            let each = all.into_iter().map(|number| one(&number.to_string()));
            each.collect::<Result<_, _>>().map_err(|refusal| words.blame(&refusal))
        }
        SettingKind::Repeated if has_commas(setting) => words.each(whole, |word| together(setting, word)),
        SettingKind::Repeated => words.each(between_commas, |word| together(setting, word)),
        SettingKind::Number | SettingKind::Word | SettingKind::Switch | SettingKind::Commas => {
            words.each(between_commas, one)
        }
    }
}

/// Whether a value of this setting has commas in it, so that a list of values cannot.
fn has_commas(setting: &Definition) -> bool {
    setting.kind == SettingKind::Repeated && setting.value.contains(',')
}

/// A latency in its normal form, and the matrix that it names.
fn delay(word: &str, words: &Words, read: &FileLoader<'_>) -> Result<(String, Option<Matrix>), Refusal> {
    let Some(name) = word.strip_prefix("matrix:") else {
        return Ok((word.parse::<Span>()?.to_string(), None));
    };
    let text = read(&words.file(name))?;
    let latency = Latency::matrix(&text).map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))?;
    Ok((word.to_owned(), Some(Matrix { latency, text })))
}

/// Several values of one run, with a plus between them, or none.
fn together(setting: &Definition, word: &str) -> Result<Vec<RawValue>, Refusal> {
    if word == "none" {
        return Ok(Vec::new());
    }
    word.split('+').map(|part| Ok(RawValue((setting.normal)(part.trim())?))).collect()
}

/// A value as it is typed.
pub(super) fn text(setting: &Definition, words: &[RawValue]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.0.as_str()).collect();
    if setting.kind == SettingKind::Repeated && words.is_empty() {
        "none".to_owned()
    } else {
        words.join("+")
    }
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
    fn an_unreadable_value_is_reported_with_its_place() {
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
