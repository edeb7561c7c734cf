//! `GET /health` and `GET /ready`, or `HEAD`, for health checks, in just enough HTTP.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::shared::DaemonState;
use crate::throttle::AcceptBackoff;

/// How many requests are answered at once; more wait.
const MOST: usize = 32;

/// Answers for as long as the node lives.
pub(crate) async fn listen(shared: Arc<DaemonState>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MOST));
    let mut respite = AcceptBackoff::new("health checks");
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                respite.over();
                let shared = shared.clone();
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(2), answer(&shared, stream)).await;
                    drop(place);
                });
            }
            Err(error) => respite.rest(&error).await,
        }
    }
}

async fn answer(shared: &DaemonState, mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; 512];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 4_096 {
        match stream.read(&mut part).await? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    let (status, sentence) = reply(shared, &request);
    let body = if request.starts_with(b"HEAD ") { String::new() } else { format!("{sentence}\n") };
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        sentence.len() + 1
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

fn reply(shared: &DaemonState, request: &[u8]) -> (&'static str, &'static str) {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    const UNAVAILABLE: &str = "503 Service Unavailable";
    match (method, path) {
        (b"GET" | b"HEAD", b"/health") if shared.is_alive() => ("200 OK", "ok"),
        (b"GET" | b"HEAD", b"/health") => (UNAVAILABLE, "the node does not respond or has ended"),
        (b"GET" | b"HEAD", b"/ready") => {
            shared.why_not_ready().map_or(("200 OK", "ready"), |why| (UNAVAILABLE, why))
        }
        _ => ("404 Not Found", "ask for /health or /ready"),
    }
}
