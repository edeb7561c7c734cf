//! Claims held against every interleaving of a small system instead of against some runs of a larger one.
//!
//! An [`Instance`] is checked as `doorway check` does it, and that is the command that is reported. Statements that are not
//! among an algorithm's invariants, because they are false or about steps, are decided on an algorithm that is held to them.

use doorway_catalog::Catalog;
use doorway_catalog::lemmas::{self, Form};
use doorway_checker::{
    Exploration, Messages, Property, Runs, SchedulerFairness, Search, SearchLimits, Setting, Violation,
    Watches, explore,
};
use doorway_core::{NodeId, Options, Refusal, Start};

use super::Check;
use super::bench::Bench;
use super::saturated::Saturated;
use crate::check::{Checked, Decision, Instance};

/// Something to decide that is not a property of [`Instance`].
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// One of the lemmas on Singhal's algorithm.
    Lemma(&'static str, Form),
    /// That no number in the RN of Suzuki and Kasami's algorithm ever falls.
    NeverFalls,
    /// That no node starves where all nodes want in again and again.
    NobodyStarves,
    /// The same of Singhal's algorithm with an arbitration that compares the numbers of different nodes.
    NobodyStarvesByNumber,
}

/// The result of exploring every interleaving of an instance.
#[derive(Clone, Debug)]
pub struct Searched {
    states: u64,
    is_complete: bool,
    violation: Option<Violation>,
}

impl Searched {
    fn of(explored: Exploration, property: Property) -> Self {
        let Exploration { states, is_complete, violations, .. } = explored;
        let violation = violations.into_iter().find(|violation| violation.property == property);
        Self { states, is_complete, violation }
    }
}

impl Bench<'_> {
    /// One check: all properties of an instance hold in every run.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn holds(&self, instance: &Instance) -> Result<Check, Refusal> {
        let checked = self.check(instance)?;
        let properties = &instance.properties;
        let holds = properties.iter().all(|property| decision(&checked, *property) == Decision::Holds);
        let wrong = properties.iter().find(|property| decision(&checked, **property) != Decision::Holds);
        let told = match wrong {
            Some(property) => told_of(&checked, *property),
            None => format!("{} in every run, {} states", listed(properties), checked.numbers.states),
        };
        Ok(self.told(instance, holds, &told))
    }

    /// One check: a property does *not* hold, and a run shows it.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn breaks(&self, instance: &Instance, property: Property) -> Result<Check, Refusal> {
        let instance = instance.clone().deciding(&[property]);
        let checked = self.check(&instance)?;
        let holds = decision(&checked, property) == Decision::Violated;
        Ok(self.told(&instance, holds, &told_of(&checked, property)))
    }

    /// One check: the algorithm of an instance has the invariant of this name, and all of its invariants hold.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn keeps(&self, instance: &Instance, invariant: &str) -> Result<Check, Refusal> {
        let instance = instance.clone().deciding(&[Property::Invariants]);
        let names = self.invariants(&instance.algorithm)?;
        let check = self.holds(&instance)?;
        match names.iter().find(|&&name| name == invariant) {
            Some(name) if check.holds => {
                Ok(Check { measured: format!("{name}; with it all {}", check.measured), ..check })
            }
            Some(_) => Ok(check),
            None => {
                let measured = format!("{} has no invariant {invariant:?}", instance.algorithm);
                Ok(Check { holds: false, measured, ..check })
            }
        }
    }

    /// One check: what is asked holds in every run of an instance, by exploring every state.
    ///
    /// # Errors
    /// If it cannot be explored, or is not about such an algorithm.
    pub fn asks(&self, instance: &Instance, asked: Asked, name: &str) -> Result<Check, Refusal> {
        let searched = self.ask(instance, asked)?;
        let told = match &searched.violation {
            Some(violation) => match violation.loop_start {
                Some(start) => format!(
                    "{name}: fails, since {} in a loop of {} steps after {start}",
                    violation.what,
                    violation.steps.len() - start
                ),
                None => format!("{name}: fails after {} steps", violation.steps.len()),
            },
            None if !searched.is_complete => {
                format!("{name}: not decided in the first {} states", searched.states)
            }
            None => format!("{name}: holds in all {} states", searched.states),
        };
        let holds = searched.violation.is_none() && searched.is_complete;
        Ok(self.told(instance, holds, &told))
    }

    pub(super) fn told(&self, instance: &Instance, holds: bool, told: &str) -> Check {
        let measured = format!("{told} ({})", about(instance));
        Check { holds, measured, command: instance.command(self.program()) }
    }
}

/// An instance in few words.
fn about(instance: &Instance) -> String {
    let options: Vec<String> = instance.options.iter().map(|(_, choice)| choice.word.clone()).collect();
    let mut words = vec![instance.algorithm.clone()];
    words.extend(options);
    words.push(format!("requests {}", instance.asked()));
    words.push(instance.channels.name().to_owned());
    words.join(", ")
}

pub(super) fn decision(checked: &Checked, property: Property) -> Decision {
    checked.verdict(property).map_or(Decision::NotExhausted, |verdict| verdict.decision)
}

/// The verdict on one property, in words.
pub(super) fn told_of(checked: &Checked, property: Property) -> String {
    match (decision(checked, property), checked.counterexample(property)) {
        (Decision::Violated, Some(found)) => {
            format!("{property} violated after {} steps: {}", found.steps.len(), found.what)
        }
        (Decision::NotExhausted, _) => format!("{property} is not decided"),
        (decision, _) => format!("{property} {decision} in every run, {} states", checked.numbers.states),
    }
}

/// Properties in a row, with their verb.
pub(super) fn listed(properties: &[Property]) -> String {
    let names: Vec<&str> = properties.iter().map(|property| property.name()).collect();
    match names.split_last() {
        Some((last, [])) if *last == Property::Invariants.name() => format!("{last} hold"),
        Some((last, [])) => format!("{last} holds"),
        Some((last, others)) => format!("{} and {last} hold", others.join(", ")),
        None => "nothing is asked".to_owned(),
    }
}

/// Decides what is asked of an instance.
pub(super) fn ask(catalog: &Catalog, instance: &Instance, asked: Asked) -> Result<Searched, Refusal> {
    let subject = &*catalog.subject(&instance.algorithm, &instance.options)?;
    let watches = Watches { invariants: true, ..Watches::default() };
    let held = Setting { watches, ..Setting::new(instance.requests.clone(), instance.channels) };
    match asked {
        Asked::NobodyStarves => saturated(instance, |setting| subject.system(setting)),
        Asked::NobodyStarvesByNumber => {
            saturated(instance, |setting| lemmas::counted_together(subject, setting))
        }
        Asked::NeverFalls => every_state(lemmas::never_falls(subject, held)?),
        Asked::Lemma(number, form) => every_state(lemmas::lemma(subject, number, form, held)?),
    }
}

/// The names of an algorithm's invariants.
pub(super) fn invariants(catalog: &Catalog, algorithm: &str) -> Result<Vec<&'static str>, Refusal> {
    Ok(catalog.subject(algorithm, &Options::none())?.invariants())
}

/// Every state of an algorithm that is held to a statement.
fn every_state(mut system: Messages) -> Result<Searched, Refusal> {
    let until = vec![Property::Invariants];
    let explored = explore(&mut system, &Search { until, ..Search::default() }, &mut |_| ());
    Ok(Searched::of(explored, Property::Invariants))
}

/// Every run in which all want in again and again, beginning with the first node inside.
fn saturated(
    instance: &Instance,
    system: impl Fn(Setting) -> Result<Messages, Refusal>,
) -> Result<Searched, Refusal> {
    /// Far more than a fair arbitration has; with an unfair one numbers that are counted together drift apart for ever.
    const MOST_STATES: u64 = 20_000;
    let start = Start::Inside(NodeId::new(0));
    let requests = vec![Setting::UNBOUNDED; instance.requests.len()];
    let setting = Setting { start, ..Setting::new(requests, instance.channels) };
    let mut system = Saturated::new(system(setting)?);
    let runs = Runs { progress: Some(Some(SchedulerFairness::Strong)), ..Runs::default() };
    let limits = SearchLimits { states: MOST_STATES, ..SearchLimits::default() };
    let explored = explore(&mut system, &Search { runs, limits, ..Search::default() }, &mut |_| ());
    Ok(Searched::of(explored, Property::StarvationFreedom))
}
