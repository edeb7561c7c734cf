//! What kind of memory there is, and how much of a program is explored.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use doorway_core::Refusal;
use doorway_core::shared::{Cell, Values};

/// What is explored of a program, over which memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySetting {
    /// How often each process asks, in order; `None` is again and again.
    pub requests: Option<Vec<u32>>,
    /// What a load gives that overlaps a store.
    pub registers: RegisterModel,
    /// When a store reaches memory.
    pub memory: MemoryModel,
    /// How many stores of one process can be on their way to memory. With more it waits before it stores, as on a machine.
    pub capacity: usize,
    /// Which barriers there are. Memory that is not buffered needs none, and they take no step there.
    pub barriers: Barriers,
    /// The largest value of a register that can hold any. Runs that store a larger one are explored up to there.
    pub tickets: u32,
    /// Whether the program's own invariants are watched, in every state.
    pub invariants: bool,
}

impl Default for MemorySetting {
    /// Atomic registers, sequential memory, tickets up to 4, all processes again and again.
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
    /// The largest value of a register: a state has so much room for it.
    pub const LARGEST_VALUE: u32 = u16::MAX as u32 - 1;
    /// The largest limit of tickets: what is known of each state of a process has a place for each value.
    pub const MOST_TICKETS: u32 = 1_000;
    /// The most stores of one process on their way to memory.
    pub const MOST_CAPACITY: usize = 64;
    /// A process that asks again and again.
    pub(super) const UNBOUNDED: u32 = u32::MAX;

    /// The largest value that a register can hold here.
    pub(super) fn largest(&self, cell: &Cell) -> u64 {
        match cell.values {
            Values::UpTo(largest) => largest,
            Values::Unbounded => self.tickets.into(),
        }
    }

    /// How often a process asks.
    pub(super) fn requests_of(&self, process: usize) -> u32 {
        self.requests.as_ref().map_or(Self::UNBOUNDED, |requests| requests[process])
    }

    /// Whether what is asked for goes together, and with these registers of so many processes.
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
        let largest = Self::LARGEST_VALUE;
        match cells.iter().find(|cell| self.largest(cell) > largest.into()) {
            Some(cell) => {
                let (name, asked) = (&cell.name, self.largest(cell));
                Err(Refusal::new(format!("{name} can hold values up to {largest} here, not up to {asked}")))
            }
            None => Ok(()),
        }
    }
}

/// What a load gives that overlaps a store (L. Lamport, "On interprocess communication", Distributed Computing 1, 1986).
///
/// A store into a register that is not atomic takes two steps, and another process can load in between; a load takes one. If
/// several processes store into the same register at once, the one that ends last stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterModel {
    /// Nothing overlaps: loads and stores are one step each.
    #[default]
    Atomic,
    /// The value from before the store, or the one that is stored.
    Regular,
    /// Any value that the register can hold.
    Safe,
}

impl RegisterModel {
    /// All of them, strongest first.
    pub const ALL: [RegisterModel; 3] = [RegisterModel::Atomic, RegisterModel::Regular, RegisterModel::Safe];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RegisterModel::Atomic => "atomic",
            RegisterModel::Regular => "regular",
            RegisterModel::Safe => "safe",
        }
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
        found
            .ok_or_else(|| Refusal::new(format!("{word:?} is no kind of registers: atomic, regular or safe")))
    }
}

/// When a store reaches memory.
///
/// Later means: by a step of its own, which is owed, so that it happens in the end. Before that only its own process sees it; a
/// barrier can be passed when nothing of its process is on its way, and so can a maximum that is taken and stored at once. A
/// program that serves in order should end its doorway with a barrier: a store on its way tells nobody who was first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryModel {
    /// At once.
    #[default]
    Sequential,
    /// Later, in the order in which its process stored: that is how x86 processors behave.
    TotalStoreOrder,
    /// Later, and stores into different registers may overtake each other.
    PartialStoreOrder,
}

impl MemoryModel {
    /// All of them, strongest first.
    pub const ALL: [MemoryModel; 3] =
        [MemoryModel::Sequential, MemoryModel::TotalStoreOrder, MemoryModel::PartialStoreOrder];

    /// What one types.
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

/// Which barriers of a program there are: they are numbered from 1 by their lines, so that a line that is carried out at several
/// levels is one barrier. One that is not there takes no step.
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
    /// The lines of those that there are, of all that a program has.
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

/// As one types it.
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
