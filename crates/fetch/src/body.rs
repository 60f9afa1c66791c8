//! Reads response bodies within all limits.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

use crate::decode::Decoder;
use crate::error::{FetchError, ProtocolFault, ResponsePart, TimeoutPhase};
use crate::fetch_response::{BodySizes, FetchHop};
use crate::headers;
use crate::http_client::{HttpClient, ResponseHead, h2_error, h2_fault};

/// An unwanted body is read up to this size, so that its connection can be reused.
const MAX_DRAINED_BYTES: u64 = 64 * 1024;
/// And for at most this long: a new connection takes less.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum bytes on the wire beyond the wanted prefix: framing of chunks or of the content coding.
const MAX_FRAMING_BYTES: u64 = 64 * 1024;

/// Limits for reading one body.
struct BodyPlan {
    max_encoded: u64,
    max_decoded: u64,
    /// True if a body beyond the limits is cut instead of failing.
    allow_partial: bool,
    /// Time limit for the whole body.
    timeout: Duration,
}

/// Destination for a body that is too long for memory, and its limits.
pub struct BodySink<'a> {
    /// Receives the decompressed body as it arrives, in pieces of a few KiB.
    pub writer: &'a mut (dyn Write + Send),
    /// Maximum bytes on the wire.
    pub max_wire_bytes: u64,
    /// Maximum bytes after decompression.
    pub max_body_bytes: u64,
    /// Time limit for the whole body.
    pub timeout: Duration,
}

impl HttpClient {
    /// Reads a whole body into memory.
    pub(crate) async fn read_body(
        &self,
        response: ResponseHead,
        hop: &mut FetchHop,
        sizes: &mut BodySizes,
    ) -> Result<Vec<u8>, FetchError> {
        let limits = &self.settings.limits;
        let plan = BodyPlan {
            max_encoded: limits.max_wire_bytes,
            max_decoded: limits.max_body_bytes,
            allow_partial: false,
            timeout: limits.body_timeout,
        };
        Ok(self.receive_body(response, hop, sizes, &plan, None).await?.0)
    }

    /// Reads a whole body into a sink.
    pub(crate) async fn read_body_into(
        &self,
        response: ResponseHead,
        hop: &mut FetchHop,
        sizes: &mut BodySizes,
        sink: &mut BodySink<'_>,
    ) -> Result<(), FetchError> {
        let plan = BodyPlan {
            max_encoded: sink.max_wire_bytes,
            max_decoded: sink.max_body_bytes,
            allow_partial: false,
            timeout: sink.timeout,
        };
        self.receive_body(response, hop, sizes, &plan, Some(&mut *sink.writer)).await.map(|_| ())
    }

    /// Reads at most `max_len` bytes of a body; returns true if there are more.
    pub(crate) async fn read_body_prefix(
        &self,
        response: ResponseHead,
        hop: &mut FetchHop,
        max_len: usize,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let max_len = max_len as u64;
        let plan = BodyPlan {
            max_encoded: max_len + MAX_FRAMING_BYTES,
            max_decoded: max_len,
            allow_partial: true,
            timeout: self.settings.limits.body_timeout,
        };
        self.receive_body(response, hop, &mut BodySizes::default(), &plan, None).await
    }

    async fn receive_body(
        &self,
        response: ResponseHead,
        hop: &mut FetchHop,
        sizes: &mut BodySizes,
        plan: &BodyPlan,
        sink: Option<&mut (dyn Write + Send)>,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let limits = &self.settings.limits;
        let codings = headers::codings(&response.headers)?;
        let ResponseHead { mut body, connection, route, received_at, .. } = response;
        let declared = body.size_hint().exact();
        let too_large =
            FetchError::TooLarge { part: ResponsePart::EncodedBody, limit: plan.max_encoded };
        if !plan.allow_partial && declared.is_some_and(|length| length > plan.max_encoded) {
            return Err(too_large);
        }
        let capacity = declared.unwrap_or(0).min(1 << 20) as usize;
        let mut decoder = match sink {
            Some(writer) => Decoder::with_sink(&codings, plan.max_decoded, writer),
            None => Decoder::new(&codings, capacity, plan.max_decoded),
        };
        let deadline = received_at + plan.timeout;
        let received_before = connection.received.count();
        let allowance = MAX_FRAMING_BYTES + 2 * limits.max_head_bytes;
        loop {
            // Framing may take as many bytes as the body itself; more means chunks of a few bytes
            // each. Some bytes are read ahead. For HTTP/2, the library limits the framing.
            if !connection.is_http2() {
                connection.received.set_limit(received_before + 2 * sizes.encoded + allowance);
            }
            let idle = Instant::now() + limits.idle_timeout;
            let frame = match timeout_at(idle.min(deadline), body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => break,
                Ok(Some(Err(_))) if connection.received.is_over_limit() => {
                    let limit = sizes.encoded + allowance;
                    return Err(FetchError::TooLarge { part: ResponsePart::Framing, limit });
                }
                Ok(Some(Err(error))) => return Err(body_error(&error, sizes.encoded, declared)),
                Err(_) if idle < deadline => {
                    return Err(FetchError::Timeout {
                        phase: TimeoutPhase::Idle,
                        after: limits.idle_timeout,
                    });
                }
                Err(_) => {
                    return Err(FetchError::Timeout {
                        phase: TimeoutPhase::Body,
                        after: plan.timeout,
                    });
                }
            };
            let Some(data) = frame.data_ref() else { continue };
            sizes.encoded += data.len() as u64;
            let result = match decoder.decode(data) {
                Ok(()) if sizes.encoded > plan.max_encoded => Err(too_large.clone()),
                result => result,
            };
            sizes.decoded = decoder.len();
            match result {
                Ok(()) => {}
                Err(FetchError::TooLarge { .. }) if plan.allow_partial => {
                    return Ok((decoder.into_partial(), true));
                }
                Err(error) => return Err(error),
            }
        }
        hop.timings.body = received_at.elapsed();
        self.pool.put_idle(&route, connection);
        Ok((decoder.finish()?, false))
    }

    /// Discards an unwanted body. The connection is reused if the body is short.
    pub(crate) async fn drain_body(&self, response: ResponseHead) {
        let ResponseHead { mut body, connection, route, .. } = response;
        if connection.is_http2() {
            return self.pool.put_idle(&route, connection);
        }
        let deadline = Instant::now() + self.settings.limits.idle_timeout.min(DRAIN_TIMEOUT);
        let mut remaining = MAX_DRAINED_BYTES;
        while !body.is_end_stream() {
            match timeout_at(deadline, body.frame()).await {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                    match remaining.checked_sub(length) {
                        Some(rest) => remaining = rest,
                        None => return,
                    }
                }
                Ok(Some(Err(_))) | Err(_) => return,
            }
        }
        self.pool.put_idle(&route, connection);
    }
}

/// Explains why the body is incomplete.
fn body_error(error: &hyper::Error, received: u64, declared: Option<u64>) -> FetchError {
    if let Some(error) = h2_error(error) {
        // The library resets a stream that ends at another length than declared.
        let is_cut = error.is_library()
            && error.is_reset()
            && error.reason() == Some(h2::Reason::PROTOCOL_ERROR)
            && declared.is_some();
        if is_cut || error.is_io() {
            return FetchError::Truncated { received, declared };
        }
    }
    if let Some(fault) = h2_fault(error) {
        return FetchError::Protocol { fault };
    }
    let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    let bad = |kind| matches!(kind, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
    if cause.is_some_and(|cause| bad(cause.kind())) {
        return FetchError::Protocol { fault: ProtocolFault::Framing };
    }
    FetchError::Truncated { received, declared }
}
