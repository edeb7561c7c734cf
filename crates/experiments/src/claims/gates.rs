//! All gates for two processes: a small world in which statements about locks can be decided for every lock.
//!
//! A gate decides which waiting process it lets in while no process is inside. It knows who waits, who of two has waited longer,
//! and who entered last; a gate is one way to decide in each of these situations, and there are 4,096 of them. Each keeps
//! exclusion. What else it keeps (freedom from deadlock, from starvation, bounded waiting, first come, first served) the checker
//! decides. A statement "each lock with these properties has that one" holds if no gate is an exception.

use doorway_checker::{Property, Runs, SchedulerFairness, Search, Step, StepsKnown, System, explore};
use doorway_core::Phase;

/// One gate, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gate(u32);

/// How many there are: 2 ways for each of 4 situations with one process, 4 for each of 4 with both.
const GATES: u32 = 1 << 12;

/// The layout of a state: the phase of each process, the process that has waited longer, and the one that entered last.
const FIRST: usize = 2;
const LAST: usize = 3;
const OUTSIDE: u32 = 0;
const WAITING: u32 = 1;
const INSIDE: u32 = 2;

/// The kinds of steps.
const REQUEST: u32 = 0;
const ENTER: u32 = 1;
const RELEASE: u32 = 2;

impl Gate {
    /// Whether it lets a waiting process in, in a state in which no process is inside.
    ///
    /// ```text
    /// bits 0–3   process 0 alone after 0, after 1; process 1 alone after 0, after 1
    /// bits 4–11  both wait: two bits, one for each process, for each of first and last
    /// ```
    fn admits(self, state: &[u32], process: usize) -> bool {
        let other_waits = state[1 - process] == WAITING;
        let bit = match other_waits {
            false => 2 * process as u32 + state[LAST],
            true => 4 + 2 * (2 * state[FIRST] + state[LAST]) + process as u32,
        };
        self.0 >> bit & 1 == 1
    }

    /// The next step of a process, if it has one.
    fn step(self, state: &[u32], process: usize) -> Option<(u32, Vec<u32>)> {
        let (me, other) = (process as u32, 1 - process);
        let mut after = state.to_vec();
        let action = match state[process] {
            OUTSIDE => {
                after[process] = WAITING;
                after[FIRST] = if state[other] == WAITING { other as u32 } else { me };
                REQUEST
            }
            WAITING if state[other] != INSIDE && self.admits(state, process) => {
                after[process] = INSIDE;
                after[LAST] = me;
                after[FIRST] = if state[other] == WAITING { other as u32 } else { 0 };
                ENTER
            }
            INSIDE => {
                after[process] = OUTSIDE;
                RELEASE
            }
            _ => return None,
        };
        Some((action, after))
    }
}

impl System for Gate {
    fn processes(&self) -> usize {
        2
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        vec![vec![OUTSIDE, OUTSIDE, 0, 0]]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        for process in 0..2 {
            if let Some((action, after)) = self.step(state, process) {
                let process = process as u32;
                // Applications need not ask again; whatever else can be done must be done some day.
                let owed = (action != REQUEST).then_some(2 * process + action);
                visit(Step { process, action, owed, lane: process, sends: 0, broken: None }, &after);
            }
        }
        StepsKnown::All
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        match state[process] {
            OUTSIDE => Phase::Outside,
            WAITING => Phase::Waiting,
            _ => Phase::Inside,
        }
    }

    fn describe(&self, step: &Step) -> String {
        let what = ["asks", "enters", "leaves"][step.action as usize];
        format!("process {} {what}", step.process + 1)
    }
}

/// What each gate violates.
pub(super) struct Gates {
    violated: Vec<Vec<Property>>,
}

impl Gates {
    /// Decides all properties of all gates.
    pub(super) fn all() -> Self {
        Self { violated: (0..GATES).map(|number| violated(Gate(number))).collect() }
    }

    /// How many gates have some properties and not others.
    pub(super) fn count(&self, with: &[Property], without: &[Property]) -> usize {
        let fits = |violated: &&Vec<Property>| {
            !with.iter().any(|property| violated.contains(property))
                && without.iter().all(|property| violated.contains(property))
        };
        self.violated.iter().filter(fits).count()
    }
}

fn violated(mut gate: Gate) -> Vec<Property> {
    // A gate that opens only for moments must not be saved by a scheduler that always catches one of them.
    let runs = Runs { progress: Some(Some(SchedulerFairness::Weak)), waiting: true, messages: false };
    let explored = explore(&mut gate, &Search { runs, ..Search::default() }, &mut |_| ());
    explored.violations.iter().map(|violation| violation.property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Property::{BoundedWaiting, DeadlockFreedom, Fifo, MutualExclusion, StarvationFreedom};

    #[test]
    fn known_gates_are_judged_as_known() {
        // Alone everybody may enter. If both wait, the one that has waited longer, any of them, or always the first process.
        let [longest, any, favourite] = [0b1010_0101_1111, 0b1111_1111_1111, 0b0101_0101_1111].map(Gate);
        assert_eq!(violated(longest), []);
        for unfair in [any, favourite] {
            assert_eq!(violated(unfair), [StarvationFreedom, Fifo, BoundedWaiting], "{unfair:?}");
        }
        assert!(violated(Gate(0)).contains(&DeadlockFreedom), "it lets no process in");
    }

    #[test]
    fn the_world_of_gates_has_exceptions_to_statements_that_are_false() {
        let gates = Gates::all();
        assert_eq!(gates.count(&[], &[MutualExclusion]), 0);
        assert_eq!(gates.count(&[StarvationFreedom], &[DeadlockFreedom]), 0);
        let false_statements =
            [(Fifo, DeadlockFreedom), (DeadlockFreedom, StarvationFreedom), (StarvationFreedom, Fifo)];
        for (with, without) in false_statements {
            assert!(gates.count(&[with], &[without]) > 0, "{with} would imply {without}");
        }
    }
}
