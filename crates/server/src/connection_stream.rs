//! A TCP stream with a write timeout. It replaces the HTTP library's error responses without a
//! body by problem details.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::connection_limiter::ConnectionSlot;
use crate::problem::{MEDIA_TYPE, Problem};

/// A TCP stream that fails if the peer accepts no data for the write timeout.
pub(crate) struct ConnectionStream {
    stream: TcpStream,
    write_timeout: Duration,
    /// Runs while the peer accepts no data.
    write_timer: Option<Pin<Box<Sleep>>>,
    slot: Arc<ConnectionSlot>,
    /// Unsent rest of the response that replaces one without a body.
    replacement: Bytes,
}

impl ConnectionStream {
    pub(crate) fn new(
        stream: TcpStream,
        write_timeout: Duration,
        slot: Arc<ConnectionSlot>,
    ) -> Self {
        Self { stream, write_timeout, write_timer: None, slot, replacement: Bytes::new() }
    }

    fn check_write_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let write_timeout = self.write_timeout;
        let write_timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(write_timeout)));
        ready!(write_timer.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read the response")))
    }

    /// The HTTP library answers a request that it cannot parse by a status without a body, before
    /// any handler runs. Such a response is replaced by one with problem details. Returns true if
    /// `bytes` is the start of one.
    fn replace_bodiless_error(&mut self, bytes: &[u8]) -> bool {
        if !self.slot.has_no_request() || !self.replacement.is_empty() {
            return false;
        }
        let Some(problem) = parse_error_problem(bytes) else { return false };
        self.replacement = http_response(&problem);
        true
    }

    fn poll_replacement(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.replacement.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(context, &self.replacement);
            match ready!(self.check_write_timeout(context, written))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                count => self.replacement.advance(count),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the problem of a request that could not be parsed, from the head of the HTTP library's
/// response to it.
fn parse_error_problem(head: &[u8]) -> Option<Problem> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    Some(match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            let detail = "the request head is larger than 64 KiB or has more than 100 fields";
            Problem::new(status, detail)
        }
        StatusCode::URI_TOO_LONG => Problem::new(status, "the path is too long"),
        _ => Problem::new(status, "not a valid HTTP/1.1 request")
            .with_hint("the server does not speak TLS: use http://"),
    })
}

fn http_response(problem: &Problem) -> Bytes {
    let body = serde_json::to_string(problem).unwrap_or_default();
    let (status, title, length) = (problem.status, problem.title, body.len());
    let head = format!(
        "HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {length}\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    );
    (head + &body).into()
}

impl AsyncRead for ConnectionStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ConnectionStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_replacement(context))?;
        if self.replace_bodiless_error(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_write_timeout(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_replacement(context))?;
        let first = bytes.iter().find(|it| !it.is_empty());
        if first.is_some_and(|first| self.replace_bodiless_error(first)) {
            return Poll::Ready(Ok(bytes.iter().map(|it| it.len()).sum()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.check_write_timeout(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_replacement(context))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.slot.on_flush();
        }
        self.check_write_timeout(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_replacement(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
