//! Whether whoever waits enters in the end, and what a scheduler must grant for that.
//!
//! A run that goes on for ever goes round in one component of the graph from some moment on. Under weak fairness it can stay there
//! if every class of steps is taken there or not possible in some state of it; under strong fairness if every class that is
//! possible anywhere in it is taken: then states where an untaken class is possible are left out, and what remains is looked
//! at again (E. A. Emerson, C.-L. Lei: "Modalities for model checking", Science of Computer Programming 8, 1987).

mod lasso;

use std::collections::BTreeMap;

use crate::components::Components;
use crate::explore::named;
use crate::graph::{Edge, Graph, Path};
use crate::store::StateId;
use crate::{Fairness, Property};

/// What progress needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Under which fairness somebody enters whenever somebody waits; `None` if under none.
    pub somebody: Option<Fairness>,
    /// For each process, under which fairness it enters whenever it waits; `None` if under none.
    pub each: Vec<Option<Fairness>>,
}

impl Progress {
    /// Under which fairness nobody starves; `None` if under none.
    #[must_use]
    pub fn everybody(&self) -> Option<Fairness> {
        self.each.iter().copied().try_fold(Fairness::None, |most, one| Some(most.max(one?)))
    }
}

/// A run that goes on for ever and in which a property does not hold.
pub(crate) struct Lasso {
    pub(crate) property: Property,
    pub(crate) what: String,
    pub(crate) processes: Vec<usize>,
    pub(crate) path: Path,
}

/// Part of the graph in which a run may stay.
struct Region<'a> {
    /// Whether the run may be in a state.
    holds: &'a dyn Fn(StateId) -> bool,
    /// Whether it may take a step.
    allows: &'a dyn Fn(StateId, Edge) -> bool,
}

/// Decides what progress needs, and finds a run for each property that does not hold under this fairness.
pub(crate) fn judge(graph: &Graph, fairness: Fairness) -> (Progress, Vec<Lasso>) {
    let mut loops = Loops::new(graph);
    let mut lassos = Vec::new();
    let somebody_waits = |state| (0..graph.processes).any(|process| graph.stand(state, process).wants());
    let nobody_enters =
        |from, edge: Edge| !(0..graph.processes).any(|process| graph.enters(from, edge.to, process));
    let livelock = Region { holds: &somebody_waits, allows: &nobody_enters };
    let mut somebody = loops.needs(&livelock);
    if let Some(path) = loops.path(&livelock, fairness) {
        let state = path.edges.last().map_or(path.from, |edge| edge.to);
        let processes: Vec<usize> =
            (0..graph.processes).filter(|process| graph.stand(state, *process).wants()).collect();
        let what = format!("all goes on for ever, but nobody enters, and {} in vain", wait(&processes));
        lassos.push(Lasso { property: Property::DeadlockFreedom, what, processes, path });
    }
    let mut each = Vec::new();
    for process in 0..graph.processes {
        let waits = |state| graph.stand(state, process).wants();
        let region = Region { holds: &waits, allows: &|_, _| true };
        let needs = loops.needs(&region);
        let known = lassos.iter().any(|lasso| lasso.property == Property::StarvationFreedom);
        if let Some(path) = loops.path(&region, fairness).filter(|_| !known) {
            let what = format!("node {} waits for ever while the others go on", process + 1);
            let (property, processes) = (Property::StarvationFreedom, vec![process]);
            lassos.push(Lasso { property, what, processes, path });
        }
        each.push(needs);
    }
    for state in graph.states() {
        if graph.edges(state).iter().all(|edge| graph.step(*edge).owed.is_none()) {
            for (process, needs) in each.iter_mut().enumerate() {
                if graph.stand(state, process).wants() {
                    (*needs, somebody) = (None, None);
                }
            }
        }
    }
    (Progress { somebody, each }, lassos)
}

fn wait(processes: &[usize]) -> String {
    format!("{} {}", named(processes), if processes.len() == 1 { "waits" } else { "wait" })
}

/// The components of the whole graph in which a run can go round.
struct Loops<'a> {
    graph: &'a Graph,
    components: Components,
    /// The states of each.
    rounds: Vec<Vec<StateId>>,
    /// To which part of a search each state belongs, by number.
    marks: Vec<u32>,
    next_mark: u32,
    depths: Option<Vec<u32>>,
}

impl<'a> Loops<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut components = Components::new(graph.bound());
        let mut rounds = Vec::new();
        let next = |state: u32, cursor: &mut u32| {
            let edge = graph.edges(state).get(*cursor as usize)?;
            *cursor += 1;
            Some(edge.to)
        };
        components.visit(graph.states(), next, |component| {
            if goes_round(graph, component, |_, _| true) {
                rounds.push(component.to_vec());
            }
        });
        let marks = vec![0; graph.bound()];
        Self { graph, components, rounds, marks, next_mark: 1, depths: None }
    }

    /// The weakest fairness under which no run stays in the region.
    fn needs(&mut self, region: &Region<'_>) -> Option<Fairness> {
        Fairness::ALL.into_iter().find(|fairness| self.find(region, *fairness).is_none())
    }

    /// A component of the region in which a fair run can stay.
    fn find(&mut self, region: &Region<'_>, fairness: Fairness) -> Option<Vec<StateId>> {
        let mut parts: Vec<Vec<StateId>> = self.rounds.clone();
        parts.iter_mut().for_each(|part| part.retain(|state| (region.holds)(*state)));
        while let Some(part) = parts.pop() {
            for component in self.split(&part, region) {
                let unfair = match fairness {
                    Fairness::None => return Some(component),
                    Fairness::Weak => self.unfair(&component, region, true),
                    Fairness::Strong => self.unfair(&component, region, false),
                };
                if unfair.is_empty() {
                    return Some(component);
                }
                if fairness == Fairness::Strong {
                    let is_fair = |state: &StateId| {
                        let mut owed =
                            self.graph.edges(*state).iter().filter_map(|edge| self.graph.step(*edge).owed);
                        !owed.any(|class| unfair.contains(&class))
                    };
                    parts.push(component.iter().copied().filter(is_fair).collect());
                }
            }
        }
        None
    }

    /// The components of a part in which one can go round.
    fn split(&mut self, part: &[StateId], region: &Region<'_>) -> Vec<Vec<StateId>> {
        let (graph, mark) = (self.graph, self.mark(part));
        let marks = &self.marks;
        let next = |state: u32, cursor: &mut u32| {
            let edges = graph.edges(state).get(*cursor as usize..)?;
            let is_inside = |edge: &&Edge| marks[edge.to as usize] == mark && (region.allows)(state, **edge);
            let (skipped, edge) = edges.iter().enumerate().find(|(_, edge)| is_inside(edge))?;
            *cursor += skipped as u32 + 1;
            Some(edge.to)
        };
        let mut found = Vec::new();
        self.components.visit(part.iter().copied(), next, |component| {
            if goes_round(graph, component, region.allows) {
                found.push(component.to_vec());
            }
        });
        found
    }

    /// Gives a number to these states.
    fn mark(&mut self, part: &[StateId]) -> u32 {
        let mark = self.next_mark;
        self.next_mark += 1;
        part.iter().for_each(|state| self.marks[*state as usize] = mark);
        mark
    }

    /// The classes of steps that are possible in the component (`always`: in every state of it) and never taken there.
    fn unfair(&mut self, component: &[StateId], region: &Region<'_>, always: bool) -> Vec<u32> {
        let mark = self.mark(component);
        let mut possible: BTreeMap<u32, (usize, StateId, bool)> = BTreeMap::new();
        for &state in component {
            for &edge in self.graph.edges(state) {
                let Some(class) = self.graph.step(edge).owed else { continue };
                let (states, last, is_taken) = possible.entry(class).or_insert((0, StateId::MAX, false));
                *states += usize::from(*last != state);
                *last = state;
                *is_taken |= self.marks[edge.to as usize] == mark && (region.allows)(state, edge);
            }
        }
        let is_unfair = |states: usize, is_taken: bool| !is_taken && (!always || states == component.len());
        let unfair = possible.into_iter().filter(|(_, (states, _, taken))| is_unfair(*states, *taken));
        unfair.map(|(class, _)| class).collect()
    }

    /// A run that stays in the region and is fair.
    fn path(&mut self, region: &Region<'_>, fairness: Fairness) -> Option<Path> {
        let component = self.find(region, fairness)?;
        let mark = self.mark(&component);
        let depths = self.depths.get_or_insert_with(|| self.graph.depths());
        let from = *component.iter().min_by_key(|state| depths[**state as usize])?;
        let round = lasso::Round {
            graph: self.graph,
            is_inside: &|state| self.marks[state as usize] == mark,
            allows: region.allows,
        };
        let edges = round.edges(from, &component, fairness);
        Some(Path { from, edges, loop_start: Some(0) })
    }
}

/// Whether one can go round in a component.
fn goes_round(graph: &Graph, component: &[StateId], allows: impl Fn(StateId, Edge) -> bool) -> bool {
    match component {
        [only] => graph.edges(*only).iter().any(|edge| edge.to == *only && allows(*only, *edge)),
        _ => true,
    }
}
