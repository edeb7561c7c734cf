//! A program over shared memory with its options chosen, for the checker: the place where its type is forgotten.

use doorway_checker::{MemorySetting, SharedMemory};
use doorway_core::shared::{Accesses, Cell, Program, ProgramEntry, Team};
use doorway_core::{Members, NodeId, Options, Refusal};

/// A program with its options chosen, for a number of processes. [`crate::Catalog::program_subject`] makes one from a name.
pub trait ProgramSubject: Send + Sync {
    /// The registers that they share, in the order of their numbers.
    fn registers(&self) -> &[Cell];

    /// Its lines as people read them, from 1.
    fn lines(&self) -> &'static [&'static str];

    /// The names of its invariants.
    fn invariants(&self) -> Vec<&'static str>;

    /// What an entry costs the first process if it is alone; `None` if it does not enter.
    fn accesses_alone(&self) -> Option<Accesses>;

    /// The system for the checker, to be explored or followed.
    ///
    /// # Errors
    /// If the checker does not take such a system.
    fn system(&self, setting: MemorySetting) -> Result<SharedMemory, Refusal>;
}

/// Chooses options of an entry and forgets its type.
pub(crate) fn choose<P: Program>(
    entry: &ProgramEntry<P>,
    options: &Options,
    members: &Members,
) -> Result<Box<dyn ProgramSubject>, Refusal> {
    let team = entry.team(options, members)?;
    Ok(Box::new(Chosen(team)))
}

struct Chosen<P>(Team<P>);

impl<P: Program> ProgramSubject for Chosen<P> {
    fn registers(&self) -> &[Cell] {
        &self.0.registers
    }

    fn lines(&self) -> &'static [&'static str] {
        P::LINES
    }

    fn invariants(&self) -> Vec<&'static str> {
        P::invariants().iter().map(|invariant| invariant.name).collect()
    }

    fn accesses_alone(&self) -> Option<Accesses> {
        self.0.accesses_alone(NodeId::new(0))
    }

    fn system(&self, setting: MemorySetting) -> Result<SharedMemory, Refusal> {
        SharedMemory::new(&self.0, setting)
    }
}
