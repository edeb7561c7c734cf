//! Every program of the catalog against every property, over every kind of memory, as far as that goes in a short time.
//!
//! Because states are counted and not seconds, the table is the same on every machine.

use doorway_catalog::Catalog;
use doorway_checker::{Barriers, MemoryModel, Property, RegisterModel};
use doorway_core::shared::AboutProgram;
use doorway_core::{Refusal, Stop};

use super::ProgramInstance;
use crate::check::{Checked, Decision, Effort};

/// How far one program was checked, and what was decided.
#[derive(Clone, Debug)]
pub struct ProgramRow {
    /// The program.
    pub program: &'static str,
    /// What was chosen for it, if that is not what is usual.
    pub variant: Option<(&'static str, &'static str)>,
    /// All properties, with atomic registers and sequential memory.
    pub checked: SizeResult,
    /// Exclusion with registers that are only safe, if the last of overlapping writes wins; none if the program cannot run
    /// with them.
    pub safe_registers: Option<SizeResult>,
    /// The same if overlapping writes leave any value.
    pub safe_any_registers: Option<SizeResult>,
    /// Exclusion under total store order.
    pub buffered: SizeResult,
    /// The same without barriers.
    pub without_barriers: SizeResult,
}

/// What was decided for this number of processes.
#[derive(Clone, Debug)]
pub struct SizeResult {
    /// How many there were.
    pub n: usize,
    /// What was decided.
    pub checked: Checked,
}

/// How many states a search may have.
const MOST_STATES: u64 = 500_000;

impl ProgramRow {
    /// Checks one program, as it is usual or with something chosen for it.
    ///
    /// # Errors
    /// If it runs neither among three processes nor among two.
    pub fn of(
        about: &AboutProgram,
        variant: Option<(&'static str, &'static str)>,
        catalog: &Catalog,
        stop: &Stop,
    ) -> Result<Self, Refusal> {
        let ask = |change: &dyn Fn(ProgramInstance) -> ProgramInstance| -> Result<SizeResult, Refusal> {
            let among = |n: usize| -> Result<SizeResult, Refusal> {
                let plain = ProgramInstance::new(about.name, n);
                let plain = variant.iter().fold(plain, |instance, (name, word)| instance.with(name, word));
                let effort = Effort { stop: stop.clone(), ..Effort::of_states(MOST_STATES) };
                let instance = ProgramInstance { effort, ..change(plain) };
                Ok(SizeResult { n, checked: instance.check(catalog, &mut |_| ())? })
            };
            match among(3) {
                Ok(asked) if asked.checked.decision() != Decision::NotExhausted => Ok(asked),
                Ok(_) | Err(_) => among(2),
            }
        };
        let exclusion = |instance: ProgramInstance| instance.deciding(&[Property::MutualExclusion]);
        let tso = |barriers: Barriers| {
            ask(&move |instance| exclusion(instance).over(MemoryModel::TotalStoreOrder, barriers.clone()))
        };
        let safe = |registers| ask(&move |instance| exclusion(instance).registers(registers)).ok();
        Ok(Self {
            program: about.name,
            variant,
            checked: ask(&|instance| instance.deciding(&ProgramInstance::PROPERTIES))?,
            safe_registers: safe(RegisterModel::Safe),
            safe_any_registers: safe(RegisterModel::SafeAny),
            buffered: tso(Barriers::All)?,
            without_barriers: tso(Barriers::None)?,
        })
    }

    /// Whether it fails to be a lock. Starvation does not count here: some programs only promise that some process
    /// enters.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let musts = [Property::MutualExclusion, Property::DeadlockFreedom, Property::Invariants];
        let is_violated = |asked: &SizeResult, property| {
            asked.checked.verdict(property).is_some_and(|verdict| verdict.decision == Decision::Violated)
        };
        musts.iter().any(|property| is_violated(&self.checked, *property))
            || is_violated(&self.buffered, Property::MutualExclusion)
    }

    /// Whether all that was asked was decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let is_open = |asked: &SizeResult| asked.checked.decision() == Decision::NotExhausted;
        !is_open(&self.checked) && !is_open(&self.buffered)
    }
}
