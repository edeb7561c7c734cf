//! Frames over a stream: four bytes of length, least significant first, then that many bytes.
//!
//! Memory is allocated as bytes arrive, not when they are announced, so that an announcement alone costs nothing.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;

use doorway_protocol as protocol;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Reads the bytes of one frame, at most `longest`; `None` if the stream has ended where a frame could begin.
pub(crate) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    longest: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 4];
    if stream.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut head[1..]).await?;
    let length = protocol::length(head, longest)?;
    let mut bytes = Vec::with_capacity(length.min(1 << 10));
    stream.take(length as u64).read_to_end(&mut bytes).await?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

/// Does two things at once until either ends, and drops the other.
pub(crate) async fn race<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready => ready,
    })
    .await
}
