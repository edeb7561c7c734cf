//! A check as a page asks for it, in the words of `doorway check`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use doorway_catalog::Catalog;
use doorway_checker::{Fairness, Faults, Limits, MemorySetting, Property, Setting};
use doorway_core::{NodeId, Refusal, Stop};
use doorway_experiments::check::{Checked, Effort, Instance, Told, requests, start};
use doorway_experiments::memory::{self, ProgramInstance};
use serde::Deserialize;
use serde_json::Value;

use super::{Files, Trouble, Word};

/// What to explore and to decide.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSpec {
    algorithm: String,
    nodes: Option<Word>,
    requests: Vec<Word>,
    channels: Option<Word>,
    options: BTreeMap<String, Word>,
    properties: Vec<String>,
    fairness: Option<Word>,
    start_inside: Option<Word>,
    faults: FaultWords,
    registers: Option<Word>,
    memory: Option<Word>,
    barrier: Option<Word>,
    buffer: Option<Word>,
    tickets: Option<Word>,
    reduction: Option<bool>,
    max_states: Option<Word>,
    files: Files,
}

/// How much may go wrong.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FaultWords {
    lose: Option<Word>,
    duplicate: Option<Word>,
    crash: Option<Word>,
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

impl CheckSpec {
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
            Told { algorithm, nodes, memory, checked, took: began.elapsed() }.json()
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
        let requests = requests(self.count("nodes", self.nodes.as_ref())?, &self.asked(1)?)?;
        let properties = self.wanted(&Property::ALL, &Instance::OF_A_LOCK)?;
        let channels = self.channels.as_ref().map_or(Ok(needs), |word| word.parsed("channels"))?;
        let fault = |name: &str, word: Option<&Word>| -> Result<u8, Refusal> {
            let count = word.map_or(Ok(0), |word| word.whole(name))?;
            u8::try_from(count).map_err(|_| Refusal::new(format!("{name}: {count} is too many: at most 255")))
        };
        Ok(Instance {
            options: self.files.options(&self.options)?,
            start: start(self.holder()?),
            faults: Faults {
                losses: fault("lose", self.faults.lose.as_ref())?,
                duplicates: fault("duplicate", self.faults.duplicate.as_ref())?,
                crashes: fault("crash", self.faults.crash.as_ref())?,
            },
            fairness: self.fairness()?,
            reduction: self.reduction.unwrap_or(true),
            effort: self.effort(bounds)?,
            ..Instance::new(&self.algorithm, &requests, channels).deciding(&properties)
        })
    }

    fn of_program(&self, catalog: &Catalog, bounds: &CheckBounds) -> Result<ProgramInstance, Refusal> {
        let is_for_three = || ProgramInstance::new(&self.algorithm, 3).system(catalog).is_ok();
        let n = match (self.count("nodes", self.nodes.as_ref())?, self.requests.len()) {
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
        let asked = requests(Some(n), &self.asked(Setting::UNBOUNDED)?)?;
        let is_endless = asked.contains(&Setting::UNBOUNDED);
        let usual = MemorySetting::default();
        let setting = MemorySetting {
            requests: (!is_endless).then_some(asked),
            registers: self
                .registers
                .as_ref()
                .map_or(Ok(usual.registers), |word| word.parsed("registers"))?,
            memory: self.memory.as_ref().map_or(Ok(usual.memory), |word| word.parsed("memory"))?,
            barriers: self.barrier.as_ref().map_or(Ok(usual.barriers), |word| word.parsed("barrier"))?,
            capacity: self.count("buffer", self.buffer.as_ref())?.unwrap_or(usual.capacity),
            tickets: self.tickets()?.unwrap_or(usual.tickets),
            ..usual
        };
        let properties = self.wanted(&ProgramInstance::PROPERTIES, &ProgramInstance::OF_A_LOCK)?;
        Ok(ProgramInstance {
            options: self.files.options(&self.options)?,
            setting,
            fairness: self.fairness()?,
            effort: self.effort(bounds)?,
            ..ProgramInstance::new(&self.algorithm, n).deciding(&properties)
        })
    }

    fn count(&self, name: &str, word: Option<&Word>) -> Result<Option<usize>, Refusal> {
        let number = word.map(|word| word.whole(name)).transpose()?;
        Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    fn tickets(&self) -> Result<Option<u32>, Refusal> {
        let count = self.count("tickets", self.tickets.as_ref())?;
        Ok(count.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
    }

    /// How often each node asks.
    fn asked(&self, usual: u32) -> Result<Vec<u32>, Refusal> {
        const MOST: u64 = 1_000;
        let one = |word: &Word| match word.0.as_str() {
            "unbounded" => Ok(Setting::UNBOUNDED),
            _ => match word.whole("requests")? {
                count @ 0..=MOST => Ok(count as u32),
                count => {
                    Err(Refusal::new(format!("requests: {count} is too often: at most {MOST}, or unbounded")))
                }
            },
        };
        match &self.requests[..] {
            [] => Ok(vec![usual]),
            words => words.iter().map(one).collect(),
        }
    }

    fn holder(&self) -> Result<Option<NodeId>, Refusal> {
        let Some(word) = &self.start_inside else { return Ok(None) };
        let number = u32::try_from(word.whole("start_inside")?).ok().and_then(NodeId::from_number);
        number.map(Some).ok_or_else(|| Refusal::new("start_inside: nodes count from 1"))
    }

    /// What is to be decided: by name, `lock` for all that a lock must be, `all` for all that can be.
    fn wanted(&self, all: &[Property], of_a_lock: &[Property]) -> Result<Vec<Property>, Refusal> {
        if self.properties.is_empty() {
            return Ok(of_a_lock.to_vec());
        }
        let mut wanted = Vec::new();
        for word in &self.properties {
            match word.as_str() {
                "all" => wanted.extend(all),
                "lock" => wanted.extend(of_a_lock),
                "exclusion" => wanted.push(Property::MutualExclusion),
                _ => wanted.push(property(word)?),
            }
        }
        Ok(Property::ALL.into_iter().filter(|property| wanted.contains(property)).collect())
    }

    fn fairness(&self) -> Result<Option<Fairness>, Refusal> {
        let Some(Word(word)) = &self.fairness else { return Ok(None) };
        let found = Fairness::ALL.into_iter().find(|fairness| fairness.name() == word);
        found
            .map(Some)
            .ok_or_else(|| Refusal::new(format!("{word:?} is not a fairness: it is none, weak or strong")))
    }

    fn effort(&self, bounds: &CheckBounds) -> Result<Effort, Refusal> {
        let states = self.max_states.as_ref().map_or(Ok(bounds.states), |word| word.whole("max_states"))?;
        let limits = Limits {
            states: states.min(bounds.states),
            bytes: bounds.bytes,
            time: bounds.time,
            ..Limits::default()
        };
        Ok(Effort { limits, stop: bounds.stop.clone(), ..Effort::default() })
    }
}

fn property(word: &str) -> Result<Property, Refusal> {
    let found = Property::ALL.into_iter().find(|property| property.name() == word);
    found.ok_or_else(|| {
        let names: Vec<&str> = Property::ALL.iter().map(|property| property.name()).collect();
        Refusal::new(format!("{word:?} cannot be decided: lock, all, {}", names.join(", ")))
    })
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
