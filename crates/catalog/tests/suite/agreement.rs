//! The locks that ship make the accesses of the programs that the checker explores, one for one.
//!
//! The same schedule is given to both: to the shipping code through its recorder, and to the processes of the program over plain
//! memory. What was read, what was written and where each came in and went out must be the same list.

use doorway_algorithms::shared::{
    bakery_one_word, black_white_one_word, lamport_fast, peterson, peterson_unless_alone, tournament,
};
use doorway_core::shared::{Memory, Process, Program, ProgramEntry, Progress, Register, Team};
use doorway_core::{Members, NodeId, Options};
use doorway_locks::protocol::{Bakery, BlackWhiteBakery, LamportFast, Peterson, Protocol, Tournament};
use doorway_locks::recorded::{RecordedAct, record};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// How often each process goes through the section.
const ROUNDS: usize = 3;

/// The memory of a program, which writes down what is done to it.
struct Written {
    registers: Vec<u64>,
    last: Option<RecordedAct>,
}

impl Memory for Written {
    fn load(&mut self, register: Register) -> u64 {
        let value = self.registers[register.index()];
        self.last = Some(RecordedAct::Load { register: register.index(), value: value as usize });
        value
    }

    fn store(&mut self, register: Register, value: u64) {
        self.registers[register.index()] = value;
        self.last = Some(RecordedAct::Store { register: register.index(), value: value as usize });
    }

    fn barrier(&mut self) {
        self.last = Some(RecordedAct::Barrier);
    }
}

/// Runs a program by a schedule.
fn follow<P: Program>(team: &Team<P>, schedule: &[usize]) -> Vec<(usize, RecordedAct)> {
    let mut memory = Written { registers: vec![0; team.registers.len()], last: None };
    let mut processes: Vec<(Process<P>, usize)> =
        NodeId::first(team.n()).map(|me| (team.process(me), 0)).collect();
    let mut events = Vec::new();
    for &me in schedule {
        let (process, rounds) = &mut processes[me];
        if *rounds == ROUNDS {
            continue;
        }
        let progress = process.step(&mut memory).expect("it keeps its contract");
        events.extend(memory.last.take().map(|event| (me, event)));
        match progress {
            Progress::Enter => events.push((me, RecordedAct::Entered)),
            Progress::Exit => {
                *rounds += 1;
                events.push((me, RecordedAct::Left));
            }
            Progress::Step | Progress::Wait | Progress::Doorway => {}
        }
    }
    events
}

/// Compares a lock for `N` with its program, over schedules from this many seeds.
fn agree<L: Protocol<N> + Sync, const N: usize>(
    program: &ProgramEntry<impl Program>,
    options: &Options,
    seeds: u64,
) {
    let team = program.team(options, &Members::new(N).expect("few")).expect("it can be had");
    let program = program.about.name;
    for seed in 0..seeds {
        let schedule = schedule(seed, N);
        let expected = follow(&team, &schedule);
        let recorded = record::<L, N>(ROUNDS, schedule.iter().copied());
        let differs = recorded.iter().zip(&expected).position(|(one, other)| one != other);
        assert!(
            recorded == expected,
            "{program}, {N} processes, seed {seed}: from event {differs:?} on, of {} and {}",
            recorded.len(),
            expected.len()
        );
        assert!(
            expected.iter().any(|(_, event)| *event == RecordedAct::Left),
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
    agree::<Peterson, 2>(&peterson_unless_alone::entry(), &Options::none(), 100);
}

#[test]
fn the_tournament_makes_the_accesses_of_its_program() {
    let lock = Options::none().with("lock", "unless-alone");
    agree::<Tournament<2>, 2>(&tournament::entry(), &lock, 40);
    agree::<Tournament<3>, 3>(&tournament::entry(), &lock, 40);
    agree::<Tournament<4>, 4>(&tournament::entry(), &lock, 40);
}

#[test]
fn the_fast_lock_makes_the_accesses_of_its_program() {
    agree::<LamportFast<2>, 2>(&lamport_fast::entry(), &Options::none(), 40);
    agree::<LamportFast<3>, 3>(&lamport_fast::entry(), &Options::none(), 40);
    agree::<LamportFast<4>, 4>(&lamport_fast::entry(), &Options::none(), 40);
}

#[test]
fn the_bakery_makes_the_accesses_of_its_program() {
    agree::<Bakery<2>, 2>(&bakery_one_word::entry(), &Options::none(), 40);
    agree::<Bakery<3>, 3>(&bakery_one_word::entry(), &Options::none(), 40);
    agree::<Bakery<4>, 4>(&bakery_one_word::entry(), &Options::none(), 40);
}

#[test]
fn the_black_white_bakery_makes_the_accesses_of_its_program() {
    agree::<BlackWhiteBakery<2>, 2>(&black_white_one_word::entry(), &Options::none(), 40);
    agree::<BlackWhiteBakery<3>, 3>(&black_white_one_word::entry(), &Options::none(), 40);
    agree::<BlackWhiteBakery<4>, 4>(&black_white_one_word::entry(), &Options::none(), 40);
}

/// The comparison can fail: another program is told from the lock's own at once.
#[test]
#[should_panic(expected = "from event Some(1) on")]
fn a_lock_does_not_agree_with_the_program_of_another() {
    agree::<Peterson, 2>(&peterson::entry(), &Options::none(), 1);
}
