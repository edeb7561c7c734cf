//! What jobs do.

use doorway_core::Catalog;
use doorway_lab::view::{Bounds, Spec};
use doorway_simulator::Limits;

use crate::answer::Rejection;
use crate::job::{Job, Product};
use crate::limits;

/// What a job is to do.
#[derive(Debug)]
pub(crate) enum Work {
    Run(Box<Spec>),
}

impl Work {
    /// Does it.
    pub(crate) fn done(self, job: &Job, catalog: &(impl Catalog + Sync)) -> Result<Product, Rejection> {
        match self {
            Work::Run(spec) => {
                let view = spec.view(catalog, &bounds(job))?;
                Ok(Product::Json(view.json().into()))
            }
        }
    }
}

/// What a run of a page may come to.
fn bounds(job: &Job) -> Bounds {
    Bounds {
        nodes: limits::MOST_NODES,
        entries: limits::MOST_ENTRIES,
        limits: Limits { events: Some(limits::MOST_EVENTS), stop: Some(job.stop.clone()) },
    }
}
