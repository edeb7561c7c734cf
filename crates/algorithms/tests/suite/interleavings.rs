//! Every interleaving of a program's processes over atomic registers, in the simplest way that is fast enough: breadth
//! first, so that what is found first is shortest.
//!
//! A step is one access of one process. A barrier has nothing to wait for here: it is passed together with the access
//! before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use doorway_core::NodeId;
use doorway_core::shared::{Memory, Place, Process, Program, Progress, Register, Snapshot, Team, Values};

/// A violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flaw {
    /// Two are inside.
    Exclusion,
    /// A process enters before one that was past its doorway when it began.
    Order,
    /// A process wants in, and none can enter any more without a step out of the remainder.
    Stuck,
    /// An invariant does not hold.
    Invariant(&'static str),
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// How many states there are.
    pub states: usize,
    /// Whether a ticket would have gone above the limit; such steps were not made.
    pub reached_limit: bool,
    /// For each flaw, the processes of a shortest run to it, from 1.
    pub flaws: BTreeMap<Flaw, Vec<u32>>,
    /// The lines that were carried out.
    pub lines: BTreeSet<usize>,
    /// The invariants that do not hold if one process and the registers are those of another state.
    pub broken_by_tampering: BTreeSet<&'static str>,
}

/// What to look for.
#[derive(Clone, Copy)]
pub struct Search {
    /// The largest value for registers without limit.
    pub tickets: u64,
    /// Whether to look at the order of service, which takes more states.
    pub with_order: bool,
    /// Stop when this is found.
    pub until: Option<Flaw>,
}

impl Search {
    /// Everything but the order, to the end.
    pub const fn up_to(tickets: u64) -> Self {
        Self { tickets, with_order: false, until: None }
    }

    /// The same with the order.
    pub const fn with_order(self) -> Self {
        Self { with_order: true, ..self }
    }

    /// The same up to the first state with this flaw.
    pub const fn until(self, flaw: Flaw) -> Self {
        Self { until: Some(flaw), ..self }
    }
}

/// Goes through all states of a team.
pub fn explore<P: Program>(team: &Team<P>, search: Search) -> Found {
    let mut explorer = Explorer::new(team, search);
    let mut next = 0;
    while next < explorer.states.len() && !search.until.is_some_and(|flaw| explorer.seen.contains_key(&flaw))
    {
        explorer.expand(next);
        next += 1;
    }
    if search.until.is_none() {
        explorer.look_for_stuck();
    }
    explorer.found()
}

/// The numbers of the processes' local states, the registers, and for each ordered pair whether the second began after the
/// first was past its doorway.
type State = Box<[u16]>;

/// How a step ended.
#[derive(Clone, Copy, PartialEq)]
enum Edge {
    /// It is not possible within the limit.
    Cut,
    /// Its process entered.
    Enters,
    /// It leads to this state; whether its process left the remainder by it.
    To(u32, bool),
}

struct Explorer<'a, P> {
    team: &'a Team<P>,
    search: Search,
    locals: Vec<Process<P>>,
    local_numbers: HashMap<Process<P>, u16>,
    states: Vec<State>,
    state_numbers: HashMap<State, u32>,
    /// For each state, whence it was reached and by whose step.
    parents: Vec<(u32, u32)>,
    /// For each state, the step of each process.
    edges: Vec<Edge>,
    /// For each flaw, a state from which the step of a process leads to it, by the fewest steps.
    seen: BTreeMap<Flaw, (u32, u32)>,
    lines: BTreeSet<usize>,
    reached_limit: bool,
}

impl<'a, P: Program> Explorer<'a, P> {
    fn new(team: &'a Team<P>, search: Search) -> Self {
        let mut explorer = Self {
            team,
            search,
            locals: Vec::new(),
            local_numbers: HashMap::new(),
            states: Vec::new(),
            state_numbers: HashMap::new(),
            parents: Vec::new(),
            edges: Vec::new(),
            seen: BTreeMap::new(),
            lines: BTreeSet::new(),
            reached_limit: false,
        };
        let start = NodeId::first(team.n()).map(|me| team.process(me)).collect::<Vec<_>>();
        let mut state: Vec<u16> = start.into_iter().map(|process| explorer.local(process)).collect();
        state.resize(team.n() + team.registers.len() + team.n(), 0);
        explorer.state(state.into(), (0, 0));
        assert!(explorer.seen.is_empty(), "the beginning is fine");
        explorer
    }

    fn local(&mut self, process: Process<P>) -> u16 {
        if let Some(&number) = self.local_numbers.get(&process) {
            return number;
        }
        let number = u16::try_from(self.locals.len()).expect("the number of local states fits");
        self.locals.push(process.clone());
        self.local_numbers.insert(process, number);
        number
    }

    fn state(&mut self, state: State, parent: (u32, u32)) -> u32 {
        if let Some(&number) = self.state_numbers.get(&state) {
            return number;
        }
        let number = u32::try_from(self.states.len()).expect("the number of states fits");
        self.judge(&state, parent);
        self.states.push(state.clone());
        self.parents.push(parent);
        self.state_numbers.insert(state, number);
        number
    }

    fn place(&self, state: &[u16], process: usize) -> Place {
        self.locals[usize::from(state[process])].place()
    }

    fn judge(&mut self, state: &[u16], step: (u32, u32)) {
        let inside =
            (0..self.team.n()).filter(|&process| self.place(state, process) == Place::Inside).count();
        if inside > 1 {
            self.seen.entry(Flaw::Exclusion).or_insert(step);
        }
        for name in self.broken(state) {
            self.seen.entry(Flaw::Invariant(name)).or_insert(step);
        }
    }

    /// The invariants that do not hold in a state.
    fn broken(&self, state: &[u16]) -> Vec<&'static str> {
        let registers = self.registers(state);
        let processes =
            state[..self.team.n()].iter().map(|&local| &self.locals[usize::from(local)]).collect();
        let snapshot = Snapshot { processes, registers: &registers };
        let broken = P::invariants().iter().filter(|invariant| !(invariant.holds)(&snapshot));
        broken.map(|invariant| invariant.name).collect()
    }

    /// Puts one process and the registers of a state into another.
    fn broken_by_tampering(&self) -> BTreeSet<&'static str> {
        let (n, total) = (self.team.n(), self.states.len());
        let tampered = (0..total.min(2_000)).flat_map(|index| {
            let (here, there) = (&self.states[index], &self.states[(7 * index + 11) % total]);
            (0..n).map(move |process| {
                let mut state = there.clone();
                state[..n].copy_from_slice(&here[..n]);
                state[process] = there[process];
                state
            })
        });
        tampered.flat_map(|state| self.broken(&state)).collect()
    }

    fn registers(&self, state: &[u16]) -> Vec<u64> {
        let n = self.team.n();
        state[n..n + self.team.registers.len()].iter().map(|&value| u64::from(value)).collect()
    }

    fn expand(&mut self, number: usize) {
        for process in 0..self.team.n() {
            let edge = self.step(number, process);
            self.edges.push(edge);
        }
    }

    fn step(&mut self, number: usize, mover: usize) -> Edge {
        let mut state = self.states[number].clone();
        let mut process = self.locals[usize::from(state[mover])].clone();
        let before = process.place();
        let mut registers = self.registers(&state);
        self.lines.insert(process.program().line());
        let access = made(&mut process, &mut registers);
        assert_ne!(access, Call::Barrier, "a barrier is passed with the access before it");
        self.pass_barriers(&mut process);
        let limits = registers.iter().zip(&self.team.registers);
        for (&value, cell) in limits {
            match cell.values {
                Values::UpTo(largest) => assert!(value <= largest, "{} = {value}", cell.name),
                Values::Unbounded if value > self.search.tickets => {
                    self.reached_limit = true;
                    return Edge::Cut;
                }
                Values::Unbounded => {}
            }
        }
        let after = process.place();
        state[mover] = self.local(process);
        let n = self.team.n();
        for (kept, value) in state[n..].iter_mut().zip(registers) {
            *kept = u16::try_from(value).expect("registers hold small numbers");
        }
        let step = (number as u32, mover as u32);
        if self.search.with_order && self.overtakes(&mut state, mover, before, after) {
            self.seen.entry(Flaw::Order).or_insert(step);
        }
        let to = self.state(state, step);
        match after {
            Place::Inside => Edge::Enters,
            _ => Edge::To(to, before == Place::Remainder),
        }
    }

    /// Passes the barriers that come next.
    fn pass_barriers(&mut self, process: &mut Process<P>) {
        while process.place() != Place::Remainder {
            let line = process.program().line();
            let mut next = process.clone();
            let mut nothing = vec![0; self.team.registers.len()];
            let is_barrier = made(&mut next, &mut nothing) == Call::Barrier;
            assert_eq!(is_barrier, P::LINES[line - 1].trim() == "barrier", "line {line}");
            if !is_barrier {
                return;
            }
            assert!(!matches!(next.place(), Place::Inside | Place::Remainder), "a barrier goes nowhere");
            self.lines.insert(line);
            *process = next;
        }
    }

    /// Keeps which process began after which, and tells whether one enters too early.
    fn overtakes(&self, state: &mut [u16], mover: usize, before: Place, after: Place) -> bool {
        let n = self.team.n();
        let first = state.len() - n;
        if before == Place::Remainder {
            for other in (0..n).filter(|&other| other != mover) {
                if self.place(state, other) == Place::Waiting {
                    state[first + other] |= 1 << mover;
                }
            }
        }
        if after != Place::Inside || before == Place::Inside {
            return false;
        }
        let is_early = (0..n).any(|other| other != mover && state[first + other] >> mover & 1 == 1);
        state[first + mover] = 0;
        (0..n).for_each(|other| state[first + other] &= !(1 << mover));
        is_early
    }

    /// Marks the states from which no process can enter any more.
    fn look_for_stuck(&mut self) {
        let n = self.team.n();
        let can_enter = can_enter(&self.edges, n);
        let is_stuck = |state: &usize| {
            let wants = |process| {
                matches!(self.place(&self.states[*state], process), Place::Doorway | Place::Waiting)
            };
            !can_enter[*state] && (0..n).any(wants)
        };
        if let Some(stuck) = (0..self.states.len()).find(is_stuck) {
            self.seen.insert(Flaw::Stuck, self.parents[stuck]);
        }
    }

    fn found(self) -> Found {
        let flaws = self.seen.iter().map(|(&flaw, &step)| (flaw, run_with(&self.parents, step))).collect();
        let broken_by_tampering = self.broken_by_tampering();
        let Self { states, reached_limit, lines, .. } = self;
        Found { states: states.len(), reached_limit, flaws, lines, broken_by_tampering }
    }
}

/// For each state, whether a process can still enter without a step out of the remainder; `n` edges leave each state.
fn can_enter(edges: &[Edge], n: usize) -> Vec<bool> {
    let mut can_enter = vec![false; edges.len() / n];
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        for state in (0..can_enter.len()).rev() {
            let leads = |edge: &Edge| match *edge {
                Edge::Cut | Edge::Enters => true,
                Edge::To(to, is_new) => !is_new && can_enter[to as usize],
            };
            if !can_enter[state] && edges[state * n..(state + 1) * n].iter().any(leads) {
                can_enter[state] = true;
                goes_on = true;
            }
        }
    }
    can_enter
}

/// The processes of a shortest run that ends with this step.
fn run_with(parents: &[(u32, u32)], (mut state, mover): (u32, u32)) -> Vec<u32> {
    let mut run = vec![mover + 1];
    while state != 0 {
        let (parent, mover) = parents[state as usize];
        run.push(mover + 1);
        state = parent;
    }
    run.reverse();
    run
}

/// The one call that a step made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// It read or wrote a register.
    Access,
    /// It was a barrier.
    Barrier,
}

/// Makes a step, and sees to it that it kept its contract.
fn made<P: Program>(process: &mut Process<P>, registers: &mut Vec<u64>) -> Call {
    let line = process.program().line();
    assert!((1..=P::LINES.len()).contains(&line), "line {line}");
    let mut memory = Registers { values: registers, calls: Vec::new() };
    let before = process.clone();
    let progress = process.step(&mut memory).unwrap_or_else(|breach| panic!("{breach}: {before:?}"));
    let [call] = memory.calls[..] else { panic!("{} calls of {before:?}", memory.calls.len()) };
    assert!(progress != Progress::Wait || call == Call::Access, "waiting is done by reading");
    call
}

/// Atomic registers that note what is done with them.
struct Registers<'a> {
    values: &'a mut Vec<u64>,
    calls: Vec<Call>,
}

impl Memory for Registers<'_> {
    fn load(&mut self, register: Register) -> u64 {
        self.calls.push(Call::Access);
        self.values[register.index()]
    }

    fn store(&mut self, register: Register, value: u64) {
        self.calls.push(Call::Access);
        self.values[register.index()] = value;
    }

    fn barrier(&mut self) {
        self.calls.push(Call::Barrier);
    }

    fn store_next(&mut self, among: std::ops::Range<usize>, into: Register) -> u64 {
        self.calls.push(Call::Access);
        let next = self.values[among].iter().max().map_or(1, |largest| largest + 1);
        self.values[into.index()] = next;
        next
    }
}

mod tests {
    use doorway_core::shared::Cell;
    use doorway_core::{Members, NodeId};
    use serde::Serialize;

    use super::*;

    /// Raises its flag and waits until the other's is down.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
    struct TooPolite {
        me: usize,
        line: usize,
    }

    impl Program for TooPolite {
        const LINES: &'static [&'static str] = &["flag[i] := 1", "await flag[j] = 0", "flag[i] := 0"];

        fn line(&self) -> usize {
            self.line
        }

        fn step(&mut self, memory: &mut impl Memory) -> Progress {
            let (mine, other) = (Register::new(self.me), Register::new(1 - self.me));
            let (line, progress) = match self.line {
                1 => (2, Progress::Step),
                2 if memory.load(other) == 0 => (3, Progress::Enter),
                2 => return Progress::Wait,
                _ => (1, Progress::Exit),
            };
            if self.line != 2 {
                memory.store(mine, u64::from(self.line == 1));
            }
            self.line = line;
            progress
        }
    }

    #[test]
    fn two_that_wait_for_each_other_are_stuck_after_two_steps() {
        let members = Members::new(2).expect("two processes");
        let cells = Cell::for_each("flag", 2, Values::UpTo(1)).collect();
        let team = Team::new(&members, cells, |me: NodeId| TooPolite { me: me.index(), line: 1 });
        let found = explore(&team, Search::up_to(0));
        assert_eq!((found.states, found.flaws), (8, BTreeMap::from([(Flaw::Stuck, vec![1, 2])])));
    }
}
