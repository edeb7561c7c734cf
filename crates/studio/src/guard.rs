//! Who is answered, and what every answer carries.
//!
//! A page from elsewhere that is open in the same browser can send requests to this machine, and by a name that it lets point
//! here (DNS rebinding) it could even read the answers. So a request must name this studio as its host, and if it tells an
//! origin, that must be this studio too.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::answer::Rejection;

/// The names under which this studio is known.
#[derive(Clone, Debug)]
pub(crate) struct KnownHosts {
    hosts: Arc<[String]>,
    /// Whether it listens on all addresses of the machine: then any number of an address is one of its names.
    is_everywhere: bool,
    port: u16,
}

impl KnownHosts {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        Self { hosts: hosts.into(), is_everywhere: address.ip().is_unspecified(), port }
    }

    fn knows(&self, host: &str) -> bool {
        let is_number = || host.parse::<SocketAddr>().is_ok_and(|address| address.port() == self.port);
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) || (self.is_everywhere && is_number())
    }

    /// Why a request with these headers is not answered.
    fn objection(&self, headers: &HeaderMap) -> Option<Rejection> {
        let refuse = |sentence: &str| Some(Rejection::new(StatusCode::FORBIDDEN, sentence));
        let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        if !text(&header::HOST).is_some_and(|host| self.knows(host)) {
            return refuse("This studio is not known under that name: use the address that it printed.");
        }
        let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, host)| self.knows(host));
        match text(&header::ORIGIN) {
            Some(origin) if !is_own(origin) => refuse("Pages from elsewhere are not answered."),
            _ => None,
        }
    }
}

/// What a page of the studio may load: only what comes from the studio.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers only those who may ask, and gives every answer its headers.
pub(crate) async fn guarded(State(guard): State<KnownHosts>, request: Request, next: Next) -> Response {
    let mut answer = match guard.objection(request.headers()) {
        Some(rejection) => rejection.into_response(),
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
