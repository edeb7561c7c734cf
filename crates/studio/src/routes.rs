//! What is at which path.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::de::DeserializeOwned;

use crate::answer::{Rejection, json_text};
use crate::desk::Desk;
use crate::guard::{Guard, guarded};
use crate::job::{End, Job, Product};
use crate::work::Work;
use crate::{assets, limits};

type Asked = Query<BTreeMap<String, String>>;

/// Everything that the studio answers.
pub(crate) fn all(desk: Arc<Desk>, guard: Guard) -> Router {
    let api = Router::new()
        .route("/catalog", get(catalog))
        .route("/runs", post(runs))
        .route("/jobs/{id}", get(job).delete(cancel))
        .fallback(async || {
            Rejection::missing("There is nothing at this path of the API: docs/studio-api.md lists it.")
        })
        .method_not_allowed_fallback(async || {
            Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "This path of the API is not for this method.")
        })
        .with_state(desk);
    Router::new()
        .nest("/api/v1", api)
        .fallback(get(assets::answer))
        .layer(DefaultBodyLimit::max(limits::MOST_TRACE_BYTES))
        .layer(middleware::from_fn(plainly))
        .layer(middleware::from_fn_with_state(guard, guarded))
}

/// Says in one sentence of JSON what axum says in its own words: a body that is too large, a query that cannot be read.
async fn plainly(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    match answer.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large().into_response(),
        _ => answer,
    }
}

fn too_large() -> Rejection {
    let most = limits::MOST_BODY_BYTES >> 10;
    Rejection::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("What was sent is too large: at most {most} kB are read."),
    )
}

async fn catalog(State(desk): State<Arc<Desk>>) -> Response {
    json_text(StatusCode::OK, desk.catalog.clone())
}

async fn runs(State(desk): State<Arc<Desk>>, asked: Asked, body: Bytes) -> Result<Response, Rejection> {
    let spec: doorway_lab::view::Spec = read(&body)?;
    if !spec.is_trace() {
        small(&body)?;
    }
    begin(&desk, &asked, Work::Run(Box::new(spec))).await
}

/// What was sent, read.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Rejection> {
    serde_json::from_slice(body).map_err(|error| Rejection::bad(format!("The body cannot be read: {error}.")))
}

/// That a body is no larger than it has reason to be.
fn small(body: &Bytes) -> Result<(), Rejection> {
    if body.len() > limits::MOST_BODY_BYTES { Err(too_large()) } else { Ok(()) }
}

/// Leaves a job on the desk and waits a while for it.
async fn begin(desk: &Desk, asked: &Asked, work: Work) -> Result<Response, Rejection> {
    let wait = match asked.get("wait").map(|word| word.parse()) {
        None => limits::USUAL_WAIT,
        Some(Ok(wait)) => Duration::from_millis(wait).min(limits::LONGEST_WAIT),
        Some(Err(_)) => return Err(Rejection::bad("wait is a number of milliseconds, as in ?wait=2000.")),
    };
    let job = desk.leave(work)?;
    over(&job, wait).await;
    let seen = job.seen();
    match seen.end {
        Some(End::Failed(rejection)) => Err(rejection),
        Some(_) => Ok(json_text(StatusCode::OK, told(&job))),
        None => Ok(json_text(StatusCode::ACCEPTED, told(&job))),
    }
}

/// Waits until a job is over, or until it has lasted long enough.
async fn over(job: &Job, wait: Duration) {
    let mut watch = job.watch();
    let _ = tokio::time::timeout(wait, watch.wait_for(|seen| seen.end.is_some())).await;
}

/// A job as JSON.
fn told(job: &Job) -> String {
    let seen = job.seen();
    let progress = serde_json::to_string(&seen.progress).unwrap_or_default();
    let rest = match &seen.end {
        Some(End::Done(Product::Json(result))) => format!(",\"result\":{result}"),
        Some(End::Failed(rejection)) => {
            format!(",\"error\":{}", serde_json::to_string(&rejection.sentence).unwrap_or_default())
        }
        Some(End::Done(Product::File { .. }) | End::Cancelled) | None => String::new(),
    };
    let state = seen.state();
    format!("{{\"version\":1,\"job\":\"{}\",\"state\":\"{state}\",\"progress\":{progress}{rest}}}", job.id)
}

async fn job(State(desk): State<Arc<Desk>>, Path(id): Path<String>) -> Result<Response, Rejection> {
    Ok(json_text(StatusCode::OK, told(&*found(&desk, &id)?)))
}

async fn cancel(State(desk): State<Arc<Desk>>, Path(id): Path<String>) -> Result<Response, Rejection> {
    let job = found(&desk, &id)?;
    desk.cancel(&job);
    over(&job, Duration::from_secs(1)).await;
    Ok(json_text(StatusCode::OK, told(&job)))
}

fn found(desk: &Desk, id: &str) -> Result<Arc<Job>, Rejection> {
    let missing =
        || Rejection::missing("There is no such job: it never was, or was so long ago that it is forgotten.");
    desk.find(id).ok_or_else(missing)
}
