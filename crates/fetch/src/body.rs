//! The body of an answer, read within all limits.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

use crate::decode::Decoder;
use crate::error::{FetchError, Phase, ProtocolFault, Size};
use crate::exchange::{Exchange, Reply, library, second};
use crate::headers;
use crate::outcome::{Hop, Sizes};

/// A body that nobody wants is read up to here, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;
/// And for no longer than this: a new connection takes less.
const DRAINED_FOR: Duration = Duration::from_secs(1);
/// What a body may take on the wire beyond its own length: the frames of an encoding, or of chunks.
const FRAMES: u64 = 64 * 1024;

/// What of a body is wanted.
struct BodyPlan {
    wire: u64,
    body: u64,
    /// Whether what is beyond is left out, and no error.
    part: bool,
    /// How long it may take.
    time: Duration,
}

/// Where a body goes that is too long to be held, and how long it may be.
pub struct BodySink<'a> {
    /// It is written here while it comes, decompressed, in pieces of some KiB.
    pub to: &'a mut (dyn Write + Send),
    /// Bytes on the wire at most.
    pub wire_bytes: u64,
    /// Bytes after decompression at most.
    pub body_bytes: u64,
    /// How long the whole body may take.
    pub body: Duration,
}

impl Exchange {
    /// Reads a whole body.
    pub(crate) async fn read(
        &self,
        reply: Reply,
        hop: &mut Hop,
        sizes: &mut Sizes,
    ) -> Result<Vec<u8>, FetchError> {
        let limits = &self.settings.limits;
        let (wire, body, time) = (limits.wire_bytes, limits.body_bytes, limits.body);
        let wanted = BodyPlan { wire, body, part: false, time };
        Ok(self.receive(reply, hop, sizes, &wanted, None).await?.0)
    }

    /// Reads a whole body, and keeps none of it.
    pub(crate) async fn read_aside(
        &self,
        reply: Reply,
        hop: &mut Hop,
        sizes: &mut Sizes,
        aside: &mut BodySink<'_>,
    ) -> Result<(), FetchError> {
        let BodySink { to, wire_bytes, body_bytes, body } = aside;
        let wanted = BodyPlan { wire: *wire_bytes, body: *body_bytes, part: false, time: *body };
        self.receive(reply, hop, sizes, &wanted, Some(*to)).await.map(|_| ())
    }

    /// Reads so many bytes of a body, and says whether there are more.
    pub(crate) async fn read_part(
        &self,
        reply: Reply,
        hop: &mut Hop,
        most: usize,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let most = most as u64;
        let time = self.settings.limits.body;
        let wanted = BodyPlan { wire: most + FRAMES, body: most, part: true, time };
        self.receive(reply, hop, &mut Sizes::default(), &wanted, None).await
    }

    async fn receive(
        &self,
        reply: Reply,
        hop: &mut Hop,
        sizes: &mut Sizes,
        wanted: &BodyPlan,
        aside: Option<&mut (dyn Write + Send)>,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let limits = &self.settings.limits;
        let codings = headers::codings(&reply.headers)?;
        let Reply { mut body, link, route, arrived, .. } = reply;
        let declared = body.size_hint().exact();
        let too_large = FetchError::TooLarge { what: Size::Wire, limit: wanted.wire };
        if !wanted.part && declared.is_some_and(|length| length > wanted.wire) {
            return Err(too_large);
        }
        let expect = declared.unwrap_or(0).min(1 << 20) as usize;
        let mut decoder = match aside {
            Some(to) => Decoder::aside(&codings, wanted.body, to),
            None => Decoder::new(&codings, expect, wanted.body),
        };
        let deadline = arrived + wanted.time;
        let before = link.received.bytes();
        let ahead = FRAMES + 2 * limits.head_bytes;
        loop {
            // As much again as came of it for what frames it: more would be chunks of a few bytes each.
            // Some of what comes is read ahead. Of HTTP/2, the library counts what frames a body.
            if !link.is_second() {
                link.received.allow_until(before + 2 * sizes.wire + ahead);
            }
            let idle = Instant::now() + limits.idle;
            let frame = match timeout_at(idle.min(deadline), body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => break,
                Ok(Some(Err(_))) if link.received.is_over() => {
                    let limit = sizes.wire + ahead;
                    return Err(FetchError::TooLarge { what: Size::Frames, limit });
                }
                Ok(Some(Err(error))) => return Err(broken(&error, sizes.wire, declared)),
                Err(_) if idle < deadline => {
                    return Err(FetchError::Timeout { phase: Phase::Idle, after: limits.idle });
                }
                Err(_) => {
                    return Err(FetchError::Timeout { phase: Phase::Body, after: wanted.time });
                }
            };
            let Some(data) = frame.data_ref() else { continue };
            sizes.wire += data.len() as u64;
            let pushed = match decoder.push(data) {
                Ok(()) if sizes.wire > wanted.wire => Err(too_large.clone()),
                pushed => pushed,
            };
            sizes.body = decoder.len();
            match pushed {
                Ok(()) => {}
                Err(FetchError::TooLarge { .. }) if wanted.part => {
                    return Ok((decoder.into_part(), true));
                }
                Err(error) => return Err(error),
            }
        }
        hop.timings.body = arrived.elapsed();
        self.pool.keep(&route, link);
        Ok((decoder.finish()?, false))
    }

    /// Passes over a body that nobody wants. If it is short, the connection is of use again.
    pub(crate) async fn drain(&self, reply: Reply) {
        let Reply { mut body, link, route, .. } = reply;
        if link.is_second() {
            return self.pool.keep(&route, link);
        }
        let deadline = Instant::now() + self.settings.limits.idle.min(DRAINED_FOR);
        let mut left = DRAINED;
        while !body.is_end_stream() {
            match timeout_at(deadline, body.frame()).await {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                    match left.checked_sub(length) {
                        Some(rest) => left = rest,
                        None => return,
                    }
                }
                Ok(Some(Err(_))) | Err(_) => return,
            }
        }
        self.pool.keep(&route, link);
    }
}

/// Why there is no whole body.
fn broken(error: &hyper::Error, got: u64, declared: Option<u64>) -> FetchError {
    if let Some(error) = library(error) {
        // Who ends a stream at another length than it declared is cut off by the library.
        let is_cut = error.is_library()
            && error.is_reset()
            && error.reason() == Some(h2::Reason::PROTOCOL_ERROR)
            && declared.is_some();
        if is_cut || error.is_io() {
            return FetchError::Truncated { got, declared };
        }
    }
    if let Some(fault) = second(error) {
        return FetchError::Protocol { fault };
    }
    let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    let bad = |kind| matches!(kind, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
    if cause.is_some_and(|cause| bad(cause.kind())) {
        return FetchError::Protocol { fault: ProtocolFault::Framing };
    }
    FetchError::Truncated { got, declared }
}
