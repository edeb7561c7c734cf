//! Adapts any system to a model of the crate `stateright`: its search and store, our steps.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use doorway_checker::{StepsKnown, System};
use doorway_core::Phase;
use stateright::{Model, Property};

/// The name of the property that at most one process is inside.
pub const EXCLUSION: &str = "at most one inside";
/// The name of the property that an owed step is enabled whenever a process waits.
pub const NO_DEADLOCK: &str = "no deadlock";

/// A system with the properties to check.
pub struct Peer<S> {
    system: RwLock<S>,
    begins: Vec<Vec<u32>>,
    promises: Vec<&'static str>,
}

/// A step with its successor, so that the steps of a state are computed only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    is_owed: bool,
    after: Vec<u32>,
}

impl<S: System> Peer<S> {
    pub fn new(mut system: S, promises: &[&'static str]) -> Self {
        let begins = system.initial();
        Self { system: RwLock::new(system), begins, promises: promises.to_vec() }
    }

    fn system(&self) -> RwLockReadGuard<'_, S> {
        self.system.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes all steps of a state; the system learns the state first if it must.
    fn make_steps(&self, state: &[u32], actions: &mut Vec<Action>) {
        let already = actions.len();
        loop {
            actions.truncate(already);
            let known = self.system().steps(state, &mut |step, after| {
                actions.push(Action { is_owed: step.owed.is_some(), after: after.to_vec() });
            });
            match known {
                StepsKnown::All => return,
                StepsKnown::No => self.system.write().unwrap_or_else(PoisonError::into_inner).learn(state),
            }
        }
    }

    fn count(&self, state: &[u32], phase: Phase) -> usize {
        let system = self.system();
        (0..system.processes()).filter(|process| system.phase(state, *process) == phase).count()
    }

    fn is_deadlock(&self, state: &[u32]) -> bool {
        let mut actions = Vec::new();
        self.make_steps(state, &mut actions);
        actions.iter().all(|action| !action.is_owed) && self.count(state, Phase::Waiting) > 0
    }
}

impl<S: System + Send + 'static> Model for Peer<S> {
    type State = Vec<u32>;
    type Action = Action;

    fn init_states(&self) -> Vec<Vec<u32>> {
        self.begins.clone()
    }

    fn actions(&self, state: &Vec<u32>, actions: &mut Vec<Action>) {
        self.make_steps(state, actions);
    }

    fn next_state(&self, _: &Vec<u32>, action: Action) -> Option<Vec<u32>> {
        Some(action.after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let exclusion = Property::always(EXCLUSION, |peer: &Self, state: &Vec<u32>| {
            peer.count(state, Phase::Inside) <= 1
        });
        let no_deadlock =
            Property::always(NO_DEADLOCK, |peer: &Self, state: &Vec<u32>| !peer.is_deadlock(state));
        let all = [exclusion, no_deadlock].into_iter();
        all.filter(|property| self.promises.contains(&property.name)).collect()
    }
}
