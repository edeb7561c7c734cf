//! Progress: whether waiting processes enter eventually, and the scheduler fairness that this needs.
//!
//! An infinite run eventually stays in one strongly connected component. A weakly fair run can stay there if
//! every class of steps is taken in it or disabled in some state of it; a strongly fair run if every class
//! that is enabled anywhere in it is taken. If not, the search removes the states where an untaken class is
//! enabled and splits the rest into components again (E. A. Emerson, C.-L. Lei: "Modalities for model
//! checking", Science of Computer Programming 8, 1987).

mod lasso;

use std::collections::BTreeMap;

use crate::components::Components;
use crate::explore::named;
use crate::graph::{Edge, Graph, Label, Path};
use crate::store::StateId;
use crate::{Property, SchedulerFairness};

/// The fairness that progress needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressNeeds {
    /// The fairness under which some process enters whenever one waits; `None` if there is none.
    pub any: Option<SchedulerFairness>,
    /// For each process, the fairness under which it enters whenever it waits; `None` if there is none.
    pub each: Vec<Option<SchedulerFairness>>,
}

impl ProgressNeeds {
    /// The fairness under which no process starves; `None` if there is none.
    #[must_use]
    pub fn all(&self) -> Option<SchedulerFairness> {
        of_all(&self.each)
    }
}

/// The fairness under which all enter: the strongest of what each needs; `None` if one of them has none.
fn of_all(each: &[Option<SchedulerFairness>]) -> Option<SchedulerFairness> {
    each.iter().copied().try_fold(SchedulerFairness::None, |most, one| Some(most.max(one?)))
}

/// A run along the graph that violates a property.
pub(crate) struct Lasso {
    pub(crate) property: Property,
    pub(crate) what: String,
    pub(crate) processes: Vec<usize>,
    pub(crate) path: Path,
}

/// A part of the graph.
struct Region<H, W> {
    /// Whether it contains a state.
    holds: H,
    /// Whether it contains an edge.
    allows: W,
}

impl<H, W: Fn(StateId, Edge) -> bool> Region<H, W> {
    /// The target of the next edge of a state in the region.
    fn next(&self, graph: &Graph, state: StateId, cursor: &mut u32) -> Option<StateId> {
        graph.next(state, cursor, |edge| (self.allows)(state, edge).then_some(edge.to))
    }
}

/// Decides the fairness that progress needs, and finds a counterexample for each property that fails under
/// `fairness`.
pub(crate) fn judge(graph: &Graph, fairness: SchedulerFairness) -> (ProgressNeeds, Vec<Lasso>) {
    let mut loops = Loops::new(graph);
    let mut lassos = Vec::new();
    let livelock = Region {
        holds: |state| graph.any_competes(state),
        allows: |from, edge: Edge| !graph.any_enters(from, edge.to),
    };
    let each_waits: Vec<_> = (0..graph.processes)
        .map(|process| Region {
            holds: move |state| graph.position(state, process).competes(),
            allows: |_, _| true,
        })
        .collect();
    let mut each: Vec<Option<SchedulerFairness>> =
        each_waits.iter().map(|region| loops.needs(region)).collect();
    let mut any = loops.needs_of_all(&livelock, &each);
    if let Some(path) = loops.path(&livelock, fairness, any) {
        let state = path.edges.last().map_or(path.from, |edge| edge.to);
        let processes: Vec<usize> =
            (0..graph.processes).filter(|process| graph.position(state, *process).competes()).collect();
        let [noun, _] = graph.nouns;
        let waits = wait(graph.nouns, &processes);
        let what = format!("the run goes on for ever, but no {noun} enters, and {waits} in vain");
        lassos.push(Lasso { property: Property::DeadlockFreedom, what, processes, path });
    }
    let mut vain = each_waits.iter().zip(&each).enumerate();
    let starves =
        vain.find_map(|(process, (region, needs))| Some((process, loops.path(region, fairness, *needs)?)));
    if let Some((process, path)) = starves {
        let what = format!("{} for ever while the others go on", wait(graph.nouns, &[process]));
        let (property, processes) = (Property::StarvationFreedom, vec![process]);
        lassos.push(Lasso { property, what, processes, path });
    }
    for state in graph.states() {
        if loops.classes.is_nothing_owed(graph, state) {
            for (process, needs) in each.iter_mut().enumerate() {
                if graph.position(state, process).competes() {
                    (*needs, any) = (None, None);
                }
            }
        }
    }
    (ProgressNeeds { any, each }, lassos)
}

fn wait(nouns: [&str; 2], processes: &[usize]) -> String {
    format!("{} {}", named(nouns, processes), if processes.len() == 1 { "waits" } else { "wait" })
}

/// The search for fair cycles.
struct Loops<'a> {
    graph: &'a Graph,
    components: Components,
    /// The states to search: none if the graph has no cycles.
    rounds: Vec<StateId>,
    /// The mark of each state: see [`mark`].
    marks: Vec<u32>,
    next_mark: u32,
    classes: Classes,
}

impl<'a> Loops<'a> {
    fn new(graph: &'a Graph) -> Self {
        let rounds = if graph.is_layered() { Vec::new() } else { graph.states().collect() };
        let (components, marks) =
            (Components::new(graph.bound(), &graph.cancellation), vec![0; graph.bound()]);
        Self { graph, components, rounds, marks, next_mark: 1, classes: Classes::new(graph) }
    }

    /// The weakest fairness under which no run stays in the region for ever.
    fn needs<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
    ) -> Option<SchedulerFairness> {
        let part = self.states(region);
        let (mut is_any, mut is_weakly_fair) = (false, false);
        let Self { graph, components, marks, next_mark, classes, .. } = self;
        components.among(
            &part,
            |state, cursor: &mut u32| region.next(graph, state, cursor),
            |component| {
                if !is_weakly_fair && goes_round(graph, component, &region.allows) {
                    is_any = true;
                    let mark = mark(component, marks, next_mark);
                    let is_taken =
                        |state, edge: Edge| marks[edge.to as usize] == mark && (region.allows)(state, edge);
                    is_weakly_fair = classes.are_weakly_fair(graph, component, is_taken);
                }
            },
        );
        match (is_any, is_weakly_fair) {
            (false, _) => Some(SchedulerFairness::None),
            (true, false) => Some(SchedulerFairness::Weak),
            (true, true) => {
                let parts = self.split(&part, region);
                self.find(&parts, region, SchedulerFairness::Strong)
                    .is_none()
                    .then_some(SchedulerFairness::Strong)
            }
        }
    }

    /// The weakest fairness under which some process enters, given what each needs. In a livelock every
    /// waiting process that does not give up starves. So progress needs no more than the strongest of `each`,
    /// and often that answer is exact without another search.
    fn needs_of_all<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        livelock: &Region<H, W>,
        each: &[Option<SchedulerFairness>],
    ) -> Option<SchedulerFairness> {
        let most = of_all(each);
        let is_clear = match most {
            Some(SchedulerFairness::None) => !self.graph.any_gives_up(),
            Some(SchedulerFairness::Weak) => !self.graph.any_gives_up() && self.has_short_round(livelock),
            Some(SchedulerFairness::Strong) | None => false,
        };
        if is_clear { most } else { self.needs(livelock) }
    }

    /// Whether the region has a cycle of one or two edges.
    fn has_short_round<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &self,
        region: &Region<H, W>,
    ) -> bool {
        let leads = |from: StateId, to: StateId| {
            let mut edges = self.graph.edges(from).iter();
            edges.any(|edge| edge.to == to && (region.allows)(from, *edge))
        };
        self.states(region).into_iter().any(|state| {
            let mut edges = self.graph.edges(state).iter().filter(|edge| (region.allows)(state, **edge));
            edges.any(|edge| (region.holds)(edge.to) && leads(edge.to, state))
        })
    }

    /// The states of a region that may be on a cycle.
    fn states<H: Fn(StateId) -> bool, W>(&self, region: &Region<H, W>) -> Vec<StateId> {
        self.rounds.iter().copied().filter(|state| (region.holds)(*state)).collect()
    }

    /// The components of the region that have a cycle.
    fn parts<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
    ) -> Vec<Vec<StateId>> {
        let part = self.states(region);
        self.split(&part, region)
    }

    /// One of these components, or a part of one, in which a fair run can stay; the nearest first.
    fn find<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        parts: &[Vec<StateId>],
        region: &Region<H, W>,
        fairness: SchedulerFairness,
    ) -> Option<Vec<StateId>> {
        let mut nearest: Vec<&Vec<StateId>> = parts.iter().collect();
        nearest.sort_by_key(|part| self.depth(part));
        let mut open: Vec<Vec<StateId>> = Vec::new();
        for part in nearest {
            let unfair = match fairness {
                SchedulerFairness::None => Vec::new(),
                _ => self.unfair(part, region, fairness),
            };
            if unfair.is_empty() {
                return Some(part.clone());
            }
            open.push(self.without(part, &unfair));
        }
        if fairness == SchedulerFairness::Weak {
            return None;
        }
        while let Some(part) = open.pop() {
            for component in self.split(&part, region) {
                let unfair = self.unfair(&component, region, fairness);
                if unfair.is_empty() {
                    return Some(component);
                }
                open.push(self.without(&component, &unfair));
            }
        }
        None
    }

    /// The depth of the nearest of these states.
    fn depth(&self, part: &[StateId]) -> u32 {
        part.iter().map(|state| self.graph.depths[*state as usize]).min().unwrap_or(u32::MAX)
    }

    /// The states in which none of these classes is enabled.
    fn without(&self, component: &[StateId], unfair: &[u32]) -> Vec<StateId> {
        let is_fair = |state: &StateId| {
            let mut classes = self.graph.edges(*state).iter().filter_map(|edge| self.classes.of(*edge));
            !classes.any(|class| unfair.contains(&class))
        };
        component.iter().copied().filter(is_fair).collect()
    }

    /// The components of a part that have a cycle.
    fn split<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        part: &[StateId],
        region: &Region<H, W>,
    ) -> Vec<Vec<StateId>> {
        let graph = self.graph;
        let mut found = Vec::new();
        self.components.among(
            part,
            |state, cursor: &mut u32| region.next(graph, state, cursor),
            |component| {
                if goes_round(graph, component, &region.allows) {
                    found.push(component.to_vec());
                }
            },
        );
        found
    }

    /// The classes that are enabled in the component (under weak fairness: in every state of it) and never
    /// taken there.
    fn unfair<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        component: &[StateId],
        region: &Region<H, W>,
        fairness: SchedulerFairness,
    ) -> Vec<u32> {
        let mark = mark(component, &mut self.marks, &mut self.next_mark);
        let (graph, marks) = (self.graph, &self.marks);
        let is_taken = |state, edge: Edge| marks[edge.to as usize] == mark && (region.allows)(state, edge);
        let least = if fairness == SchedulerFairness::Weak { component.len() } else { 1 };
        self.classes.untaken_in(graph, component, least, is_taken)
    }

    /// A fair run that stays in the region, if progress `needs` more than this fairness.
    fn path<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
        fairness: SchedulerFairness,
        needs: Option<SchedulerFairness>,
    ) -> Option<Path> {
        if needs.is_some_and(|needs| needs <= fairness) {
            return None;
        }
        let parts = self.parts(region);
        let component = self.find(&parts, region, fairness)?;
        let mark = mark(&component, &mut self.marks, &mut self.next_mark);
        let from = *component.iter().min_by_key(|state| self.graph.depths[**state as usize])?;
        let round = lasso::Round {
            graph: self.graph,
            is_inside: &|state| self.marks[state as usize] == mark,
            allows: &region.allows,
        };
        let edges = round.edges(from, &component, fairness);
        Some(Path { from, edges, loop_start: Some(0) })
    }
}

/// Gives these states a new mark, so that membership in the set is one comparison.
fn mark(part: &[StateId], marks: &mut [u32], next: &mut u32) -> u32 {
    *next += 1;
    part.iter().for_each(|state| marks[*state as usize] = *next);
    *next
}

/// The fairness classes, numbered, and what was seen of them in a component.
struct Classes {
    /// The class of each label, or [`Classes::NONE`] if fairness does not apply.
    of_label: Vec<u32>,
    /// For each state, a mask of the classes enabled in it; empty if there are too many classes.
    possible: Vec<u64>,
    /// For each class: the number of states that enable it, the last of them, and whether it is taken.
    seen: Vec<(u32, StateId, bool)>,
    met: Vec<u32>,
}

impl Classes {
    const NONE: u32 = u32::MAX;

    fn new(graph: &Graph) -> Self {
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        let number = |label: &Label| match label.owed() {
            None => Self::NONE,
            Some(class) => {
                let next = numbers.len() as u32;
                *numbers.entry(class).or_insert(next)
            }
        };
        let of_label: Vec<u32> = graph.labels.iter().map(number).collect();
        let seen = vec![(0, StateId::MAX, false); numbers.len()];
        let mut classes = Self { of_label, possible: Vec::new(), seen, met: Vec::new() };
        if classes.seen.len() <= u64::BITS as usize {
            classes.possible = vec![0; graph.bound()];
            for state in graph.states() {
                let bits = graph.edges(state).iter().map(|edge| classes.bit(*edge));
                classes.possible[state as usize] = bits.fold(0, |bits, bit| bits | bit);
            }
        }
        classes
    }

    /// The class of an edge as a bit; 0 if fairness does not apply.
    fn bit(&self, edge: Edge) -> u64 {
        match self.of_label[edge.label as usize] {
            Self::NONE => 0,
            class => 1 << class,
        }
    }

    /// Whether fairness demands no step in a state.
    fn is_nothing_owed(&self, graph: &Graph, state: StateId) -> bool {
        match self.possible.get(state as usize) {
            Some(classes) => *classes == 0,
            None => graph.edges(state).iter().all(|edge| self.of(*edge).is_none()),
        }
    }

    /// Whether a run that stays in a component can be weakly fair: no class is enabled in every state and
    /// never taken.
    fn are_weakly_fair(
        &mut self,
        graph: &Graph,
        component: &[StateId],
        is_taken: impl Fn(StateId, Edge) -> bool,
    ) -> bool {
        if self.possible.is_empty() {
            return self.untaken_in(graph, component, component.len(), is_taken).is_empty();
        }
        let everywhere = component.iter().fold(u64::MAX, |all, state| all & self.possible[*state as usize]);
        let mut untaken = everywhere;
        for &state in component {
            if untaken == 0 {
                break;
            }
            for &edge in graph.edges(state) {
                let bit = self.bit(edge);
                if untaken & bit != 0 && is_taken(state, edge) {
                    untaken &= !bit;
                }
            }
        }
        untaken == 0
    }

    /// The classes that are enabled in at least `states` states of a component and never taken there.
    fn untaken_in(
        &mut self,
        graph: &Graph,
        component: &[StateId],
        states: usize,
        is_taken: impl Fn(StateId, Edge) -> bool,
    ) -> Vec<u32> {
        self.clear();
        for &state in component {
            for &edge in graph.edges(state) {
                self.note(state, edge, || is_taken(state, edge));
            }
        }
        self.untaken(states)
    }

    fn of(&self, edge: Edge) -> Option<u32> {
        Some(self.of_label[edge.label as usize]).filter(|class| *class != Self::NONE)
    }

    fn clear(&mut self) {
        self.met.drain(..).for_each(|class| self.seen[class as usize] = (0, StateId::MAX, false));
    }

    fn note(&mut self, state: StateId, edge: Edge, is_taken: impl FnOnce() -> bool) {
        let Some(class) = self.of(edge) else { return };
        let (states, last, was_taken) = &mut self.seen[class as usize];
        if *states == 0 {
            self.met.push(class);
        }
        *states += u32::from(*last != state);
        *last = state;
        *was_taken = *was_taken || is_taken();
    }

    /// The classes that are enabled in at least `states` states and never taken.
    fn untaken(&self, states: usize) -> Vec<u32> {
        let is_untaken = |class: &u32| {
            let (seen, _, is_taken) = self.seen[*class as usize];
            !is_taken && seen as usize >= states
        };
        self.met.iter().copied().filter(is_untaken).collect()
    }
}

/// Whether a component has a cycle: more than one state, or a self-loop.
fn goes_round(graph: &Graph, component: &[StateId], allows: impl Fn(StateId, Edge) -> bool) -> bool {
    match component {
        [only] => graph.edges(*only).iter().any(|edge| edge.to == *only && allows(*only, *edge)),
        _ => true,
    }
}
