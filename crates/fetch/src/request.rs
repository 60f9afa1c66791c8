//! What to fetch.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;
use url::Url;

use crate::outcome::Hop;
use crate::request_hook::RequestHook;
use crate::secret::shown;
use crate::settings::is_ours;

/// A fetch to be made.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) url: Url,
    pub(crate) validators: Option<Validators>,
    pub(crate) headers: HeaderMap,
    pub(crate) verb: Verb,
    pub(crate) gate: Option<RequestHook>,
    /// Where it has been, and where it stopped.
    pub(crate) way: Vec<Hop>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    Get,
    Head,
    Post(Bytes),
}

/// What makes a fetch conditional: what the last answer said of its own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// Where that answer came from, after redirects. They are sent there and nowhere else: the version
    /// of one page says nothing of another.
    pub url: Url,
    /// Whether the URL is only where the way there begins, because somebody wrote them down who does not
    /// know more: they are sent to all pages of its origin that the fetch comes to.
    pub is_start: bool,
    /// `ETag`
    pub etag: Option<String>,
    /// `Last-Modified`
    pub last_modified: Option<String>,
}

/// A request that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidRequest {
    /// Not a URL.
    #[error("`{url}` is not a URL: {reason}")]
    Url {
        /// What was given.
        url: String,
        /// Why not.
        reason: url::ParseError,
    },
    /// A name or a password in a URL would end up in logs and reports.
    #[error("the URL of {host} holds a name or a password")]
    Userinfo {
        /// The host.
        host: String,
    },
    /// A header that is not for the caller to set, or not to this.
    #[error("`{name}` cannot be set as a header, or not to this")]
    Header {
        /// Its name.
        name: String,
    },
    /// No name of a header. It is not shown: it may be a secret in the wrong place.
    #[error("a header has a name that is none")]
    HeaderName,
    /// No ETag: nothing, or with control characters in it.
    #[error("the ETag is empty or holds control characters")]
    Etag,
    /// Not a date as headers have it.
    #[error("`{date}` is not a date as in Last-Modified")]
    Date {
        /// What was given.
        date: String,
    },
}

impl Request {
    /// A fetch of a URL.
    ///
    /// # Errors
    /// If it is not a URL, or holds a password.
    pub fn new(url: &str) -> Result<Self, InvalidRequest> {
        let mut parsed =
            Url::parse(url).map_err(|reason| InvalidRequest::Url { url: shown(url), reason })?;
        // `me:secret@host` is a URL whose scheme is `me`.
        let is_known = matches!(parsed.scheme(), "http" | "https" | "file" | "exec");
        let is_hidden = !is_known && url.contains('@');
        if is_hidden || !parsed.username().is_empty() || parsed.password().is_some() {
            let rest = url.rsplit('@').next().unwrap_or_default();
            let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
            let host = parsed.host_str().unwrap_or(host).to_owned();
            return Err(InvalidRequest::Userinfo { host });
        }
        parsed.set_fragment(None);
        Ok(Self {
            url: parsed,
            validators: None,
            headers: HeaderMap::new(),
            verb: Verb::Get,
            gate: None,
            way: Vec::new(),
        })
    }

    /// Makes it conditional: the content only if it is another.
    #[must_use]
    pub fn since(mut self, validators: Validators) -> Self {
        self.validators = Some(validators);
        self
    }

    /// Asks for the head only: validators without the content.
    #[must_use]
    pub fn head(mut self) -> Self {
        self.verb = Verb::Head;
        self
    }

    /// Sends a body there, to somebody who waits for it. Nothing is crawled by that, so robots.txt is not
    /// asked; no redirect is followed, and no header goes along but those of this request. What is
    /// answered is [`Content`](crate::Outcome::Content) whatever its status, up to some KiB of it. If a
    /// kept connection breaks before there is an answer, it is sent once more.
    ///
    /// # Errors
    /// If that cannot be the type of a body.
    pub fn post(
        mut self,
        media_type: &str,
        body: impl Into<Bytes>,
    ) -> Result<Self, InvalidRequest> {
        let invalid = |_| InvalidRequest::Header { name: CONTENT_TYPE.as_str().to_owned() };
        let media_type: HeaderValue = media_type.parse().map_err(invalid)?;
        self.headers.insert(CONTENT_TYPE, media_type);
        self.verb = Verb::Post(body.into());
        Ok(self)
    }

    /// Asks at a gate before each of its requests.
    #[must_use]
    pub fn through(mut self, gate: RequestHook) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Goes on where an earlier fetch of the same stopped: at the last of its hops.
    #[must_use]
    pub fn going_on(mut self, hops: Vec<Hop>) -> Self {
        self.way = hops;
        self
    }

    /// Adds a header. It goes to the origin of the URL and, after a redirect, to no other.
    ///
    /// # Errors
    /// If it is no header, or one that freshet sets itself.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, InvalidRequest> {
        let invalid = || InvalidRequest::Header { name: name.to_owned() };
        let key: HeaderName = name.parse().map_err(|_| InvalidRequest::HeaderName)?;
        let mut value: HeaderValue = value.parse().map_err(|_| invalid())?;
        if is_ours(&key) {
            return Err(invalid());
        }
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    /// Where it goes to.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl Validators {
    /// Validators that somebody wrote down, of the page that a URL leads to. Those of an answer are in its
    /// record.
    ///
    /// # Errors
    /// If they cannot be those of an answer.
    pub fn new(
        url: &Url,
        etag: Option<&str>,
        last_modified: Option<&str>,
    ) -> Result<Self, InvalidRequest> {
        if etag.is_some_and(|it| it.is_empty() || it.contains(char::is_control)) {
            return Err(InvalidRequest::Etag);
        }
        if let Some(date) = last_modified.filter(|it| httpdate::parse_http_date(it).is_err()) {
            return Err(InvalidRequest::Date { date: date.to_owned() });
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (etag, last_modified) = (owned(etag), owned(last_modified));
        Ok(Self { url: url.clone(), is_start: true, etag, last_modified })
    }

    pub(crate) fn are_for(&self, url: &Url) -> bool {
        self.url == *url || self.is_start && self.url.origin() == url.origin()
    }

    /// Whether they say anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
