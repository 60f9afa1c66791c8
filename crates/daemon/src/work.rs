//! One fetch: from a source's number to what came of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use freshet_engine::{Blame, Outcome};
use freshet_fetch::{Answer, Fetcher, Hop, Request};
use freshet_store::{Reader, StoreError};
use url::Url;

use crate::clock::Clock;
use crate::config::ReadLimits;
use crate::detectors::Detectors;
use crate::heads::{Asked, Heads, NOTE};
use crate::judge::{Judged, judge};
use crate::permits::HostPermits;
use crate::polite_fetch::{PoliteFetch, Postponement};
use crate::signal_sources::ReadOver;

/// Documents longer than this are read beside the others.
const LONG: usize = 1 << 18;

/// What all fetches share.
pub(crate) struct FetchContext {
    pub(crate) fetcher: Fetcher,
    pub(crate) detectors: Detectors,
    pub(crate) readers: Readers,
    pub(crate) clock: Arc<Clock>,
    pub(crate) giver: Arc<HostPermits>,
    /// Days between two requests to one host.
    pub(crate) gap: f64,
    /// How far sitemaps and feeds are read.
    pub(crate) signals: ReadLimits,
    /// Where hubs reach the service, and whether owners of sites may speak by IndexNow.
    pub(crate) callback: Option<String>,
    pub(crate) indexnow: bool,
    /// Where HEAD saves bodies, and how long a copy must be for that; `None` for nowhere.
    pub(crate) heads: Arc<Heads>,
    pub(crate) head_over: Option<u64>,
}

/// A fetch to be made.
pub(crate) struct Order {
    pub(crate) id: u32,
    /// Whether somebody waits for it.
    pub(crate) at_once: bool,
    /// Where an earlier one stopped.
    pub(crate) way: Vec<Hop>,
}

/// What came of a fetch.
pub(crate) struct Finished {
    pub(crate) id: u32,
    /// `None` if the source is not there any more, or cannot be asked for.
    pub(crate) judged: Option<Judged>,
    /// It did not come to its end: a host is to be left alone.
    pub(crate) put_off: Option<Postponement>,
    /// Where it stopped then.
    pub(crate) way: Vec<Hop>,
    /// Days between two fetches that the host asks for, if it says so.
    pub(crate) crawl_delay: Option<f64>,
    /// Whether it was the page that took too long: the host may be well.
    pub(crate) slow: bool,
    /// How long the request took, and how long reading the document did.
    pub(crate) fetching: Duration,
    pub(crate) requests: u32,
    /// Of a sitemap or feed, what came of reading it.
    pub(crate) read: Option<ReadOver>,
}

/// Readers of the store, one for each who reads at a time.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default() }
    }

    /// Of the same store.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.path.clone())
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets one read.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let result = read(&reader);
        idle().push(reader);
        result
    }
}

impl FetchContext {
    /// Fetches a source and judges what comes.
    pub(crate) async fn work(self: &Arc<Self>, order: Order) -> Finished {
        let Order { id, at_once, way } = order;
        let mut finished = Finished {
            id,
            judged: None,
            put_off: None,
            way: Vec::new(),
            crawl_delay: None,
            slow: false,
            fetching: Duration::ZERO,
            requests: 0,
            read: None,
        };
        let job = match self.readers.with(|reader| reader.fetch_job(id)) {
            Ok(Some(job)) => job,
            Ok(None) => return finished,
            Err(error) => {
                tracing::error!(source = id, "cannot read the store: {error}");
                return finished;
            }
        };
        let Ok(request) = Request::new(&job.url) else { return finished };
        let url = request.url().clone();
        let request = request.since(freshet_fetch::Validators {
            url: url.clone(),
            is_start: true,
            etag: job.validators.etag.clone(),
            last_modified: job.validators.last_modified.clone(),
        });
        let mut errand = PoliteFetch::new(self, host_name(&url), at_once);
        let by_worth = !at_once && way.is_empty();
        let request = request.going_on(way);
        let mut spool = None;
        let asked = if job.signal_source.is_some() {
            let ((answer, away), body) = self.fetch_herald(&mut errand, request).await;
            spool = body;
            Asked { answer, away, head: None, by_head: false }
        } else {
            self.ask(&mut errand, &job, request, by_worth).await
        };
        let (answer, away) = (&asked.answer, asked.away);
        finished.fetching = answer.trace.total;
        finished.requests = answer.trace.requests;
        finished.crawl_delay = errand.delay;
        finished.put_off = errand.put_off.take();
        if finished.put_off.is_some() {
            finished.way = asked.answer.trace.hops;
            return finished;
        }
        finished.slow = is_slow(answer);
        let at = self.clock.now();
        let wait = answer.trace.retry_after.filter(|_| !away).map(|wait| {
            let wall = SystemTime::UNIX_EPOCH + Duration::from_millis(at.max(0).unsigned_abs());
            said(wait.length(wall))
        });
        drop(errand);
        if let Some(herald) = job.signal_source {
            let (judged, read) = self.hear(&job, herald, (answer, spool), (at, wait, away)).await;
            (finished.judged, finished.read) = (Some(judged), Some(read));
            return finished;
        }
        let detector = self.detectors.of(&url, &job.settings);
        let is_long = answer.trace.sizes.body > LONG as u64;
        let judge = || {
            let version = |n| self.readers.with(|reader| reader.version(id, n)).ok().flatten();
            judge(&job, &detector, version, answer, at, wait)
        };
        let mut judged = if is_long { tokio::task::block_in_place(judge) } else { judge() };
        if asked.by_head {
            NOTE.clone_into(&mut judged.record.note);
        }
        self.heads.learn(&url, &job.validators, &asked, judged.outcome);
        judged.outcome = blamed(judged.outcome, away);
        finished.judged = Some(judged);
        finished
    }
}

/// The fault of another host is told to that one.
pub(crate) fn blamed(outcome: Outcome, away: bool) -> Outcome {
    match outcome {
        Outcome::Failed { blame: Blame::Host, retry_after } if away => {
            Outcome::Failed { blame: Blame::Source, retry_after }
        }
        other => other,
    }
}

/// Whether there was a connection, and then no answer or no end of it.
fn is_slow(answer: &Answer) -> bool {
    use freshet_fetch::{FetchError, Phase};
    let error = match &answer.outcome {
        freshet_fetch::Outcome::Failed(error) => error,
        _ => return false,
    };
    matches!(error, FetchError::Timeout { phase: Phase::FirstByte | Phase::Idle, .. })
}

/// Days of what a host says.
pub(crate) fn said(time: Duration) -> f64 {
    time.as_secs_f64() / 86_400.0
}

/// Whether a URL can be a source, and the host whose politeness it shares.
///
/// # Errors
/// Why it cannot.
pub fn host_of(url: &str) -> Result<(String, String), freshet_fetch::InvalidRequest> {
    let request = Request::new(url)?;
    Ok((request.url().to_string(), host_name(request.url())))
}

/// The host whose politeness a URL shares.
pub(crate) fn host_name(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("{}:", url.scheme()),
    }
}
