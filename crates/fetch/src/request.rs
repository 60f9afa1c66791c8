//! Requests: what to fetch.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;
use url::Url;

use crate::fetch_response::FetchHop;
use crate::request_hook::RequestHook;
use crate::secret::redact_userinfo;
use crate::settings::is_reserved;

/// Request for a fetch.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    pub(crate) url: Url,
    pub(crate) validators: Option<Validators>,
    pub(crate) headers: HeaderMap,
    pub(crate) method: RequestMethod,
    pub(crate) hook: Option<RequestHook>,
    /// Hops of an interrupted fetch; the last one is requested next.
    pub(crate) resume_hops: Vec<FetchHop>,
}

/// HTTP method, with the body of a POST.
#[derive(Clone, Debug)]
pub(crate) enum RequestMethod {
    Get,
    Head,
    Post(Bytes),
}

/// Validators for a conditional request: the version information of an earlier response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// URL of that response, after redirects. The validators are sent to this URL only: the version
    /// of one page says nothing about another.
    pub url: Url,
    /// True if `url` is only the start of the redirects, because the validators were written by
    /// hand: they are sent to every page of its origin that the fetch requests.
    pub applies_to_origin: bool,
    /// `ETag`
    pub etag: Option<String>,
    /// `Last-Modified`
    pub last_modified: Option<String>,
}

/// Error for a request that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidRequest {
    /// The text is not a URL.
    #[error("`{url}` is not a URL: {reason}")]
    Url {
        /// Text that was parsed.
        url: String,
        /// Cause.
        reason: url::ParseError,
    },
    /// The URL has a user name or password, which would end up in logs and reports.
    #[error("the URL of {host} contains a user name or password")]
    Userinfo {
        /// Host of the URL.
        host: String,
    },
    /// freshet sets this header itself, or the value is invalid.
    #[error("the header `{name}` cannot be set, or not to this value")]
    Header {
        /// Name of the header.
        name: String,
    },
    /// The text is not a header name. It is not shown, since it may be a misplaced secret.
    #[error("invalid header name")]
    HeaderName,
    /// The ETag is empty or has control characters.
    #[error("the ETag is empty or contains control characters")]
    Etag,
    /// The text is not an HTTP date.
    #[error("`{date}` is not an HTTP date")]
    Date {
        /// Text that was parsed.
        date: String,
    },
}

impl FetchRequest {
    /// Creates a GET request for a URL.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the text is not a URL, or has a user name or password.
    pub fn new(url: &str) -> Result<Self, InvalidRequest> {
        let mut parsed = Url::parse(url)
            .map_err(|reason| InvalidRequest::Url { url: redact_userinfo(url), reason })?;
        // `me:secret@host` is a URL with the scheme `me`.
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
            method: RequestMethod::Get,
            hook: None,
            resume_hops: Vec::new(),
        })
    }

    /// Makes the request conditional: content is sent only if it differs from the validators.
    #[must_use]
    pub fn with_validators(mut self, validators: Validators) -> Self {
        self.validators = Some(validators);
        self
    }

    /// Turns the request into a HEAD request: validators without content.
    #[must_use]
    pub fn head_only(mut self) -> Self {
        self.method = RequestMethod::Head;
        self
    }

    /// Turns the request into a POST request to a receiver that expects it. This is not crawling,
    /// so robots.txt is not checked; redirects are not followed, and only headers of this request
    /// are sent. Whatever the status, the outcome is [`Content`](crate::FetchOutcome::Content) with
    /// a few KiB of the response. If a pooled connection breaks before a response, the request is
    /// sent once more.
    ///
    /// # Errors
    /// Returns [`InvalidRequest::Header`] if the media type is not a valid header value.
    pub fn with_post_body(
        mut self,
        media_type: &str,
        body: impl Into<Bytes>,
    ) -> Result<Self, InvalidRequest> {
        let invalid = |_| InvalidRequest::Header { name: CONTENT_TYPE.as_str().to_owned() };
        let media_type: HeaderValue = media_type.parse().map_err(invalid)?;
        self.headers.insert(CONTENT_TYPE, media_type);
        self.method = RequestMethod::Post(body.into());
        Ok(self)
    }

    /// Makes the fetch ask a hook before each of its requests.
    #[must_use]
    pub fn with_hook(mut self, hook: RequestHook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Resumes an earlier fetch of the same URL at the last of its hops.
    #[must_use]
    pub fn resume_from(mut self, hops: Vec<FetchHop>) -> Self {
        self.resume_hops = hops;
        self
    }

    /// Adds a header. It is sent to the origin of the URL and, after a redirect, to no other.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the name or value is invalid, or if freshet sets the header
    /// itself.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, InvalidRequest> {
        let invalid = || InvalidRequest::Header { name: name.to_owned() };
        let key: HeaderName = name.parse().map_err(|_| InvalidRequest::HeaderName)?;
        let mut value: HeaderValue = value.parse().map_err(|_| invalid())?;
        if is_reserved(&key) {
            return Err(invalid());
        }
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl Validators {
    /// Creates validators from user input, for the page that a URL leads to. Those of a response
    /// are in its record.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if a response could not have such validators.
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
        Ok(Self { url: url.clone(), applies_to_origin: true, etag, last_modified })
    }

    pub(crate) fn apply_to(&self, url: &Url) -> bool {
        self.url == *url || self.applies_to_origin && self.url.origin() == url.origin()
    }

    /// True if there is neither an ETag nor a date.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
