//! Result of a fetch.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use crate::charset::{Charset, DecodedText};
use crate::decode::ContentCoding;
use crate::error::{FetchBlame, FetchError};
use crate::guard::GuardRefusal;
use crate::headers::{CacheHint, RetryAfter};
use crate::request::Validators;
use crate::robots_cache::{RobotsPermission, RobotsReason};

/// Outcome of a fetch and the record of how it came about.
#[derive(Clone, Debug)]
pub struct FetchResponse {
    /// Outcome.
    pub outcome: FetchOutcome,
    /// Record of the fetch.
    pub trace: FetchTrace,
}

impl FetchResponse {
    /// Returns the party to blame if the fetch failed. Refusals by robots.txt or by the guard are
    /// nobody's fault. An unreachable robots.txt is the host's fault, because it blocks all of the
    /// host's pages.
    #[must_use]
    pub fn blame(&self) -> Option<FetchBlame> {
        let is_unreachable =
            |robots: &RobotsPermission| matches!(robots.reason, RobotsReason::Unreachable(_));
        match &self.outcome {
            FetchOutcome::Failed(error) if error.blame() == FetchBlame::Us => Some(FetchBlame::Us),
            FetchOutcome::Failed(_) if self.trace.robots.as_ref().is_some_and(is_unreachable) => {
                Some(FetchBlame::Host)
            }
            FetchOutcome::Failed(error) => Some(error.blame()),
            FetchOutcome::Disallowed(permission) => {
                is_unreachable(permission).then_some(FetchBlame::Host)
            }
            _ => None,
        }
    }
}

/// Outcome of a fetch. All of these are expected.
#[derive(Clone, Debug)]
pub enum FetchOutcome {
    /// The content still matches the validators.
    NotModified,
    /// The content was received.
    Content(FetchedContent),
    /// The page does not exist: 404 or 410.
    Gone,
    /// robots.txt disallows the fetch, or the host answers that it is unavailable at the moment.
    /// The permission says why.
    Disallowed(Box<RobotsPermission>),
    /// The guard refuses the fetch.
    Refused(GuardRefusal),
    /// The page failed, or robots.txt before it. In the second case the permission in the record is
    /// [`RobotsReason::Unreachable`].
    Failed(FetchError),
}

impl FetchOutcome {
    /// Returns the stable name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotModified => "not-modified",
            Self::Content(_) => "content",
            Self::Gone => "gone",
            Self::Disallowed(_) => "disallowed",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        }
    }
}

/// Response body with its metadata.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchedContent {
    /// Decompressed body.
    pub body: Vec<u8>,
    /// Media type from `Content-Type`, in lower case and without parameters.
    pub media_type: Option<String>,
    /// Charset label from `Content-Type`.
    pub(crate) charset_label: Option<String>,
    pub(crate) host: Option<String>,
}

impl FetchedContent {
    /// Detects the encoding of the text.
    #[must_use]
    pub fn charset(&self) -> Charset {
        Charset::detect(&self.body, self.charset_label.as_deref(), self.host.as_deref())
    }

    /// Decodes the text.
    #[must_use]
    pub fn text(&self) -> DecodedText<'_> {
        self.charset().decode(&self.body)
    }
}

impl std::fmt::Debug for FetchedContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { body, media_type, charset_label: label, .. } = self;
        write!(f, "FetchedContent({} bytes, {media_type:?}, {label:?})", body.len())
    }
}

/// Record of a fetch.
#[derive(Clone, Debug, Default)]
pub struct FetchTrace {
    /// Requested pages in order; the last one is that of the outcome.
    pub hops: Vec<FetchHop>,
    /// Number of requests sent, including those for robots.txt and retries.
    pub requests: u32,
    /// Duration of the whole fetch.
    pub duration: Duration,
    /// robots.txt permission for the last page; `None` if robots.txt was not checked.
    pub robots: Option<RobotsPermission>,
    /// Delay that the host asks for: with a 429, a 503 or a redirect, also for robots.txt.
    pub retry_after: Option<RetryAfter>,
    /// Cache lifetime from the response headers.
    pub cache_hint: CacheHint,
    /// Validators that make the next fetch conditional.
    pub validators: Option<Validators>,
    /// Redirect target of the response to a [POST](crate::FetchRequest::with_post_body), which the
    /// caller may follow.
    pub redirect_target: Option<Url>,
    /// Values of the `Link` headers, up to a limit.
    pub link_headers: Vec<String>,
    /// Content codings of the body, the first one applied first.
    pub codings: Vec<ContentCoding>,
    /// Size of the body, also if reading it failed.
    pub body_sizes: BodySizes,
}

/// Size of a body in bytes, as far as it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodySizes {
    /// On the wire.
    pub encoded: u64,
    /// After decompression.
    pub decoded: u64,
}

/// One request on the way to the outcome: the first URL or a redirect target.
#[derive(Clone, Debug)]
pub struct FetchHop {
    /// Requested URL.
    pub url: Url,
    /// Status of the response, if there was one.
    pub status: Option<u16>,
    /// Address of the host or the proxy.
    pub address: Option<SocketAddr>,
    /// `HTTP/1.1` or `HTTP/2`
    pub version: Option<&'static str>,
    /// True if an existing connection was reused.
    pub reused: bool,
    /// Duration of each phase.
    pub timings: HopTimings,
}

/// Durations of the phases of a hop. The connection phases of a reused connection are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopTimings {
    /// DNS lookup.
    pub resolve: Duration,
    /// TCP connection.
    pub connect: Duration,
    /// TLS handshake.
    pub tls: Duration,
    /// From the request to the end of the response head.
    pub first_byte: Duration,
    /// From the response head to the end of the body.
    pub body: Duration,
}

impl FetchHop {
    /// Creates the record of a request that has not been sent yet.
    pub(crate) fn new(url: Url) -> Self {
        Self {
            url,
            status: None,
            address: None,
            version: None,
            reused: false,
            timings: HopTimings::default(),
        }
    }
}

impl FetchTrace {
    /// Returns the status of the last response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.hops.last().and_then(|hop| hop.status)
    }

    /// Returns the URL of the outcome, after redirects.
    #[must_use]
    pub fn final_url(&self) -> Option<&Url> {
        self.hops.last().map(|hop| &hop.url)
    }

    /// Returns the new URL of the source if there were redirects and all of them were permanent.
    #[must_use]
    pub fn moved_permanently_to(&self) -> Option<&Url> {
        let (last, before) = self.hops.split_last()?;
        let permanent = |hop: &FetchHop| matches!(hop.status, Some(301 | 308));
        (!before.is_empty() && before.iter().all(permanent)).then_some(&last.url)
    }
}
