//! The system of a shared-memory program: its processes, the registers, and the store buffers.
//!
//! The states of single processes (locals) are interned. A step of the whole system looks up the outcome of a
//! local and a loaded value; the program's own code runs once for each such pair.
//!
//! # Tickets
//!
//! An unbounded register would make the state space infinite, so there is a limit. A step that stores a
//! larger value leads to a sink state in which all processes are in the remainder and no step is enabled.
//! Every run within the limit is explored with all its choices, and no other continues: so every violation
//! found is real, and every property that holds, holds for all runs within the limit, under every fairness.
//! The sink itself violates nothing, as no process is inside or waits in it. [`SharedMemory::reached_limit`] says
//! whether there was such a step.

mod acts;
mod buffers;
mod probe;
mod processes;
mod setting;
mod steps;
mod survey;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};

use doorway_core::shared::{Cell, Place, Process, Program, Team, Values};
use doorway_core::{Members, Phase, Refusal};

use crate::{Property, Step, StepsKnown, System};
pub use acts::{Access, ProcessView, SharedAct, SharedView};
use buffers::Buffers;
use processes::{Population, Processes};
pub use setting::{Barriers, MemoryModel, MemorySetting, RegisterModel};
use survey::{Survey, survey};
use tables::{GONE, Tables};

/// All processes of a program, and the memory that they share.
///
/// A state is one word of 32-bit numbers; the buffers are present only in buffered memory:
///
/// ```text
/// local 0 … local n−1 │ register 0 … register r−1 │ length 0 … length n−1 │ stores of 0 │ … │ stores of n−1
/// local      the number of an interned process state, from 1; all numbers of the sink are 0
/// register   its value; bit 15 marks overlapping stores if they leave any value
/// length     the number of buffered stores of a process
/// store      value × r + register
/// ```
///
/// ```
/// # use doorway_core::shared::{Memory, Program, Progress, Register};
/// use doorway_checker::{MemorySetting, Search, SharedMemory, explore};
/// use doorway_core::Members;
/// use doorway_core::shared::{Cell, Team, Values};
/// # #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
/// # struct Turns { me: u64, is_inside: bool }
/// # impl Program for Turns {
/// #     const LINES: &'static [&'static str] = &["await turn = i", "turn := 1 − i"];
/// #     fn line(&self) -> usize { if self.is_inside { 2 } else { 1 } }
/// #     fn step(&mut self, memory: &mut impl Memory) -> Progress {
/// #         let turn = Register::new(0);
/// #         if self.is_inside {
/// #             memory.store(turn, 1 - self.me);
/// #             self.is_inside = false;
/// #             return Progress::Exit;
/// #         }
/// #         self.is_inside = memory.load(turn) == self.me;
/// #         if self.is_inside { Progress::Enter } else { Progress::Wait }
/// #     }
/// # }
///
/// let registers = vec![Cell::new("turn", Values::UpTo(1))];
/// let team = Team::new(&Members::new(2)?, registers, |me| Turns { me: me.index() as u64, is_inside: false });
/// let mut system = SharedMemory::new(&team, MemorySetting::default())?;
/// let found = explore(&mut system, &Search::default(), &mut |_| ());
/// assert_eq!((found.states, found.violations.len()), (12, 0));
/// # Ok::<(), doorway_core::Refusal>(())
/// ```
pub struct SharedMemory {
    setting: MemorySetting,
    cells: Vec<Cell>,
    n: usize,
    /// The lines of the program.
    lines: &'static [&'static str],
    /// The lines that are barriers.
    barriers: Vec<usize>,
    processes: Box<dyn Processes>,
    tables: Tables,
    buffers: Buffers,
    /// The sink state of steps beyond the limit and of broken contracts.
    beyond: Vec<u32>,
    /// Whether a process had to wait because its store buffer was full.
    is_full: AtomicBool,
}

impl SharedMemory {
    /// The system of a program. It surveys the program first, so the program must accept every value that its
    /// registers can hold.
    ///
    /// # Errors
    /// If the setting is inconsistent or does not fit this program.
    pub fn new<P: Program>(team: &Team<P>, setting: MemorySetting) -> Result<Self, Refusal> {
        let (n, cells) = (team.n(), team.registers.clone());
        setting.check(n, &cells)?;
        let processes: Vec<Process<P>> = Members::new(n)?.iter().map(|me| team.process(me)).collect();
        let Survey { barriers, takes_maximum } = survey(&processes, &cells);
        if takes_maximum && setting.registers != RegisterModel::Atomic {
            return Err(Refusal::new(format!(
                "the program takes a maximum and stores it at once: that needs atomic registers, not {} ones",
                setting.registers
            )));
        }
        let barriers: Vec<usize> = barriers.into_iter().collect();
        let chosen = setting.barriers.among(&barriers)?;
        let (head, registers) = (n + cells.len(), cells.len().max(1) as u32);
        let buffers = Buffers { model: setting.memory, head, n, registers, capacity: setting.capacity };
        let lengths = if buffers.are_there() { n } else { 0 };
        let population = Population::new(processes, cells.clone(), setting.clone(), chosen);
        Ok(Self {
            setting,
            cells,
            n,
            lines: P::LINES,
            barriers,
            processes: Box::new(population),
            tables: Tables::default(),
            buffers,
            beyond: vec![GONE; head + lengths],
            is_full: AtomicBool::new(false),
        })
    }

    fn n(&self) -> usize {
        self.n
    }

    /// The registers in the order of their numbers.
    #[must_use]
    pub fn registers(&self) -> &[Cell] {
        &self.cells
    }

    /// The lines of the program: the first is line 1.
    #[must_use]
    pub fn lines(&self) -> &'static [&'static str] {
        self.lines
    }

    /// The lines of the program that are barriers: the first is barrier 1.
    #[must_use]
    pub fn barriers(&self) -> &[usize] {
        &self.barriers
    }

    /// Whether a run went beyond [`MemorySetting::tickets`]: then properties are proved only for tickets up
    /// to that limit.
    #[must_use]
    pub fn reached_limit(&self) -> bool {
        self.tables.is_beyond
    }

    /// Whether a step broke the contract: then properties are proved only for runs without such a step.
    #[must_use]
    pub fn broke_contract(&self) -> bool {
        self.tables.is_broken
    }

    /// Whether a register is unbounded, so that tickets need a limit.
    #[must_use]
    pub fn has_tickets(&self) -> bool {
        self.cells.iter().any(|cell| cell.values == Values::Unbounded)
    }

    /// Whether the program has invariants.
    #[must_use]
    pub fn has_invariants(&self) -> bool {
        self.processes.have_invariants()
    }

    /// Whether a process had to wait because its buffer had [`MemorySetting::capacity`] stores: then
    /// properties are proved only for buffers of that capacity.
    #[must_use]
    pub fn reached_capacity(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Every enabled step of a state with its successor, to follow a script or to offer choices.
    pub fn enabled(&mut self, state: &[u32]) -> Vec<(Step, Vec<u32>)> {
        self.learn(state);
        let mut enabled = Vec::new();
        let known = self.steps(state, &mut |step, after| enabled.push((step, after.to_vec())));
        debug_assert_eq!(known, StepsKnown::All, "the system has learned this state");
        enabled
    }

    /// Whether a state is the sink.
    fn is_beyond(&self, state: &[u32]) -> bool {
        state[0] == GONE
    }
}

impl System for SharedMemory {
    fn processes(&self) -> usize {
        self.n()
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["process", "processes"]
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let mut word = self.processes.start(&mut self.tables);
        word.resize(self.beyond.len(), 0);
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        match self.try_steps(state, visit) {
            Ok(()) => StepsKnown::All,
            Err(_) => StepsKnown::No,
        }
    }

    fn learn(&mut self, state: &[u32]) {
        while let Err(missing) = self.try_steps(state, &mut |_, _| ()) {
            // A read of a safe register during a write may return any value, so all are computed at once.
            let values = match self.setting.registers.is_safe() {
                true => self.tables.unknown(missing.local),
                false => vec![missing.value],
            };
            for value in values {
                self.processes.run(&mut self.tables, missing.local, value);
            }
        }
    }

    fn restart(&mut self) {
        self.tables = Tables::default();
        self.processes.restart();
        self.is_full.store(false, Ordering::Relaxed);
    }

    fn bytes(&self) -> u64 {
        self.tables.bytes() + self.processes.bytes()
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.tables.facts(state[process]).place.phase()
    }

    fn is_past_doorway(&self, state: &[u32], process: usize) -> bool {
        self.tables.facts(state[process]).place != Place::Doorway
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        if !self.setting.invariants || self.is_beyond(state) {
            return Vec::new();
        }
        let (locals, rest) = state.split_at(self.n());
        self.processes.flaws(locals, &rest[..self.cells.len()]).into_iter().collect()
    }

    fn describe(&self, step: &Step) -> String {
        self.act(step).to_string()
    }
}
