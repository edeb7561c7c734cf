//! What people are told about programs over shared memory.

use doorway_catalog::Catalog;
use doorway_checker::{Barriers, MemoryModel};
use doorway_core::shared::{AboutProgram, Accesses, Cell, Values};
use doorway_core::{Options, Refusal};
use doorway_experiments::memory::ProgramInstance;
use doorway_terminal::{table, text};
use serde_json::{Value, json};

/// What a program tells of itself for one number of nodes.
pub(crate) struct ProgramFacts {
    pub(crate) n: usize,
    pub(crate) registers: Vec<Cell>,
    /// What an entry costs who is alone, if it enters.
    pub(crate) alone: Option<Accesses>,
    pub(crate) lines: &'static [&'static str],
    pub(crate) invariants: Vec<&'static str>,
}

/// For how many nodes facts are told, unless a program is for fewer.
const USUAL: usize = 4;

/// What a program tells of itself, for four nodes, or for two if it is for two only.
///
/// # Errors
/// If it runs among neither.
pub(crate) fn facts(catalog: &Catalog, name: &str) -> Result<ProgramFacts, Refusal> {
    facts_for(catalog, name, USUAL).or_else(|_| facts_for(catalog, name, 2))
}

fn facts_for(catalog: &Catalog, name: &str, n: usize) -> Result<ProgramFacts, Refusal> {
    let subject = catalog.program_subject(name, &Options::none(), n)?;
    Ok(ProgramFacts {
        n,
        registers: subject.registers().to_vec(),
        alone: subject.accesses_alone(),
        lines: subject.lines(),
        invariants: subject.invariants(),
    })
}

impl ProgramFacts {
    /// How many registers of how many values there are: `9 of 2 values, 4 of any`.
    pub(crate) fn registers(&self) -> String {
        let mut kinds: Vec<(Values, usize)> = Vec::new();
        for cell in &self.registers {
            match kinds.iter_mut().find(|(values, _)| *values == cell.values) {
                Some((_, count)) => *count += 1,
                None => kinds.push((cell.values, 1)),
            }
        }
        let one = |(values, count): &(Values, usize)| match values {
            Values::UpTo(most) => format!("{count} of {} values", most + 1),
            Values::Unbounded => format!("{count} of any value"),
        };
        kinds.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What an entry costs who is alone: `5 writes, 2 reads`.
    pub(crate) fn alone(&self) -> String {
        let Some(Accesses { loads, stores, maxima, barriers: _ }) = self.alone else {
            return "–".to_owned();
        };
        let parts = [(stores, "write"), (loads, "read"), (maxima, "atomic maximum")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, noun)| match (count, noun) {
                (1, "atomic maximum") => "1 atomic maximum".to_owned(),
                (count, noun) => text::counted(count as u64, noun),
            })
            .collect();
        parts.join(", ")
    }
}

/// The list of programs.
///
/// # Errors
/// If one of them cannot tell its facts.
pub(crate) fn table(catalog: &Catalog, list: &[&AboutProgram]) -> Result<String, Refusal> {
    let headings = ["name", "for", "registers", "when alone", "who waits", "parameters"];
    let row = |about: &&AboutProgram| -> Result<Vec<String>, Refusal> {
        let facts = facts(catalog, about.name)?;
        let parameters: Vec<&str> = about.parameters.iter().map(|parameter| parameter.name).collect();
        Ok(vec![
            about.name.to_owned(),
            facts.n.to_string(),
            facts.registers(),
            facts.alone(),
            about.promise.to_string(),
            parameters.join(", "),
        ])
    };
    Ok(table::of_words(&headings, &list.iter().map(row).collect::<Result<Vec<_>, _>>()?))
}

/// What is told about a program, for programs.
pub(crate) fn described(about: &AboutProgram, facts: &ProgramFacts) -> Value {
    let register = |cell: &Cell| {
        let most = match cell.values {
            Values::UpTo(most) => Some(most),
            Values::Unbounded => None,
        };
        json!({"name": cell.name, "most": most})
    };
    let alone = facts.alone.map(|used| {
        json!({"reads": used.loads, "writes": used.stores, "maxima": used.maxima, "barriers": used.barriers})
    });
    json!({
        "name": about.name,
        "title": about.title,
        "nodes": facts.n,
        "registers": facts.registers.iter().map(register).collect::<Vec<_>>(),
        "alone": alone,
        "promise": about.promise.to_string(),
        "parameters": doorway_catalog::parameters(about.parameters),
        "specimen": doorway_catalog::specimen(about.specimen),
    })
}

/// What is explored, in words.
pub(crate) fn system(instance: &ProgramInstance) -> String {
    let ProgramInstance { program, n, options, setting, .. } = instance;
    let mut facts = vec![program.clone(), text::processes(*n)];
    facts.push(match &setting.requests {
        None => "requests unbounded".to_owned(),
        Some(requests) => {
            let requests: Vec<String> = requests.iter().map(ToString::to_string).collect();
            format!("requests {}", requests.join(","))
        }
    });
    facts.extend(options.iter().map(|(name, choice)| format!("{name} {}", choice.word)));
    facts.push(setting.registers.phrase().to_owned());
    facts.push(match setting.memory {
        MemoryModel::Sequential => "sequential memory".to_owned(),
        MemoryModel::TotalStoreOrder => format!("total store order{}", barriers(&setting.barriers)),
        MemoryModel::PartialStoreOrder => format!("partial store order{}", barriers(&setting.barriers)),
    });
    facts.join(", ")
}

fn barriers(barriers: &Barriers) -> String {
    match barriers {
        Barriers::All => String::new(),
        Barriers::None => " without barriers".to_owned(),
        Barriers::Only(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let noun = if numbers.len() == 1 { "barrier" } else { "barriers" };
            format!(" with {noun} {} alone", numbers.join(" and "))
        }
    }
}
