//! The memory model, and how much of a program to explore.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use doorway_core::Refusal;
use doorway_core::shared::{Cell, Values};

/// How to explore a program, over which memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySetting {
    /// The number of requests of each process; `None` means for ever.
    pub requests: Option<Vec<u32>>,
    /// What a load returns that overlaps a store.
    pub registers: RegisterModel,
    /// When a store reaches memory.
    pub memory: MemoryModel,
    /// The capacity of a store buffer. A process with a full buffer waits before it stores, as on a real
    /// machine.
    pub capacity: usize,
    /// The active barriers. In memory without buffers they are not needed and take no step.
    pub barriers: Barriers,
    /// The largest value of an unbounded register. A run ends where it would store a larger one.
    pub tickets: u32,
    /// Whether to check the program's own invariants in every state.
    pub invariants: bool,
}

impl Default for MemorySetting {
    /// Atomic registers, sequential memory, tickets up to 4, all processes for ever.
    fn default() -> Self {
        Self {
            requests: None,
            registers: RegisterModel::Atomic,
            memory: MemoryModel::Sequential,
            capacity: 8,
            barriers: Barriers::All,
            tickets: 4,
            invariants: false,
        }
    }
}

impl MemorySetting {
    /// The most processes.
    pub const MOST_PROCESSES: usize = 32;
    /// The largest value of a register: it fits into 16 bits of an encoded state.
    pub const LARGEST_VALUE: u32 = u16::MAX as u32 - 1;
    /// The mark of a register into which a store ended while another store was under way: what the last of
    /// them leaves is any value. Under [`RegisterModel::SafeAny`] values stay below it.
    pub(super) const OVERLAPPED: u32 = 1 << 15;
    /// The largest limit of tickets: the tables have an entry for each value of each state of a process.
    pub const MOST_TICKETS: u32 = 1_000;
    /// The largest capacity of a store buffer.
    pub const MOST_CAPACITY: usize = 64;
    /// A process that requests for ever.
    pub(super) const UNBOUNDED: u32 = u32::MAX;

    /// The largest value that a register can hold under this setting.
    pub(super) fn largest(&self, cell: &Cell) -> u64 {
        match cell.values {
            Values::UpTo(largest) => largest,
            Values::Unbounded => self.tickets.into(),
        }
    }

    /// The value of a register, given its number in a state's word.
    pub(super) fn value(&self, word: u32) -> u64 {
        match self.registers {
            RegisterModel::SafeAny => (word & !Self::OVERLAPPED).into(),
            RegisterModel::Atomic | RegisterModel::Regular | RegisterModel::Safe => word.into(),
        }
    }

    /// The number of requests of a process.
    pub(super) fn requests_of(&self, process: usize) -> u32 {
        self.requests.as_ref().map_or(Self::UNBOUNDED, |requests| requests[process])
    }

    /// Checks that the setting is consistent and fits `n` processes and these registers.
    pub(super) fn check(&self, n: usize, cells: &[Cell]) -> Result<(), Refusal> {
        let most = Self::MOST_PROCESSES;
        if n == 0 || n > most {
            return Err(Refusal::new(format!("1 to {most} processes can be explored, not {n}")));
        }
        if let Some(requests) = self.requests.as_ref().filter(|requests| requests.len() != n) {
            let asked = requests.len();
            return Err(Refusal::new(format!(
                "requests are given for {asked} processes, but there are {n}: give as many numbers"
            )));
        }
        if self.registers != RegisterModel::Atomic && self.memory != MemoryModel::Sequential {
            return Err(Refusal::new(format!(
                "{} registers are explored over sequential memory only, not over {}",
                self.registers, self.memory
            )));
        }
        if self.capacity == 0 || self.capacity > Self::MOST_CAPACITY {
            let most = Self::MOST_CAPACITY;
            return Err(Refusal::new(format!(
                "a store buffer has room for 1 to {most} stores, not for {}",
                self.capacity
            )));
        }
        if self.tickets > Self::MOST_TICKETS {
            let (most, asked) = (Self::MOST_TICKETS, self.tickets);
            return Err(Refusal::new(format!("tickets can be explored up to {most}, not up to {asked}")));
        }
        let largest = match self.registers {
            RegisterModel::SafeAny => Self::OVERLAPPED - 1,
            RegisterModel::Atomic | RegisterModel::Regular | RegisterModel::Safe => Self::LARGEST_VALUE,
        };
        match cells.iter().find(|cell| self.largest(cell) > largest.into()) {
            Some(cell) => {
                let (name, asked) = (&cell.name, self.largest(cell));
                Err(Refusal::new(format!("{name} can hold values up to {largest} here, not up to {asked}")))
            }
            None => Ok(()),
        }
    }
}

/// What a load returns that overlaps a store (L. Lamport, "On interprocess communication", Distributed
/// Computing 1, 1986).
///
/// A store to a non-atomic register takes two steps, and other processes can load in between; a load takes
/// one. Lamport's registers have one writer each. For a register with several writers a model must also say
/// what stores leave that overlap each other: [`RegisterModel::Safe`] and [`RegisterModel::SafeAny`] differ in
/// that alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterModel {
    /// Loads and stores are one step each and never overlap.
    #[default]
    Atomic,
    /// The value before the store, or the stored one. Of overlapping stores the one that ends last wins.
    Regular,
    /// Any value that the register can hold. Of overlapping stores the one that ends last wins.
    Safe,
    /// Any value that the register can hold. Overlapping stores leave any value as well.
    SafeAny,
}

impl RegisterModel {
    /// All of them, strongest first.
    pub const ALL: [RegisterModel; 4] =
        [RegisterModel::Atomic, RegisterModel::Regular, RegisterModel::Safe, RegisterModel::SafeAny];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RegisterModel::Atomic => "atomic",
            RegisterModel::Regular => "regular",
            RegisterModel::Safe => "safe",
            RegisterModel::SafeAny => "safe-any",
        }
    }

    /// The registers in words, with what overlapping stores leave where that can be more than one value.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            RegisterModel::Atomic => "atomic registers",
            RegisterModel::Regular => "regular registers (of overlapping writes the last wins)",
            RegisterModel::Safe => "safe registers (of overlapping writes the last wins)",
            RegisterModel::SafeAny => "safe registers (overlapping writes leave any value)",
        }
    }

    /// Whether a load that overlaps a store returns any value.
    pub(super) fn is_safe(self) -> bool {
        matches!(self, RegisterModel::Safe | RegisterModel::SafeAny)
    }
}

impl fmt::Display for RegisterModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RegisterModel {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let found = RegisterModel::ALL.into_iter().find(|model| model.name() == word);
        found.ok_or_else(|| {
            Refusal::new(format!("{word:?} is no kind of registers: atomic, regular, safe or safe-any"))
        })
    }
}

/// When a store reaches memory.
///
/// A buffered store reaches memory by a step of its own, which fairness guarantees. Before that only its own
/// process sees it. A process passes a barrier, or an atomic maximum and store, only when its buffer is
/// empty. A program that serves in order should end its doorway with a barrier: other processes cannot see a
/// buffered store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryModel {
    /// Immediately.
    #[default]
    Sequential,
    /// Later, in program order, as on x86.
    TotalStoreOrder,
    /// Later, and stores to different registers may overtake each other.
    PartialStoreOrder,
}

impl MemoryModel {
    /// All of them, strongest first.
    pub const ALL: [MemoryModel; 3] =
        [MemoryModel::Sequential, MemoryModel::TotalStoreOrder, MemoryModel::PartialStoreOrder];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Sequential => "sequential",
            MemoryModel::TotalStoreOrder => "tso",
            MemoryModel::PartialStoreOrder => "pso",
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MemoryModel {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let found = MemoryModel::ALL.into_iter().find(|model| model.name() == word);
        found.ok_or_else(|| Refusal::new(format!("{word:?} is no kind of memory: sequential, tso or pso")))
    }
}

/// The active barriers of a program. They are numbered from 1 by their lines, so that a line executed at
/// several levels is one barrier. An inactive barrier takes no step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Barriers {
    /// All.
    #[default]
    All,
    /// None.
    None,
    /// Those with these numbers.
    Only(BTreeSet<usize>),
}

impl Barriers {
    /// The lines of the active barriers, given the lines of all barriers.
    pub(super) fn among(&self, lines: &[usize]) -> Result<BTreeSet<usize>, Refusal> {
        match self {
            Barriers::All => Ok(lines.iter().copied().collect()),
            Barriers::None => Ok(BTreeSet::new()),
            Barriers::Only(numbers) => numbers
                .iter()
                .map(|&number| {
                    let line = number.checked_sub(1).and_then(|place| lines.get(place));
                    line.copied().ok_or_else(|| no_barrier(number, lines.len()))
                })
                .collect(),
        }
    }
}

impl FromStr for Barriers {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let number = |word: &str| word.parse::<usize>().ok().filter(|number| *number > 0);
        match word {
            "on" => Ok(Barriers::All),
            "off" => Ok(Barriers::None),
            _ => word.split(',').map(number).collect::<Option<_>>().map(Barriers::Only).ok_or_else(|| {
                Refusal::new(format!(
                    "{word:?} does not say which barriers there are: on, off, or numbers such as 1,2"
                ))
            }),
        }
    }
}

/// As typed on the command line.
impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Barriers::All => f.write_str("on"),
            Barriers::None => f.write_str("off"),
            Barriers::Only(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
    }
}

fn no_barrier(number: usize, count: usize) -> Refusal {
    Refusal::new(match count {
        0 => format!("there is no barrier {number}: the program has none"),
        1 => format!("there is no barrier {number}: the program has one, number 1"),
        _ => format!("there is no barrier {number}: the program has {count}, numbered from 1"),
    })
}
