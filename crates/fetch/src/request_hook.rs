//! Hook that a fetch calls before and after each request: redirects can lead to hosts that the
//! caller does not expect.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::connect::FetchStop;
use crate::error::FetchError;
use crate::headers::{self, RetryAfter};
use crate::http_client::ResponseHead;
use crate::robots_cache::RobotsFile;

/// Channel from a fetch to its caller.
#[derive(Clone, Debug)]
pub struct RequestHook(mpsc::UnboundedSender<HookEvent>);

/// Question or notice from a fetch.
#[derive(Debug)]
pub enum HookEvent {
    /// Asks whether a request may be sent now. The fetch waits for the reply; `false` or a dropped
    /// sender ends it with [`FetchError::Postponed`].
    MayRequest {
        /// URL of the request: a page or robots.txt.
        url: Url,
        /// Crawl delay from the host's robots.txt, if known.
        crawl_delay: Option<Duration>,
        /// Receives the answer.
        reply: oneshot::Sender<bool>,
    },
    /// Reports that a request has finished, with or without a response.
    ResponseReceived {
        /// URL of the request.
        url: Url,
        /// Status of the response, if there was one.
        status: Option<u16>,
        /// Delay that the host asks for.
        retry_after: Option<RetryAfter>,
    },
    /// Asks for a stored copy of a robots.txt file.
    LoadRobots {
        /// URL of the file.
        url: Url,
        /// Receives the copy, if there is one.
        reply: oneshot::Sender<Option<RobotsFile>>,
    },
    /// Reports a robots.txt file that was fetched, to be stored.
    RobotsFetched(Arc<RobotsFile>),
}

impl RequestHook {
    /// Creates a hook and the receiver of its events.
    #[must_use]
    pub fn new() -> (Self, mpsc::UnboundedReceiver<HookEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

/// State shared by all requests of a fetch.
pub(crate) struct RequestContext<'a> {
    pub(crate) hook: Option<&'a RequestHook>,
    pub(crate) request_count: &'a mut u32,
}

impl RequestContext<'_> {
    /// Waits until the hook allows a request.
    pub(crate) async fn wait_until_allowed(
        &self,
        url: &Url,
        crawl_delay: Option<Duration>,
    ) -> Result<(), FetchStop> {
        let Some(RequestHook(hook)) = self.hook else { return Ok(()) };
        let (sender, received) = oneshot::channel();
        // A receiver that is gone counts as a refusal.
        let _ = hook.send(HookEvent::MayRequest { url: url.clone(), crawl_delay, reply: sender });
        if received.await.unwrap_or(false) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        Err(FetchError::Postponed { host }.into())
    }

    pub(crate) fn report_response(&self, url: &Url, response: &Result<ResponseHead, FetchStop>) {
        let Some(RequestHook(hook)) = self.hook else { return };
        let response = response.as_ref().ok();
        let status = response.map(|it| it.status);
        let retry_after = response.and_then(|it| headers::retry_after(&it.headers));
        let _ = hook.send(HookEvent::ResponseReceived { url: url.clone(), status, retry_after });
    }

    pub(crate) async fn load_robots(&self, url: &Url) -> Option<RobotsFile> {
        let RequestHook(hook) = self.hook?;
        let (sender, received) = oneshot::channel();
        let _ = hook.send(HookEvent::LoadRobots { url: url.clone(), reply: sender });
        received.await.ok().flatten()
    }

    pub(crate) fn report_robots(&self, file: &Arc<RobotsFile>) {
        if let Some(RequestHook(hook)) = self.hook {
            let _ = hook.send(HookEvent::RobotsFetched(Arc::clone(file)));
        }
    }
}
