//! The one function through which all requests go.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, USER_AGENT,
};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::body::BodySink;
use crate::connect::Stop;
use crate::decode::Coding;
use crate::error::{FetchError, Phase, ProtocolFault};
use crate::exchange::{Exchange, Reply};
use crate::guard::Refusal;
use crate::headers;
use crate::local;
use crate::outcome::{Answer, Content, Hop, Outcome, Trace};
use crate::permission::{Permission, Permissions};
use crate::request::{Request, Validators, Verb};
use crate::request_hook::Road;
use crate::settings::Settings;

/// What is read of an answer to what was sent.
const ANSWER: usize = 4 * 1024;
/// And for how long: what counts has been said by then.
const ANSWERED_FOR: Duration = Duration::from_secs(3);

/// Fetches. Clones share connections, names and what hosts allow.
#[derive(Clone)]
pub struct Fetcher {
    inner: Arc<Inner>,
}

struct Inner {
    exchange: Exchange,
    permissions: Permissions,
}

/// What comes after an answer.
enum Next {
    Done(Outcome),
    Go(Url),
}

impl Fetcher {
    /// A fetcher with these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let exchange = Exchange::new(Arc::new(settings));
        Self { inner: Arc::new(Inner { exchange, permissions: Permissions::default() }) }
    }

    /// Fetches: asks robots.txt, passes the guard, follows redirects, and says what came of it. It
    /// always ends, within the limits of the settings.
    ///
    /// It must be called within a tokio runtime that has input, output and time.
    pub async fn fetch(&self, request: &Request) -> Answer {
        self.fetch_within(request, None).await
    }

    /// Fetches what may be too long to be held: the body is put aside while it comes, and the content of
    /// the answer is empty. If it fails, some of the body may be there.
    pub async fn fetch_aside(&self, request: &Request, aside: &mut BodySink<'_>) -> Answer {
        self.fetch_within(request, Some(aside)).await
    }

    async fn fetch_within(&self, request: &Request, aside: Option<&mut BodySink<'_>>) -> Answer {
        let clock = Instant::now();
        let limits = &self.inner.settings().limits;
        let more = aside.as_ref().map_or(Duration::ZERO, |it| it.body.saturating_sub(limits.body));
        let limit = limits.total.saturating_add(more);
        let mut trace = Trace::default();
        let outcome = match timeout(limit, self.inner.follow(request, &mut trace, aside)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Stop::Refused(refusal))) => Outcome::Refused(refusal),
            Ok(Err(Stop::Failed(error))) => Outcome::Failed(error),
            Err(_) => Outcome::Failed(FetchError::Timeout { phase: Phase::Total, after: limit }),
        };
        trace.total = clock.elapsed();
        Answer { outcome, trace }
    }

    /// What robots.txt says of a URL, whether or not the settings say to obey it.
    ///
    /// # Errors
    /// If the guard keeps us from asking.
    pub async fn permission(&self, request: &Request) -> Result<Permission, Refusal> {
        let url = &request.url;
        if !is_web(url) {
            return Err(Refusal::Scheme { scheme: url.scheme().to_owned() });
        }
        let mut road = Road { gate: None, requests: &mut 0 };
        self.inner.permissions.ask(&self.inner.exchange, url, &mut road).await
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.inner.settings()
    }
}

impl Inner {
    fn settings(&self) -> &Settings {
        &self.exchange.settings
    }

    async fn follow(
        &self,
        request: &Request,
        trace: &mut Trace,
        mut aside: Option<&mut BodySink<'_>>,
    ) -> Result<Outcome, Stop> {
        if matches!(request.verb, Verb::Post(_)) {
            return self.send(request, trace).await;
        }
        let mut url = request.url.clone();
        if let Some((stopped, before)) = request.way.split_last() {
            url = stopped.url.clone();
            trace.hops = before.to_vec();
        }
        loop {
            trace.hops.push(Hop::to(url.clone()));
            if trace.hops.len() == 1
                && let Some(read) = local::read(self.settings(), &url).await
            {
                return self.local(read?, trace, aside);
            }
            if !is_web(&url) {
                return Err(Stop::Refused(Refusal::Scheme { scheme: url.scheme().to_owned() }));
            }
            if self.settings().robots {
                let gate = request.gate.as_ref();
                let mut road = Road { gate, requests: &mut trace.requests };
                let asked = self.permissions.ask(&self.exchange, &url, &mut road).await;
                let permission = asked.map_err(Stop::Refused)?;
                trace.robots = Some(permission.clone());
                if !permission.allowed {
                    trace.retry_after = permission.retry_after;
                    return match permission.failure() {
                        Some(error) => Err(Stop::Failed(error.clone())),
                        None => Ok(Outcome::Disallowed(Box::new(permission))),
                    };
                }
            }
            let headers = self.headers(request, &url);
            let is_conditional =
                headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE);
            let Trace { hops, requests, robots, .. } = trace;
            let Some(hop) = hops.last_mut() else { continue };
            let mut road = Road { gate: request.gate.as_ref(), requests };
            let delay = robots.as_ref().and_then(|it| it.file.crawl_delay);
            let reply = self.exchange.ask(hop, &request.verb, headers, delay, &mut road).await?;
            let aside = aside.as_deref_mut();
            match self.judge(request, is_conditional, reply, trace, aside).await? {
                Next::Done(outcome) => return Ok(outcome),
                Next::Go(next) => url = next,
            }
        }
    }

    /// Sends a body to where it is to go, and nowhere else.
    async fn send(&self, request: &Request, trace: &mut Trace) -> Result<Outcome, Stop> {
        let url = &request.url;
        if !is_web(url) {
            return Err(Stop::Refused(Refusal::Scheme { scheme: url.scheme().to_owned() }));
        }
        let mut headers = request.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(USER_AGENT, self.settings().user_agent.clone());
        let mut hop = Hop::to(url.clone());
        let mut road = Road { gate: request.gate.as_ref(), requests: &mut trace.requests };
        let asked = self.exchange.ask(&mut hop, &request.verb, headers, None, &mut road).await;
        let mut answer = Vec::new();
        let mut kind = (None, None);
        let read = match asked {
            Err(stop) => Err(stop),
            Ok(reply) => {
                trace.retry_after = headers::retry_after(&reply.headers);
                kind = headers::content_type(&reply.headers);
                if (300..400).contains(&reply.status) {
                    trace.leads_to = headers::location(&reply.headers, url);
                }
                // Its status has said what counts: an answer that breaks off is one all the same.
                let read = self.exchange.read_part(reply, &mut hop, ANSWER);
                if let Ok(Ok((part, _))) = timeout(ANSWERED_FOR, read).await {
                    answer = part;
                }
                Ok(())
            }
        };
        trace.hops.push(hop);
        read?;
        trace.sizes.body = answer.len() as u64;
        let host = url.host_str().map(str::to_owned);
        let (media_type, label) = kind;
        Ok(Outcome::Content(Content { body: answer, media_type, label, host }))
    }

    /// What an answer means.
    async fn judge(
        &self,
        request: &Request,
        is_conditional: bool,
        reply: Reply,
        trace: &mut Trace,
        aside: Option<&mut BodySink<'_>>,
    ) -> Result<Next, Stop> {
        let status = reply.status;
        trace.retry_after = headers::retry_after(&reply.headers);
        trace.cache = headers::cache_hint(&reply.headers);
        trace.links = headers::links(&reply.headers);
        let Some(hop) = trace.hops.last_mut() else {
            return Err(FetchError::Status { status }.into());
        };
        let validators = validators(&hop.url, &reply.headers);
        let outcome = match status {
            200..=205 | 207..=299 => {
                trace.codings = headers::codings(&reply.headers)?;
                let (media_type, label) = headers::content_type(&reply.headers);
                let host = hop.url.host_str().map(str::to_owned);
                let body = if matches!(request.verb, Verb::Head) {
                    self.exchange.drain(reply).await;
                    Vec::new()
                } else if let Some(aside) = aside {
                    self.exchange.read_aside(reply, hop, &mut trace.sizes, aside).await?;
                    Vec::new()
                } else {
                    self.exchange.read(reply, hop, &mut trace.sizes).await?
                };
                trace.validators = Some(validators);
                Outcome::Content(Content { body, media_type, label, host })
            }
            304 => {
                self.exchange.drain(reply).await;
                if !is_conditional {
                    return Err(FetchError::Protocol { fault: ProtocolFault::Unasked }.into());
                }
                // What it does not repeat is as it was (RFC 9110 §15.4.5).
                let own = request.validators.as_ref();
                trace.validators = Some(Validators {
                    etag: validators.etag.or_else(|| own.and_then(|it| it.etag.clone())),
                    last_modified: validators
                        .last_modified
                        .or_else(|| own.and_then(|it| it.last_modified.clone())),
                    ..validators
                });
                Outcome::NotModified
            }
            301 | 302 | 303 | 307 | 308 => {
                let from = hop.url.clone();
                let next = headers::location(&reply.headers, &from);
                let to = headers::raw_location(&reply.headers);
                self.exchange.drain(reply).await;
                let next = next.ok_or(FetchError::NoLocation { status, to })?;
                if !is_web(&next) {
                    let scheme = next.scheme().to_owned();
                    return Err(Stop::Refused(Refusal::Redirect { scheme }));
                }
                self.may_follow(&from, &next, trace)?;
                return Ok(Next::Go(next));
            }
            404 | 410 => {
                self.exchange.drain(reply).await;
                Outcome::Gone
            }
            _ => {
                self.exchange.drain(reply).await;
                Outcome::Failed(FetchError::Status { status })
            }
        };
        Ok(Next::Done(outcome))
    }

    fn may_follow(&self, from: &Url, to: &Url, trace: &Trace) -> Result<(), FetchError> {
        let limit = self.settings().limits.redirects;
        let is_downgrade = from.scheme() == "https" && to.scheme() == "http";
        if trace.hops.iter().any(|hop| hop.url == *to) {
            Err(FetchError::RedirectLoop { url: Box::new(to.clone()) })
        } else if trace.hops.len() > limit as usize {
            Err(FetchError::TooManyRedirects { limit })
        } else if is_downgrade && !self.settings().downgrade {
            Err(FetchError::Downgrade { to: Box::new(to.clone()) })
        } else {
            Ok(())
        }
    }

    /// All headers for one hop. Nothing is carried over from the hop before: each gets what is for it.
    fn headers(&self, request: &Request, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        self.settings().headers_for(url, &mut headers);
        if url.origin() == request.url.origin() {
            for (name, value) in &request.headers {
                headers.insert(name, value.clone());
            }
        }
        headers.insert(USER_AGENT, self.settings().user_agent.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(Coding::ACCEPTED));
        if let Some(validators) = request.validators.as_ref().filter(|it| it.are_for(url)) {
            let Validators { etag, last_modified, .. } = validators;
            for (name, text) in [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)] {
                // Text that cannot be a header cannot have come from one.
                let value =
                    text.as_ref().and_then(|it| HeaderValue::from_bytes(it.as_bytes()).ok());
                value.map(|value| headers.insert(name, value));
            }
        }
        headers
    }

    fn local(
        &self,
        mut body: Vec<u8>,
        trace: &mut Trace,
        aside: Option<&mut BodySink<'_>>,
    ) -> Result<Outcome, Stop> {
        trace.sizes.body = body.len() as u64;
        if let Some(aside) = aside {
            let put = aside.to.write_all(&body);
            put.map_err(|error| FetchError::Aside { kind: error.kind() })?;
            body = Vec::new();
        }
        Ok(Outcome::Content(Content { body, media_type: None, label: None, host: None }))
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn validators(url: &Url, answer: &HeaderMap) -> Validators {
    let text = |name| headers::text(answer, name).map(str::to_owned);
    let (etag, last_modified) = (text(ETAG), text(LAST_MODIFIED));
    Validators { url: url.clone(), is_start: false, etag, last_modified }
}
