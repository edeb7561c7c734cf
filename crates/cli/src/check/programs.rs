//! `doorway check` for programs over shared memory.

use doorway_catalog::Catalog;
use doorway_catalog::settings::{CHOICES, CheckSpec};
use doorway_checker::{MemoryModel, MemorySetting, Setting};
use doorway_core::Refusal;
use doorway_core::shared::AboutProgram;
use doorway_experiments::memory::{self, ProgramInstance};

use super::kept::OutputFiles;
use super::page::CheckPage;
use super::{Arguments, effort, explored, options};
use crate::typed::Typed;
use crate::{Answer, programs};

pub(super) fn answer(
    catalog: &Catalog,
    arguments: &Arguments,
    typed: &Typed,
    about: &AboutProgram,
) -> Result<Answer, Refusal> {
    let mut of_messages = CheckSpec::names_of(false).chain(CHOICES.map(|choice| choice.name));
    if let Some(option) = of_messages.find(|option| typed.has(option)) {
        let (option, name) = (option.replace('_', "-"), about.name);
        return Err(Refusal::new(format!("--{option} is about messages, and {name} shares memory")));
    }
    let instance = instance(catalog, arguments, about)?;
    refuse_what_says_nothing(catalog, typed, &instance)?;
    let kept = OutputFiles::new(arguments)?;
    let (checked, took) = explored(&instance.effort, |watch| instance.check(catalog, watch))?;
    let notes = kept.write(catalog, &instance.options, &checked)?;
    let report = CheckPage {
        algorithm: &instance.program,
        nodes: instance.n,
        noun: "process",
        system: programs::system(&instance),
        memory: Some(memory::described(&instance.setting)),
        checked: &checked,
        took,
    };
    Ok(report.answer(notes, arguments.json))
}

fn instance(
    catalog: &Catalog,
    arguments: &Arguments,
    about: &AboutProgram,
) -> Result<ProgramInstance, Refusal> {
    let spec = &arguments.spec.0;
    let n = match (spec.nodes.one()?, spec.requests.words().len()) {
        (Some(n), _) => n,
        (None, each @ 2..) => each,
        (None, _) => usual_number(catalog, about),
    };
    let requests = if spec.requests.is_empty() { None } else { requests(n, &spec.asked(1)?)? };
    Ok(ProgramInstance {
        options: options(arguments)?,
        setting: MemorySetting { invariants: true, ..spec.shared_memory(requests)? },
        properties: spec.properties(&ProgramInstance::PROPERTIES, &ProgramInstance::OF_A_LOCK)?,
        fairness: spec.fairness.one()?,
        effort: effort(arguments)?,
        ..ProgramInstance::new(about.name, n)
    })
}

/// An option that would change nothing is a misunderstanding.
fn refuse_what_says_nothing(
    catalog: &Catalog,
    typed: &Typed,
    instance: &ProgramInstance,
) -> Result<(), Refusal> {
    let buffers = ["barrier", "buffer"].into_iter().find(|option| typed.has(option));
    if let Some(option) = buffers.filter(|_| instance.setting.memory == MemoryModel::Sequential) {
        return Err(Refusal::new(format!(
            "--{option} says nothing over sequential memory: add --memory tso or --memory pso"
        )));
    }
    if typed.has("tickets") && !instance.system(catalog)?.has_tickets() {
        let name = &instance.program;
        return Err(Refusal::new(format!(
            "--tickets says nothing here: no register of {name} is without limit"
        )));
    }
    Ok(())
}

/// Three, unless the program is for two only.
fn usual_number(catalog: &Catalog, about: &AboutProgram) -> usize {
    if ProgramInstance::new(about.name, 3).system(catalog).is_ok() { 3 } else { 2 }
}

/// How often each node asks; none if all do so again and again.
fn requests(n: usize, typed: &[u32]) -> Result<Option<Vec<u32>>, Refusal> {
    let requests = doorway_experiments::check::requests(Some(n), typed)?;
    let unbounded = requests.iter().filter(|asked| **asked == Setting::UNBOUNDED).count();
    match unbounded {
        0 => Ok(Some(requests)),
        all if all == n => Ok(None),
        _ => Err(Refusal::new("over shared memory either all processes ask again and again, or none does")),
    }
}
