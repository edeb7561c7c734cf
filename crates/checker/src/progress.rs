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
use crate::graph::{Edge, Graph, Label, Path};
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
        of_all(&self.each)
    }
}

/// Under which fairness all enter, given what each needs; `None` if one enters under none.
fn of_all(each: &[Option<Fairness>]) -> Option<Fairness> {
    each.iter().copied().try_fold(Fairness::None, |most, one| Some(most.max(one?)))
}

/// A run that goes on for ever and in which a property does not hold.
pub(crate) struct Lasso {
    pub(crate) property: Property,
    pub(crate) what: String,
    pub(crate) processes: Vec<usize>,
    pub(crate) path: Path,
}

/// Part of the graph in which a run may stay.
struct Region<H, W> {
    /// Whether the run may be in a state.
    holds: H,
    /// Whether it may take a step.
    allows: W,
}

impl<H, W: Fn(StateId, Edge) -> bool> Region<H, W> {
    /// Where the next step of a state leads that the run may take.
    fn next(&self, graph: &Graph, state: StateId, cursor: &mut u32) -> Option<StateId> {
        graph.next(state, cursor, |edge| (self.allows)(state, edge).then_some(edge.to))
    }
}

/// Decides what progress needs, and finds a run for each property that does not hold under this fairness.
pub(crate) fn judge(graph: &Graph, fairness: Fairness) -> (Progress, Vec<Lasso>) {
    let mut loops = Loops::new(graph);
    let mut lassos = Vec::new();
    let livelock = Region {
        holds: |state| graph.somebody_wants(state),
        allows: |from, edge: Edge| !graph.anybody_enters(from, edge.to),
    };
    let each_waits: Vec<_> = (0..graph.processes)
        .map(|process| Region {
            holds: move |state| graph.stand(state, process).wants(),
            allows: |_, _| true,
        })
        .collect();
    let mut each: Vec<Option<Fairness>> = each_waits.iter().map(|region| loops.needs(region)).collect();
    let mut somebody = loops.needs_of_all(&livelock, &each);
    if let Some(path) = loops.path(&livelock, fairness, somebody) {
        let state = path.edges.last().map_or(path.from, |edge| edge.to);
        let processes: Vec<usize> =
            (0..graph.processes).filter(|process| graph.stand(state, *process).wants()).collect();
        let what =
            format!("all goes on for ever, but nobody enters, and {} in vain", wait(graph.nouns, &processes));
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
                if graph.stand(state, process).wants() {
                    (*needs, somebody) = (None, None);
                }
            }
        }
    }
    (Progress { somebody, each }, lassos)
}

fn wait(nouns: [&str; 2], processes: &[usize]) -> String {
    format!("{} {}", named(nouns, processes), if processes.len() == 1 { "waits" } else { "wait" })
}

/// Where a run can go round.
struct Loops<'a> {
    graph: &'a Graph,
    components: Components,
    /// The states in question: none if no run goes round at all.
    rounds: Vec<StateId>,
    /// To which part of a search each state belongs, by number.
    marks: Vec<u32>,
    next_mark: u32,
    classes: Classes,
}

impl<'a> Loops<'a> {
    fn new(graph: &'a Graph) -> Self {
        let rounds = if graph.is_layered() { Vec::new() } else { graph.states().collect() };
        let (components, marks) = (Components::new(graph.bound(), &graph.brake), vec![0; graph.bound()]);
        Self { graph, components, rounds, marks, next_mark: 1, classes: Classes::new(graph) }
    }

    /// The weakest fairness under which no run stays in the region.
    fn needs<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
    ) -> Option<Fairness> {
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
            (false, _) => Some(Fairness::None),
            (true, false) => Some(Fairness::Weak),
            (true, true) => {
                let parts = self.split(&part, region);
                self.find(&parts, region, Fairness::Strong).is_none().then_some(Fairness::Strong)
            }
        }
    }

    /// The weakest fairness under which somebody enters, given what each needs to enter. If nobody enters, whoever waits, unless it
    /// gives up, starves; so all together need no more than the one who needs most, and often it is clear that they need as much.
    fn needs_of_all<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        livelock: &Region<H, W>,
        each: &[Option<Fairness>],
    ) -> Option<Fairness> {
        let most = of_all(each);
        let is_clear = match most {
            Some(Fairness::None) => !self.graph.anybody_gives_up(),
            Some(Fairness::Weak) => !self.graph.anybody_gives_up() && self.has_short_round(livelock),
            Some(Fairness::Strong) | None => false,
        };
        if is_clear { most } else { self.needs(livelock) }
    }

    /// Whether a run can stay in a region by making a step and the one back, or one that leads nowhere, for ever.
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

    /// The states of a region from which one can come back.
    fn states<H: Fn(StateId) -> bool, W>(&self, region: &Region<H, W>) -> Vec<StateId> {
        self.rounds.iter().copied().filter(|state| (region.holds)(*state)).collect()
    }

    /// The components of the region in which one can go round.
    fn parts<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
    ) -> Vec<Vec<StateId>> {
        let part = self.states(region);
        self.split(&part, region)
    }

    /// One of these components, or a part of one, in which a fair run can stay.
    fn find<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        parts: &[Vec<StateId>],
        region: &Region<H, W>,
        fairness: Fairness,
    ) -> Option<Vec<StateId>> {
        let mut nearest: Vec<&Vec<StateId>> = parts.iter().collect();
        nearest.sort_by_key(|part| self.depth(part));
        let mut open: Vec<Vec<StateId>> = Vec::new();
        for part in nearest {
            let unfair = match fairness {
                Fairness::None => Vec::new(),
                _ => self.unfair(part, region, fairness),
            };
            if unfair.is_empty() {
                return Some(part.clone());
            }
            open.push(self.without(part, &unfair));
        }
        if fairness == Fairness::Weak {
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

    /// How far the nearest of these states is from the beginning.
    fn depth(&self, part: &[StateId]) -> u32 {
        part.iter().map(|state| self.graph.depths[*state as usize]).min().unwrap_or(u32::MAX)
    }

    /// The states in which none of these classes is possible.
    fn without(&self, component: &[StateId], unfair: &[u32]) -> Vec<StateId> {
        let is_fair = |state: &StateId| {
            let mut classes = self.graph.edges(*state).iter().filter_map(|edge| self.classes.of(*edge));
            !classes.any(|class| unfair.contains(&class))
        };
        component.iter().copied().filter(is_fair).collect()
    }

    /// The components of a part in which one can go round.
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

    /// The classes of steps that are possible in the component (under weak fairness: in every state of it) and never taken
    /// there.
    fn unfair<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        component: &[StateId],
        region: &Region<H, W>,
        fairness: Fairness,
    ) -> Vec<u32> {
        let mark = mark(component, &mut self.marks, &mut self.next_mark);
        let (graph, marks) = (self.graph, &self.marks);
        let is_taken = |state, edge: Edge| marks[edge.to as usize] == mark && (region.allows)(state, edge);
        let least = if fairness == Fairness::Weak { component.len() } else { 1 };
        self.classes.untaken_in(graph, component, least, is_taken)
    }

    /// A run that stays in the region and is fair, if `needs`, what progress needs there, is more than that.
    fn path<H: Fn(StateId) -> bool, W: Fn(StateId, Edge) -> bool>(
        &mut self,
        region: &Region<H, W>,
        fairness: Fairness,
        needs: Option<Fairness>,
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

/// Gives a new number to these states.
fn mark(part: &[StateId], marks: &mut [u32], next: &mut u32) -> u32 {
    *next += 1;
    part.iter().for_each(|state| marks[*state as usize] = *next);
    *next
}

/// The classes of steps that fairness knows, numbered, and what was seen of them in a component.
struct Classes {
    /// The class of each kind of step, [`Classes::NONE`] if it is owed to nobody.
    of_label: Vec<u32>,
    /// For each state the classes that are possible in it, one bit for each, if they fit.
    possible: Vec<u64>,
    /// In how many states each is possible, the last of them, and whether it is taken.
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

    /// The class of a step as a bit; 0 if it is owed to nobody.
    fn bit(&self, edge: Edge) -> u64 {
        match self.of_label[edge.label as usize] {
            Self::NONE => 0,
            class => 1 << class,
        }
    }

    /// Whether nothing need ever happen in a state.
    fn is_nothing_owed(&self, graph: &Graph, state: StateId) -> bool {
        match self.possible.get(state as usize) {
            Some(classes) => *classes == 0,
            None => graph.edges(state).iter().all(|edge| self.of(*edge).is_none()),
        }
    }

    /// Whether a run that goes round in a component can be weakly fair: no class is possible in every state and never taken.
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

    /// The classes that are possible in at least so many states of a component and never taken there.
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

    /// The classes that are possible in at least so many states and never taken.
    fn untaken(&self, states: usize) -> Vec<u32> {
        let is_untaken = |class: &u32| {
            let (seen, _, is_taken) = self.seen[*class as usize];
            !is_taken && seen as usize >= states
        };
        self.met.iter().copied().filter(is_untaken).collect()
    }
}

/// Whether one can go round in a component.
fn goes_round(graph: &Graph, component: &[StateId], allows: impl Fn(StateId, Edge) -> bool) -> bool {
    match component {
        [only] => graph.edges(*only).iter().any(|edge| edge.to == *only && allows(*only, *edge)),
        _ => true,
    }
}
