//! What came of a fetch.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use crate::charset::{Charset, Text};
use crate::decode::Coding;
use crate::error::{Blame, FetchError};
use crate::guard::Refusal;
use crate::headers::{CacheHint, Wait};
use crate::permission::{Because, Permission};
use crate::request::Validators;

/// What came of a fetch, and the record of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What came of it.
    pub outcome: Outcome,
    /// How.
    pub trace: Trace,
}

impl Answer {
    /// Whose fault it is, if something went wrong. A refusal, by robots.txt or by the guard, is not a
    /// fault; a robots.txt that cannot be had is one of the host, since it stands between us and all
    /// its pages.
    #[must_use]
    pub fn blame(&self) -> Option<Blame> {
        let is_unreachable =
            |robots: &Permission| matches!(robots.because, Because::Unreachable(_));
        match &self.outcome {
            Outcome::Failed(error) if error.blame() == Blame::Us => Some(Blame::Us),
            Outcome::Failed(_) if self.trace.robots.as_ref().is_some_and(is_unreachable) => {
                Some(Blame::Host)
            }
            Outcome::Failed(error) => Some(error.blame()),
            Outcome::Disallowed(permission) => is_unreachable(permission).then_some(Blame::Host),
            _ => None,
        }
    }
}

/// What came of a fetch. All of these are expected.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The content is still what the validators are of.
    NotModified,
    /// The content.
    Content(Content),
    /// There is no such thing: 404 or 410.
    Gone,
    /// robots.txt does not allow it, or the host answers that it cannot give it now. The permission says
    /// why.
    Disallowed(Box<Permission>),
    /// The guard does not allow it.
    Refused(Refusal),
    /// It failed: the page, or before it robots.txt. If it was that, the permission in the record is
    /// [`Because::Unreachable`].
    Failed(FetchError),
}

impl Outcome {
    /// Its name for programs.
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

/// A body and what is said of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The type that the host gives it, in lower case, without parameters.
    pub media_type: Option<String>,
    /// The charset that the host says it has.
    pub(crate) label: Option<String>,
    pub(crate) host: Option<String>,
}

impl Content {
    /// The encoding of its text.
    #[must_use]
    pub fn charset(&self) -> Charset {
        Charset::find(&self.body, self.label.as_deref(), self.host.as_deref())
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> Text<'_> {
        self.charset().decode(&self.body)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { body, media_type, label, .. } = self;
        write!(f, "Content({} bytes, {media_type:?}, {label:?})", body.len())
    }
}

/// The record of a fetch.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The pages on the way, the last one being that of the outcome.
    pub hops: Vec<Hop>,
    /// Requests that were sent, those for robots.txt and repeated ones too.
    pub requests: u32,
    /// From the call to the outcome.
    pub total: Duration,
    /// What robots.txt says of the last page; `None` if it was not asked.
    pub robots: Option<Permission>,
    /// How long the host wants to be left alone: of a 429, a 503 or a redirect, also of robots.txt.
    pub retry_after: Option<Wait>,
    /// What it says of how long the content stays fresh.
    pub cache: CacheHint,
    /// What makes the next fetch conditional.
    pub validators: Option<Validators>,
    /// Where an answer to what was [sent](crate::Request::post) leads: such redirects are the caller's to
    /// follow.
    pub leads_to: Option<Url>,
    /// What its `Link` headers say, as far as that is not too much.
    pub links: Vec<String>,
    /// How the body was compressed, the first one applied first.
    pub codings: Vec<Coding>,
    /// Bytes of the content's body, also if it failed.
    pub sizes: Sizes,
}

/// Bytes of a body, as far as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// On the wire.
    pub wire: u64,
    /// Decompressed.
    pub body: u64,
}

/// A page on the way.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Where it is.
    pub url: Url,
    /// What was answered, if something was.
    pub status: Option<u16>,
    /// Who answered: the host, or the proxy.
    pub address: Option<SocketAddr>,
    /// `HTTP/1.1` or `HTTP/2`
    pub version: Option<&'static str>,
    /// Whether the connection had been used before.
    pub reused: bool,
    /// How long it took.
    pub timings: Timings,
}

/// How long the parts of a hop took. A connection that is used again costs nothing to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// From the name to addresses.
    pub resolve: Duration,
    /// To a connection.
    pub connect: Duration,
    /// To a secure connection.
    pub tls: Duration,
    /// From the request to the end of the answer's head.
    pub first_byte: Duration,
    /// From there to the end of the body.
    pub body: Duration,
}

impl Hop {
    /// On the way to a URL.
    pub(crate) fn to(url: Url) -> Self {
        Self {
            url,
            status: None,
            address: None,
            version: None,
            reused: false,
            timings: Timings::default(),
        }
    }
}

impl Trace {
    /// The status of the last answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.hops.last().and_then(|hop| hop.status)
    }

    /// Where the outcome is of, after redirects.
    #[must_use]
    pub fn final_url(&self) -> Option<&Url> {
        self.hops.last().map(|hop| &hop.url)
    }

    /// Where the source has moved to for good: there were redirects, and all were permanent.
    #[must_use]
    pub fn moved(&self) -> Option<&Url> {
        let (last, before) = self.hops.split_last()?;
        let permanent = |hop: &Hop| matches!(hop.status, Some(301 | 308));
        (!before.is_empty() && before.iter().all(permanent)).then_some(&last.url)
    }
}
