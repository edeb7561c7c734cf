//! A system in which all nodes want in, so that it has few states even where every node asks again and again.
//!
//! A node inside stays until everything has arrived and all others wait; a node outside asks, sooner or later, while another
//! is inside. Applications are free to do so. Deliveries are not restricted, and the node inside leaves in the
//! end, so what goes on for ever here, under a fair scheduler, does so without the restriction too. What cannot go on here
//! may elsewhere.

use doorway_checker::{Act, Messages, Property, Step, StepsKnown, System};
use doorway_core::Phase;

/// An algorithm whose applications all want in.
pub(super) struct Saturated {
    of: Messages,
}

impl Saturated {
    pub(super) fn new(of: Messages) -> Self {
        Self { of }
    }

    fn is_anybody_inside(&self, state: &[u32]) -> bool {
        (0..self.processes()).any(|process| self.phase(state, process) == Phase::Inside)
    }

    fn is_anybody_outside(&self, state: &[u32]) -> bool {
        (0..self.processes()).any(|process| self.phase(state, process) == Phase::Outside)
    }
}

impl System for Saturated {
    fn processes(&self) -> usize {
        self.of.processes()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        self.of.initial()
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let mut possible: Vec<(Step, Act, Vec<u32>)> = Vec::new();
        let known = self.of.steps(state, &mut |step, after| {
            possible.push((step, self.of.act(&step), after.to_vec()));
        });
        let is_quiet = !possible.iter().any(|(_, act, _)| matches!(act, Act::Deliver(_)));
        for (step, act, after) in &possible {
            let is_owed = matches!(act, Act::Request(_)).then_some(u32::MAX - step.process);
            let may = match act {
                Act::Request(_) => self.is_anybody_inside(state),
                Act::Release(_) => is_quiet && !self.is_anybody_outside(state),
                _ => true,
            };
            if may {
                visit(Step { owed: step.owed.or(is_owed), ..*step }, after);
            }
        }
        known
    }

    fn learn(&mut self, state: &[u32]) {
        self.of.learn(state);
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.of.phase(state, process)
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        self.of.flaws(state)
    }

    fn is_cut(&self) -> bool {
        self.of.is_cut()
    }

    fn describe(&self, step: &Step) -> String {
        self.of.describe(step)
    }
}
