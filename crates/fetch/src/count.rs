//! A stream that counts what comes out of it, and ends where that is too much: what frames a message takes
//! room on the wire too, and some of it has no end of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::TlsFault;
use crate::tls;

/// Bytes that a connection has received so far, and how many it may.
#[derive(Clone, Debug)]
pub(crate) struct Received(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    bytes: AtomicU64,
    most: AtomicU64,
    declined: AtomicBool,
}

impl Received {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Counts {
            bytes: AtomicU64::new(0),
            most: AtomicU64::new(u64::MAX),
            declined: AtomicBool::new(false),
        }))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Lets so many more come.
    pub(crate) fn allow(&self, more: u64) {
        self.0.most.store(self.bytes().saturating_add(more), Ordering::Relaxed);
    }

    /// Lets so many come in all.
    pub(crate) fn allow_until(&self, most: u64) {
        self.0.most.store(most, Ordering::Relaxed);
    }

    /// Whether the host ended with an alert what seemed to be a secure connection. Of TLS 1.3 we are done
    /// before it has seen that we show no certificate.
    pub(crate) fn is_declined(&self) -> bool {
        self.0.declined.load(Ordering::Relaxed)
    }

    /// Whether more came than may.
    pub(crate) fn is_over(&self) -> bool {
        self.bytes() > self.0.most.load(Ordering::Relaxed)
    }
}

/// A stream whose bytes are counted as they are read.
pub(crate) struct Counted<T> {
    stream: T,
    received: Received,
}

impl<T> Counted<T> {
    pub(crate) fn new(stream: T, received: Received) -> Self {
        Self { stream, received }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Poll::Ready(Err(error)) = &polled
            && tls::fault(error) == TlsFault::Alert
        {
            self.received.0.declined.store(true, Ordering::Relaxed);
        }
        let read = buffer.filled().len() - before;
        self.received.0.bytes.fetch_add(read as u64, Ordering::Relaxed);
        if self.received.is_over() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
