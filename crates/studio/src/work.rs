//! What jobs do.

use std::time::Duration;

use axum::http::StatusCode;
use doorway_catalog::Catalog;
use doorway_experiments::check::all::All;
use doorway_simulator::RunLimits;
use serde_json::json;

use crate::answer::Rejection;
use crate::job::{Job, Meter, Product};
use crate::limits;
use crate::spec::{Bounds, CheckBounds, CheckRequest, ComparisonSpec, QuorumSpec, RunRequest, Trouble};
use crate::view::ExportForm;

/// What a job is to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// Make a run and look at it.
    Run(Box<RunRequest>),
    /// Make a run and take it away.
    Export(Box<RunRequest>, ExportForm, doorway_picture::DiagramOptions),
    /// Explore a system.
    Check(Box<CheckRequest>),
    /// Explore every algorithm.
    CheckAll,
    /// Make many runs and compare them.
    Compare(Box<ComparisonSpec>),
    /// Build a quorum system and rate it.
    Quorums(Box<QuorumSpec>),
}

impl Work {
    /// How long it may take.
    pub(crate) fn longest(&self) -> Duration {
        match self {
            Work::Run(_) | Work::Export(..) | Work::Quorums(_) => limits::RUN,
            Work::Check(_) => limits::CHECK,
            Work::CheckAll | Work::Compare(_) => limits::MANY,
        }
    }

    /// Does it.
    pub(crate) fn done(self, job: &Job, catalog: &Catalog) -> Result<Product, Rejection> {
        let mut meter = Meter::new(job);
        match self {
            Work::Run(spec) => {
                let view = spec.view(catalog, &bounds(job))?;
                Ok(Product::json(view.json_unless(&job.cancelled).unwrap_or_default()))
            }
            Work::Export(spec, form, looks) => exported(&spec, form, &looks, job, catalog),
            Work::Check(spec) => {
                let bounds = check_bounds(job);
                let told = spec.json(catalog, &bounds, &mut |states| {
                    meter.show(states, None, || format!("{states} states"));
                })?;
                Ok(Product::json(told.to_string()))
            }
            Work::CheckAll => {
                let total = All::count(catalog) as u64;
                let show = |done| meter.show(done, Some(total), || format!("{done} of {total} algorithms"));
                let all = All::of(catalog, 1, &job.stop, show).map_err(Trouble::Impossible)?;
                Ok(Product::json(all.json().to_string()))
            }
            Work::Compare(spec) => {
                let comparison = spec.comparison(catalog, &bounds(job))?;
                let total = comparison.runs() as u64;
                let show = |done| meter.show(done, Some(total), || format!("{done} of {total} runs"));
                let cells = comparison.run(catalog, "doorway", 1, show).map_err(Trouble::Impossible)?;
                Ok(Product::json(json!({"version": 1, "cells": cells}).to_string()))
            }
            Work::Quorums(spec) => Ok(Product::json(spec.json(limits::MOST_NODES_RATED)?.to_string())),
        }
    }

    /// Whether what was made before its time was up is worth something: of a run the part that was made, of a check the states
    /// that were seen.
    pub(crate) fn is_good_in_part(&self) -> bool {
        matches!(self, Work::Run(_) | Work::Check(_))
    }
}

fn exported(
    spec: &RunRequest,
    form: ExportForm,
    looks: &doorway_picture::DiagramOptions,
    job: &Job,
    catalog: &Catalog,
) -> Result<Product, Rejection> {
    let recording = spec.view(catalog, &bounds(job))?.recording;
    if job.cancelled.is_said() {
        return Err(Rejection::bad("This job was cancelled."));
    }
    let bytes = form.bytes(&recording, catalog, looks).map_err(Trouble::Impossible)?;
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '-';
    let name: String =
        recording.header.algorithm.replace('/', "-").chars().filter(is_plain).take(60).collect();
    let name = if name.is_empty() { "run".to_owned() } else { name };
    Ok(Product::File {
        bytes: bytes.into(),
        kind: form.media_type(),
        name: format!("{name}.{}", form.ending()),
    })
}

/// That a job took too long.
pub(crate) fn too_long(longest: Duration) -> Rejection {
    let sentence =
        format!("This takes longer than {} seconds, the most that a page may ask for.", longest.as_secs());
    Rejection::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
}

/// What a run of a page may come to.
fn bounds(job: &Job) -> Bounds {
    Bounds {
        nodes: limits::MOST_NODES,
        entries: limits::MOST_ENTRIES,
        limits: RunLimits { events: Some(limits::MOST_EVENTS), stop: Some(job.stop.clone()) },
        cancelled: Some(job.cancelled.clone()),
    }
}

/// What a check of a page may come to.
fn check_bounds(job: &Job) -> CheckBounds {
    CheckBounds {
        nodes: limits::MOST_NODES_CHECKED,
        states: limits::MOST_STATES,
        bytes: limits::MOST_STATE_BYTES,
        time: limits::CHECK,
        stop: job.stop.clone(),
    }
}
