//! Entry point of all requests.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, USER_AGENT,
};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::body::BodySink;
use crate::connect::FetchStop;
use crate::decode::ContentCoding;
use crate::error::{FetchError, ProtocolFault, TimeoutPhase};
use crate::fetch_response::{FetchHop, FetchOutcome, FetchResponse, FetchTrace, FetchedContent};
use crate::guard::GuardRefusal;
use crate::headers;
use crate::http_client::{HttpClient, ResponseHead};
use crate::local;
use crate::request::{FetchRequest, RequestMethod, Validators};
use crate::request_hook::RequestContext;
use crate::robots_cache::{RobotsCache, RobotsPermission};
use crate::settings::FetchSettings;

/// Maximum number of bytes read of the response to a POST.
const MAX_POST_RESPONSE_BYTES: usize = 4 * 1024;
/// Time limit for reading the response to a POST: its status is what counts.
const POST_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

/// HTTP client. Clones share connections, DNS answers and robots.txt files.
#[derive(Clone)]
pub struct Fetcher {
    inner: Arc<Inner>,
}

struct Inner {
    client: HttpClient,
    robots_cache: RobotsCache,
}

/// Next step after a response.
enum NextStep {
    Finish(FetchOutcome),
    Follow(Url),
}

impl Fetcher {
    /// Creates a fetcher with these settings.
    #[must_use]
    pub fn new(settings: FetchSettings) -> Self {
        let client = HttpClient::new(Arc::new(settings));
        Self { inner: Arc::new(Inner { client, robots_cache: RobotsCache::default() }) }
    }

    /// Fetches a URL: checks robots.txt and the guard, follows redirects and returns the outcome.
    /// Always ends within the limits of the settings.
    ///
    /// Must be called within a tokio runtime with I/O and time enabled.
    pub async fn fetch(&self, request: &FetchRequest) -> FetchResponse {
        self.fetch_with(request, None).await
    }

    /// Fetches a body that may be too long for memory: it is written to the sink as it arrives, and
    /// the content of the result is empty. After a failure, the sink may hold part of the body.
    pub async fn fetch_into(
        &self,
        request: &FetchRequest,
        sink: &mut BodySink<'_>,
    ) -> FetchResponse {
        self.fetch_with(request, Some(sink)).await
    }

    async fn fetch_with(
        &self,
        request: &FetchRequest,
        sink: Option<&mut BodySink<'_>>,
    ) -> FetchResponse {
        let clock = Instant::now();
        let limits = &self.inner.settings().limits;
        let extra_time = sink
            .as_ref()
            .map_or(Duration::ZERO, |it| it.timeout.saturating_sub(limits.body_timeout));
        let limit = limits.total_timeout.saturating_add(extra_time);
        let mut trace = FetchTrace::default();
        let outcome = match timeout(limit, self.inner.follow(request, &mut trace, sink)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(FetchStop::Refused(refusal))) => FetchOutcome::Refused(refusal),
            Ok(Err(FetchStop::Failed(error))) => FetchOutcome::Failed(error),
            Err(_) => FetchOutcome::Failed(FetchError::Timeout {
                phase: TimeoutPhase::Total,
                after: limit,
            }),
        };
        trace.duration = clock.elapsed();
        FetchResponse { outcome, trace }
    }

    /// Checks what robots.txt says about a URL, whether or not the settings obey it.
    ///
    /// # Errors
    /// Returns [`GuardRefusal`] if the guard does not allow a request to the host.
    pub async fn check_robots(
        &self,
        request: &FetchRequest,
    ) -> Result<RobotsPermission, GuardRefusal> {
        let url = &request.url;
        if !is_http(url) {
            return Err(GuardRefusal::Scheme { scheme: url.scheme().to_owned() });
        }
        let mut context = RequestContext { hook: None, request_count: &mut 0 };
        self.inner.robots_cache.check(&self.inner.client, url, &mut context).await
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &FetchSettings {
        self.inner.settings()
    }
}

impl Inner {
    fn settings(&self) -> &FetchSettings {
        &self.client.settings
    }

    async fn follow(
        &self,
        request: &FetchRequest,
        trace: &mut FetchTrace,
        mut sink: Option<&mut BodySink<'_>>,
    ) -> Result<FetchOutcome, FetchStop> {
        if matches!(request.method, RequestMethod::Post(_)) {
            return self.send_post(request, trace).await;
        }
        let mut url = request.url.clone();
        if let Some((next_hop, earlier_hops)) = request.resume_hops.split_last() {
            url = next_hop.url.clone();
            trace.hops = earlier_hops.to_vec();
        }
        loop {
            trace.hops.push(FetchHop::new(url.clone()));
            if trace.hops.len() == 1
                && let Some(read) = local::read(self.settings(), &url).await
            {
                return self.local_content(read?, trace, sink);
            }
            if !is_http(&url) {
                return Err(FetchStop::Refused(GuardRefusal::Scheme {
                    scheme: url.scheme().to_owned(),
                }));
            }
            if self.settings().obey_robots {
                let hook = request.hook.as_ref();
                let mut context = RequestContext { hook, request_count: &mut trace.requests };
                let result = self.robots_cache.check(&self.client, &url, &mut context).await;
                let permission = result.map_err(FetchStop::Refused)?;
                trace.robots = Some(permission.clone());
                if !permission.allowed {
                    trace.retry_after = permission.retry_after;
                    return match permission.failure() {
                        Some(error) => Err(FetchStop::Failed(error.clone())),
                        None => Ok(FetchOutcome::Disallowed(Box::new(permission))),
                    };
                }
            }
            let headers = self.request_headers(request, &url);
            let is_conditional =
                headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE);
            let FetchTrace { hops, requests, robots, .. } = trace;
            let Some(hop) = hops.last_mut() else { continue };
            let mut context =
                RequestContext { hook: request.hook.as_ref(), request_count: requests };
            let crawl_delay = robots.as_ref().and_then(|it| it.file.crawl_delay);
            let response = self
                .client
                .send_when_allowed(hop, &request.method, headers, crawl_delay, &mut context)
                .await?;
            let sink = sink.as_deref_mut();
            match self.handle_response(request, is_conditional, response, trace, sink).await? {
                NextStep::Finish(outcome) => return Ok(outcome),
                NextStep::Follow(next) => url = next,
            }
        }
    }

    /// Sends a POST request, without robots.txt and redirects.
    async fn send_post(
        &self,
        request: &FetchRequest,
        trace: &mut FetchTrace,
    ) -> Result<FetchOutcome, FetchStop> {
        let url = &request.url;
        if !is_http(url) {
            return Err(FetchStop::Refused(GuardRefusal::Scheme {
                scheme: url.scheme().to_owned(),
            }));
        }
        let mut headers = request.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(USER_AGENT, self.settings().user_agent.clone());
        let mut hop = FetchHop::new(url.clone());
        let mut context =
            RequestContext { hook: request.hook.as_ref(), request_count: &mut trace.requests };
        let result = self
            .client
            .send_when_allowed(&mut hop, &request.method, headers, None, &mut context)
            .await;
        let mut body = Vec::new();
        let mut content_type = (None, None);
        let read = match result {
            Err(stop) => Err(stop),
            Ok(response) => {
                trace.retry_after = headers::retry_after(&response.headers);
                content_type = headers::content_type(&response.headers);
                if (300..400).contains(&response.status) {
                    trace.redirect_target = headers::location(&response.headers, url);
                }
                // The status is what counts: a response that breaks off is still a response.
                let read =
                    self.client.read_body_prefix(response, &mut hop, MAX_POST_RESPONSE_BYTES);
                if let Ok(Ok((prefix, _))) = timeout(POST_RESPONSE_TIMEOUT, read).await {
                    body = prefix;
                }
                Ok(())
            }
        };
        trace.hops.push(hop);
        read?;
        trace.body_sizes.decoded = body.len() as u64;
        let host = url.host_str().map(str::to_owned);
        let (media_type, charset_label) = content_type;
        Ok(FetchOutcome::Content(FetchedContent { body, media_type, charset_label, host }))
    }

    /// Turns a response into an outcome or the next redirect.
    async fn handle_response(
        &self,
        request: &FetchRequest,
        is_conditional: bool,
        response: ResponseHead,
        trace: &mut FetchTrace,
        sink: Option<&mut BodySink<'_>>,
    ) -> Result<NextStep, FetchStop> {
        let status = response.status;
        trace.retry_after = headers::retry_after(&response.headers);
        trace.cache_hint = headers::cache_hint(&response.headers);
        trace.link_headers = headers::link_headers(&response.headers);
        let Some(hop) = trace.hops.last_mut() else {
            return Err(FetchError::Status { status }.into());
        };
        let validators = validators_from(&hop.url, &response.headers);
        let outcome = match status {
            200..=205 | 207..=299 => {
                trace.codings = headers::codings(&response.headers)?;
                let (media_type, charset_label) = headers::content_type(&response.headers);
                let host = hop.url.host_str().map(str::to_owned);
                let body = if matches!(request.method, RequestMethod::Head) {
                    self.client.drain_body(response).await;
                    Vec::new()
                } else if let Some(sink) = sink {
                    self.client.read_body_into(response, hop, &mut trace.body_sizes, sink).await?;
                    Vec::new()
                } else {
                    self.client.read_body(response, hop, &mut trace.body_sizes).await?
                };
                trace.validators = Some(validators);
                FetchOutcome::Content(FetchedContent { body, media_type, charset_label, host })
            }
            304 => {
                self.client.drain_body(response).await;
                if !is_conditional {
                    return Err(FetchError::Protocol {
                        fault: ProtocolFault::UnexpectedNotModified,
                    }
                    .into());
                }
                // Validators that a 304 does not repeat are unchanged (RFC 9110 §15.4.5).
                let validators_sent = request.validators.as_ref();
                trace.validators = Some(Validators {
                    etag: validators
                        .etag
                        .or_else(|| validators_sent.and_then(|it| it.etag.clone())),
                    last_modified: validators
                        .last_modified
                        .or_else(|| validators_sent.and_then(|it| it.last_modified.clone())),
                    ..validators
                });
                FetchOutcome::NotModified
            }
            301 | 302 | 303 | 307 | 308 => {
                let from = hop.url.clone();
                let next = headers::location(&response.headers, &from);
                let location = headers::raw_location(&response.headers);
                self.client.drain_body(response).await;
                let next = next.ok_or(FetchError::InvalidLocation { status, location })?;
                if !is_http(&next) {
                    let scheme = next.scheme().to_owned();
                    return Err(FetchStop::Refused(GuardRefusal::Redirect { scheme }));
                }
                self.check_redirect(&from, &next, trace)?;
                return Ok(NextStep::Follow(next));
            }
            404 | 410 => {
                self.client.drain_body(response).await;
                FetchOutcome::Gone
            }
            _ => {
                self.client.drain_body(response).await;
                FetchOutcome::Failed(FetchError::Status { status })
            }
        };
        Ok(NextStep::Finish(outcome))
    }

    fn check_redirect(&self, from: &Url, to: &Url, trace: &FetchTrace) -> Result<(), FetchError> {
        let limit = self.settings().limits.max_redirects;
        let is_downgrade = from.scheme() == "https" && to.scheme() == "http";
        if trace.hops.iter().any(|hop| hop.url == *to) {
            Err(FetchError::RedirectLoop { url: Box::new(to.clone()) })
        } else if trace.hops.len() > limit as usize {
            Err(FetchError::TooManyRedirects { limit })
        } else if is_downgrade && !self.settings().allow_downgrade {
            Err(FetchError::Downgrade { to: Box::new(to.clone()) })
        } else {
            Ok(())
        }
    }

    /// Returns all headers for one hop. Nothing is carried over from the previous hop.
    fn request_headers(&self, request: &FetchRequest, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        self.settings().headers_for(url, &mut headers);
        if url.origin() == request.url.origin() {
            for (name, value) in &request.headers {
                headers.insert(name, value.clone());
            }
        }
        headers.insert(USER_AGENT, self.settings().user_agent.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ContentCoding::ACCEPT_ENCODING));
        if let Some(validators) = request.validators.as_ref().filter(|it| it.apply_to(url)) {
            let Validators { etag, last_modified, .. } = validators;
            for (name, text) in [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)] {
                // A value that cannot be sent in a header did not come from one.
                let value =
                    text.as_ref().and_then(|it| HeaderValue::from_bytes(it.as_bytes()).ok());
                value.map(|value| headers.insert(name, value));
            }
        }
        headers
    }

    fn local_content(
        &self,
        mut body: Vec<u8>,
        trace: &mut FetchTrace,
        sink: Option<&mut BodySink<'_>>,
    ) -> Result<FetchOutcome, FetchStop> {
        trace.body_sizes.decoded = body.len() as u64;
        if let Some(sink) = sink {
            let written = sink.writer.write_all(&body);
            written.map_err(|error| FetchError::SinkWrite { kind: error.kind() })?;
            body = Vec::new();
        }
        Ok(FetchOutcome::Content(FetchedContent {
            body,
            media_type: None,
            charset_label: None,
            host: None,
        }))
    }
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn validators_from(url: &Url, headers: &HeaderMap) -> Validators {
    let text = |name| headers::header_text(headers, name).map(str::to_owned);
    let (etag, last_modified) = (text(ETAG), text(LAST_MODIFIED));
    Validators { url: url.clone(), applies_to_origin: false, etag, last_modified }
}
