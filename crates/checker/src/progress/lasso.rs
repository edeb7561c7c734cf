//! A short fair cycle through a component.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::SchedulerFairness;
use crate::graph::{Edge, Graph};
use crate::store::StateId;

/// The component.
pub(super) struct Round<'a> {
    pub(super) graph: &'a Graph,
    pub(super) is_inside: &'a dyn Fn(StateId) -> bool,
    pub(super) allows: &'a dyn Fn(StateId, Edge) -> bool,
}

impl Round<'_> {
    /// The edges of a fair cycle from a state back to it.
    pub(super) fn edges(
        &self,
        from: StateId,
        component: &[StateId],
        fairness: SchedulerFairness,
    ) -> Vec<Edge> {
        let mut classes: BTreeSet<u32> = BTreeSet::new();
        if fairness != SchedulerFairness::None {
            classes.extend(component.iter().flat_map(|state| self.possible(*state)));
        }
        let (mut way, mut at) = (Vec::new(), from);
        loop {
            self.strike(&mut classes, from, &way, fairness);
            let Some(&class) = classes.first() else { break };
            let is_goal = |state: StateId, edge: Option<Edge>| match edge {
                Some(edge) => self.graph.label(edge).owed() == Some(class),
                None => {
                    fairness == SchedulerFairness::Weak && !self.possible(state).any(|other| other == class)
                }
            };
            let more = self.way(at, &is_goal);
            if more.is_empty() {
                classes.remove(&class);
            }
            at = more.last().map_or(at, |edge| edge.to);
            way.extend(more);
        }
        if at != from || way.is_empty() {
            way.extend(self.way(at, &|_, edge| edge.is_some_and(|edge| edge.to == from)));
        }
        way
    }

    /// The classes enabled in a state.
    fn possible(&self, state: StateId) -> impl Iterator<Item = u32> + '_ {
        self.graph.edges(state).iter().filter_map(|edge| self.graph.label(*edge).owed())
    }

    /// Removes the classes to which the path is already fair.
    fn strike(&self, classes: &mut BTreeSet<u32>, from: StateId, way: &[Edge], fairness: SchedulerFairness) {
        for edge in way {
            if let Some(class) = self.graph.label(*edge).owed() {
                classes.remove(&class);
            }
        }
        if fairness == SchedulerFairness::Weak {
            for state in way.iter().map(|edge| edge.to).chain([from]) {
                classes.retain(|class| self.possible(state).any(|other| other == *class));
            }
        }
    }

    /// A shortest path to an edge or a state that is a goal.
    fn way(&self, from: StateId, is_goal: &dyn Fn(StateId, Option<Edge>) -> bool) -> Vec<Edge> {
        let mut before: HashMap<StateId, Option<(StateId, Edge)>> = HashMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        let mut times = 0;
        while let Some(state) = queue.pop_front() {
            if self.graph.cancellation.poll(&mut times) {
                return Vec::new();
            }
            for &edge in self.graph.edges(state) {
                if !(self.is_inside)(edge.to) || !(self.allows)(state, edge) {
                    continue;
                }
                if is_goal(state, Some(edge)) || is_goal(edge.to, None) {
                    return trace(&before, state, edge);
                }
                before.entry(edge.to).or_insert_with(|| {
                    queue.push_back(edge.to);
                    Some((state, edge))
                });
            }
        }
        Vec::new()
    }
}

/// The path to a state, and one more edge.
fn trace(before: &HashMap<StateId, Option<(StateId, Edge)>>, state: StateId, last: Edge) -> Vec<Edge> {
    let (mut way, mut at) = (vec![last], state);
    while let Some(&Some((earlier, edge))) = before.get(&at) {
        way.push(edge);
        at = earlier;
    }
    way.reverse();
    way
}
