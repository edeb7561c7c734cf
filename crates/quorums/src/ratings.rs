//! Ratings of quorum systems.
//!
//! Small quorums cost few messages, but size is not everything. These ratings also cover the load of the
//! busiest node, the number of crashes that is always survived, the probability that no quorum is left, and
//! whether another system dominates. M. Naor, A. Wool: "The load, capacity, and availability of quorum
//! systems", SIAM Journal on Computing 27(2), 1998; D. Peleg, A. Wool: "The availability of quorum systems",
//! Information and Computation 123(2), 1995.
//!
//! A value called exact is exact. Where a system is too large for that, there are bounds, an interval, or
//! nothing. Step counts limit the running time, never a clock, so that the same system always gets the same
//! ratings. The caller supplies randomness.
//!
//! ```
//! use doorway_quorums::{Construction, Ratings, QuorumSystem};
//!
//! let plane = QuorumSystem::build(&Construction::Plane, 7)?;
//! let ratings = Ratings::new(&plane);
//! assert_eq!(ratings.load().exact.map(|load| load.to_string()).as_deref(), Some("3/7"));
//! assert_eq!(ratings.resilience().exact(), Some(2));
//! assert_eq!(ratings.is_nondominated(), Some(true));
//! let failure = ratings.exact_failure(0.1).expect("seven nodes are few");
//! assert_eq!(format!("{failure:.4}"), "0.0068");
//! # Ok::<(), doorway_core::Refusal>(())
//! ```

mod balance;
mod coalitions;
mod failure;
mod fraction;
mod load;
mod overlaps;
mod program;
mod resilience;
mod structure;

use doorway_core::NodeSet;

use crate::QuorumSystem;
pub(crate) use balance::Lightest;
use coalitions::Coalitions;
pub use failure::Failure;
pub use fraction::Fraction;
pub use load::{Certificate, SystemLoad};
pub use overlaps::Overlaps;
pub use resilience::Interval;
pub(crate) use structure::Structure;

/// The load of a system.
#[must_use]
pub fn load(system: &QuorumSystem) -> SystemLoad {
    Ratings::new(system).load().clone()
}

/// The resilience of a system: the number of crashes that it always survives, whichever nodes crash.
#[must_use]
pub fn resilience(system: &QuorumSystem) -> Interval {
    Ratings::new(system).resilience()
}

/// Whether the system, as it is defined, is a nondominated coterie: no quorum contains another, and no other system
/// is alive whenever this one is, and more often. `None` if it is too large to tell.
#[must_use]
pub fn is_nondominated(system: &QuorumSystem) -> Option<bool> {
    Ratings::new(system).is_nondominated()
}

/// A rated system.
#[derive(Clone, Debug)]
pub struct Ratings<'a> {
    system: &'a QuorumSystem,
    /// The minimal quorums, if they can be listed.
    quorums: Option<Vec<NodeSet>>,
    load: SystemLoad,
    resilience: Interval,
    /// The number of sets of live nodes without a quorum, by size, if there are few enough.
    losing: Option<Vec<u32>>,
    /// Whether the minimal quorums are nondominated.
    minimal_nondominated: Option<bool>,
}

impl<'a> Ratings<'a> {
    /// The number of sets of ten among twenty nodes: no system of up to twenty nodes has more minimal quorums.
    const MOST_QUORUMS_OF_TWENTY: usize = 184_756;

    /// The largest number of quorums whose overlaps are computed.
    const MOST_COMPARED: usize = 2_048;

    /// Rates a system. Takes seconds for the largest, far less for the others.
    #[must_use]
    pub fn new(system: &'a QuorumSystem) -> Self {
        let most = match system.n() {
            ..=Coalitions::MOST_MEMBERS => Self::MOST_QUORUMS_OF_TWENTY,
            _ => QuorumSystem::MOST_QUORUMS,
        };
        let quorums = system.quorums_up_to(most);
        let load = load::load(system, quorums.as_deref());
        let resilience = resilience::resilience(system, quorums.as_deref(), &load);
        let coalitions = quorums.as_deref().and_then(Coalitions::new);
        let by_shape = || system.structure()?.is_nondominated();
        // A transversal smaller than every quorum contains no quorum, and neither does its complement.
        let by_transversal = || (resilience.most + 1 < system.smallest_quorum()).then_some(false);
        let by_sets = coalitions.as_ref().map(Coalitions::is_nondominated);
        let minimal_nondominated = by_sets.or_else(by_shape).or_else(by_transversal);
        let losing = coalitions.as_ref().map(Coalitions::losing);
        Self { system, quorums, load, resilience, losing, minimal_nondominated }
    }

    /// The rated system.
    #[must_use]
    pub fn system(&self) -> &'a QuorumSystem {
        self.system
    }

    /// The minimal quorums, if they can be listed.
    #[must_use]
    pub fn quorums(&self) -> Option<&[NodeSet]> {
        self.quorums.as_deref()
    }

    /// The overlaps of all pairs of minimal quorums, if there are not too many.
    #[must_use]
    pub fn overlaps(&self) -> Option<Overlaps> {
        self.quorums().filter(|quorums| quorums.len() <= Self::MOST_COMPARED).map(Overlaps::of)
    }

    /// The load: the busiest node's share of requests under the best strategy. Its inverse is the capacity:
    /// the number of requests served in the time that a node needs for one.
    #[must_use]
    pub fn load(&self) -> &SystemLoad {
        &self.load
    }

    /// The number of crashes that is always survived, whichever nodes crash.
    #[must_use]
    pub fn resilience(&self) -> Interval {
        self.resilience
    }

    /// Whether the system, as it is defined, is a nondominated coterie: no quorum contains another, and no other
    /// system is alive whenever this one is, and more often. `None` if the system is too large to tell.
    #[must_use]
    pub fn is_nondominated(&self) -> Option<bool> {
        if self.system.is_coterie() { self.minimal_nondominated } else { Some(false) }
    }

    /// The same for the minimal quorums, which are a coterie in every system.
    #[must_use]
    pub fn is_minimal_nondominated(&self) -> Option<bool> {
        self.minimal_nondominated
    }

    /// The probability that no quorum is alive if each node has crashed with probability `crashed`, where it can be
    /// computed exactly.
    #[must_use]
    pub fn exact_failure(&self, crashed: f64) -> Option<f64> {
        failure::exact(self, crashed.clamp(0.0, 1.0))
    }

    /// The same for several probabilities, exact or else sampled. `random` returns numbers from 0 to 1; it is
    /// not called if everything is exact.
    pub fn failures(&self, crashed: &[f64], random: &mut dyn FnMut() -> f64) -> Vec<Failure> {
        let exact: Option<Vec<f64>> = crashed.iter().map(|&crashed| self.exact_failure(crashed)).collect();
        match exact {
            Some(exact) => exact.into_iter().map(Failure::Exact).collect(),
            None => failure::drawn(self.system, crashed, random),
        }
    }

    /// The number of sets of live nodes without a quorum, by size.
    fn losing(&self) -> Option<&[u32]> {
        self.losing.as_deref()
    }
}
