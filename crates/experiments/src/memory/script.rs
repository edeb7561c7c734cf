//! Scripts of steps over shared memory: reading and writing.
//!
//! The heading names the program, the number of nodes and the memory; then come the steps. `step 2` lets node 2 make its next access,
//! `step 2 x3` three of them; `step 2 reads 5` says which value it reads where the registers leave a choice, and `step 2 leaves 5` which
//! value the register holds after writes that overlapped; `run 2 until inside` (or `outside`) lets it go on alone; `reach 2 number[2]` lets its oldest store into that register reach memory. `loop` is where the run
//! begins to repeat itself. Expectations: `inside`, `waiting`, `entries` with nodes or `nobody`, `register NAME = VALUE`, `line NODE =
//! LINE`, `accesses NODE = COUNT`, `violation`.

use std::str::FromStr;

use doorway_checker::{Access, MemorySetting, Property, RegisterModel, SharedAct, SharedMemory, Violation};
use doorway_core::shared::Progress;
use doorway_core::{NodeId, Options, Refusal};
use doorway_simulator::ScriptError;

use super::ProgramInstance;

/// A script, read and ready to be followed.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) instance: ProgramInstance,
    pub(super) actions: Vec<(usize, Action)>,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Step { node: NodeId, times: u32, chosen: Option<Chosen> },
    Run { node: NodeId, inside: bool },
    Reach { node: NodeId, register: Option<String> },
    Loop,
    Expect(Expectation),
}

/// The value of a step where the registers leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// What a load returns.
    Reads(u64),
    /// What a register holds after overlapping stores.
    Leaves(u64),
}

impl Chosen {
    /// The value of a step, if it could be another one over registers of some kind.
    pub(super) fn of(act: &SharedAct) -> Option<Self> {
        match act.access {
            Access::Load { value, .. } => Some(Chosen::Reads(value)),
            Access::EndStore { value, .. } => Some(Chosen::Leaves(value)),
            Access::EndOverlapped { left, .. } => Some(Chosen::Leaves(left)),
            _ => None,
        }
    }

    pub(super) fn value(self) -> u64 {
        match self {
            Chosen::Reads(value) | Chosen::Leaves(value) => value,
        }
    }

    /// The word of a script for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Chosen::Reads(_) => "reads",
            Chosen::Leaves(_) => "leaves",
        }
    }
}

/// What a script expects to be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    Inside(Vec<NodeId>),
    Waiting(Vec<NodeId>),
    Entries(Vec<NodeId>),
    Register { name: String, value: u64 },
    Line { node: NodeId, line: u64 },
    Accesses { node: NodeId, count: u64 },
    Violation,
}

impl Expectation {
    /// The processes that it is about.
    pub(super) fn nodes(&self) -> &[NodeId] {
        match self {
            Expectation::Inside(nodes) | Expectation::Waiting(nodes) | Expectation::Entries(nodes) => nodes,
            Expectation::Line { node, .. } | Expectation::Accesses { node, .. } => std::slice::from_ref(node),
            Expectation::Register { .. } | Expectation::Violation => &[],
        }
    }
}

impl Script {
    /// Reads a script.
    pub(super) fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self { instance: ProgramInstance::new("", 2), actions: Vec::new() };
        let mut said: Vec<&str> = Vec::new();
        for (line, written) in (1..).zip(text.lines()) {
            let written = written.split('#').next().unwrap_or_default();
            let words: Vec<&str> = written.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let fail = |what: String| ScriptError::Impossible { line, what };
            if heading(&mut script.instance, &words).map_err(fail)? {
                if words[0] != "set" && said.contains(&words[0]) {
                    return Err(fail(format!("`{}` was said before", words[0])));
                }
                said.push(words[0]);
                if !script.actions.is_empty() {
                    let what = format!("`{}` belongs into the heading, before the first step", words[0]);
                    return Err(fail(what));
                }
            } else {
                script.actions.push((line, action(&words).map_err(fail)?));
            }
        }
        script.check_loop()?;
        Ok(script)
    }

    /// A script has at most one loop, and something happens in it.
    fn check_loop(&self) -> Result<(), ScriptError> {
        let mut loops = self.actions.iter().enumerate().filter(|(_, (_, action))| *action == Action::Loop);
        let Some((place, &(line, _))) = loops.next() else { return Ok(()) };
        let happens = |(_, action): &(usize, Action)| !matches!(action, Action::Expect(_));
        match loops.next() {
            Some((_, &(line, _))) => Err(impossible(line, "a script has one `loop`")),
            None if !self.actions[place + 1..].iter().any(happens) => {
                Err(impossible(line, "nothing happens after `loop`: at least one step repeats"))
            }
            None => Ok(()),
        }
    }
}

pub(super) fn impossible(line: usize, what: impl Into<String>) -> ScriptError {
    ScriptError::Impossible { line, what: what.into() }
}

/// The name of the algorithm or program in the heading of a script.
pub(super) fn algorithm(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        (words.next() == Some("algorithm")).then(|| words.next())?
    })
}

/// Reads a line of the heading; tells whether it was one.
fn heading(instance: &mut ProgramInstance, words: &[&str]) -> Result<bool, String> {
    match *words {
        ["algorithm", name] => name.clone_into(&mut instance.program),
        ["nodes", n] => {
            instance.n = n.parse().map_err(|_| format!("{} is not a number of nodes", shown(n)))?
        }
        ["set", name, value] => {
            instance.options = std::mem::replace(&mut instance.options, Options::none()).with(name, value);
        }
        ["registers", word] => instance.setting.registers = chosen(word)?,
        ["memory", word] => instance.setting.memory = chosen(word)?,
        ["barrier", word] => instance.setting.barriers = chosen(word)?,
        ["tickets", count] => {
            instance.setting.tickets =
                count.parse().map_err(|_| format!("{count:?} is not a largest ticket"))?;
        }
        ["buffer", count] => {
            instance.setting.capacity =
                count.parse().map_err(|_| format!("{count:?} is not a number of stores"))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn chosen<T: FromStr<Err = Refusal>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|refusal: Refusal| refusal.to_string())
}

fn action(words: &[&str]) -> Result<Action, String> {
    match *words {
        ["step", who] => Ok(Action::Step { node: node(who)?, times: 1, chosen: None }),
        ["step", who, "reads", value] => {
            Ok(Action::Step { node: node(who)?, times: 1, chosen: Some(Chosen::Reads(number(value)?)) })
        }
        ["step", who, "leaves", value] => {
            Ok(Action::Step { node: node(who)?, times: 1, chosen: Some(Chosen::Leaves(number(value)?)) })
        }
        ["step", who, times] => Ok(Action::Step { node: node(who)?, times: repeated(times)?, chosen: None }),
        ["run", who, "until", "inside"] => Ok(Action::Run { node: node(who)?, inside: true }),
        ["run", who, "until", "outside"] => Ok(Action::Run { node: node(who)?, inside: false }),
        ["reach", who] => Ok(Action::Reach { node: node(who)?, register: None }),
        ["reach", who, name] => Ok(Action::Reach { node: node(who)?, register: Some(name.to_owned()) }),
        ["loop"] => Ok(Action::Loop),
        ["expect", ref what @ ..] => expectation(what).map(Action::Expect),
        _ => Err(format!("{} is no step: step, run, reach, loop or expect", shown(&words.join(" ")))),
    }
}

fn expectation(words: &[&str]) -> Result<Expectation, String> {
    match *words {
        ["inside", ref who @ ..] => nodes(who).map(Expectation::Inside),
        ["waiting", ref who @ ..] => nodes(who).map(Expectation::Waiting),
        ["entries", ref who @ ..] => nodes(who).map(Expectation::Entries),
        ["register", name, "=", value] => {
            Ok(Expectation::Register { name: name.to_owned(), value: number(value)? })
        }
        ["line", who, "=", line] => Ok(Expectation::Line { node: node(who)?, line: number(line)? }),
        ["accesses", who, "=", count] => {
            Ok(Expectation::Accesses { node: node(who)?, count: number(count)? })
        }
        ["violation"] => Ok(Expectation::Violation),
        _ => Err(format!(
            "{} is no expectation: inside, waiting, entries, register, line, accesses or violation",
            shown(&words.join(" "))
        )),
    }
}

fn nodes(words: &[&str]) -> Result<Vec<NodeId>, String> {
    match words {
        [] => Err("name the nodes, or `nobody`".to_owned()),
        ["nobody"] => Ok(Vec::new()),
        _ => words.iter().map(|word| node(word)).collect(),
    }
}

fn node(word: &str) -> Result<NodeId, String> {
    let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let index = number.filter(|index| *index < MemorySetting::MOST_PROCESSES);
    index.map(NodeId::new).ok_or_else(|| {
        let most = MemorySetting::MOST_PROCESSES;
        format!("{} is not a process: they count from 1 to at most {most}", shown(word))
    })
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{} is not a number", shown(word)))
}

/// What was written, in quotes, cut if it is long.
fn shown(written: &str) -> String {
    const MOST: usize = 40;
    let short: String = written.chars().take(MOST).collect();
    if short.len() == written.len() { format!("{written:?}") } else { format!("{:?}", short + "…") }
}

/// How often: `x3`.
fn repeated(word: &str) -> Result<u32, String> {
    const MOST: u32 = 10_000;
    let times = word.strip_prefix('x').and_then(|times| times.parse().ok());
    let times = times.filter(|times| (1..=MOST).contains(times));
    times.ok_or_else(|| format!("{} does not say how often: x2 is twice, up to x{MOST}", shown(word)))
}

/// A run as a script: the system, its steps, and what is to be seen at their end.
pub(super) fn written(
    instance: &ProgramInstance,
    system: &SharedMemory,
    violation: &Violation,
    acts: &[SharedAct],
) -> String {
    let mut lines = vec![format!("# {}: {}", violation.property, violation.what)];
    lines.extend(heading_of(instance, system));
    lines.push(String::new());
    for (number, act) in acts.iter().enumerate() {
        if Some(number) == violation.loop_start {
            lines.push("loop".to_owned());
        }
        lines.push(line_of(instance, act));
    }
    lines.push(String::new());
    lines.push(expectation_of(violation, acts));
    lines.join("\n") + "\n"
}

/// The expectation at the end of a counterexample: a violation such as two inside, which nodes wait all the while, or in which
/// order they entered.
fn expectation_of(violation: &Violation, acts: &[SharedAct]) -> String {
    let numbers = |nodes: &mut dyn Iterator<Item = usize>| {
        let numbers: Vec<String> = nodes.map(|node| (node + 1).to_string()).collect();
        if numbers.is_empty() { "nobody".to_owned() } else { numbers.join(" ") }
    };
    match (violation.property, violation.loop_start) {
        (Property::MutualExclusion | Property::Invariants, _) => "expect violation".to_owned(),
        (_, Some(_)) => format!("expect waiting {}", numbers(&mut violation.waiting.iter().copied())),
        (_, None) => {
            let entered = acts.iter().filter(|act| act.progress == Progress::Enter);
            format!("expect entries {}", numbers(&mut entered.map(|act| act.process)))
        }
    }
}

fn heading_of(instance: &ProgramInstance, system: &SharedMemory) -> Vec<String> {
    let ProgramInstance { program, options, n, setting, .. } = instance;
    let default = MemorySetting::default();
    let mut lines = vec![format!("algorithm {program}"), format!("nodes {n}")];
    lines.extend(options.iter().map(|(name, choice)| format!("set {name} {}", choice.word)));
    if setting.registers != default.registers {
        lines.push(format!("registers {}", setting.registers));
    }
    if setting.memory != default.memory {
        lines.push(format!("memory {}", setting.memory));
        if setting.barriers != default.barriers {
            lines.push(format!("barrier {}", setting.barriers));
        }
    }
    if setting.capacity != default.capacity {
        lines.push(format!("buffer {}", setting.capacity));
    }
    if system.has_tickets() {
        lines.push(format!("tickets {}", setting.tickets));
    }
    lines
}

fn line_of(instance: &ProgramInstance, act: &SharedAct) -> String {
    format!("{:<24}# {act}", step_of(instance, act))
}

/// A step as a line of a script.
pub(super) fn step_of(instance: &ProgramInstance, act: &SharedAct) -> String {
    let node = act.process + 1;
    let is_open = |chosen: &Chosen| match (chosen, instance.setting.registers) {
        (_, RegisterModel::SafeAny) => true,
        (Chosen::Reads(_), registers) => registers != RegisterModel::Atomic,
        (Chosen::Leaves(_), _) => false,
    };
    match (&act.access, Chosen::of(act).filter(is_open)) {
        (Access::ReachMemory { name, .. }, _) => format!("reach {node} {name}"),
        (_, Some(chosen)) => format!("step {node} {} {}", chosen.word(), chosen.value()),
        _ => format!("step {node}"),
    }
}
