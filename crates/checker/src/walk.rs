//! Random walks, for systems too large to visit every state.
//!
//! In every walk each lane (a channel, an application) has its own random speed. So some messages stay in
//! flight while many others overtake them, which almost never happens if all steps are equally likely.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::explore::{FoundViolation, state_faults, stillness};
use crate::order::with_few_switches;
use crate::{Property, Step, StepsKnown, System, Violation};

/// The parameters of random walks.
#[derive(Clone, Debug)]
pub struct Walks {
    /// The number of walks.
    pub count: u64,
    /// The seed.
    pub seed: u64,
    /// The most steps of a walk.
    pub steps: u64,
    /// The time limit for all walks.
    pub time: Duration,
    /// Stops once all of these properties are violated, unless empty.
    pub until: Vec<Property>,
}

impl Default for Walks {
    fn default() -> Self {
        let (steps, time) = (10_000, Duration::from_secs(3_600));
        Self { count: 10_000, seed: 1, steps, time, until: Vec::new() }
    }
}

/// The result of random walks.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// The number of walks.
    pub walks: u64,
    /// The number of their steps.
    pub steps: u64,
}

/// The number of walks after which the system restarts, so that its tables stay small.
const GROUP: u64 = 256;

/// Runs random walks; calls `watch` from time to time with the number of walks so far. At the end it calls
/// `tell` for each violated property, with the shortest run to it and the number of walks that found it; the
/// steps of the run are valid until `tell` returns.
pub fn walk<S: System>(
    system: &mut S,
    walks: &Walks,
    watch: &mut dyn FnMut(u64),
    tell: &mut dyn FnMut(&mut S, Violation, u64),
) -> Walked {
    let began = Instant::now();
    let mut walked = Walked::default();
    let mut best: Vec<Best> = Vec::new();
    for number in 0..walks.count {
        let is_found = |property: &Property| best.iter().any(|best| best.property == *property);
        let is_done = !walks.until.is_empty() && walks.until.iter().all(is_found);
        if is_done || began.elapsed() > walks.time {
            break;
        }
        if number % GROUP == 0 {
            system.restart();
            watch(number);
        }
        let mut seen: Vec<(Property, usize)> = Vec::new();
        let steps = walk_once(system, walks, number, &mut |found, steps| {
            if seen.iter().all(|(property, _)| *property != found.property) {
                seen.push((found.property, steps.len()));
            }
        });
        if system.is_cut() {
            system.restart();
        } else {
            seen.into_iter().for_each(|(property, steps)| note(&mut best, property, number, steps));
        }
        walked.walks += 1;
        walked.steps += steps;
    }
    for best in &best {
        let violation = replay(system, walks, best);
        tell(system, violation, best.times);
    }
    walked
}

/// The shortest walk that violated a property.
struct Best {
    property: Property,
    walk: u64,
    steps: usize,
    times: u64,
}

fn note(best: &mut Vec<Best>, property: Property, walk: u64, steps: usize) {
    match best.iter_mut().find(|best| best.property == property) {
        Some(known) => {
            known.times += 1;
            if steps < known.steps {
                (known.walk, known.steps) = (walk, steps);
            }
        }
        None => best.push(Best { property, walk, steps, times: 1 }),
    }
}

/// Replays the walk that violated a property.
fn replay<S: System>(system: &mut S, walks: &Walks, best: &Best) -> Violation {
    system.restart();
    let mut seen = None;
    for number in best.walk / GROUP * GROUP..=best.walk {
        let is_it = number == best.walk;
        walk_once(system, walks, number, &mut |found, steps| {
            if is_it && found.property == best.property && seen.is_none() {
                seen = Some((found, steps.to_vec()));
            }
        });
        if !is_it && system.is_cut() {
            system.restart();
        }
    }
    let (found, steps) = seen.expect("a replayed walk takes the same steps");
    let begin = system.initial().into_iter().next().unwrap_or_default();
    let steps = with_few_switches(system, &begin, steps);
    let FoundViolation { property, what, processes, .. } = found;
    let is_still = matches!(property, Property::DeadlockFreedom | Property::StarvationFreedom);
    let waiting = if is_still { processes.clone() } else { Vec::new() };
    Violation { property, what, processes, waiting, steps, loop_start: None }
}

/// One walk; it ends in a terminal state or at the first violation in a state or step. Returns its number of
/// steps.
fn walk_once<S: System>(
    system: &mut S,
    walks: &Walks,
    number: u64,
    tell: &mut dyn FnMut(FoundViolation, &[Step]),
) -> u64 {
    let mut random = Pcg64Mcg::seed_from_u64(walks.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut speeds: HashMap<u32, u64> = HashMap::new();
    let mut state = system.initial().into_iter().next().unwrap_or_default();
    let mut taken: Vec<Step> = Vec::new();
    let mut choices: Vec<(Step, u64)> = Vec::new();
    while (taken.len() as u64) < walks.steps {
        choices.clear();
        let known = system.steps(&state, &mut |step, _| choices.push((step, 0)));
        if known == StepsKnown::No {
            system.learn(&state);
            continue;
        }
        if choices.iter().all(|(step, _)| step.owed.is_none()) {
            stillness(system, 0, &state).into_iter().for_each(|found| tell(found, &taken));
        }
        for (step, speed) in &mut choices {
            *speed = *speeds.entry(step.lane).or_insert_with(|| 1 << (random.next_u64() % 9));
        }
        let Some(chosen) = choose(&mut random, &choices) else { break };
        let (step, mut place) = (choices[chosen].0, 0);
        let mut after = Vec::new();
        let _ = system.steps(&state, &mut |_, word| {
            if place == chosen {
                after.extend_from_slice(word);
            }
            place += 1;
        });
        taken.push(step);
        state = after;
        if let Some((property, what)) = step.broken {
            tell(FoundViolation::step(property, what, 0, step), &taken);
        }
        let faults = state_faults(system, 0, &state);
        let is_over = !faults.is_empty() || step.broken.is_some();
        faults.into_iter().for_each(|found| tell(found, &taken));
        if is_over {
            break;
        }
    }
    taken.len() as u64
}

/// Chooses a step with a probability proportional to its speed.
fn choose(random: &mut Pcg64Mcg, choices: &[(Step, u64)]) -> Option<usize> {
    let sum: u64 = choices.iter().map(|(_, speed)| speed).sum();
    let mut drawn = ((u128::from(random.next_u64()) * u128::from(sum)) >> 64) as u64;
    choices.iter().position(|(_, speed)| {
        let is_it = drawn < *speed;
        drawn = drawn.saturating_sub(*speed);
        is_it
    })
}
