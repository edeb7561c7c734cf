//! The properties of Peterson's algorithm and its tournament. The model has its own file, because the bench
//! shares it.

use doorway_checker::{Property, SchedulerFairness};
use doorway_core::Phase;

use crate::registers::{Program, Registers};
use crate::tournament::Tournament;
use crate::{against, broken, explored, progress, size, worst};

#[test]
fn peterson_has_58_states_and_is_fifo() {
    let found = explored(&mut Registers(Tournament { levels: 1 }), SchedulerFairness::Weak);
    assert_eq!(size(&found), (58, 116));
    assert_eq!(broken(&found), []);
    assert_eq!(worst(&found), Some(0));
}

/// The line that sets the first flag.
const STORES_FIRST_FLAG: u32 = 1;

/// The tournament with a doorway that ends once the first flag is set.
struct ShortDoorway(Tournament);

impl Program for ShortDoorway {
    fn processes(&self) -> usize {
        self.0.processes()
    }

    fn registers(&self) -> Vec<u32> {
        self.0.registers()
    }

    fn step(&self, me: usize, at: u32, registers: &mut [u32]) -> Option<u32> {
        self.0.step(me, at, registers)
    }

    fn phase(&self, at: u32) -> Phase {
        self.0.phase(at)
    }

    fn is_past_doorway(&self, at: u32) -> bool {
        at > STORES_FIRST_FLAG
    }
}

#[test]
fn a_process_that_only_set_its_flag_is_overtaken_at_most_once() {
    let found = explored(&mut Registers(ShortDoorway(Tournament { levels: 1 })), SchedulerFairness::Weak);
    assert_eq!(size(&found), (58, 116));
    assert_eq!(broken(&found), [Property::Fifo]);
    assert_eq!(worst(&found), Some(1));
}

#[test]
fn peterson_needs_weak_fairness_against_starvation() {
    let found = explored(&mut Registers(Tournament { levels: 1 }), SchedulerFairness::None);
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), vec![Some(SchedulerFairness::Weak); 2]));
    let starved =
        against(&found, Property::StarvationFreedom).expect("without fairness only the other process runs");
    let round = &starved.steps[starved.loop_start.expect("an infinite run")..];
    assert!(round.iter().all(|step| step.process == round[0].process), "{round:?}");
}

#[test]
fn a_tournament_of_four_has_no_starvation_under_weak_fairness() {
    let found = explored(&mut Registers(Tournament { levels: 2 }), SchedulerFairness::Weak);
    assert_eq!(size(&found), (16_288, 65_152));
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), vec![Some(SchedulerFairness::Weak); 4]));
}

#[test]
fn a_tournament_of_four_has_no_bound_on_waiting() {
    let found = explored(&mut Registers(Tournament { levels: 2 }), SchedulerFairness::Weak);
    assert_eq!(broken(&found), [Property::Fifo, Property::BoundedWaiting]);
    let bounds = found.waiting.as_ref().expect("the analysis was requested").bounds.clone();
    assert_eq!(bounds[0], [Some(0), Some(0), None, None]);
    let endless = against(&found, Property::BoundedWaiting).expect("there is no bound");
    assert!(endless.loop_start.is_some());
}
