//! Following a script step by step.

use doorway_catalog::Catalog;
use doorway_checker::{Access, MemorySetting, SharedAct, SharedMemory, SharedView, Step, System};
use doorway_core::shared::{Place, Progress};
use doorway_core::{NodeId, Options, Phase};
use doorway_simulator::{NextAction, ScriptError};
use doorway_trace::{Event, Header, Recording};

use super::script::{self, Action, Chosen, Expectation, Script, impossible};
use super::{ProgramInstance, events};

/// A script that was followed to its end.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What system it is for.
    pub instance: ProgramInstance,
    /// The names of the registers, in their order.
    pub registers: Vec<String>,
    /// Its steps.
    pub steps: Vec<ReplayedStep>,
    /// The nodes that entered, in order.
    pub entries: Vec<NodeId>,
    /// How many steps come before what repeats for ever.
    pub loop_start: Option<usize>,
    /// The first violation, and its step, counted from 0.
    pub violation: Option<(usize, String)>,
    /// Whether the script expects it.
    pub is_violation_expected: bool,
}

/// A script as far as it could be followed.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The replay so far.
    pub replay: Replay,
    /// What could be done next.
    pub choices: Vec<NextAction>,
    /// Why it was not followed to its end.
    pub trouble: Option<ScriptError>,
}

/// A step, and the state after it.
#[derive(Clone, Debug)]
pub struct ReplayedStep {
    /// What was done.
    pub act: SharedAct,
    /// The state after it.
    pub view: SharedView,
}

/// How many steps a script may have.
const MOST_STEPS: usize = 10_000;

/// How long a node may go on alone.
const LONGEST_RUN: u32 = 5_000;

impl Replay {
    /// Whether a script is one of steps over shared memory: the program that it names is in the catalog.
    #[must_use]
    pub fn is_for(text: &str, catalog: &Catalog) -> bool {
        script::algorithm(text).is_some_and(|name| catalog.about_program(name).is_some())
    }

    /// Follows a script from its text. What is `chosen` here counts more than what its heading says.
    ///
    /// # Errors
    /// If it cannot be read or followed, or an expectation in it fails.
    pub fn of_script(text: &str, chosen: &Options, catalog: &Catalog) -> Result<Self, ScriptError> {
        let Followed { replay, trouble, .. } = Self::follow(text, chosen, catalog)?;
        trouble.map_or(Ok(replay), Err)
    }

    /// Follows a script as far as it goes, and tells what could be done next.
    ///
    /// # Errors
    /// If it cannot be read, or there is no such system.
    pub fn follow(text: &str, chosen: &Options, catalog: &Catalog) -> Result<Followed, ScriptError> {
        let Script { mut instance, actions } = Script::parse(text)?;
        instance.setting.invariants = true;
        chosen.iter().for_each(|(name, choice)| instance.options.set(name, choice.clone()));
        let system = instance.system(catalog).map_err(|refusal| impossible(0, refusal.to_string()))?;
        let mut player = Player::new(instance, system);
        let trouble = actions.iter().find_map(|(line, action)| player.play(*line, action).err());
        let trouble = trouble.or_else(|| player.close_loop().err());
        let choices = player.choices();
        Ok(Followed { replay: player.replay, choices, trouble })
    }

    /// Whether there was no violation but the one that the script expects.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.violation.is_none() || self.is_violation_expected
    }

    /// What happened, as events.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        events::of(self)
    }

    /// What happened, to be kept or drawn.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let ProgramInstance { program, n, options, setting, .. } = &self.instance;
        let mut header = Header::new(program, *n, 1);
        let chosen = options.iter().map(|(name, choice)| (name.to_owned(), choice.word.clone()));
        header.options.extend(chosen);
        let mut note = |name: &str, is_usual: bool, value: String| {
            if !is_usual {
                header.options.insert(name.to_owned(), value);
            }
        };
        let usual = MemorySetting::default();
        note("registers", setting.registers == usual.registers, setting.registers.to_string());
        note("memory", setting.memory == usual.memory, setting.memory.to_string());
        note("barrier", setting.barriers == usual.barriers, setting.barriers.to_string());
        Recording { header, events: self.events() }
    }

    /// The nodes in a phase at the end.
    #[must_use]
    pub fn in_phase(&self, phase: Phase) -> Vec<NodeId> {
        self.steps.last().map_or_else(Vec::new, |played| in_phase(&played.view, phase))
    }
}

/// The processes in a phase.
fn in_phase(view: &SharedView, wanted: Phase) -> Vec<NodeId> {
    let places = view.processes.iter().enumerate();
    places
        .filter(|(_, process)| process.place.phase() == wanted)
        .map(|(index, _)| NodeId::new(index))
        .collect()
}

/// Follows a script.
struct Player {
    system: SharedMemory,
    state: Vec<u32>,
    /// Where the loop began: its line, and the state.
    looped: Option<(usize, Vec<u32>)>,
    replay: Replay,
}

impl Player {
    fn new(instance: ProgramInstance, mut system: SharedMemory) -> Self {
        let state = system.initial().into_iter().next().unwrap_or_default();
        let registers = system.registers().iter().map(|cell| cell.name.clone()).collect();
        let replay = Replay {
            instance,
            registers,
            steps: Vec::new(),
            entries: Vec::new(),
            loop_start: None,
            violation: None,
            is_violation_expected: false,
        };
        Self { system, state, looped: None, replay }
    }

    fn play(&mut self, line: usize, action: &Action) -> Result<(), ScriptError> {
        match action {
            Action::Step { node, times, chosen } => {
                (0..*times).try_for_each(|_| self.step(line, *node, *chosen))
            }
            Action::Run { node, inside } => self.run(line, *node, *inside),
            Action::Reach { node, register } => self.reach(line, *node, register.as_deref()),
            Action::Loop => {
                self.replay.loop_start = Some(self.replay.steps.len());
                self.looped = Some((line, self.state.clone()));
                Ok(())
            }
            Action::Expect(expected) => self.expect(line, expected),
        }
    }

    /// Checks that a loop ends in the state in which it began.
    fn close_loop(&self) -> Result<(), ScriptError> {
        match &self.looped {
            Some((line, state)) if *state != self.state => {
                Err(unmet(*line, "what comes after `loop` does not end in the state in which it began"))
            }
            _ => Ok(()),
        }
    }

    /// Everything that could be done next, as lines of a script.
    fn choices(&mut self) -> Vec<NextAction> {
        let mut choices: Vec<NextAction> = Vec::new();
        for (step, _) in self.system.enabled(&self.state) {
            let act = self.system.act(&step);
            let choice = NextAction {
                line: script::step_of(&self.replay.instance, &act),
                says: act.to_string(),
                node: NodeId::new(act.process),
                message: None,
            };
            if choices.iter().all(|other| other.line != choice.line) {
                choices.push(choice);
            }
        }
        choices.sort_by_key(|choice| choice.node);
        choices
    }

    fn must_be_there(&self, line: usize, node: NodeId) -> Result<(), ScriptError> {
        let n = self.replay.instance.n;
        match node.index() < n {
            true => Ok(()),
            false => Err(impossible(line, format!("there is no process {node}: they are 1 to {n}"))),
        }
    }

    /// The steps that a node can make now; those of memory on its behalf if `by_memory`.
    fn possible(
        &mut self,
        line: usize,
        node: NodeId,
        by_memory: bool,
    ) -> Result<Vec<(Step, Vec<u32>)>, ScriptError> {
        self.must_be_there(line, node)?;
        let mut possible = self.system.enabled(&self.state);
        possible.retain(|(step, _)| {
            let act = self.system.act(step);
            act.process == node.index() && act.line.is_none() == by_memory
        });
        Ok(possible)
    }

    fn step(&mut self, line: usize, node: NodeId, chosen: Option<Chosen>) -> Result<(), ScriptError> {
        let mut possible = self.possible(line, node, false)?;
        if possible.is_empty() {
            let what = format!(
                "process {node} cannot make a step now: its writes have to reach memory first, by `reach {node}`"
            );
            return Err(impossible(line, what));
        }
        let value = |(step, _): &(Step, Vec<u32>)| Chosen::of(&self.system.act(step));
        let values: Vec<Chosen> = possible.iter().filter_map(value).collect();
        if let Some(wanted) = chosen {
            possible.retain(|step| value(step) == Some(wanted));
        }
        match &possible[..] {
            [(step, after)] => self.made(line, *step, after.clone()),
            _ => Err(impossible(line, unclear(node, chosen, &values))),
        }
    }

    fn run(&mut self, line: usize, node: NodeId, inside: bool) -> Result<(), ScriptError> {
        let wanted = if inside { Place::Inside } else { Place::Remainder };
        for _ in 0..LONGEST_RUN {
            self.step(line, node, None)?;
            let view = self.replay.steps.last().map(|played| &played.view);
            if view.is_some_and(|view| view.processes[node.index()].place == wanted) {
                return Ok(());
            }
        }
        let where_to = if inside { "inside" } else { "outside" };
        Err(unmet(line, format!("process {node} alone is not {where_to} after {LONGEST_RUN} steps")))
    }

    fn reach(&mut self, line: usize, node: NodeId, register: Option<&str>) -> Result<(), ScriptError> {
        let possible = self.possible(line, node, true)?;
        let is_meant = |(step, _): &&(Step, Vec<u32>)| match self.system.act(step).access {
            Access::ReachMemory { name, .. } => register.is_none_or(|wanted| wanted == name),
            _ => false,
        };
        match possible.iter().find(is_meant) {
            Some((step, after)) => self.made(line, *step, after.clone()),
            None => {
                let what = register.map_or_else(String::new, |name| format!(" into {name}"));
                Err(impossible(line, format!("process {node} has no store{what} that can reach memory now")))
            }
        }
    }

    /// A step was made.
    fn made(&mut self, line: usize, step: Step, after: Vec<u32>) -> Result<(), ScriptError> {
        if self.replay.steps.len() >= MOST_STEPS {
            return Err(impossible(line, format!("a script has at most {MOST_STEPS} steps")));
        }
        let act = self.system.act(&step);
        self.system.learn(&after);
        let view = self.system.view(&after);
        let wrong = match (&view, step.broken) {
            (_, Some((_, what))) => Some(what.to_owned()),
            (Some(view), None) => inside_together(view)
                .or_else(|| self.system.flaws(&after).into_iter().next().map(|(_, what)| what)),
            (None, None) => {
                let limit = self.replay.instance.setting.tickets;
                return Err(impossible(line, format!("{act} of {limit}: raise `tickets` in the heading")));
            }
        };
        // After a broken contract the state is undefined, so the one before is shown.
        let Some(view) = view.or_else(|| self.system.view(&self.state)) else {
            return Err(impossible(line, "the contract was broken before, and nothing comes after that"));
        };
        let place = self.replay.steps.len();
        self.replay.violation = self.replay.violation.take().or(wrong.map(|what| (place, what)));
        if act.progress == Progress::Enter {
            self.replay.entries.push(NodeId::new(act.process));
        }
        self.state = after;
        self.replay.steps.push(ReplayedStep { act, view });
        Ok(())
    }

    fn expect(&mut self, line: usize, expected: &Expectation) -> Result<(), ScriptError> {
        for node in expected.nodes() {
            self.must_be_there(line, *node)?;
        }
        let view = self.system.view(&self.state);
        let who = |phase| view.as_ref().map_or_else(Vec::new, |view| in_phase(view, phase));
        match expected {
            Expectation::Inside(nodes) => {
                met(line, "who is inside", &names(nodes), &names(&who(Phase::Inside)))
            }
            Expectation::Waiting(nodes) => {
                met(line, "who is waiting", &names(nodes), &names(&who(Phase::Waiting)))
            }
            Expectation::Entries(nodes) => {
                met(line, "who entered", &names(nodes), &names(&self.replay.entries))
            }
            Expectation::Register { name, value } => {
                let Some(place) = self.replay.registers.iter().position(|register| register == name) else {
                    let known = self.replay.registers.join(", ");
                    return Err(impossible(line, format!("there is no register {name}: they are {known}")));
                };
                let held = view.map_or(0, |view| view.registers[place]);
                met(line, name, &value.to_string(), &held.to_string())
            }
            Expectation::Line { node, line: wanted } => {
                let stands = view.and_then(|view| Some(view.processes.get(node.index())?.line));
                met(line, "the next line", &wanted.to_string(), &stands.unwrap_or(0).to_string())
            }
            Expectation::Accesses { node, count } => {
                let by_node = |played: &&ReplayedStep| played.act.process == node.index();
                let made = self.replay.steps.iter().filter(by_node).filter(|played| is_access(&played.act));
                met(line, "the number of accesses", &count.to_string(), &made.count().to_string())
            }
            Expectation::Violation if self.replay.violation.is_some() => {
                self.replay.is_violation_expected = true;
                Ok(())
            }
            Expectation::Violation => Err(unmet(line, "a violation is expected, and there was none")),
        }
    }
}

/// Why it is not clear which step a process makes: it has none with the chosen value, or several.
fn unclear(node: NodeId, chosen: Option<Chosen>, values: &[Chosen]) -> String {
    let of_kind = |wanted: Chosen| values.iter().filter(move |value| value.word() == wanted.word());
    let told = |wanted: Chosen| {
        of_kind(wanted).map(|value| value.value().to_string()).collect::<Vec<_>>().join(" or ")
    };
    match chosen.or(values.first().copied()) {
        Some(wanted @ Chosen::Reads(_)) if of_kind(wanted).next().is_none() => {
            format!("process {node} does not read in its next step")
        }
        Some(wanted @ Chosen::Leaves(_)) if of_kind(wanted).next().is_none() => {
            format!("process {node} does not end a write in its next step")
        }
        Some(wanted @ Chosen::Reads(_)) if chosen.is_some() => {
            format!("process {node} cannot read that: it reads {}", told(wanted))
        }
        Some(wanted @ Chosen::Leaves(_)) if chosen.is_some() => {
            format!("process {node} cannot leave that: its write leaves {}", told(wanted))
        }
        Some(wanted @ Chosen::Reads(_)) => {
            format!("process {node} may read {}: say which with `reads`", told(wanted))
        }
        Some(wanted @ Chosen::Leaves(_)) => {
            format!("the write of process {node} may leave {}: say which with `leaves`", told(wanted))
        }
        None => format!("process {node} has several steps"),
    }
}

/// Whether a step is an access as the literature counts them: one for a store, however many steps it takes, none for a barrier.
fn is_access(act: &SharedAct) -> bool {
    match act.access {
        Access::Load { .. } | Access::Store { .. } | Access::StoreNext { .. } => true,
        Access::EndStore { .. } | Access::EndOverlapped { .. } => true,
        Access::BeginStore { .. } | Access::ReachMemory { .. } | Access::Barrier => false,
        Access::BeyondLimit { .. } | Access::None => false,
    }
}

/// Whether more than one is inside.
fn inside_together(view: &SharedView) -> Option<String> {
    let inside: Vec<String> = in_phase(view, Phase::Inside).iter().map(ToString::to_string).collect();
    (inside.len() > 1).then(|| format!("processes {} are inside together", inside.join(" and ")))
}

fn names(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(" ") }
}

fn met(line: usize, what: &str, expected: &str, is: &str) -> Result<(), ScriptError> {
    if expected == is {
        return Ok(());
    }
    Err(unmet(line, format!("{what} is expected to be {expected} and is {is}")))
}

fn unmet(line: usize, what: impl Into<String>) -> ScriptError {
    ScriptError::Unmet { line, what: what.into() }
}
