//! A comparison as a page asks for it, in the words of `doorway compare`.

use std::collections::BTreeMap;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_experiments::compare::Comparison;
use doorway_simulator::{Limits, Load, Settings};
use serde::Deserialize;

use super::{Bounds, Files, Trouble, Word};

/// Which algorithms at which sizes under which loads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ComparisonSpec {
    algorithms: Option<Names>,
    nodes: Vec<Word>,
    loads: Vec<Word>,
    entries: Option<Word>,
    hold: Option<Word>,
    latency: Option<Word>,
    channels: Option<Word>,
    seed: Option<Word>,
    options: BTreeMap<String, Word>,
    files: Files,
}

/// A list of names, or `all`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    List(Vec<String>),
    Word(String),
}

impl ComparisonSpec {
    /// So many runs are made at most.
    const MOST_RUNS: usize = 600;
    /// So many entries of each, unless said otherwise.
    const USUAL_ENTRIES: u64 = 500;

    /// What is to be compared, within these bounds.
    ///
    /// # Errors
    /// If it cannot be read, or is more than a page may ask for.
    pub fn comparison(&self, catalog: &Catalog, bounds: &Bounds) -> Result<Comparison, Trouble> {
        let comparison = self.read(catalog).map_err(Trouble::Unreadable)?;
        let Comparison { settings, nodes, .. } = &comparison;
        let most = nodes.iter().copied().max().unwrap_or(0);
        bounds.check(most, settings.entries)?;
        let refuse = |sentence: String| Err(Trouble::Impossible(Refusal::new(sentence)));
        if settings.entries == 0 {
            return refuse("entries: 0 compares nothing: give 1 or more".to_owned());
        }
        if comparison.runs() == 0 || comparison.runs() > Self::MOST_RUNS {
            let (runs, most) = (comparison.runs(), Self::MOST_RUNS);
            return refuse(format!("{runs} runs cannot be compared here: 1 to {most} can"));
        }
        if let Some(name) = comparison.algorithms.iter().find(|name| catalog.about(name).is_none()) {
            return refuse(format!("there is no algorithm {name:?}"));
        }
        let limits = Limits { events: None, ..bounds.limits.clone() };
        Ok(Comparison { settings: Settings { limits, ..comparison.settings }, ..comparison })
    }

    fn read(&self, catalog: &Catalog) -> Result<Comparison, Refusal> {
        let usual = Settings::default();
        let algorithms = match &self.algorithms {
            None => Comparison::everybody(catalog),
            Some(Names::Word(word)) if word == "all" => Comparison::everybody(catalog),
            Some(Names::Word(name)) => vec![name.clone()],
            Some(Names::List(names)) => names.clone(),
        };
        let size = |word: &Word| Ok(usize::try_from(word.whole("nodes")?).unwrap_or(usize::MAX));
        let nodes: Result<Vec<usize>, Refusal> = match &self.nodes[..] {
            [] => Ok(Comparison::USUAL_NODES.to_vec()),
            words => words.iter().map(size).collect(),
        };
        let loads: Result<Vec<Load>, Refusal> = match &self.loads[..] {
            [] => Ok(vec![Load::Saturated]),
            words => words.iter().map(|word| word.parsed("loads")).collect(),
        };
        let number = |word: Option<&Word>, name: &str, usual| word.map_or(Ok(usual), |word| word.whole(name));
        Ok(Comparison {
            algorithms,
            nodes: nodes?,
            loads: loads?,
            options: self.files.options(&self.options)?,
            settings: Settings {
                entries: number(self.entries.as_ref(), "entries", Self::USUAL_ENTRIES)?,
                hold: self.hold.as_ref().map_or(Ok(usual.hold), |word| word.parsed("hold"))?,
                latency: self.latency.as_ref().map_or(Ok(usual.latency), |word| word.parsed("latency"))?,
                channels: self
                    .channels
                    .as_ref()
                    .map_or(Ok(usual.channels), |word| word.parsed("channels"))?,
                seed: number(self.seed.as_ref(), "seed", usual.seed)?,
                ..Settings::default()
            },
        })
    }
}
