//! M. Naor, A. Wool: "The load, capacity, and availability of quorum systems", SIAM Journal on Computing 27(2), 1998.
//!
//! A strategy asks each quorum with some probability, and the load is how often it asks the busiest node, under the
//! strategy for which that is least. To find it is a linear program. Its dual gives every node a weight: if all weights
//! together are 1 and every quorum weighs at least L, then a strategy's mean node carries at least L, and so does its
//! busiest. A strategy and weights that come to the same number are a [`Certificate`]: whoever doubts the load can check it
//! with additions alone. Two weights that are always there are 1/N each, whence the load is at least c/N for the
//! smallest quorum of c nodes, and 1/c on the members of one such quorum, because every other meets it.

use doorway_core::{NodeSet, PerNode};

use super::fraction::greatest_common_divisor;
use super::program::{Program, Solution};
use super::structure::{Capacity, Structure};
use super::{Fraction, balance};
use crate::System;

/// How often the busiest node is asked, at best.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// It is not less.
    pub least: f64,
    /// It is not more; equal to the least where the load is known exactly.
    pub most: f64,
    /// The exact load, unless it is unknown or has too many digits.
    pub exact: Option<Fraction>,
    /// What proves the exact load. Where it is missing, the shape of the system does: see the ratings of walls, trees,
    /// grids and votes.
    pub certificate: Option<Certificate>,
}

impl Load {
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

/// A strategy and weights of the nodes, in whole shares: together they prove a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The quorums that are asked, with the share of each in all requests.
    pub strategy: Vec<(NodeSet, u128)>,
    /// The share of each node in the weight of all.
    pub weights: PerNode<u128>,
}

impl Certificate {
    /// The load that is proven, if the certificate is right: the strategy asks only `quorums`, which are all of the
    /// system's, and gives the busiest node no more than the lightest of them weighs.
    #[must_use]
    pub fn verify(&self, quorums: &[NodeSet]) -> Option<Fraction> {
        let asks_only_quorums =
            || self.strategy.iter().all(|(asked, _)| quorums.iter().any(|quorum| quorum.is_subset(asked)));
        let (busiest, lightest) = (self.busiest()?, self.lightest(quorums)?);
        (busiest == lightest && asks_only_quorums()).then_some(busiest)
    }

    /// What the strategy asks of the busiest node.
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

    /// What the lightest of the quorums weighs.
    fn lightest(&self, quorums: &[NodeSet]) -> Option<Fraction> {
        let add = |sum: u128, weight: u128| sum.checked_add(weight);
        let total = self.weights.values().iter().copied().try_fold(0, add)?;
        let weigh = |quorum: &NodeSet| quorum.iter().map(|node| self.weights[node]).try_fold(0, add);
        let weights: Vec<u128> = quorums.iter().map(weigh).collect::<Option<_>>()?;
        let lightest = weights.into_iter().min()?;
        (total > 0).then(|| Fraction::new(lightest, total))
    }

    /// Every assigned quorum equally often, if that is as good as the smallest quorum allows.
    fn by_assignment(system: &System, load: Fraction, smallest: usize) -> Option<Self> {
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

/// In the least whole numbers of the same proportions.
fn reduced(numbers: &[i128]) -> Vec<u128> {
    let numbers = || numbers.iter().map(|number| number.unsigned_abs());
    let divisor = numbers().fold(0, greatest_common_divisor).max(1);
    numbers().map(|number| number / divisor).collect()
}

/// More nodes are not given to the linear program.
const MOST_NODES: usize = 64;

/// More quorums with so many nodes are not given to it.
const MOST_INCIDENCES: usize = 1 << 21;

/// The load of a system whose minimal quorums are these, if they could be listed.
pub(super) fn load(system: &System, quorums: Option<&[NodeSet]>) -> Load {
    let smallest = system.smallest_quorum();
    let uniform = Fraction::new(system.responsibility().most as u128, system.n() as u128);
    if let Some(certificate) = Certificate::by_assignment(system, uniform, smallest) {
        return Load::proven(uniform, certificate);
    }
    let is_small =
        |quorums: &&[NodeSet]| system.n() <= MOST_NODES && quorums.len() * system.n() <= MOST_INCIDENCES;
    let by_program = quorums.filter(is_small).and_then(|quorums| by_program(system, quorums));
    let by_shape = || system.structure()?.capacity().map(Load::by_shape);
    by_program.or_else(by_shape).unwrap_or_else(|| bounds(system, smallest))
}

/// Solves the program of a few quorums and adds those that are too light by its weights, until there are none.
fn by_program(system: &System, quorums: &[NodeSet]) -> Option<Load> {
    let n = system.n();
    let mut active: Vec<&NodeSet> = quorums.iter().step_by(quorums.len().div_ceil(2 * n)).collect();
    loop {
        let columns = active.iter().map(|quorum| incidence(quorum, n)).collect();
        let solution = Program { columns, room: vec![1; n] }.solve()?;
        let too_light = too_light(&solution, quorums, n);
        if too_light.is_empty() {
            let certificate = Certificate::of(&solution, &active, n);
            return certificate.verify(quorums).map(|load| Load::proven(load, certificate));
        }
        active.extend(too_light);
    }
}

fn incidence(quorum: &NodeSet, n: usize) -> Vec<u32> {
    let mut column = vec![0; n];
    quorum.iter().for_each(|node| column[node.index()] = 1);
    column
}

/// The lightest of the quorums that weigh less than one by the prices of a solution, at most half as many as nodes.
fn too_light<'a>(solution: &Solution, quorums: &'a [NodeSet], n: usize) -> Vec<&'a NodeSet> {
    let weigh = |quorum: &NodeSet| -> i128 { quorum.iter().map(|node| solution.prices[node.index()]).sum() };
    let weighed = quorums.iter().map(|quorum| (weigh(quorum), quorum));
    let mut light: Vec<(i128, &NodeSet)> = weighed.filter(|(weight, _)| *weight < solution.scale).collect();
    light.sort_by_key(|(weight, _)| *weight);
    light.into_iter().take(n.div_ceil(2)).map(|(_, quorum)| quorum).collect()
}

/// What can be said without solving the program.
fn bounds(system: &System, smallest: usize) -> Load {
    let (n, smallest) = (system.n() as f64, smallest as f64);
    let balanced = balance::balanced(system);
    let uniform = system.responsibility().most as f64 / n;
    let by_votes = system.structure().map_or(0.0, Structure::least_load);
    let least = (1.0 / smallest).max(smallest / n).max(balanced.least).max(by_votes);
    Load::between(least, uniform.min(balanced.most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Construction;

    #[test]
    fn bounds_hold_the_exact_load_and_are_close() {
        let votes = |n: usize| Construction::Weighted((0..n).map(|i| (i * i % 97 + 1) as u64).collect());
        let truncated = [10, 14, 26, 40].map(|n| System::build(&Construction::Truncated, n));
        let weighted = [8, 12, 16].map(|n| System::build(&votes(n), n));
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
