//! Answers: JSON, and errors as one sentence.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use doorway_core::Refusal;
use serde_json::json;

use crate::spec::Trouble;
use crate::view::sentence;

/// Why a request is not answered as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

impl Rejection {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into() }
    }

    /// What was sent makes no sense.
    pub(crate) fn bad(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// There is no such thing.
    pub(crate) fn missing(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence)
    }
}

impl From<Trouble> for Rejection {
    fn from(trouble: Trouble) -> Self {
        let status = match trouble {
            Trouble::Unreadable(_) => StatusCode::BAD_REQUEST,
            Trouble::Impossible(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, sentence(&trouble.refusal().to_string()))
    }
}

impl From<Refusal> for Rejection {
    /// A word that cannot be understood.
    fn from(refusal: Refusal) -> Self {
        Self::bad(sentence(&refusal.to_string()))
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        json_text(self.status, json!({"version": 1, "error": self.sentence}).to_string())
    }
}

/// An answer that is JSON already.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response {
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    (
        status,
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))],
        text,
    )
        .into_response()
}
