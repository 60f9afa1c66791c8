//! Who is asked before each request of a fetch, and told after it: a fetch can come to hosts that its
//! caller did not send it to.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::connect::Stop;
use crate::error::FetchError;
use crate::exchange::Reply;
use crate::headers::{self, Wait};
use crate::permission::RobotsFile;

/// A way for a fetch to ask its caller.
#[derive(Clone, Debug)]
pub struct RequestHook(mpsc::UnboundedSender<HookEvent>);

/// What a fetch asks or tells its caller.
#[derive(Debug)]
pub enum HookEvent {
    /// Whether this may be asked for now. The fetch waits; if it hears `false`, or nothing, it ends with
    /// [`FetchError::NoTurn`].
    May {
        /// A page, or robots.txt.
        url: Url,
        /// The time between two fetches that the host's robots.txt asks for, as far as it is known.
        delay: Option<Duration>,
        /// Whether it may.
        answer: oneshot::Sender<bool>,
    },
    /// A host has answered, or has not.
    Answered {
        /// What it was asked for.
        url: Url,
        /// What it answered, if it did.
        status: Option<u16>,
        /// How long it wants to be left alone.
        wait: Option<Wait>,
    },
    /// Whether somebody remembers this robots.txt.
    Remembers {
        /// Which.
        url: Url,
        /// What it was.
        answer: oneshot::Sender<Option<RobotsFile>>,
    },
    /// A robots.txt, to be remembered.
    Found(Arc<RobotsFile>),
}

impl RequestHook {
    /// A gate, and where its knocks are heard.
    #[must_use]
    pub fn new() -> (Self, mpsc::UnboundedReceiver<HookEvent>) {
        let (send, receive) = mpsc::unbounded_channel();
        (Self(send), receive)
    }
}

/// What all requests of a fetch share.
pub(crate) struct Road<'a> {
    pub(crate) gate: Option<&'a RequestHook>,
    pub(crate) requests: &'a mut u32,
}

impl Road<'_> {
    /// Waits until a request may be made.
    pub(crate) async fn pass(&self, url: &Url, delay: Option<Duration>) -> Result<(), Stop> {
        let Some(RequestHook(gate)) = self.gate else { return Ok(()) };
        let (answer, answered) = oneshot::channel();
        // Nobody there is a no.
        let _ = gate.send(HookEvent::May { url: url.clone(), delay, answer });
        if answered.await.unwrap_or(false) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        Err(FetchError::NoTurn { host }.into())
    }

    pub(crate) fn answered(&self, url: &Url, reply: &Result<Reply, Stop>) {
        let Some(RequestHook(gate)) = self.gate else { return };
        let reply = reply.as_ref().ok();
        let status = reply.map(|reply| reply.status);
        let wait = reply.and_then(|reply| headers::retry_after(&reply.headers));
        let _ = gate.send(HookEvent::Answered { url: url.clone(), status, wait });
    }

    pub(crate) async fn remembers(&self, url: &Url) -> Option<RobotsFile> {
        let RequestHook(gate) = self.gate?;
        let (answer, answered) = oneshot::channel();
        let _ = gate.send(HookEvent::Remembers { url: url.clone(), answer });
        answered.await.ok().flatten()
    }

    pub(crate) fn found(&self, file: &Arc<RobotsFile>) {
        if let Some(RequestHook(gate)) = self.gate {
            let _ = gate.send(HookEvent::Found(Arc::clone(file)));
        }
    }
}
