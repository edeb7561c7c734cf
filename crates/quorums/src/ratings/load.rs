//! M. Naor, A. Wool: "The load, capacity, and availability of quorum systems", SIAM Journal on Computing 27(2), 1998.
//!
//! A strategy asks each quorum with some probability. The load is the busiest node's probability of being
//! asked under the best strategy; finding it is a linear program. Its dual gives every node a weight: if the
//! weights sum to 1 and every quorum weighs at least L, then under any strategy the weighted mean node
//! carries at least L, and so does the busiest. A strategy and weights that give the same number are a
//! [`Certificate`], which additions alone can check. Two weightings always exist: 1/N each, so the load is at
//! least c/N for a smallest quorum of c nodes; and 1/c on the members of that quorum, because every other
//! meets it.

use doorway_core::{NodeSet, PerNode};

use super::fraction::greatest_common_divisor;
use super::program::{Program, Solution};
use super::structure::{Capacity, Structure};
use super::{Fraction, balance};
use crate::QuorumSystem;

/// The busiest node's share of requests under the best strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemLoad {
    /// The lower bound.
    pub least: f64,
    /// The upper bound; equal to the lower where the load is known exactly.
    pub most: f64,
    /// The exact load, unless it is unknown or has too many digits.
    pub exact: Option<Fraction>,
    /// A proof of the exact load. Without it, the shape of the system proves the load: see walls, trees,
    /// grids and votes.
    pub certificate: Option<Certificate>,
}

impl SystemLoad {
    /// Whether both bounds are the same.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.least == self.most
    }

    fn proven(load: Fraction, certificate: Certificate) -> Self {
        Self { least: load.value(), most: load.value(), exact: Some(load), certificate: Some(certificate) }
    }

    fn by_shape(capacity: Capacity) -> Self {
        let exact = capacity.fraction.and_then(Fraction::inverse);
        let value = exact.map_or(1.0 / capacity.value, Fraction::value);
        Self { least: value, most: value, exact, certificate: None }
    }

    fn between(least: f64, most: f64) -> Self {
        Self { least: least.min(most), most, exact: None, certificate: None }
    }
}

/// A strategy and weights of the nodes, in integer shares: together they prove a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The quorums that are asked, with the share of each in all requests.
    pub strategy: Vec<(NodeSet, u128)>,
    /// The share of each node in the weight of all.
    pub weights: PerNode<u128>,
}

impl Certificate {
    /// The proven load, if the certificate is correct: the strategy asks only `quorums`, which must be all of
    /// the system's, and the busiest node's share equals the weight of the lightest of them.
    #[must_use]
    pub fn verify(&self, quorums: &[NodeSet]) -> Option<Fraction> {
        let asks_only_quorums =
            || self.strategy.iter().all(|(asked, _)| quorums.iter().any(|quorum| quorum.is_subset(asked)));
        let (busiest, lightest) = (self.busiest()?, self.lightest(quorums)?);
        (busiest == lightest && asks_only_quorums()).then_some(busiest)
    }

    /// The share of the busiest node under the strategy.
    fn busiest(&self) -> Option<Fraction> {
        let mut loads = PerNode::same(self.weights.len(), 0_u128);
        let mut total = 0_u128;
        for (quorum, share) in &self.strategy {
            total = total.checked_add(*share)?;
            for node in quorum.iter().filter(|node| node.index() < self.weights.len()) {
                loads[node] = loads[node].checked_add(*share)?;
            }
        }
        let busiest = loads.values().iter().max()?;
        (total > 0).then(|| Fraction::new(*busiest, total))
    }

    /// The weight of the lightest quorum.
    fn lightest(&self, quorums: &[NodeSet]) -> Option<Fraction> {
        let add = |sum: u128, weight: u128| sum.checked_add(weight);
        let total = self.weights.values().iter().copied().try_fold(0, add)?;
        let weigh = |quorum: &NodeSet| quorum.iter().map(|node| self.weights[node]).try_fold(0, add);
        let weights: Vec<u128> = quorums.iter().map(weigh).collect::<Option<_>>()?;
        let lightest = weights.into_iter().min()?;
        (total > 0).then(|| Fraction::new(lightest, total))
    }

    /// Asks every assigned quorum equally often, if that attains a lower bound.
    fn by_assignment(system: &QuorumSystem, load: Fraction, smallest: usize) -> Option<Self> {
        let quorums = system.assignment().values();
        let weights = if load == Fraction::new(smallest as u128, system.n() as u128) {
            PerNode::same(system.n(), 1)
        } else if load == Fraction::new(1, smallest as u128) {
            let quorum = quorums.iter().find(|quorum| quorum.len() == smallest)?;
            PerNode::from_fn(system.n(), |node| u128::from(quorum.contains(node)))
        } else if load == Fraction::from(1) && system.structure().is_none() {
            let responsibilities = system.responsibilities();
            PerNode::from_fn(system.n(), |node| u128::from(responsibilities[node] == system.n()))
        } else {
            return None;
        };
        Some(Self { strategy: quorums.iter().map(|quorum| (quorum.clone(), 1)).collect(), weights })
    }

    fn of(solution: &Solution, quorums: &[&NodeSet], n: usize) -> Self {
        let (uses, prices) = (reduced(&solution.uses), reduced(&solution.prices));
        let strategy = quorums.iter().zip(uses).filter(|(_, share)| *share > 0);
        Self {
            strategy: strategy.map(|(quorum, share)| ((*quorum).clone(), share)).collect(),
            weights: PerNode::from_fn(n, |node| prices[node.index()]),
        }
    }
}

/// The smallest integers of the same proportions.
fn reduced(numbers: &[i128]) -> Vec<u128> {
    let numbers = || numbers.iter().map(|number| number.unsigned_abs());
    let divisor = numbers().fold(0, greatest_common_divisor).max(1);
    numbers().map(|number| number / divisor).collect()
}

/// The most nodes for the linear program.
const MOST_NODES: usize = 64;

/// The most quorums times nodes for the linear program.
const MOST_INCIDENCES: usize = 1 << 21;

/// The load of a system with these minimal quorums, if they could be listed.
pub(super) fn load(system: &QuorumSystem, quorums: Option<&[NodeSet]>) -> SystemLoad {
    let smallest = system.smallest_quorum();
    let uniform = Fraction::new(system.responsibility().most as u128, system.n() as u128);
    if let Some(certificate) = Certificate::by_assignment(system, uniform, smallest) {
        return SystemLoad::proven(uniform, certificate);
    }
    let is_small =
        |quorums: &&[NodeSet]| system.n() <= MOST_NODES && quorums.len() * system.n() <= MOST_INCIDENCES;
    let by_program = quorums.filter(is_small).and_then(|quorums| by_program(system, quorums));
    let by_shape = || system.structure()?.capacity().map(SystemLoad::by_shape);
    by_program.or_else(by_shape).unwrap_or_else(|| bounds(system, smallest))
}

/// Column generation: solves the program of a few quorums and adds those that its weights make too light,
/// until there are none.
fn by_program(system: &QuorumSystem, quorums: &[NodeSet]) -> Option<SystemLoad> {
    let n = system.n();
    let mut active: Vec<&NodeSet> = quorums.iter().step_by(quorums.len().div_ceil(2 * n)).collect();
    loop {
        let columns = active.iter().map(|quorum| incidence(quorum, n)).collect();
        let solution = Program { columns, room: vec![1; n] }.solve()?;
        let too_light = too_light(&solution, quorums, n);
        if too_light.is_empty() {
            let certificate = Certificate::of(&solution, &active, n);
            return certificate.verify(quorums).map(|load| SystemLoad::proven(load, certificate));
        }
        active.extend(too_light);
    }
}

fn incidence(quorum: &NodeSet, n: usize) -> Vec<u32> {
    let mut column = vec![0; n];
    quorum.iter().for_each(|node| column[node.index()] = 1);
    column
}

/// The lightest quorums that weigh less than one under the solution's prices, at most half as many as nodes.
fn too_light<'a>(solution: &Solution, quorums: &'a [NodeSet], n: usize) -> Vec<&'a NodeSet> {
    let weigh = |quorum: &NodeSet| -> i128 { quorum.iter().map(|node| solution.prices[node.index()]).sum() };
    let weighed = quorums.iter().map(|quorum| (weigh(quorum), quorum));
    let mut light: Vec<(i128, &NodeSet)> = weighed.filter(|(weight, _)| *weight < solution.scale).collect();
    light.sort_by_key(|(weight, _)| *weight);
    light.into_iter().take(n.div_ceil(2)).map(|(_, quorum)| quorum).collect()
}

/// Bounds without solving the program.
fn bounds(system: &QuorumSystem, smallest: usize) -> SystemLoad {
    let (n, smallest) = (system.n() as f64, smallest as f64);
    let balanced = balance::balanced(system);
    let uniform = system.responsibility().most as f64 / n;
    let by_votes = system.structure().map_or(0.0, Structure::least_load);
    let least = (1.0 / smallest).max(smallest / n).max(balanced.least).max(by_votes);
    SystemLoad::between(least, uniform.min(balanced.most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Construction;

    #[test]
    fn bounds_hold_the_exact_load_and_are_close() {
        let votes = |n: usize| Construction::Weighted((0..n).map(|i| (i * i % 97 + 1) as u64).collect());
        let truncated = [10, 14, 26, 40].map(|n| QuorumSystem::build(&Construction::Truncated, n));
        let weighted = [8, 12, 16].map(|n| QuorumSystem::build(&votes(n), n));
        for system in truncated.into_iter().chain(weighted) {
            let system = system.expect("there is such a system");
            let (name, exact) =
                (format!("{} of {}", system.construction(), system.n()), super::super::load(&system));
            let bounds = bounds(&system, system.smallest_quorum());
            assert!(exact.is_exact() && bounds.least <= exact.least && exact.most <= bounds.most, "{name}");
            assert!(bounds.most - bounds.least < 0.1 * exact.most, "{name}: {bounds:?}, {exact:?}");
        }
    }
}
