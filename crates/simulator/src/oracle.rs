//! The oracle: it reports crashes to the nodes of an algorithm that watches them.

use std::collections::BTreeSet;

use doorway_core::{Explain, NodeId, Ticks};

use crate::random::Random;
use crate::settings::{Settings, Span};
use crate::simulation::Simulation;

/// The oracle of a run. It reports every crash to every live node, after a delay of its own for each, and nothing else,
/// unless the settings make it err.
pub(crate) struct Oracle {
    delay: Span,
    random: Random,
    /// The reports made, by their tokens: a node hears of each crash once.
    made: BTreeSet<u64>,
}

impl Oracle {
    pub(crate) fn new(settings: &Settings) -> Self {
        let random = Random::new(settings.seed, 3);
        Self { delay: settings.faults.detection, random, made: BTreeSet::new() }
    }
}

/// What a simulation does for its oracle.
impl<A: Explain> Simulation<A> {
    /// The oracle will err at these times.
    pub(crate) fn foresee_suspicions(&mut self, settings: &Settings) {
        for suspicion in &settings.faults.suspicions {
            for observer in NodeId::first(self.engine.machines().len()) {
                self.foresee(observer, suspicion.node, suspicion.at);
            }
        }
    }

    /// A node has crashed now: the oracle will report it to each of the others.
    pub(crate) fn foresee_reports(&mut self, crashed: NodeId) {
        for observer in NodeId::first(self.engine.machines().len()) {
            let delay = Ticks(self.oracle.random.ticks(self.oracle.delay));
            self.foresee(observer, crashed, self.engine.now() + delay);
        }
    }

    fn foresee(&mut self, observer: NodeId, crashed: NodeId, at: Ticks) {
        if A::WATCHES_CRASHES && observer != crashed {
            let token = observer.index() * self.engine.machines().len() + crashed.index();
            self.engine.put_alarm(at, token as u64);
        }
    }

    /// The oracle makes the report that is due, if one is and its observer lives.
    pub(crate) fn make_report(&mut self) {
        let Some(token) = self.engine.take_alarm() else { return };
        let n = self.engine.machines().len();
        let [observer, crashed] = [token as usize / n, token as usize % n].map(NodeId::new);
        if !self.engine.is_crashed(observer) && self.oracle.made.insert(token) {
            self.engine.report_crash(observer, crashed);
            self.after_step(observer);
        }
    }
}
