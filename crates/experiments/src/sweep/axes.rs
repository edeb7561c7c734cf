//! The axes of a grid as they were typed: in a TOML file, as flags, or in both.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use doorway_catalog::Catalog;
use doorway_catalog::settings::{Definition, RunSpec, Spec, SweepRole};
use doorway_core::Refusal;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

/// The settings of a run that are axes of a grid, each with the name of its axis, in the order of the grid.
pub(super) fn axes() -> impl Iterator<Item = (&'static str, &'static Definition)> {
    RunSpec::SETTINGS.iter().filter_map(|setting| match setting.sweep {
        SweepRole::Axis { name, .. } => Some((name, setting)),
        SweepRole::Common { .. } | SweepRole::Fixed => None,
    })
}

/// The settings of a run that have one value for the whole sweep.
pub(super) fn shared() -> impl Iterator<Item = &'static Definition> {
    RunSpec::SETTINGS.iter().filter(|setting| matches!(setting.sweep, SweepRole::Common { .. }))
}

/// The names that every grid knows: the algorithms, and the settings. Choices for algorithms, such as `quorum`, are axes too.
fn names() -> impl Iterator<Item = &'static str> {
    let settings = axes().map(|(name, _)| name).chain(shared().map(|setting| setting.name));
    std::iter::once("algorithms").chain(settings)
}

/// What was typed for each axis.
#[derive(Clone, Debug, Default)]
pub struct Axes(BTreeMap<String, Words>);

/// What was typed for one axis, and where.
#[derive(Clone, Debug)]
pub struct Words {
    words: Vec<String>,
    /// Where it was typed, for error messages.
    place: String,
    /// Where the names of files begin.
    folder: PathBuf,
}

impl Axes {
    /// Reads a grid: `name` is what the file is called, `folder` where it is.
    ///
    /// # Errors
    /// One sentence with the line that is wrong.
    pub fn from_toml(text: &str, name: &str, folder: &Path, catalog: &Catalog) -> Result<Self, Refusal> {
        let line = |at: usize| {
            1 + text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
        };
        let typed: BTreeMap<Spanned<String>, Spanned<Listed>> = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            let at = error.span().map_or(0, |span| span.start);
            Refusal::new(format!("{name}, line {}: {message}", line(at)))
        })?;
        let mut axes = Self::default();
        for (axis, listed) in typed {
            let at = line(axis.span().start);
            let axis = axis.into_inner();
            if !is_axis(&axis, catalog) {
                let known = known(catalog).join(", ");
                return Err(Refusal::new(format!(
                    "{name}, line {at}: there is no axis {axis:?}, only {known}"
                )));
            }
            let place = format!("{name}, line {at}, {axis}");
            axes.0.insert(axis, Words { words: listed.into_inner().0, place, folder: folder.to_owned() });
        }
        Ok(axes)
    }

    /// Types an axis as a flag. What was typed before is forgotten.
    pub fn set(&mut self, axis: &str, words: Vec<String>) {
        let place = format!("--{axis}");
        self.0.insert(axis.to_owned(), Words { words, place, folder: PathBuf::new() });
    }

    /// The same, but what the others say counts more.
    #[must_use]
    pub fn overridden_by(mut self, others: Axes) -> Self {
        self.0.extend(others.0);
        self
    }

    /// What was typed for this axis.
    #[must_use]
    pub fn get(&self, axis: &str) -> Option<&Words> {
        self.0.get(axis)
    }

    /// The axes that are choices for algorithms.
    pub(super) fn choices(&self) -> impl Iterator<Item = (&str, &Words)> {
        self.0
            .iter()
            .map(|(axis, words)| (axis.as_str(), words))
            .filter(|(axis, _)| !names().any(|name| name == *axis))
    }
}

impl Words {
    /// Reads every item.
    ///
    /// # Errors
    /// What is wrong with the first that cannot be read, and where; or that there is none.
    pub(super) fn each<T>(
        &self,
        split: fn(&str) -> Vec<String>,
        read: impl Fn(&str) -> Result<T, Refusal>,
    ) -> Result<Vec<T>, Refusal> {
        let items = self.words.iter().flat_map(|word| split(word));
        let read: Result<Vec<T>, Refusal> = items.map(|item| read(&item)).collect();
        let read = read.map_err(|refusal| self.blame(&refusal))?;
        if read.is_empty() {
            return Err(self.blame(&"the list is empty: name at least one"));
        }
        Ok(read)
    }

    /// A sentence with the place that is to blame.
    pub(super) fn blame(&self, sentence: &dyn fmt::Display) -> Refusal {
        Refusal::new(format!("{}: {sentence}", self.place))
    }

    /// The file of this name.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn is_axis(name: &str, catalog: &Catalog) -> bool {
    names().any(|known| known == name) || choices_of(catalog).contains(&name)
}

fn known(catalog: &Catalog) -> Vec<&'static str> {
    names().chain(choices_of(catalog)).collect()
}

/// The names of all that algorithms of a catalog let one choose, as they come.
pub(super) fn choices_of(catalog: &Catalog) -> Vec<&'static str> {
    let mut names = Vec::new();
    for parameter in catalog.list().iter().flat_map(|about| about.parameters) {
        if !names.contains(&parameter.name) {
            names.push(parameter.name);
        }
    }
    names
}

/// A word or a number, or a list of them, as words.
struct Listed(Vec<String>);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lister)
    }
}

struct Lister;

impl<'de> Visitor<'de> for Lister {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word, a number or a list of them")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Listed, E> {
        Ok(Listed(vec![value.to_string()]))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Listed, E> {
        Ok(Listed(vec![value.to_string()]))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Listed, E> {
        Ok(Listed(vec![value.to_string()]))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Listed, E> {
        Ok(Listed(vec![value.to_string()]))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Listed, E> {
        Ok(Listed(vec![value.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Listed, A::Error> {
        let mut words = Vec::new();
        while let Some(Listed(more)) = list.next_element()? {
            words.extend(more);
        }
        Ok(Listed(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Axes, String> {
        let catalog = Catalog::textbook();
        Axes::from_toml(text, "grid.toml", Path::new("here"), &catalog).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_file_has_words_numbers_and_lists_of_them() {
        let axes =
            read("nodes = [4, \"8..10\"]\nloss = 0.01\nretransmit = [false, true]\nquorum = \"grid\"\n");
        let axes = axes.expect("a grid");
        let words = |axis: &str| axes.get(axis).map(|words| words.words.clone()).unwrap_or_default();
        assert_eq!(words("nodes"), ["4", "8..10"]);
        assert_eq!((words("loss"), words("quorum")), (vec!["0.01".to_owned()], vec!["grid".to_owned()]));
        assert_eq!(words("retransmit"), ["false", "true"]);
        let (axis, words) = axes.choices().next().expect("a choice");
        assert_eq!((axis, words.file("a.txt")), ("quorum", PathBuf::from("here/a.txt")));
    }

    #[test]
    fn a_mistake_in_a_file_is_reported_with_its_line() {
        let refused = |text: &str| read(text).expect_err(text);
        assert!(
            refused("nodes = 4\nnods = 5\n")
                .starts_with("grid.toml, line 2: there is no axis \"nods\", only")
        );
        assert!(refused("nodes = 4\n\nloads = {}\n").contains("line 3: invalid type: map, expected a word"));
        assert!(refused("nodes = \n").starts_with("grid.toml, line 1: "));
        assert!(refused("nodes = 4\nnodes = 5\n").starts_with("grid.toml, line 2: "));
        for text in ["nodes = \n", "a\nb\n", "[nodes]\nx = \"\"\"", "\u{0}"] {
            assert_eq!(refused(text).lines().count(), 1);
        }
    }

    #[test]
    fn flags_count_more_than_the_file() {
        let mut flags = Axes::default();
        flags.set("nodes", vec!["7".to_owned()]);
        let axes = read("nodes = 4\nloss = 0\n").expect("a grid").overridden_by(flags);
        let nodes = axes.get("nodes").expect("nodes");
        assert_eq!((nodes.words[0].as_str(), nodes.place.as_str()), ("7", "--nodes"));
        assert_eq!(axes.get("loss").expect("loss").place, "grid.toml, line 2, loss");
    }
}
