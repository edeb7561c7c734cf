//! An algorithm with its options chosen, for every driver: the place where its type is forgotten.

use std::any::Any;

use doorway_bank::{Bank, Detour, Story, Window};
use doorway_checker::{Messages, Setting};
use doorway_core::{
    About, Entry, Explain, Factory, Hints, Members, Options, Permission, Refusal, Rule, Start, kind, kinds,
};
use doorway_node::{Recipe, full_name};
use doorway_simulator::{Outcome, Played, Script, ScriptError, Settings, simulate};
use serde_json::Value;

use crate::states::{Recorded, States, algorithm};

/// An algorithm with its options chosen, ready for every driver. [`crate::Catalog::subject`] makes one from a name.
pub trait Subject: Send + Sync {
    /// What people are told about it.
    fn about(&self) -> &About;

    /// The kinds of its messages.
    fn kinds(&self) -> Vec<&'static str>;

    /// Its rules, each with its sentence.
    fn rules(&self) -> &'static [Rule];

    /// The names of its invariants.
    fn invariants(&self) -> Vec<&'static str>;

    /// What its nodes have to give at the start: votes, a token, or both.
    fn has(&self) -> Has;

    /// Plans a system of these members and drops the plan.
    ///
    /// # Errors
    /// If the algorithm, with what was chosen, cannot run with that many members.
    fn check_members(&self, members: &Members) -> Result<(), Refusal>;

    /// Makes one run in the simulator.
    ///
    /// # Errors
    /// If the settings do not fit together, or the algorithm cannot run with that many nodes.
    fn simulate(&self, settings: &Settings) -> Result<Outcome, Refusal>;

    /// Plays a script as far as it goes: of the settings those count that a script leaves open.
    ///
    /// # Errors
    /// If there is no such system.
    fn play(&self, script: &Script, settings: &Settings) -> Result<Played, ScriptError>;

    /// A small system for the checker, to be explored.
    ///
    /// # Errors
    /// If the checker does not take such a system, or the algorithm cannot run with that many nodes.
    fn system(&self, setting: Setting) -> Result<Messages, Refusal>;

    /// Makes every step of a recorded run again and notes in `states` what each node knew.
    ///
    /// # Errors
    /// At the first event that cannot have happened in a run of this algorithm; what was noted up to it stands.
    fn follow(&self, recorded: &Recorded<'_>, states: &mut States) -> Result<(), Refusal>;

    /// Runs the bank with this algorithm as its lock.
    ///
    /// # Errors
    /// If the bank's settings do not fit together, or the algorithm cannot run with that many participants.
    fn run_bank(&self, bank: &Bank) -> Result<doorway_bank::BankOutcome, Refusal>;

    /// The same run, told event by event.
    ///
    /// # Errors
    /// As [`Subject::run_bank`].
    fn trace_bank(&self, bank: &Bank, window: Window) -> Result<Story, Refusal>;

    /// The algorithm as a lock node runs it.
    fn recipe(&self) -> Recipe;

    /// The same, with messages that take detours and overtake each other: see [`Detour`].
    fn wandering_recipe(&self) -> Recipe;

    /// The kind and the content of a message that a lock node has written as bytes; `None` if it is no message of this algorithm.
    fn read_message(&self, bytes: &[u8]) -> Option<(&'static str, Value)>;

    /// Its `Factory<A>`, for statements about one certain algorithm: see [`crate::lemmas`].
    fn factory(&self) -> &dyn Any;
}

/// What the nodes of an algorithm have to give at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// Neither votes nor a token.
    Nothing,
    /// Each has a vote.
    Votes,
    /// One has the token.
    Token,
    /// There are votes and a token.
    Both,
}

impl Has {
    /// What pages call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Has::Nothing => "none",
            Has::Votes => "votes",
            Has::Token => "token",
            Has::Both => "both",
        }
    }
}

/// Chooses options of an entry and forgets its type.
pub(crate) fn choose<A: Explain + Hints>(
    entry: &Entry<A>,
    options: &Options,
) -> Result<Box<dyn Subject>, Refusal> {
    let factory = entry.factory(options)?;
    let full_name = full_name(entry.about.name, options);
    Ok(Box::new(Chosen { about: entry.about.clone(), full_name, factory }))
}

struct Chosen<A> {
    about: About,
    /// The name with what was chosen.
    full_name: String,
    factory: Factory<A>,
}

impl<A: Explain + Hints> Subject for Chosen<A> {
    fn about(&self) -> &About {
        &self.about
    }

    fn kinds(&self) -> Vec<&'static str> {
        kinds::<A::Msg>()
    }

    fn rules(&self) -> &'static [Rule] {
        A::RULES
    }

    fn invariants(&self) -> Vec<&'static str> {
        A::invariants().iter().map(|invariant| invariant.name).collect()
    }

    fn has(&self) -> Has {
        const USUAL: usize = 5;
        let Ok(members) = Members::new(USUAL) else { return Has::Nothing };
        let Ok(plan) = self.factory.plan(&members) else { return Has::Nothing };
        let all: Vec<Permission> =
            members.iter().map(|node| plan.node(node, Start::Empty).algorithm().permission()).collect();
        let has_votes = all.iter().any(|has| matches!(has, Permission::Free | Permission::GivenTo(_)));
        match (has_votes, all.contains(&Permission::Token)) {
            (true, true) => Has::Both,
            (true, false) => Has::Votes,
            (false, true) => Has::Token,
            (false, false) => Has::Nothing,
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), Refusal> {
        self.factory.plan(members).map(drop)
    }

    fn simulate(&self, settings: &Settings) -> Result<Outcome, Refusal> {
        refuse_reports::<A>(!settings.faults.suspicions.is_empty())?;
        simulate(&self.factory, settings)
    }

    fn play(&self, script: &Script, settings: &Settings) -> Result<Played, ScriptError> {
        script.play(&self.factory, settings)
    }

    fn system(&self, setting: Setting) -> Result<Messages, Refusal> {
        refuse_reports::<A>(setting.faults.suspicions > 0)?;
        Messages::new(&self.factory, setting)
    }

    fn follow(&self, recorded: &Recorded<'_>, states: &mut States) -> Result<(), Refusal> {
        algorithm::follow(&self.factory, recorded, states)
    }

    fn run_bank(&self, bank: &Bank) -> Result<doorway_bank::BankOutcome, Refusal> {
        bank.run(self.about.needs, &self.factory)
    }

    fn trace_bank(&self, bank: &Bank, window: Window) -> Result<Story, Refusal> {
        bank.trace(self.about.needs, &self.factory, window)
    }

    fn recipe(&self) -> Recipe {
        Recipe::new(&self.full_name, self.factory.clone())
    }

    fn wandering_recipe(&self) -> Recipe {
        Recipe::new(self.about.name, Detour::factory(self.factory.clone()))
    }

    fn read_message(&self, bytes: &[u8]) -> Option<(&'static str, Value)> {
        let msg: A::Msg = postcard::from_bytes(bytes).ok()?;
        Some((kind(&msg).name, serde_json::to_value(&msg).ok()?))
    }

    fn factory(&self) -> &dyn Any {
        &self.factory
    }
}

/// Refuses reports of crashes for nodes that take no notice of them: the run would say that they do no harm.
fn refuse_reports<A: doorway_core::Algorithm>(are_wanted: bool) -> Result<(), Refusal> {
    match are_wanted && !A::WATCHES_CRASHES {
        true => Err(Refusal::new("nodes of this algorithm are not told of crashes: leave out --suspect")),
        false => Ok(()),
    }
}
