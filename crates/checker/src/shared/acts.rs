//! Steps and states for people to read.

use std::fmt;

use doorway_core::Field;
use doorway_core::shared::{Place, Progress, Register};

use super::steps::REACHES_MEMORY;
use super::tables::{self, Ending};
use super::{RegisterModel, SharedMemory};
use crate::Step;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAct {
    /// The process, counted from 0.
    pub process: usize,
    /// The line of the program that it executes; `None` for a step of memory.
    pub line: Option<usize>,
    /// Its memory access.
    pub access: Access,
    /// Its result for the process.
    pub progress: Progress,
    /// The place of the process before it; `None` for a step of memory.
    pub before: Option<Place>,
}

/// A memory access. Registers have their names, as in [`SharedMemory::registers`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Access {
    /// It reads a register.
    Load { register: Register, name: String, value: u64 },
    /// It writes a register: in buffered memory it buffers the store.
    Store { register: Register, name: String, value: u64 },
    /// It atomically writes one more than the maximum of some registers.
    StoreNext { register: Register, name: String, value: u64 },
    /// It begins to write a register that is not atomic.
    BeginStore { register: Register, name: String, value: u64 },
    /// It ends that write.
    EndStore { register: Register, name: String, value: u64 },
    /// It ends that write, which overlapped another one, and the register now holds another value.
    EndOverlapped { register: Register, name: String, value: u64, left: u64 },
    /// A buffered store reaches memory.
    ReachMemory { register: Register, name: String, value: u64 },
    /// All stores of the process have reached memory.
    Barrier,
    /// It would write more than the limit; the run ends here.
    BeyondLimit { register: Register, name: String, value: u64 },
    /// Nothing.
    None,
}

/// A state for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedView {
    /// The processes in order.
    pub processes: Vec<ProcessView>,
    /// The values of the registers in order, without buffered stores.
    pub registers: Vec<u64>,
}

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessView {
    /// The line that it executes next.
    pub line: usize,
    /// Its place.
    pub place: Place,
    /// Its local variables.
    pub fields: Vec<Field>,
    /// The store that it has begun and not ended, for non-atomic registers.
    pub begun: Option<(Register, u64)>,
    /// Its buffered stores, oldest first; under partial store order by register.
    pub buffered: Vec<(Register, u64)>,
}

impl SharedMemory {
    /// What a step does.
    #[must_use]
    pub fn act(&self, step: &Step) -> SharedAct {
        let process = step.process as usize;
        if step.action & REACHES_MEMORY != 0 {
            let (register, value) = self.buffers.store(step.action & !REACHES_MEMORY);
            let (register, name, value) = self.named(register, value);
            let access = Access::ReachMemory { register, name, value };
            return SharedAct { process, line: None, access, progress: Progress::Step, before: None };
        }
        let outcome = self.tables.outcome(step.action);
        let (line, progress) = (Some(outcome.line as usize), outcome.progress);
        let before = Some(self.tables.facts(outcome.before).place);
        SharedAct { process, line, access: self.access(outcome), progress, before }
    }

    fn access(&self, outcome: &tables::ProcessOutcome) -> Access {
        let access = self.tables.facts(outcome.before).access;
        if outcome.ending == Ending::Beyond {
            let (register, value) = match access {
                tables::NextAccess::Next { into, .. } => (into, outcome.value + 1),
                tables::NextAccess::Store { register, value }
                | tables::NextAccess::Begin { register, value } => (register, value),
                _ => return Access::None,
            };
            let (register, name, value) = self.named(register, value);
            return Access::BeyondLimit { register, name, value };
        }
        match access {
            tables::NextAccess::Rest | tables::NextAccess::Idle => Access::None,
            tables::NextAccess::Barrier => Access::Barrier,
            tables::NextAccess::Load { register } => {
                let (register, name, value) = self.named(register, outcome.value);
                Access::Load { register, name, value }
            }
            tables::NextAccess::Begin { register, value } => {
                let (register, name, value) = self.named(register, value);
                Access::BeginStore { register, name, value }
            }
            tables::NextAccess::Store { register, value } => {
                let (register, name, value) = self.named(register, value);
                match self.setting.registers {
                    RegisterModel::Atomic => Access::Store { register, name, value },
                    RegisterModel::SafeAny if u64::from(outcome.value) != value => {
                        Access::EndOverlapped { register, name, value, left: outcome.value.into() }
                    }
                    RegisterModel::Regular | RegisterModel::Safe | RegisterModel::SafeAny => {
                        Access::EndStore { register, name, value }
                    }
                }
            }
            tables::NextAccess::Next { into, .. } => {
                let (register, name, value) = self.named(into, outcome.value + 1);
                Access::StoreNext { register, name, value }
            }
        }
    }

    /// A register with its name, empty if it does not exist.
    fn named(&self, register: u32, value: u32) -> (Register, String, u64) {
        let name = self.cells.get(register as usize).map_or_else(String::new, |cell| cell.name.clone());
        (Register::new(register as usize), name, value.into())
    }

    /// A state in full; `None` if the run to it went beyond the limit or broke the contract.
    #[must_use]
    pub fn view(&self, state: &[u32]) -> Option<SharedView> {
        if self.is_beyond(state) {
            return None;
        }
        let (locals, rest) = state.split_at(self.n());
        let processes =
            (0..).zip(locals).map(|(process, &local)| self.view_process(state, process, local)).collect();
        let registers = rest[..self.cells.len()].iter().map(|&word| self.setting.value(word)).collect();
        Some(SharedView { processes, registers })
    }

    fn view_process(&self, state: &[u32], process: u32, local: u32) -> ProcessView {
        let (line, fields) = self.processes.line_and_fields(local);
        let place = self.tables.facts(local).place;
        let begun = match self.tables.facts(local).access {
            tables::NextAccess::Store { register, value }
                if self.setting.registers != RegisterModel::Atomic =>
            {
                Some((Register::new(register as usize), value.into()))
            }
            _ => None,
        };
        let stores = if self.buffers.are_there() { &state[self.buffers.range(state, process)] } else { &[] };
        let buffered = stores.iter().map(|&entry| {
            let (register, value) = self.buffers.store(entry);
            (Register::new(register as usize), value.into())
        });
        ProcessView { line, place, fields, begun, buffered: buffered.collect() }
    }
}

impl SharedAct {
    /// Its result for the process, as the end of a sentence; empty if the process just moves on.
    #[must_use]
    pub fn then(&self) -> &'static str {
        match (self.progress, self.before) {
            (_, _) if matches!(self.access, Access::BeyondLimit { .. }) => ", beyond the limit",
            (Progress::Enter, _) => ", and enters",
            (Progress::Doorway, Some(Place::Waiting)) => "",
            (Progress::Doorway, _) => ", and is past its doorway",
            (Progress::Wait, _) => ", and waits",
            (Progress::Exit | Progress::Step, Some(Place::Inside)) => ", and leaves",
            (Progress::Exit, _) => ", and is back in its remainder",
            (Progress::Step, _) => "",
        }
    }
}

impl Access {
    /// In the textbook's notation: `turn := 1`.
    #[must_use]
    pub fn short(&self) -> String {
        match self {
            Access::Load { name, value, .. } => format!("{name} = {value}"),
            Access::Store { name, value, .. } | Access::StoreNext { name, value, .. } => {
                format!("{name} := {value}")
            }
            Access::BeginStore { name, value, .. } => format!("{name} := {value} …"),
            Access::EndStore { name, value, .. } => format!("… {name} := {value}"),
            Access::EndOverlapped { name, value, left, .. } => format!("… {name} := {value}, left {left}"),
            Access::ReachMemory { name, value, .. } => format!("{name} → {value}"),
            Access::Barrier => "barrier".to_owned(),
            Access::BeyondLimit { name, value, .. } => format!("{name} := {value}?"),
            Access::None => "–".to_owned(),
        }
    }
}

impl fmt::Display for SharedAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}{}", self.process + 1, self.access)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        f.write_str(self.then())
    }
}

impl fmt::Display for Access {
    /// The predicate of a sentence about the process.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Load { name, value, .. } => write!(f, " reads {name} = {value}"),
            Access::Store { name, value, .. } => write!(f, " writes {name} := {value}"),
            Access::StoreNext { name, value, .. } => {
                write!(f, " writes {name} := {value}, one more than the largest,")
            }
            Access::BeginStore { name, value, .. } => write!(f, " begins to write {name} := {value}"),
            Access::EndStore { name, value, .. } => write!(f, " has written {name} := {value}"),
            Access::EndOverlapped { name, value, left, .. } => {
                write!(f, " has written {name} := {value} over another write, which leaves {left}")
            }
            Access::ReachMemory { name, value, .. } => write!(f, "'s {name} = {value} reaches memory"),
            Access::Barrier => f.write_str(" passes a barrier"),
            Access::BeyondLimit { name, value, .. } => write!(f, " would write {name} := {value}"),
            Access::None => f.write_str(" makes no access"),
        }
    }
}
