//! The locks that ship make the accesses of the programs that the checker explores, one for one.
//!
//! The same schedule is given to both: to the shipping code through its recorder, and to the processes of the program over plain
//! memory. What was read, what was written and where each came in and went out must be the same list.

use doorway_algorithms::catalog;
use doorway_core::shared::{
    AboutProgram, Memory, Process, Program, ProgramVisitor, Progress, Register, Team,
};
use doorway_core::{Catalog, Members, NodeId, Options};
use doorway_locks::protocol::{Bakery, BlackWhiteBakery, LamportFast, Peterson, Protocol, Tournament};
use doorway_locks::recorded::{Event, record};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// How often each process goes through the section.
const ROUNDS: usize = 3;

/// The memory of a program, which writes down what is done to it.
struct Written {
    registers: Vec<u64>,
    last: Option<Event>,
}

impl Memory for Written {
    fn load(&mut self, register: Register) -> u64 {
        let value = self.registers[register.index()];
        self.last = Some(Event::Load { register: register.index(), value: value as usize });
        value
    }

    fn store(&mut self, register: Register, value: u64) {
        self.registers[register.index()] = value;
        self.last = Some(Event::Store { register: register.index(), value: value as usize });
    }

    fn barrier(&mut self) {
        self.last = Some(Event::Barrier);
    }
}

/// Runs a program by a schedule.
struct Follow<'a>(&'a [usize]);

impl ProgramVisitor for Follow<'_> {
    type Output = Vec<(usize, Event)>;

    fn visit<P: Program>(self, _: &AboutProgram, team: Team<P>) -> Self::Output {
        let mut memory = Written { registers: vec![0; team.registers.len()], last: None };
        let mut processes: Vec<(Process<P>, usize)> =
            NodeId::first(team.n()).map(|me| (team.process(me), 0)).collect();
        let mut events = Vec::new();
        for &me in self.0 {
            let (process, rounds) = &mut processes[me];
            if *rounds == ROUNDS {
                continue;
            }
            let progress = process.step(&mut memory).expect("it keeps its contract");
            events.extend(memory.last.take().map(|event| (me, event)));
            match progress {
                Progress::Enter => events.push((me, Event::Entered)),
                Progress::Exit => {
                    *rounds += 1;
                    events.push((me, Event::Left));
                }
                Progress::Step | Progress::Wait | Progress::Doorway => {}
            }
        }
        events
    }
}

/// Compares a lock for `N` with its program, over schedules from this many seeds.
fn agree<P: Protocol<N> + Sync, const N: usize>(program: &str, options: &Options, seeds: u64) {
    for seed in 0..seeds {
        let schedule = schedule(seed, N);
        let members = Members::new(N).expect("few");
        let expected = catalog().visit_program(program, options, &members, Follow(&schedule));
        let expected = expected.expect("it is there").expect("it can be had");
        let recorded = record::<P, N>(ROUNDS, schedule.iter().copied());
        let differs = recorded.iter().zip(&expected).position(|(one, other)| one != other);
        assert!(
            recorded == expected,
            "{program}, {N} processes, seed {seed}: from event {differs:?} on, of {} and {}",
            recorded.len(),
            expected.len()
        );
        assert!(
            expected.iter().any(|(_, event)| *event == Event::Left),
            "{program}, seed {seed}: somebody left"
        );
    }
}

/// Whose access is next: by chance, in bursts of different lengths, so that processes meet and pass each other.
fn schedule(seed: u64, n: usize) -> Vec<usize> {
    let mut random = Pcg64::seed_from_u64(seed);
    let longest = 1 + seed % 8;
    let mut schedule = Vec::new();
    while schedule.len() < 60 * n * ROUNDS {
        let process = (random.next_u64() % n as u64) as usize;
        let burst = 1 + random.next_u64() % longest;
        schedule.extend(std::iter::repeat_n(process, burst as usize));
    }
    schedule
}

#[test]
fn the_lock_for_two_makes_the_accesses_of_its_program() {
    agree::<Peterson, 2>("peterson/unless-alone", &Options::none(), 100);
}

#[test]
fn the_tournament_makes_the_accesses_of_its_program() {
    let lock = Options::none().with("lock", "unless-alone");
    agree::<Tournament<2>, 2>("tournament", &lock, 40);
    agree::<Tournament<3>, 3>("tournament", &lock, 40);
    agree::<Tournament<4>, 4>("tournament", &lock, 40);
}

#[test]
fn the_fast_lock_makes_the_accesses_of_its_program() {
    agree::<LamportFast<2>, 2>("lamport-fast", &Options::none(), 40);
    agree::<LamportFast<3>, 3>("lamport-fast", &Options::none(), 40);
    agree::<LamportFast<4>, 4>("lamport-fast", &Options::none(), 40);
}

#[test]
fn the_bakery_makes_the_accesses_of_its_program() {
    agree::<Bakery<2>, 2>("bakery/one-word", &Options::none(), 40);
    agree::<Bakery<3>, 3>("bakery/one-word", &Options::none(), 40);
    agree::<Bakery<4>, 4>("bakery/one-word", &Options::none(), 40);
}

#[test]
fn the_black_white_bakery_makes_the_accesses_of_its_program() {
    agree::<BlackWhiteBakery<2>, 2>("black-white/one-word", &Options::none(), 40);
    agree::<BlackWhiteBakery<3>, 3>("black-white/one-word", &Options::none(), 40);
    agree::<BlackWhiteBakery<4>, 4>("black-white/one-word", &Options::none(), 40);
}

/// The comparison can fail: another program is told from the lock's own at once.
#[test]
#[should_panic(expected = "from event Some(1) on")]
fn a_lock_does_not_agree_with_the_program_of_another() {
    agree::<Peterson, 2>("peterson", &Options::none(), 1);
}
