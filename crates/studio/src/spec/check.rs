//! A check as a page asks for it, in the words of `doorway check`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use doorway_catalog::Catalog;
use doorway_catalog::settings::{self, RawValue, Spec};
use doorway_checker::{Property, SearchLimits};
use doorway_core::{Refusal, Stop};
use doorway_experiments::check::{CheckReport, Checked, Effort, Instance, requests, start};
use doorway_experiments::memory::{self, ProgramInstance};
use serde::Deserialize;
use serde_json::Value;

use super::{Files, Trouble};

/// What to explore and to decide.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CheckRequest {
    algorithm: String,
    options: BTreeMap<String, RawValue>,
    /// Another place for `property`, as a list.
    properties: Vec<RawValue>,
    /// Another place for `lose`, `duplicate` and `crash`.
    faults: BTreeMap<String, RawValue>,
    files: Files,
    /// Each word is that of a flag of `doorway check`.
    #[serde(flatten)]
    settings: settings::CheckSpec,
}

/// How much a page may ask for.
#[derive(Clone, Debug)]
pub struct CheckBounds {
    /// The most nodes.
    pub nodes: usize,
    /// The most states.
    pub states: u64,
    /// The most bytes.
    pub bytes: u64,
    /// The longest time.
    pub time: Duration,
    /// Said by somebody else when it is to end.
    pub stop: Stop,
}

impl CheckRequest {
    /// Explores it; `watch` is told how many states were found so far. The answer is that of `doorway check --json`.
    ///
    /// # Errors
    /// If it cannot be read, or cannot be explored so.
    pub fn json(
        &self,
        catalog: &Catalog,
        bounds: &CheckBounds,
        watch: &mut dyn FnMut(u64),
    ) -> Result<Value, Trouble> {
        let began = Instant::now();
        let told = |algorithm: &str, nodes, memory, checked: &Checked| {
            CheckReport { algorithm, nodes, memory, checked, took: began.elapsed() }.json()
        };
        if catalog.about_program(&self.algorithm).is_some() {
            let instance = self.of_program(catalog, bounds).map_err(Trouble::Unreadable)?;
            bounds.check(instance.n)?;
            let checked = instance.check(catalog, watch).map_err(Trouble::Impossible)?;
            return Ok(told(
                &instance.program,
                instance.n,
                Some(memory::described(&instance.setting)),
                &checked,
            ));
        }
        let instance = self.of_algorithm(catalog, bounds)?;
        bounds.check(instance.requests.len())?;
        let checked = instance.check(catalog, watch).map_err(Trouble::Impossible)?;
        Ok(told(&instance.algorithm, instance.requests.len(), None, &checked))
    }

    fn of_algorithm(&self, catalog: &Catalog, bounds: &CheckBounds) -> Result<Instance, Trouble> {
        let name = &self.algorithm;
        let unknown = || Trouble::Impossible(Refusal::new(format!("there is no algorithm {name:?}")));
        let needs = catalog.about(name).ok_or_else(unknown)?.needs;
        self.instance(needs, bounds).map_err(Trouble::Unreadable)
    }

    fn instance(&self, needs: doorway_core::Channels, bounds: &CheckBounds) -> Result<Instance, Refusal> {
        let spec = self.settings()?;
        let requests = requests(spec.nodes.one()?, &spec.asked(1)?)?;
        let properties = spec.properties(&Property::ALL, &Instance::OF_A_LOCK)?;
        Ok(Instance {
            options: self.files.options(&self.options)?,
            start: start(spec.start_inside.one()?),
            faults: spec.faults()?,
            fairness: spec.fairness.one()?,
            reduction: spec.reduction.one_or(true)?,
            effort: effort(&spec, bounds)?,
            ..Instance::new(&self.algorithm, &requests, spec.channels.one_or(needs)?).deciding(&properties)
        })
    }

    fn of_program(&self, catalog: &Catalog, bounds: &CheckBounds) -> Result<ProgramInstance, Refusal> {
        let spec = self.settings()?;
        let is_for_three = || ProgramInstance::new(&self.algorithm, 3).system(catalog).is_ok();
        let n = match (spec.nodes.one()?, spec.requests.words().len()) {
            (Some(n), _) => n,
            (None, each @ 2..) => each,
            (None, _) => {
                if is_for_three() {
                    3
                } else {
                    2
                }
            }
        };
        let asked = requests(Some(n), &spec.asked(settings::CheckSpec::UNBOUNDED)?)?;
        let is_endless = asked.contains(&settings::CheckSpec::UNBOUNDED);
        let properties = spec.properties(&ProgramInstance::PROPERTIES, &ProgramInstance::OF_A_LOCK)?;
        Ok(ProgramInstance {
            options: self.files.options(&self.options)?,
            setting: spec.shared_memory((!is_endless).then_some(asked))?,
            fairness: spec.fairness.one()?,
            effort: effort(&spec, bounds)?,
            ..ProgramInstance::new(&self.algorithm, n).deciding(&properties)
        })
    }

    /// The settings, those from their other places included.
    fn settings(&self) -> Result<settings::CheckSpec, Refusal> {
        let mut spec = self.settings.clone();
        for (name, word) in &self.faults {
            if !["lose", "duplicate", "crash"].contains(&name.as_str()) {
                return Err(Refusal::new(format!("there is no fault {name:?}: lose, duplicate or crash")));
            }
            spec.set(name, vec![word.clone()]);
        }
        if !self.properties.is_empty() {
            spec.set("property", self.properties.clone());
        }
        Ok(spec)
    }
}

fn effort(spec: &settings::CheckSpec, bounds: &CheckBounds) -> Result<Effort, Refusal> {
    let limits = SearchLimits {
        states: spec.max_states.one_or(bounds.states)?.min(bounds.states),
        bytes: bounds.bytes,
        time: bounds.time,
        ..SearchLimits::default()
    };
    Ok(Effort { limits, stop: bounds.stop.clone(), ..Effort::default() })
}

impl CheckBounds {
    fn check(&self, nodes: usize) -> Result<(), Trouble> {
        if nodes <= self.nodes {
            return Ok(());
        }
        let sentence = format!("a check here has at most {} nodes, not {nodes}", self.nodes);
        Err(Trouble::Impossible(Refusal::new(sentence)))
    }
}
