//! What is true of an algorithm at every size and load, decided on small systems: its order and the faults that it survives.

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_simulator::parallel::{JobEvent, in_order};
use serde::Serialize;

use super::{ComparisonCell, FaultRow, KeptOrder, about};

/// The order that an algorithm keeps, and what one fault does to it.
#[derive(Clone, Debug, Serialize)]
pub struct Traits {
    /// The order in which it serves requests.
    pub order: KeptOrder,
    /// What one fault does to it.
    #[serde(flatten)]
    pub faults: FaultRow,
}

impl Traits {
    /// Decides them for these algorithms on this many threads, each with its usual choices.
    ///
    /// # Errors
    /// If one of them is not in the catalog, or cannot be explored.
    pub fn of_all(
        algorithms: &[String],
        catalog: &Catalog,
        program: &str,
        threads: usize,
    ) -> Result<Vec<Self>, Refusal> {
        let job = |place: u64| -> Result<Self, Refusal> {
            let about = about(catalog, &algorithms[place as usize])?;
            let (order, faults) = (KeptOrder::of(about, catalog)?, FaultRow::of(about, catalog, program)?);
            Ok(Self { order, faults })
        };
        gathered(algorithms.len(), threads, job)
    }

    /// Notes them in the cells of their algorithms.
    pub fn note(all: &[Self], cells: &mut [ComparisonCell]) {
        for cell in cells {
            if let Some(traits) = all.iter().find(|traits| traits.faults.algorithm == cell.algorithm) {
                cell.order = Some(traits.order);
                cell.survives = Some(traits.faults.survives());
            }
        }
    }
}

impl FaultRow {
    /// The rows of these algorithms, decided on this many threads.
    ///
    /// # Errors
    /// If one of them is not in the catalog, or cannot be explored.
    pub fn of_all(
        algorithms: &[String],
        catalog: &Catalog,
        program: &str,
        threads: usize,
    ) -> Result<Vec<Self>, Refusal> {
        let job = |place: u64| FaultRow::of(about(catalog, &algorithms[place as usize])?, catalog, program);
        gathered(algorithms.len(), threads, job)
    }
}

/// The results of some jobs, in order.
fn gathered<T: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(u64) -> Result<T, Refusal> + Sync,
) -> Result<Vec<T>, Refusal> {
    let mut results = Vec::with_capacity(count);
    in_order(0..count as u64, threads, job, |step| {
        if let JobEvent::Done(_, result) = step {
            results.push(result?);
        }
        Ok::<(), Refusal>(())
    })?;
    Ok(results)
}
