//! Bounded waiting: how often one process can overtake (bypass) another.
//!
//! Process j overtakes i when i is past its doorway, j starts its request after that, and j enters while i
//! still waits. For each pair the search covers the states in which i waits twice: while j still has an older
//! request, and afterwards. The longest path through them, counted in entries of j, is the bound; there is
//! none if such an entry lies on a cycle.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::components::Components;
use crate::explore::named;
use crate::graph::{Edge, Graph, Path, Position};
use crate::progress::Lasso;
use crate::store::StateId;
use crate::{Property, Violation};

/// The worst case of overtaking.
#[derive(Clone, Debug)]
pub struct Overtaking {
    /// `bounds[i][j]` is the number of times that j, having requested after i, enters before i; `None` if
    /// there is no bound.
    pub bounds: Vec<Vec<Option<u32>>>,
    /// A shortest run with the largest number of overtakings, if there are any and there is a bound.
    pub witness: Option<Violation>,
}

impl Overtaking {
    /// The largest number; `None` if there is no bound.
    #[must_use]
    pub fn worst(&self) -> Option<u32> {
        self.bounds.iter().flatten().copied().try_fold(0, |most, one| Some(most.max(one?)))
    }
}

/// Runs with overtaking.
pub(crate) struct Witnesses {
    /// With one overtaking.
    pub(crate) once: Option<Lasso>,
    /// With the most overtakings, if bounded.
    pub(crate) worst: Option<Lasso>,
    /// With endless overtaking.
    pub(crate) without_end: Option<Lasso>,
}

/// Decides the bound of every pair.
pub(crate) fn judge(graph: &Graph) -> (Overtaking, Witnesses) {
    let mut components = Components::new(graph.bound() * 2, &graph.cancellation);
    let pairs = || (0..graph.processes).flat_map(|i| (0..graph.processes).map(move |j| Pair { graph, i, j }));
    let mut bounds = vec![vec![Some(0); graph.processes]; graph.processes];
    for pair in pairs().filter(|pair| pair.i != pair.j && !graph.cancellation.is_cancelled()) {
        bounds[pair.i][pair.j] = pair.bound(&mut components);
    }
    let bound = |pair: &Pair<'_>| bounds[pair.i][pair.j];
    let depths = &graph.depths;
    let length = |path: &Path| depths[path.from as usize] as usize + path.edges.len();
    let shortest = |count: u32| {
        let pairs = pairs().filter(|_| !graph.cancellation.is_cancelled());
        let pairs = pairs.filter(|pair| bound(pair).is_none_or(|bound| bound >= count && count > 0));
        let runs = pairs.filter_map(|pair| pair.shortest(depths, count));
        runs.min_by_key(|lasso| length(&lasso.path))
    };
    let waiting = Overtaking { bounds: bounds.clone(), witness: None };
    let once = shortest(1);
    let worst = waiting.worst().filter(|worst| *worst > 0).and_then(shortest);
    let endless = pairs().filter(|pair| bound(pair).is_none());
    let endless: Vec<Lasso> = endless.filter_map(|pair| pair.endless(depths, &mut components)).collect();
    let without_end = endless.into_iter().min_by_key(|lasso| length(&lasso.path));
    (waiting, Witnesses { once, worst, without_end })
}

/// Process `i` waits, and `j` may overtake it.
#[derive(Clone, Copy)]
struct Pair<'a> {
    graph: &'a Graph,
    i: usize,
    j: usize,
}

/// A state in which i waits, and whether j still has an older request: `state * 2 + is_old`.
type Spot = u32;

fn spot(state: StateId, is_old: bool) -> Spot {
    state * 2 + u32::from(is_old)
}

/// A spot, and the number of times that j has overtaken i on the path to it.
type Key = (Spot, u32);

/// The predecessor of each spot, with the state and edge that first reached it.
type Trail = HashMap<Key, (Option<Key>, StateId, Edge)>;

impl Pair<'_> {
    /// The edges by which i passes its doorway, each with its state and the spot it leads to.
    fn starts(&self) -> impl Iterator<Item = (StateId, Edge, Spot)> + '_ {
        self.graph.states().flat_map(move |state| {
            let is_before = self.graph.position(state, self.i) != Position::Waiting;
            let edges = self.graph.edges(state).iter().filter(move |_| is_before);
            edges.filter(|edge| self.graph.position(edge.to, self.i) == Position::Waiting).map(move |&edge| {
                let is_old = self.graph.position(edge.to, self.j).competes();
                (state, edge, spot(edge.to, is_old))
            })
        })
    }

    /// The target of an edge while i waits, and whether j overtakes i on it.
    fn follow(&self, from: Spot, edge: Edge) -> Option<(Spot, bool)> {
        if self.graph.position(edge.to, self.i) != Position::Waiting {
            return None;
        }
        let was_old = from % 2 == 1;
        let enters = self.graph.enters(from / 2, edge.to, self.j);
        Some((spot(edge.to, was_old && !enters), enters && !was_old))
    }

    fn next(&self, from: Spot, cursor: &mut u32) -> Option<Spot> {
        self.graph.next(from / 2, cursor, |edge| Some(self.follow(from, edge)?.0))
    }

    /// The most times that j overtakes i.
    fn bound(&self, components: &mut Components) -> Option<u32> {
        let mut values: Vec<u32> = vec![0; self.graph.bound() * 2];
        let starts: Vec<Spot> = self.starts().map(|(_, _, spot)| spot).collect();
        components.from(
            starts.iter().copied(),
            |from, cursor: &mut u32| self.next(from, cursor),
            |component| {
                let value = self.value(component, &values);
                component.iter().for_each(|spot| values[*spot as usize] = value);
            },
        );
        let most = starts.into_iter().map(|spot| values[spot as usize]).max().unwrap_or(0);
        (most != ENDLESS).then_some(most)
    }

    /// The most times that j can overtake i from a component on.
    fn value(&self, component: &[Spot], values: &[u32]) -> u32 {
        let mut members = component.to_vec();
        members.sort_unstable();
        let mut most = 0;
        for &from in component {
            for &edge in self.graph.edges(from / 2) {
                let Some((to, overtakes)) = self.follow(from, edge) else { continue };
                let value = match members.binary_search(&to) {
                    Ok(_) if overtakes => ENDLESS,
                    Ok(_) => 0,
                    Err(_) => values[to as usize].saturating_add(u32::from(overtakes)),
                };
                most = most.max(value);
            }
        }
        most
    }

    fn lasso(&self, property: Property, what: String, path: Path) -> Lasso {
        Lasso { property, what, processes: vec![self.i, self.j], path }
    }

    /// A shortest run in which j overtakes i `count` times.
    fn shortest(&self, depths: &[u32], count: u32) -> Option<Lasso> {
        let what = format!(
            "{} enters {} before {}, which asked before",
            named(self.graph.nouns, &[self.j]),
            if count == 1 { "once".to_owned() } else { format!("{count} times") },
            named(self.graph.nouns, &[self.i])
        );
        let (from, edges) = self.way(depths, &|_, _, seen| seen == count)?;
        Some(self.lasso(Property::Fifo, what, Path { from, edges, loop_start: None }))
    }

    /// A shortest run in which i passes its doorway, up to an edge that `is_goal` accepts, given its two
    /// spots and the number of overtakings so far.
    fn way(&self, depths: &[u32], is_goal: &dyn Fn(Spot, Spot, u32) -> bool) -> Option<(StateId, Vec<Edge>)> {
        let mut starts: Vec<(StateId, Edge, Spot)> = self.starts().collect();
        starts.sort_by_key(|(state, _, _)| Reverse(depths[*state as usize]));
        let mut before = Trail::new();
        let mut queue: VecDeque<(u32, Key)> = VecDeque::new();
        let mut times = 0;
        loop {
            if self.graph.cancellation.poll(&mut times) {
                return None;
            }
            let now = queue.front().map_or(u32::MAX, |(depth, _)| *depth);
            if let Some((state, edge, spot)) = starts.pop_if(|(state, _, _)| depths[*state as usize] < now) {
                if let Entry::Vacant(free) = before.entry((spot, 0)) {
                    free.insert((None, state, edge));
                    queue.push_front((depths[state as usize] + 1, (spot, 0)));
                }
                continue;
            }
            let (depth, (from, seen)) = queue.pop_front()?;
            for &edge in self.graph.edges(from / 2) {
                let Some((to, overtakes)) = self.follow(from, edge) else { continue };
                let seen_then = seen + u32::from(overtakes);
                let is_there = is_goal(from, to, seen_then);
                if let Entry::Vacant(free) = before.entry((to, seen_then)) {
                    free.insert((Some((from, seen)), from / 2, edge));
                    queue.push_back((depth + 1, (to, seen_then)));
                } else if !is_there {
                    continue;
                }
                if is_there {
                    return Some(trace(&before, (from, seen), edge));
                }
            }
        }
    }

    /// A run in which j overtakes i again and again.
    fn endless(&self, depths: &[u32], components: &mut Components) -> Option<Lasso> {
        let mut round: Option<(Vec<Spot>, Spot, Edge)> = None;
        let starts: Vec<Spot> = self.starts().map(|(_, _, spot)| spot).collect();
        components.from(
            starts,
            |from, cursor: &mut u32| self.next(from, cursor),
            |component| {
                if round.is_none() {
                    let mut members = component.to_vec();
                    members.sort_unstable();
                    let edges = component
                        .iter()
                        .flat_map(|from| self.graph.edges(from / 2).iter().map(|edge| (*from, *edge)));
                    let overtakes = |(from, edge): &(Spot, Edge)| {
                        self.follow(*from, *edge)
                            .is_some_and(|(to, overtakes)| overtakes && members.binary_search(&to).is_ok())
                    };
                    round =
                        edges.into_iter().find(overtakes).map(|(from, edge)| (members.clone(), from, edge));
                }
            },
        );
        let (members, from, edge) = round?;
        let target = self.follow(from, edge)?.0;
        let (first, mut edges) = self.way(depths, &|_, to, _| to == from).or_else(|| {
            let (state, edge, _) = self.starts().find(|(_, _, spot)| *spot == from)?;
            Some((state, vec![edge]))
        })?;
        let loop_start = edges.len();
        edges.push(edge);
        edges.extend(self.back(&members, target, from)?);
        let what = format!(
            "{} enters again and again while {}, which asked before, waits",
            named(self.graph.nouns, &[self.j]),
            named(self.graph.nouns, &[self.i])
        );
        Some(self.lasso(
            Property::BoundedWaiting,
            what,
            Path { from: first, edges, loop_start: Some(loop_start) },
        ))
    }

    /// A shortest path from one spot to another within `members`.
    fn back(&self, members: &[Spot], from: Spot, to: Spot) -> Option<Vec<Edge>> {
        let mut before: HashMap<Spot, Option<(Spot, Edge)>> = HashMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while !before.contains_key(&to) {
            let spot = queue.pop_front()?;
            for &edge in self.graph.edges(spot / 2) {
                if let Some((next, _)) =
                    self.follow(spot, edge).filter(|(next, _)| members.binary_search(next).is_ok())
                    && let Entry::Vacant(free) = before.entry(next)
                {
                    free.insert(Some((spot, edge)));
                    queue.push_back(next);
                }
            }
        }
        let (mut way, mut at) = (Vec::new(), to);
        while let Some(&Some((earlier, edge))) = before.get(&at) {
            way.push(edge);
            at = earlier;
        }
        way.reverse();
        Some(way)
    }
}

/// There is no bound.
const ENDLESS: u32 = u32::MAX;

/// The path to a spot and one more edge, from the state before i passed its doorway.
fn trace(before: &Trail, last: Key, edge: Edge) -> (StateId, Vec<Edge>) {
    let (mut edges, mut at, mut first) = (vec![edge], Some(last), 0);
    while let Some((earlier, state, edge)) = at.and_then(|at| before.get(&at)) {
        edges.push(*edge);
        (at, first) = (*earlier, *state);
    }
    edges.reverse();
    (first, edges)
}
