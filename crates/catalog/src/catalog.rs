//! A list of algorithms and programs as a value, which anybody can extend or change.

use std::fmt;
use std::sync::Arc;

use doorway_bank::{Bank, BankOutcome, Story, Window};
use doorway_core::shared::{AboutProgram, Program, ProgramEntry};
use doorway_core::{About, Entry, Explain, Hints, Members, Options, Refusal, Registrar};
use doorway_node::Recipes;
use doorway_trace::Recording;

use crate::program::{self, ProgramSubject};
use crate::states::{Recorded, States};
use crate::subject::{self, Subject};

/// A list of algorithms and of programs over shared memory, by their names. A copy costs little.
#[derive(Clone, Default)]
pub struct Catalog {
    algorithms: Vec<Listed>,
    programs: Vec<ListedProgram>,
}

/// An algorithm of a catalog.
#[derive(Clone)]
pub struct Listed {
    /// What people are told about it.
    pub about: About,
    choose: Arc<Choose>,
}

/// A program of a catalog.
#[derive(Clone)]
pub struct ListedProgram {
    /// What people are told about it.
    pub about: AboutProgram,
    choose: Arc<ChooseProgram>,
}

type Choose = dyn Fn(&Options) -> Result<Box<dyn Subject>, Refusal> + Send + Sync;

type ChooseProgram = dyn Fn(&Options, &Members) -> Result<Box<dyn ProgramSubject>, Refusal> + Send + Sync;

impl Listed {
    /// An algorithm, by the function that makes a subject from what was chosen.
    pub fn new(
        about: About,
        choose: impl Fn(&Options) -> Result<Box<dyn Subject>, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { about, choose: Arc::new(choose) }
    }

    /// The algorithm with what was chosen for it.
    ///
    /// # Errors
    /// If what was chosen does not fit it.
    pub fn choose(&self, options: &Options) -> Result<Box<dyn Subject>, Refusal> {
        (self.choose)(options)
    }
}

impl ListedProgram {
    /// A program, by the function that makes a subject from what was chosen and the members.
    pub fn new(
        about: AboutProgram,
        choose: impl Fn(&Options, &Members) -> Result<Box<dyn ProgramSubject>, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { about, choose: Arc::new(choose) }
    }

    /// The program with what was chosen for it, among these members.
    ///
    /// # Errors
    /// If what was chosen does not fit it, or it cannot run with that many members.
    pub fn choose(&self, options: &Options, members: &Members) -> Result<Box<dyn ProgramSubject>, Refusal> {
        (self.choose)(options, members)
    }
}

impl Catalog {
    /// Every algorithm and program of the textbook, specimens included.
    #[must_use]
    pub fn textbook() -> Self {
        let mut catalog = Self::default();
        doorway_algorithms::register(&mut catalog);
        catalog
    }

    /// The same list with one algorithm more, at its end. One that has the name of another takes its place.
    #[must_use]
    pub fn with<A: Explain + Hints>(mut self, entry: Entry<A>) -> Self {
        self.algorithm(entry);
        self
    }

    /// The same list with one program more, at its end. One that has the name of another takes its place.
    #[must_use]
    pub fn with_program<P: Program>(mut self, entry: ProgramEntry<P>) -> Self {
        self.program(entry);
        self
    }

    /// The same list with every algorithm changed by `change`: another behaviour under the same name, for tests that a spoiled
    /// algorithm is noticed.
    #[must_use]
    pub fn map(mut self, change: impl Fn(Listed) -> Listed) -> Self {
        self.algorithms = self.algorithms.into_iter().map(change).collect();
        self
    }

    /// The same list with every program changed by `change`: see [`Catalog::map`].
    #[must_use]
    pub fn map_programs(mut self, change: impl Fn(ListedProgram) -> ListedProgram) -> Self {
        self.programs = self.programs.into_iter().map(change).collect();
        self
    }

    /// What is told about each algorithm, in the order of the list.
    #[must_use]
    pub fn list(&self) -> Vec<&About> {
        self.algorithms.iter().map(|listed| &listed.about).collect()
    }

    /// What is told about the algorithm of this name.
    #[must_use]
    pub fn about(&self, name: &str) -> Option<&About> {
        self.get(name).map(|listed| &listed.about)
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Listed> {
        self.algorithms.iter().find(|listed| listed.about.name == name)
    }

    /// The algorithm of this name with what was chosen for it.
    ///
    /// # Errors
    /// If there is none, or what was chosen does not fit it.
    pub fn subject(&self, name: &str, options: &Options) -> Result<Box<dyn Subject>, Refusal> {
        let listed = self.get(name);
        listed.ok_or_else(|| Refusal::new(format!("there is no algorithm {name:?}")))?.choose(options)
    }

    /// What is told about each program over shared memory, in the order of the list.
    #[must_use]
    pub fn programs(&self) -> Vec<&AboutProgram> {
        self.programs.iter().map(|listed| &listed.about).collect()
    }

    /// What is told about the program of this name.
    #[must_use]
    pub fn about_program(&self, name: &str) -> Option<&AboutProgram> {
        self.get_program(name).map(|listed| &listed.about)
    }

    fn get_program(&self, name: &str) -> Option<&ListedProgram> {
        self.programs.iter().find(|listed| listed.about.name == name)
    }

    /// The program of this name with `n` processes and what was chosen for it.
    ///
    /// # Errors
    /// If there is none, what was chosen does not fit it, or it cannot run with `n` processes.
    pub fn program_subject(
        &self,
        name: &str,
        options: &Options,
        n: usize,
    ) -> Result<Box<dyn ProgramSubject>, Refusal> {
        let listed = self.get_program(name);
        let listed = listed.ok_or_else(|| Refusal::new(format!("there is no program {name:?}")))?;
        listed.choose(options, &Members::new(n)?)
    }

    /// What every node knew after every event of a recorded run.
    #[must_use]
    pub fn states(&self, recording: &Recording) -> States {
        States::of(&Recorded::new(&recording.header, &recording.events), self)
    }

    /// Runs the bank with the lock that it names.
    ///
    /// # Errors
    /// If its settings do not fit together, there is no such lock, or the lock cannot run with that many participants.
    pub fn run_bank(&self, bank: &Bank) -> Result<BankOutcome, Refusal> {
        bank.check()?; // First, so that a bad setting is reported before an unknown lock.
        match bank.lock(&self.list())? {
            Some(about) => self.subject(about.name, &bank.resolved()?)?.run_bank(bank),
            None => bank.run_without_lock(),
        }
    }

    /// The same run, told event by event as far as the window goes.
    ///
    /// # Errors
    /// As [`Catalog::run_bank`].
    pub fn trace_bank(&self, bank: &Bank, window: Window) -> Result<Story, Refusal> {
        bank.check()?;
        match bank.lock(&self.list())? {
            Some(about) => self.subject(about.name, &bank.resolved()?)?.trace_bank(bank, window),
            None => bank.trace_without_lock(window),
        }
    }

    /// The algorithms of this list as lock nodes run them.
    #[must_use]
    pub fn recipes(&self) -> Recipes {
        let mut recipes = Recipes::default();
        for listed in &self.algorithms {
            let choose = Arc::clone(&listed.choose);
            recipes.add(listed.about.clone(), move |options| Ok(choose(options)?.recipe()));
        }
        recipes
    }
}

impl Registrar for Catalog {
    fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
        let listed = Listed::new(entry.about.clone(), move |options| subject::choose(&entry, options));
        match self.algorithms.iter_mut().find(|known| known.about.name == listed.about.name) {
            Some(known) => *known = listed,
            None => self.algorithms.push(listed),
        }
    }

    fn program<P: Program>(&mut self, entry: ProgramEntry<P>) {
        let about = entry.about.clone();
        let choose = move |options: &Options, members: &Members| program::choose(&entry, options, members);
        let listed = ListedProgram::new(about, choose);
        match self.programs.iter_mut().find(|known| known.about.name == listed.about.name) {
            Some(known) => *known = listed,
            None => self.programs.push(listed),
        }
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |abouts: Vec<&'static str>| abouts.join(" ");
        f.debug_struct("Catalog")
            .field("algorithms", &names(self.list().iter().map(|about| about.name).collect()))
            .field("programs", &names(self.programs().iter().map(|about| about.name).collect()))
            .finish()
    }
}
