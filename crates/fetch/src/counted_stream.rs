//! Stream that counts received bytes and fails above a limit: framing takes bytes on the wire too,
//! and some of it has no bound of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::TlsFault;
use crate::tls;

/// Number of bytes that a connection has received, and its limit.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedBytes(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    bytes: AtomicU64,
    limit: AtomicU64,
    tls_rejected: AtomicBool,
}

impl ReceivedBytes {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Counts {
            bytes: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            tls_rejected: AtomicBool::new(false),
        }))
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Sets the limit to `more` bytes from now.
    pub(crate) fn set_limit_from_now(&self, more: u64) {
        self.0.limit.store(self.count().saturating_add(more), Ordering::Relaxed);
    }

    /// Sets the limit to `limit` bytes in total.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.0.limit.store(limit, Ordering::Relaxed);
    }

    /// True if the host ended a TLS connection with an alert after the handshake. With TLS 1.3 the
    /// client completes the handshake before the server can reject it for lack of a client
    /// certificate.
    pub(crate) fn is_tls_rejected(&self) -> bool {
        self.0.tls_rejected.load(Ordering::Relaxed)
    }

    /// True if more bytes were received than the limit allows.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.count() > self.0.limit.load(Ordering::Relaxed)
    }
}

/// Stream whose received bytes are counted.
pub(crate) struct CountedStream<T> {
    stream: T,
    received: ReceivedBytes,
}

impl<T> CountedStream<T> {
    pub(crate) fn new(stream: T, received: ReceivedBytes) -> Self {
        Self { stream, received }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for CountedStream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Poll::Ready(Err(error)) = &polled
            && tls::fault(error) == TlsFault::Rejected
        {
            self.received.0.tls_rejected.store(true, Ordering::Relaxed);
        }
        let read = buffer.filled().len() - before;
        self.received.0.bytes.fetch_add(read as u64, Ordering::Relaxed);
        if self.received.is_over_limit() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for CountedStream<T> {
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
