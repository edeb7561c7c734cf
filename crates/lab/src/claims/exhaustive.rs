//! Claims held against every interleaving of a small system instead of against some runs of a larger one.
//!
//! An [`Instance`] is checked as `doorway check` does it, and the command that is told is that one. Statements that are not
//! among an algorithm's invariants, because they are false or about steps, are decided on an algorithm that is held to them.

use std::any::Any;

use doorway_algorithms::lemmas::{Form, Lemma, LemmaAt, NeverFalls, Statement, Vectors, held};
use doorway_algorithms::message::singhal::Singhal;
use doorway_algorithms::message::suzuki_kasami::SuzukiKasami;
use doorway_algorithms::specimens::singhal_no_chase::NoChase;
use doorway_algorithms::specimens::spoiled::Spoiled;
use doorway_checker::{
    Exploration, Fairness, Messages, Property, Runs, Search, Setting, Violation, Watches, explore,
};
use doorway_core::{About, Catalog, Explain, Factory, Hints, NodeId, Refusal, Start, Visitor};

use super::Check;
use super::bench::Bench;
use super::saturated::Saturated;
use crate::check::{Checked, Decision, Instance};
use crate::shell;

/// Something to decide that is not a property of [`Instance`].
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// One of the lemmas on Singhal's algorithm.
    Lemma(&'static str, Form),
    /// That no number in the RN of Suzuki and Kasami's algorithm ever falls.
    NeverFalls,
    /// That nobody starves where everybody wants in again and again.
    NobodyStarves,
}

/// What every interleaving of an instance came to.
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
    /// One check: all that an instance is to decide holds, in every run.
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

    /// One check: a property does *not* hold, and here is a run.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn breaks(&self, instance: &Instance, property: Property) -> Result<Check, Refusal> {
        let instance = instance.clone().deciding(&[property]);
        let checked = self.check(&instance)?;
        let holds = decision(&checked, property) == Decision::Violated;
        Ok(self.told(&instance, holds, &told_of(&checked, property)))
    }

    /// One check: the algorithm of an instance has an invariant whose name has this in it, and all of its invariants hold.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn keeps(&self, instance: &Instance, invariant: &str) -> Result<Check, Refusal> {
        let instance = instance.clone().deciding(&[Property::Invariants]);
        let names = self.invariants(&instance.algorithm)?;
        let check = self.holds(&instance)?;
        match names.iter().find(|name| name.contains(invariant)) {
            Some(name) if check.holds => {
                Ok(Check { measured: format!("{name}; with it all {}", check.measured), ..check })
            }
            Some(_) => Ok(check),
            None => {
                let measured = format!("{} has no invariant with {invariant:?}", instance.algorithm);
                Ok(Check { holds: false, measured, ..check })
            }
        }
    }

    /// One check: what is asked is so in every run of an instance. Every state, or every run, is looked at.
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
            None => format!("{name}: holds in all {} states", searched.states),
        };
        let holds = searched.violation.is_none() && searched.is_complete;
        Ok(self.told(instance, holds, &told))
    }

    fn told(&self, instance: &Instance, holds: bool, told: &str) -> Check {
        let measured = format!("{told} ({})", about(instance));
        Check { holds, measured, command: command(self.program(), instance) }
    }
}

/// An instance in few words.
fn about(instance: &Instance) -> String {
    let requests: Vec<String> = instance.requests.iter().map(word).collect();
    let options: Vec<String> = instance.options.iter().map(|(_, choice)| choice.word.clone()).collect();
    let mut words = vec![instance.algorithm.clone()];
    words.extend(options);
    words.push(format!("requests {}", requests.join(",")));
    words.push(instance.channels.name().to_owned());
    words.join(", ")
}

fn word(requests: &u32) -> String {
    if *requests == Setting::UNBOUNDED { "unbounded".to_owned() } else { requests.to_string() }
}

/// What to type to explore it.
fn command(program: &str, instance: &Instance) -> String {
    let requests: Vec<String> = instance.requests.iter().map(word).collect();
    let properties: Vec<&str> = instance.properties.iter().map(|property| property.name()).collect();
    let mut words: Vec<String> = [program, "check", &instance.algorithm].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    flag("requests", requests.join(","));
    flag("channels", instance.channels.name().to_owned());
    for (name, choice) in instance.options.iter() {
        match name {
            "quorum" => flag(name, choice.word.clone()),
            _ => flag("set", format!("{name}={}", choice.word)),
        }
    }
    flag("property", properties.join(","));
    shell::joined(&words)
}

pub(super) fn decision(checked: &Checked, property: Property) -> Decision {
    checked.verdict(property).map_or(Decision::NotExhausted, |verdict| verdict.decision)
}

/// What came of one property.
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
pub(super) fn ask(catalog: &impl Catalog, instance: &Instance, asked: Asked) -> Result<Searched, Refusal> {
    let searched = catalog.visit(&instance.algorithm, &instance.options, Question { instance, asked });
    searched.ok_or_else(|| Refusal::new(format!("there is no algorithm {:?}", instance.algorithm)))??
}

/// The names of an algorithm's invariants.
pub(super) fn invariants(catalog: &impl Catalog, algorithm: &str) -> Result<Vec<&'static str>, Refusal> {
    let names = catalog.visit(algorithm, &doorway_core::Options::none(), Invariants);
    names.ok_or_else(|| Refusal::new(format!("there is no algorithm {algorithm:?}")))?
}

struct Invariants;

impl Visitor for Invariants {
    type Output = Vec<&'static str>;

    fn visit<A: Explain + Hints>(self, _: &About, _: Factory<A>) -> Self::Output {
        A::invariants().iter().map(|invariant| invariant.name).collect()
    }
}

struct Question<'a> {
    instance: &'a Instance,
    asked: Asked,
}

impl Visitor for Question<'_> {
    type Output = Result<Searched, Refusal>;

    fn visit<A: Explain + Hints>(self, about: &About, factory: Factory<A>) -> Self::Output {
        let any: &dyn Any = &factory;
        match self.asked {
            Asked::NobodyStarves => self.saturated(&factory),
            Asked::NeverFalls => match any.downcast_ref::<Factory<SuzukiKasami>>() {
                Some(factory) => self.held::<NeverFalls>(factory),
                None => Err(Refusal::new(format!("{} has no RN", about.name))),
            },
            Asked::Lemma(number, form) => {
                let plain = any.downcast_ref::<Factory<Singhal>>();
                let without_chase = any.downcast_ref::<Factory<Spoiled<NoChase>>>();
                match (plain, without_chase) {
                    (Some(factory), _) => self.lemma(factory, number, form),
                    (_, Some(factory)) => self.lemma(factory, number, form),
                    (None, None) => Err(Refusal::new(format!("{} has no such vectors", about.name))),
                }
            }
        }
    }
}

impl Question<'_> {
    fn lemma<A: Explain + Vectors>(
        &self,
        factory: &Factory<A>,
        number: &str,
        form: Form,
    ) -> Result<Searched, Refusal> {
        let place = Lemma::<A>::ALL.iter().position(|lemma| lemma.number == number && lemma.form == form);
        match place {
            Some(0) => self.held::<LemmaAt<A, 0>>(factory),
            Some(1) => self.held::<LemmaAt<A, 1>>(factory),
            Some(2) => self.held::<LemmaAt<A, 2>>(factory),
            Some(3) => self.held::<LemmaAt<A, 3>>(factory),
            Some(4) => self.held::<LemmaAt<A, 4>>(factory),
            Some(5) => self.held::<LemmaAt<A, 5>>(factory),
            _ => Err(Refusal::new(format!("there is no such lemma {number}"))),
        }
    }

    /// Every state of an algorithm that is held to a statement.
    fn held<S: Statement>(&self, factory: &Factory<S::Of>) -> Result<Searched, Refusal> {
        let watches = Watches { invariants: true, ..Watches::default() };
        let setting =
            Setting { watches, ..Setting::new(self.instance.requests.clone(), self.instance.channels) };
        let mut system = Messages::new(&held::<S>(factory.clone()), setting)?;
        let until = vec![Property::Invariants];
        let explored = explore(&mut system, &Search { until, ..Search::default() }, &mut |_| ());
        Ok(Searched::of(explored, Property::Invariants))
    }

    /// Every run in which all want in again and again, beginning with the first node inside.
    fn saturated<A: Explain + Hints>(&self, factory: &Factory<A>) -> Result<Searched, Refusal> {
        let start = Start::Inside(NodeId::new(0));
        let requests = vec![Setting::UNBOUNDED; self.instance.requests.len()];
        let setting = Setting { start, ..Setting::new(requests, self.instance.channels) };
        let mut system = Saturated::new(Messages::new(factory, setting)?);
        let runs = Runs { progress: Some(Some(Fairness::Strong)), ..Runs::default() };
        let explored = explore(&mut system, &Search { runs, ..Search::default() }, &mut |_| ());
        Ok(Searched::of(explored, Property::StarvationFreedom))
    }
}
