//! The passes in which properties are decided.

use std::time::Instant;

use doorway_catalog::{Catalog, Subject};
use doorway_checker::{
    Exploration, Messages, Property, Runs, Search, SearchLimits, Setting, Walks, Watches, explore, walk,
};
use doorway_core::{Family, Refusal};

use super::verdict::VerdictContext;
use super::{Checked, Counterexample, Decision, Instance, Numbers, Verdict};

/// Explores an instance.
pub(super) fn check(
    instance: &Instance,
    catalog: &Catalog,
    watch: &mut dyn FnMut(u64),
) -> Result<Checked, Refusal> {
    let subject = catalog.subject(&instance.algorithm, &instance.options)?;
    let has_token = subject.about().family == Family::Token;
    let mut properties = instance.properties.clone();
    properties.retain(|property| *property != Property::OneToken || has_token);
    if properties.is_empty() {
        let name = &instance.algorithm;
        return Err(Refusal::new(format!("{name} has no token, so there is nothing to decide about one")));
    }
    let (began, checked) = (Instant::now(), Checked::default());
    Passes { instance, subject: &*subject, watch, began, checked, properties }.run()
}

struct Passes<'a> {
    instance: &'a Instance,
    subject: &'a dyn Subject,
    watch: &'a mut dyn FnMut(u64),
    began: Instant,
    checked: Checked,
    properties: Vec<Property>,
}

/// How far a search goes on after a violation: a broken algorithm is seldom worth a long search.
pub(crate) const PATIENCE: u64 = 500_000;

/// What is the same on the states that promises leave.
const OF_RUNS: [Property; 3] =
    [Property::MutualExclusion, Property::DeadlockFreedom, Property::StarvationFreedom];

/// What needs every state.
const OF_STATES: [Property; 2] = [Property::OneToken, Property::Invariants];

impl Passes<'_> {
    fn run(mut self) -> Result<Checked, Refusal> {
        if let Some(walks) = &self.instance.effort.walks {
            self.walk(walks)?;
        } else {
            self.visit_all()?;
        }
        let order = self.properties;
        let place = |property| order.iter().position(|other| *other == property);
        self.checked.verdicts.sort_by_key(|verdict| place(verdict.property));
        self.checked.counterexamples.sort_by_key(|found| place(found.property));
        Ok(self.checked)
    }

    /// Walks at random. They prove nothing: a violation that they miss may exist.
    fn walk(&mut self, walks: &Walks) -> Result<(), Refusal> {
        let watches = Watches {
            invariants: !self.wanted(&OF_STATES).is_empty(),
            fences: !self.wanted(&[Property::Fence]).is_empty(),
            order: !self.wanted(&[Property::HappenedBeforeOrder]).is_empty(),
            doorways: false,
        };
        let mut system = self.subject.system(self.setting(watches, false))?;
        let mut found: Vec<(Counterexample, u64)> = Vec::new();
        let walked = walk(&mut system, walks, self.watch, &mut |system, violation, times| {
            found.push((Counterexample::new(self.instance, system, violation), times));
        });
        self.checked = Checked::of_walks(&self.properties, walked, found);
        Ok(())
    }

    /// What is left of the time; of all of it the first of several passes gets the half.
    fn limits(&self, is_first: bool) -> SearchLimits {
        let limits = self.instance.effort.limits;
        let is_only = self.properties.iter().all(|property| OF_RUNS.contains(property));
        let whole = if is_first && !is_only { limits.time / 2 } else { limits.time };
        SearchLimits { time: whole.saturating_sub(self.began.elapsed()), ..limits }
    }

    fn setting(&self, watches: Watches, reduction: bool) -> Setting {
        let Instance { requests, channels, start, faults, .. } = self.instance;
        let (requests, channels, start, faults) = (requests.clone(), *channels, *start, *faults);
        Setting { requests, channels, start, watches, faults, reduction }
    }

    fn visit_all(&mut self) -> Result<(), Refusal> {
        let of_runs = self.wanted(&OF_RUNS);
        let of_states = self.wanted(&OF_STATES);
        let mut open = of_runs.clone();
        if self.instance.reduction && !of_runs.is_empty() {
            let (explored, mut system) = self.explore(&of_runs, Watches::default(), true, false)?;
            self.checked.reduced = Some(Numbers::of(&explored));
            open = self.settle(&of_runs, &explored, &mut system, true);
            self.checked.numbers = Numbers::of(&explored);
        }
        if !open.is_empty() || !of_states.is_empty() {
            let wanted: Vec<Property> = open.iter().chain(&of_states).copied().collect();
            let watches = Watches { invariants: !of_states.is_empty(), ..Watches::default() };
            let stop = of_states.is_empty() && self.checked.reduced.is_some();
            let (explored, mut system) = self.explore(&wanted, watches, false, stop)?;
            if explored.is_complete || explored.states > self.checked.numbers.states {
                self.checked.numbers = Numbers::of(&explored);
            }
            self.settle(&wanted, &explored, &mut system, false);
        }
        self.ask_ghosts()
    }

    /// What needs something to become part of the states.
    fn ask_ghosts(&mut self) -> Result<(), Refusal> {
        let none = Watches::default();
        let ghosts: [(&[Property], Watches); 3] = [
            (&[Property::Fence], Watches { fences: true, ..none }),
            (&[Property::HappenedBeforeOrder], Watches { order: true, ..none }),
            (&[Property::Fifo, Property::BoundedWaiting], Watches { doorways: true, ..none }),
        ];
        for (properties, watches) in ghosts {
            let wanted = self.wanted(properties);
            if wanted.is_empty() {
                continue;
            }
            if watches.fences && self.instance.requests.contains(&Setting::UNBOUNDED) {
                let remark = Some("fences grow without end, so give a number of requests".to_owned());
                let (property, decision) = (Property::Fence, Decision::NotExhausted);
                self.checked.verdicts.push(Verdict { remark, ..Verdict::new(property, decision) });
                continue;
            }
            let (explored, mut system) = self.explore(&wanted, watches, false, !watches.doorways)?;
            if self.checked.numbers.states == 0 {
                self.checked.numbers = Numbers::of(&explored);
            }
            self.settle(&wanted, &explored, &mut system, false);
        }
        Ok(())
    }

    fn wanted(&self, some: &[Property]) -> Vec<Property> {
        self.properties.iter().copied().filter(|property| some.contains(property)).collect()
    }

    /// One pass. It ends early, if `stop`, as soon as all that is wanted was found violated.
    fn explore(
        &mut self,
        wanted: &[Property],
        watches: Watches,
        reduction: bool,
        stop: bool,
    ) -> Result<(Exploration, Messages), Refusal> {
        let is_wanted = |some: &[Property]| some.iter().any(|property| wanted.contains(property));
        let progress = is_wanted(&[Property::DeadlockFreedom, Property::StarvationFreedom]);
        let search = Search {
            limits: self.limits(reduction),
            threads: self.instance.effort.threads,
            visited: self.instance.effort.visited,
            runs: Runs {
                progress: progress.then_some(self.instance.fairness),
                waiting: is_wanted(&[Property::Fifo, Property::BoundedWaiting]),
                messages: progress,
            },
            until: if stop { wanted.to_vec() } else { Vec::new() },
            patience: PATIENCE,
            keep_terminals: false,
            stop: self.instance.effort.stop.clone(),
        };
        let mut system = self.subject.system(self.setting(watches, reduction))?;
        let explored = explore(&mut system, &search, self.watch);
        Ok((explored, system))
    }

    /// Notes what a pass decided of some properties; those that need another pass come back.
    fn settle(
        &mut self,
        wanted: &[Property],
        explored: &Exploration,
        system: &mut Messages,
        is_reduced: bool,
    ) -> Vec<Property> {
        let Instance { fairness, ref requests, .. } = *self.instance;
        let judge = VerdictContext {
            fairness,
            is_limited: requests.iter().any(|asked| *asked != Setting::UNBOUNDED),
        };
        let mut open = Vec::new();
        for &property in wanted {
            let violation = explored.violations.iter().find(|violation| violation.property == property);
            let verdict = judge.verdict(property, violation, explored);
            if is_reduced && verdict.decision != Decision::Holds {
                open.push(property);
            }
            let is_worse = verdict.decision == Decision::NotExhausted;
            match self.checked.verdicts.iter_mut().find(|known| known.property == property) {
                Some(known) if !is_worse => *known = verdict,
                Some(_) => {}
                None => self.checked.verdicts.push(verdict),
            }
            if let Some(violation) = violation {
                let mut found = Counterexample::new(self.instance, system, violation.clone());
                if is_reduced {
                    found.script.clear();
                }
                self.checked.counterexamples.retain(|known| known.property != property);
                self.checked.counterexamples.push(found);
            }
        }
        if let Some(witness) = explored.waiting.as_ref().and_then(|waiting| waiting.witness.clone()) {
            self.checked.most_overtaken = Some(Counterexample::new(self.instance, system, witness));
        }
        self.checked.messages = explored.messages.or(self.checked.messages);
        open
    }
}
