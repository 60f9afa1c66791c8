//! A connection on which nobody can stop reading for ever, and on which all that goes wrong is told in
//! one way.

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

/// A connection that breaks if the other end takes nothing for so long.
pub(crate) struct Wire {
    stream: TcpStream,
    patience: Duration,
    /// Runs while there is something that the other end does not take.
    waiting: Option<Pin<Box<Sleep>>>,
    seat: Arc<ConnectionSlot>,
    /// What is said in place of an answer without words, as far as it has not gone.
    instead: Bytes,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, patience: Duration, seat: Arc<ConnectionSlot>) -> Self {
        Self { stream, patience, waiting: None, seat, instead: Bytes::new() }
    }

    fn wait<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "nobody reads the answer")))
    }

    /// What cannot be read as a request is answered before anything of ours has seen it, by a status
    /// and no more: then it is said in words. Gives whether that is so.
    fn says_in_words(&mut self, bytes: &[u8]) -> bool {
        if !self.seat.is_unasked() || !self.instead.is_empty() {
            return false;
        }
        let Some(problem) = unreadable(bytes) else { return false };
        self.instead = whole(&problem);
        true
    }

    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.instead.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(context, &self.instead);
            match ready!(self.wait(context, written))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                count => self.instead.advance(count),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// What is wrong with a request that could not be read, by the head of the answer to it.
fn unreadable(head: &[u8]) -> Option<Problem> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    Some(match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            let detail =
                "the head of the request is larger than 64 KiB, or has more than 100 fields";
            Problem::new(status, detail)
        }
        StatusCode::URI_TOO_LONG => Problem::new(status, "the path is too long"),
        _ => Problem::new(status, "this is not a request of HTTP/1.1")
            .hint("there is no TLS: the address begins with http://"),
    })
}

fn whole(problem: &Problem) -> Bytes {
    let body = serde_json::to_string(problem).unwrap_or_default();
    let (status, title, length) = (problem.status, problem.title, body.len());
    let head = format!(
        "HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {length}\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    );
    (head + &body).into()
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_instead(context))?;
        if self.says_in_words(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wait(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_instead(context))?;
        let first = bytes.iter().find(|it| !it.is_empty());
        if first.is_some_and(|first| self.says_in_words(first)) {
            return Poll::Ready(Ok(bytes.iter().map(|it| it.len()).sum()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wait(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(context))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.seat.flushed();
        }
        self.wait(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
