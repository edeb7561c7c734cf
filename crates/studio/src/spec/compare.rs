//! A comparison as a page asks for it, in the words of `doorway compare`.

use std::collections::BTreeMap;

use doorway_catalog::Catalog;
use doorway_catalog::settings::{RawValue, RunSpec};
use doorway_core::Refusal;
use doorway_experiments::compare::Comparison;
use doorway_simulator::{Load, RunLimits, Settings};
use serde::Deserialize;

use super::{Bounds, Files, Trouble};

/// Which algorithms at which sizes under which loads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ComparisonSpec {
    algorithms: Option<Names>,
    nodes: Vec<RawValue>,
    loads: Vec<RawValue>,
    options: BTreeMap<String, RawValue>,
    files: Files,
    /// The settings that all runs share.
    #[serde(flatten)]
    settings: RunSpec,
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
        let limits = RunLimits { events: None, ..bounds.limits.clone() };
        Ok(Comparison { settings: Settings { limits, ..comparison.settings }, ..comparison })
    }

    fn read(&self, catalog: &Catalog) -> Result<Comparison, Refusal> {
        let algorithms = match &self.algorithms {
            None => Comparison::everybody(catalog),
            Some(Names::Word(word)) if word == "all" => Comparison::everybody(catalog),
            Some(Names::Word(name)) => vec![name.clone()],
            Some(Names::List(names)) => names.clone(),
        };
        let nodes: Result<Vec<usize>, Refusal> = match &self.nodes[..] {
            [] => Ok(Comparison::USUAL_NODES.to_vec()),
            words => words.iter().map(|word| word.read("nodes")).collect(),
        };
        let loads: Result<Vec<Load>, Refusal> = match &self.loads[..] {
            [] => Ok(vec![Load::Saturated]),
            words => words.iter().map(|word| word.read("loads")).collect(),
        };
        let entries = self.settings.entries.one_or(Self::USUAL_ENTRIES)?;
        Ok(Comparison {
            algorithms,
            nodes: nodes?,
            loads: loads?,
            options: self.files.options(&self.options)?,
            settings: Settings { entries, ..Comparison::settings(&self.settings)? },
        })
    }
}
