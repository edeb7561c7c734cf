//! Answers are packed for those who can unpack them: pages and runs are text that says much again and again.

use std::io::{self, Write};

use axum::body::{self, Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::answer::Rejection;

/// Shorter answers are not worth it.
const LEAST: usize = 1_024;

/// Packs an answer that is text, if whoever asks can unpack it. A stream of progress is never packed: it would be held back.
pub(crate) async fn packed(request: Request, next: Next) -> Response {
    let is_wanted = can_unpack(request.headers());
    let answer = next.run(request).await;
    if !is_wanted || !is_text(answer.headers()) {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let Ok(plain) = body::to_bytes(body, usize::MAX).await else { return broken() };
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if plain.len() < LEAST {
        return Response::from_parts(head, Body::from(plain));
    }
    let Ok(Ok(bytes)) = tokio::task::spawn_blocking(move || gzip(&plain)).await else { return broken() };
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(bytes))
}

fn gzip(plain: &Bytes) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(plain)?;
    packer.finish()
}

fn broken() -> Response {
    Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, "The answer could not be packed.").into_response()
}

/// Whether gzip is among what is accepted, and not with the weight 0.
fn can_unpack(headers: &HeaderMap) -> bool {
    let told = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    told.split(',').any(|word| {
        let (name, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let is_other_text = || matches!(kind, "application/json" | "application/jsonl" | "image/svg+xml");
    (kind.starts_with("text/") && kind != "text/event-stream") || is_other_text()
}
