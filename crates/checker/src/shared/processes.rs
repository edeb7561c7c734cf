//! The processes themselves: the only place where a program's own code runs.

use std::collections::BTreeSet;

use doorway_core::Field;
use doorway_core::shared::{Cell, Place, Process, Program, Progress, Snapshot, Values};

use super::probe::{Attempt, Call, attempt};
use super::tables::{Ending, GONE, NextAccess, ProcessOutcome, Tables};
use super::{MemoryModel, MemorySetting, RegisterModel};
use crate::Property;
use crate::intern::Interner;

/// The interface to the processes, with the program's type erased.
pub(super) trait Processes: Send + Sync {
    /// The initial state of every process.
    fn start(&mut self, tables: &mut Tables) -> Vec<u32>;

    /// Drops all interned values.
    fn restart(&mut self);

    /// Computes the outcome of loading this value in this state of a process.
    fn run(&mut self, tables: &mut Tables, local: u32, value: u32);

    /// The first violated invariant of the program.
    fn flaws(&self, locals: &[u32], registers: &[u32]) -> Option<(Property, String)>;

    /// Whether the program has invariants.
    fn have_invariants(&self) -> bool;

    /// The line of a process in this state, and its local variables.
    fn line_and_fields(&self, local: u32) -> (usize, Vec<Field>);

    /// Their approximate memory in bytes.
    fn bytes(&self) -> u64;
}

/// A process with its remaining requests, and whether it is in the middle of a store.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<P> {
    process: Process<P>,
    left: u32,
    is_storing: bool,
}

/// All interned states of processes. Their numbers count from 1: 0 is [`GONE`].
pub(super) struct Population<P: Program> {
    processes: Vec<Process<P>>,
    setting: MemorySetting,
    cells: Vec<Cell>,
    /// The lines of the active barriers.
    barriers: BTreeSet<usize>,
    locals: Interner<Local<P>>,
}

/// The most inactive barriers that are skipped in a row.
const MOST_BARRIERS: usize = 100;
const ONLY_BARRIERS: &str = "the program passes barriers for ever and makes no access";

impl<P: Program> Population<P> {
    pub(super) fn new(
        processes: Vec<Process<P>>,
        cells: Vec<Cell>,
        setting: MemorySetting,
        barriers: BTreeSet<usize>,
    ) -> Self {
        Self { processes, setting, cells, barriers, locals: Interner::default() }
    }

    fn thing(&self, local: u32) -> &Local<P> {
        self.locals.thing(local - 1)
    }

    /// Interns a state of a process.
    fn local(&mut self, tables: &mut Tables, local: Local<P>) -> u32 {
        let number = self.locals.number(local) + 1;
        if number as usize == tables.len() {
            let local = self.thing(number);
            let (place, access) = (local.process.place(), self.access(local));
            tables.push(place, access, self.largest(access));
        }
        number
    }

    /// The next access of a process.
    fn access(&self, local: &Local<P>) -> NextAccess {
        if local.left == 0 && local.process.place() == Place::Remainder {
            return NextAccess::Rest;
        }
        let cells = self.cells.len();
        match self.advance(&mut local.process.clone(), 0).call {
            Some(Call::Load(register)) if register < cells => NextAccess::Load { register: register as u32 },
            Some(Call::Store(register, value)) => {
                let (register, value) = (register as u32, u32::try_from(value).unwrap_or(u32::MAX));
                match self.setting.registers {
                    RegisterModel::Regular | RegisterModel::Safe | RegisterModel::SafeAny
                        if !local.is_storing =>
                    {
                        NextAccess::Begin { register, value }
                    }
                    _ => NextAccess::Store { register, value },
                }
            }
            Some(Call::Next { among, into }) if among.end <= cells => {
                NextAccess::Next { first: among.start as u32, count: among.len() as u32, into: into as u32 }
            }
            Some(Call::Barrier) => NextAccess::Barrier,
            Some(Call::Load(_) | Call::Next { .. }) | None => NextAccess::Idle,
        }
    }

    /// The largest value that an access can load, or leave where overlapping stores leave any value.
    fn largest(&self, access: NextAccess) -> u64 {
        let cells = match access {
            NextAccess::Load { register } => &self.cells[register as usize..][..1],
            NextAccess::Next { first, count, .. } => &self.cells[first as usize..][..count as usize],
            NextAccess::Store { register, .. } if self.setting.registers == RegisterModel::SafeAny => {
                self.cells.get(register as usize).map_or_else(Default::default, std::slice::from_ref)
            }
            _ => &[],
        };
        cells.iter().map(|cell| self.setting.largest(cell)).max().unwrap_or(0)
    }

    /// Whether a step was an inactive barrier.
    fn is_left_out(&self, step: &Attempt) -> bool {
        let is_there = self.setting.memory != MemoryModel::Sequential && self.barriers.contains(&step.line);
        step.call == Some(Call::Barrier) && !is_there
    }

    /// Runs the next real step, and skips inactive barriers before and after it. It stops inside and in the
    /// remainder, which are states of their own.
    fn advance(&self, process: &mut Process<P>, value: u64) -> Attempt {
        let mut step = attempt(process, value);
        for _ in 0..MOST_BARRIERS {
            let Ok(so_far) = step.progress else { return step };
            if is_at_rest(so_far) {
                if self.is_left_out(&step) {
                    step.call = None;
                }
                return step;
            }
            let mut further = process.clone();
            let continues = self.is_left_out(&step);
            let next = attempt(&mut further, if continues { value } else { 0 });
            if !continues && !self.is_left_out(&next) {
                return step;
            }
            *process = further;
            step = Attempt {
                line: if continues { next.line } else { step.line },
                call: if continues { next.call } else { step.call },
                progress: next.progress.map(|later| joined(so_far, later)),
            };
        }
        Attempt { progress: Err(ONLY_BARRIERS), ..step }
    }

    /// Whether a step keeps the contract and stays within the limit.
    fn ending(&self, step: &Attempt, value: u64) -> Ending {
        if let Err(what) = step.progress {
            return Ending::Broken(what);
        }
        let cells = self.cells.len();
        let (register, value) = match &step.call {
            Some(Call::Load(register)) if *register < cells => return Ending::Goes,
            Some(Call::Store(register, value)) => (*register, *value),
            Some(Call::Next { among, into }) if among.end <= cells => (*into, value + 1),
            Some(Call::Barrier) | None => return Ending::Goes,
            Some(Call::Load(_) | Call::Next { .. }) => (cells, 0),
        };
        match self.cells.get(register) {
            None => Ending::Broken("a step used a register that does not exist"),
            Some(cell) if value <= self.setting.largest(cell) => Ending::Goes,
            Some(cell) if cell.values == Values::Unbounded => Ending::Beyond,
            Some(_) => Ending::Broken("a step stored a value that its register cannot hold"),
        }
    }
}

/// Whether a process is inside or in the remainder after this step.
fn is_at_rest(progress: Progress) -> bool {
    matches!(progress, Progress::Enter | Progress::Exit)
}

/// The result of two steps merged into one.
fn joined(earlier: Progress, later: Progress) -> Progress {
    match later {
        Progress::Step | Progress::Wait => earlier,
        Progress::Doorway | Progress::Enter | Progress::Exit => later,
    }
}

impl<P: Program> Processes for Population<P> {
    fn have_invariants(&self) -> bool {
        !P::invariants().is_empty()
    }

    fn start(&mut self, tables: &mut Tables) -> Vec<u32> {
        let locals: Vec<Local<P>> = (self.processes.iter().enumerate())
            .map(|(number, process)| {
                let left = self.setting.requests_of(number);
                Local { process: process.clone(), left, is_storing: false }
            })
            .collect();
        locals.into_iter().map(|local| self.local(tables, local)).collect()
    }

    fn restart(&mut self) {
        self.locals = Interner::default();
    }

    fn run(&mut self, tables: &mut Tables, local: u32, value: u32) {
        let Local { mut process, mut left, .. } = self.thing(local).clone();
        if process.place() == Place::Remainder && left != MemorySetting::UNBOUNDED {
            left -= 1;
        }
        let before = process.clone();
        let mut step = self.advance(&mut process, value.into());
        let ending = self.ending(&step, value.into());
        let is_storing = matches!(tables.facts(local).access, NextAccess::Begin { .. });
        if is_storing {
            process = before;
            process.begin();
            step.progress = Ok(Progress::Step);
        }
        let after = match ending {
            Ending::Goes => self.local(tables, Local { process, left, is_storing }),
            Ending::Beyond | Ending::Broken(_) => GONE,
        };
        let (line, progress) = (step.line as u32, step.progress.unwrap_or(Progress::Step));
        tables.insert(ProcessOutcome { before: local, value, line, after, progress, ending });
    }

    fn flaws(&self, locals: &[u32], registers: &[u32]) -> Option<(Property, String)> {
        let registers: Vec<u64> = registers.iter().map(|&word| self.setting.value(word)).collect();
        let processes = locals.iter().map(|&local| &self.thing(local).process).collect();
        let snapshot = Snapshot { processes, registers: &registers };
        let broken = P::invariants().iter().find(|invariant| !(invariant.holds)(&snapshot))?;
        Some((Property::Invariants, format!("it does not hold that {}", broken.name)))
    }

    fn line_and_fields(&self, local: u32) -> (usize, Vec<Field>) {
        let program = self.thing(local).process.program();
        (program.line(), program.fields())
    }

    fn bytes(&self) -> u64 {
        // Each state is in a list and in a table, and owns about as much memory again.
        (self.locals.len() * (size_of::<Local<P>>() * 3 + 16)) as u64
    }
}
