//! What is at which path.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::de::DeserializeOwned;

use crate::answer::{Rejection, json_text};
use crate::desk::JobQueue;
use crate::guard::{KnownHosts, guarded};
use crate::job::{End, Job, Product};
use crate::spec::{ComparisonChartSpec, FailureChartSpec, RunRequest};
use crate::view::{self, ExportForm, looks};
use crate::work::{Work, too_long};
use crate::{assets, gzip, limits, progress};

type Asked = Query<BTreeMap<String, String>>;

/// Everything that the studio answers.
pub(crate) fn all(desk: Arc<JobQueue>, guard: KnownHosts) -> Router {
    let api = Router::new()
        .route("/catalog", get(catalog))
        .route("/catalog/{*name}", get(page))
        .route("/schema", get(schema))
        .route("/runs", post(runs))
        .route("/exports", post(exports))
        .route("/checks", post(checks))
        .route("/checks/all", post(check_all))
        .route("/comparisons", post(comparisons))
        .route("/quorums", post(quorums))
        .route("/layouts/comparison", post(comparison_layout))
        .route("/layouts/failures", post(failures_layout))
        .route("/layouts/waits", post(waits_layout))
        .route("/jobs/{id}", get(job).delete(cancel))
        .route("/jobs/{id}/progress", get(progress::answer))
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
        .layer(middleware::from_fn(gzip::packed))
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
    let (most, of_trace) = (limits::MOST_BODY_BYTES >> 10, limits::MOST_TRACE_BYTES >> 20);
    let sentence = format!(
        "What was sent is too large: at most {most} kB are read, or {of_trace} MB with a recorded run."
    );
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
}

async fn catalog(State(desk): State<Arc<JobQueue>>) -> Response {
    json_text(StatusCode::OK, desk.catalog.clone())
}

async fn schema() -> Response {
    json_text(StatusCode::OK, view::schema().to_string())
}

async fn page(State(desk): State<Arc<JobQueue>>, Path(name): Path<String>) -> Result<Response, Rejection> {
    let missing = || Rejection::missing("There is no such algorithm or program: the catalog lists them.");
    Ok(json_text(StatusCode::OK, desk.pages.get(&name).ok_or_else(missing)?.clone()))
}

async fn runs(State(desk): State<Arc<JobQueue>>, asked: Asked, body: Bytes) -> Result<Response, Rejection> {
    let spec = read_spec(&body)?;
    begin(&desk, &asked, Work::Run(Box::new(spec))).await
}

async fn exports(
    State(desk): State<Arc<JobQueue>>,
    asked: Asked,
    body: Bytes,
) -> Result<Response, Rejection> {
    let spec = read_spec(&body)?;
    let word = |name: &str| asked.get(name).map(String::as_str);
    let form = word("format").ok_or_else(|| Rejection::bad("Say which format, as in ?format=svg."))?;
    let form = form.parse::<ExportForm>()?;
    let looks = looks(word("spacing"), word("theme"), word("clocks"))?;
    let asker = Asker::of(&desk, desk.leave(Work::Export(Box::new(spec), form, looks))?);
    over(&asker.job, limits::RUN + Duration::from_secs(2)).await;
    match asker.job.seen().end {
        Some(End::Done(Product::File { bytes, kind, name })) => Ok(file(bytes, kind, &name)),
        Some(End::Failed(rejection)) => Err(rejection),
        _ => Err(too_long(limits::RUN)),
    }
}

/// A file to be kept, never to be shown as a page of the studio.
fn file(bytes: Arc<[u8]>, kind: &'static str, name: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (StatusCode::OK, headers, Bytes::from_owner(bytes)).into_response()
}

async fn checks(State(desk): State<Arc<JobQueue>>, asked: Asked, body: Bytes) -> Result<Response, Rejection> {
    small(&body)?;
    begin(&desk, &asked, Work::Check(Box::new(read(&body)?))).await
}

async fn check_all(State(desk): State<Arc<JobQueue>>, asked: Asked) -> Result<Response, Rejection> {
    begin(&desk, &asked, Work::CheckAll).await
}

async fn comparisons(
    State(desk): State<Arc<JobQueue>>,
    asked: Asked,
    body: Bytes,
) -> Result<Response, Rejection> {
    small(&body)?;
    begin(&desk, &asked, Work::Compare(Box::new(read(&body)?))).await
}

async fn quorums(
    State(desk): State<Arc<JobQueue>>,
    asked: Asked,
    body: Bytes,
) -> Result<Response, Rejection> {
    small(&body)?;
    begin(&desk, &asked, Work::Quorums(Box::new(read(&body)?))).await
}

async fn comparison_layout(body: Bytes) -> Result<Response, Rejection> {
    small(&body)?;
    Ok(json_text(StatusCode::OK, read::<ComparisonChartSpec>(&body)?.json()?.to_string()))
}

async fn failures_layout(body: Bytes) -> Result<Response, Rejection> {
    small(&body)?;
    Ok(json_text(StatusCode::OK, read::<FailureChartSpec>(&body)?.json()?.to_string()))
}

async fn waits_layout(body: Bytes) -> Result<Response, Rejection> {
    small(&body)?;
    Ok(json_text(StatusCode::OK, view::waits(&read(&body)?).to_string()))
}

/// What run was asked for. Only one that brings its trace along may be large.
fn read_spec(body: &Bytes) -> Result<RunRequest, Rejection> {
    let spec: Result<RunRequest, Rejection> = read(body);
    match spec {
        Ok(spec) if spec.is_trace() => Ok(spec),
        other => small(body).and(other),
    }
}

/// What was sent, read: words with their names, not a list that leaves one to guess which is which.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Rejection> {
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(Rejection::bad(
            "The body is a list: send an object with names, as in {\"kind\": \"grid\"}.",
        ));
    }
    serde_json::from_slice(body).map_err(|error| Rejection::bad(format!("The body cannot be read: {error}.")))
}

/// That a body is no larger than it has reason to be.
fn small(body: &Bytes) -> Result<(), Rejection> {
    if body.len() > limits::MOST_BODY_BYTES { Err(too_large()) } else { Ok(()) }
}

/// Leaves a job on the desk and waits a while for it.
async fn begin(desk: &JobQueue, asked: &Asked, work: Work) -> Result<Response, Rejection> {
    let wait = match asked.get("wait").map(|word| word.parse()) {
        None => limits::USUAL_WAIT,
        Some(Ok(wait)) => Duration::from_millis(wait).min(limits::LONGEST_WAIT),
        Some(Err(_)) => return Err(Rejection::bad("wait is a number of milliseconds, as in ?wait=2000.")),
    };
    let mut asker = Asker::of(desk, desk.leave(work)?);
    over(&asker.job, wait).await;
    asker.is_answered = true;
    let job = &asker.job;
    match job.seen().end {
        Some(End::Failed(rejection)) => Err(rejection),
        Some(_) => Ok(json_text(StatusCode::OK, job.told())),
        None => Ok(json_text(StatusCode::ACCEPTED, job.told())),
    }
}

/// Whoever waits for the answer about a job. If they go away before there is one, nobody will ever ask for the job: it is cancelled.
struct Asker<'a> {
    desk: &'a JobQueue,
    job: Arc<Job>,
    is_answered: bool,
}

impl<'a> Asker<'a> {
    fn of(desk: &'a JobQueue, job: Arc<Job>) -> Self {
        Self { desk, job, is_answered: false }
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        if !self.is_answered && !self.job.is_over() {
            self.desk.cancel(&self.job);
        }
    }
}

/// Waits until a job is over, or until it has lasted long enough.
async fn over(job: &Job, wait: Duration) {
    let mut watch = job.watch();
    let _ = tokio::time::timeout(wait, watch.wait_for(|seen| seen.end.is_some())).await;
}

async fn job(State(desk): State<Arc<JobQueue>>, Path(id): Path<String>) -> Result<Response, Rejection> {
    Ok(json_text(StatusCode::OK, found(&desk, &id)?.told()))
}

async fn cancel(State(desk): State<Arc<JobQueue>>, Path(id): Path<String>) -> Result<Response, Rejection> {
    let job = found(&desk, &id)?;
    desk.cancel(&job);
    over(&job, Duration::from_secs(1)).await;
    Ok(json_text(StatusCode::OK, job.told()))
}

pub(crate) fn found(desk: &JobQueue, id: &str) -> Result<Arc<Job>, Rejection> {
    let missing =
        || Rejection::missing("There is no such job: it never was, or was so long ago that it is forgotten.");
    desk.find(id).ok_or_else(missing)
}
