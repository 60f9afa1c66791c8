//! One fetch, from the source id to the evaluated result.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use freshet_engine::{FailureCause, FetchResult};
use freshet_fetch::{FetchHop, FetchRequest, FetchResponse, Fetcher};
use freshet_store::{Reader, StoreError};
use url::Url;

use crate::clock::Clock;
use crate::config::ReadLimits;
use crate::detectors::DetectorCache;
use crate::head_requests::{HEAD_NOTE, HeadStats, PageResponse};
use crate::host_permits::HostPermits;
use crate::judged_fetch::{JudgedFetch, evaluate_answer};
use crate::polite_fetch::{PoliteFetch, Postponement};
use crate::signal_sources::CompletedRead;

/// Longer documents are evaluated on a blocking thread.
const LONG_DOCUMENT_BYTES: usize = 1 << 18;

/// Shared context of all fetches.
pub(crate) struct FetchContext {
    pub(crate) fetcher: Fetcher,
    pub(crate) detectors: DetectorCache,
    pub(crate) readers: ReaderPool,
    pub(crate) clock: Arc<Clock>,
    pub(crate) permits: Arc<HostPermits>,
    /// Minimum days between two requests to one host.
    pub(crate) host_gap_days: f64,
    /// Limits on sitemaps and feeds.
    pub(crate) read_limits: ReadLimits,
    /// WebSub callback URL, and whether IndexNow requests are accepted.
    pub(crate) callback_url: Option<String>,
    pub(crate) accept_indexnow: bool,
    /// Per-host statistics on HEAD requests, and the minimum copy size for one; `None` disables
    /// them.
    pub(crate) head_stats: Arc<HeadStats>,
    pub(crate) head_min_bytes: Option<u64>,
}

/// A fetch to make.
pub(crate) struct FetchOrder {
    pub(crate) id: u32,
    /// True if a caller waits for the result.
    pub(crate) is_on_demand: bool,
    /// Redirects already followed before the fetch was postponed.
    pub(crate) hops: Vec<FetchHop>,
}

/// Result of a fetch.
pub(crate) struct FinishedFetch {
    pub(crate) id: u32,
    /// `None` if the source does not exist any more or its URL is invalid.
    pub(crate) result: Option<JudgedFetch>,
    /// Set if the fetch stopped because a host is in a cooldown.
    pub(crate) postponement: Option<Postponement>,
    /// Redirects followed until then.
    pub(crate) hops: Vec<FetchHop>,
    /// Crawl delay of the host in days, if its robots.txt sets one.
    pub(crate) crawl_delay_days: Option<f64>,
    /// True if the page was too slow, which says little of its host.
    pub(crate) is_slow: bool,
    /// Duration of the requests.
    pub(crate) fetch_time: Duration,
    pub(crate) requests: u32,
    /// For a sitemap or feed: result of reading it.
    pub(crate) document_read: Option<CompletedRead>,
}

/// Pool of store readers.
pub(crate) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
}

impl ReaderPool {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default() }
    }

    /// Creates an empty pool for the same store.
    pub(crate) fn open_another(&self) -> Self {
        Self::new(self.path.clone())
    }

    /// Returns the path of the store.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `read` with a pooled reader.
    pub(crate) fn with_reader<T>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle_reader = idle().pop();
        let reader = match idle_reader {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let result = read(&reader);
        idle().push(reader);
        result
    }
}

impl FetchContext {
    /// Fetches a source and evaluates the answer.
    pub(crate) async fn fetch_source(self: &Arc<Self>, order: FetchOrder) -> FinishedFetch {
        let FetchOrder { id, is_on_demand, hops } = order;
        let mut finished = FinishedFetch {
            id,
            result: None,
            postponement: None,
            hops: Vec::new(),
            crawl_delay_days: None,
            is_slow: false,
            fetch_time: Duration::ZERO,
            requests: 0,
            document_read: None,
        };
        let job = match self.readers.with_reader(|reader| reader.fetch_job(id)) {
            Ok(Some(job)) => job,
            Ok(None) => return finished,
            Err(error) => {
                tracing::error!(source = id, "cannot read the store: {error}");
                return finished;
            }
        };
        let Ok(request) = FetchRequest::new(&job.url) else { return finished };
        let url = request.url().clone();
        let request = request.with_validators(freshet_fetch::Validators {
            url: url.clone(),
            applies_to_origin: true,
            etag: job.validators.etag.clone(),
            last_modified: job.validators.last_modified.clone(),
        });
        let mut polite_fetch = PoliteFetch::new(self, host_name(&url), is_on_demand);
        let by_worth = !is_on_demand && hops.is_empty();
        let request = request.resume_from(hops);
        let mut buffer = None;
        let page = if job.signal_source.is_some() {
            let ((answer, is_other_host), body) =
                self.fetch_document(&mut polite_fetch, request).await;
            buffer = body;
            PageResponse { answer, is_other_host, head: None, ended_with_head: false }
        } else {
            self.fetch_page(&mut polite_fetch, &job, request, by_worth).await
        };
        let (answer, is_other_host) = (&page.answer, page.is_other_host);
        finished.fetch_time = answer.trace.duration;
        finished.requests = answer.trace.requests;
        finished.crawl_delay_days = polite_fetch.crawl_delay_days;
        finished.postponement = polite_fetch.postponement.take();
        if finished.postponement.is_some() {
            finished.hops = page.answer.trace.hops;
            return finished;
        }
        finished.is_slow = is_slow(answer);
        let at = self.clock.now();
        let wait = answer.trace.retry_after.filter(|_| !is_other_host).map(|wait| {
            let wall = SystemTime::UNIX_EPOCH + Duration::from_millis(at.max(0).unsigned_abs());
            duration_days(wait.delay_from(wall))
        });
        drop(polite_fetch);
        if let Some(signal_source) = job.signal_source {
            let (judged, read) = self
                .evaluate_document_answer(
                    &job,
                    signal_source,
                    (answer, buffer),
                    (at, wait, is_other_host),
                )
                .await;
            (finished.result, finished.document_read) = (Some(judged), Some(read));
            return finished;
        }
        let detector = self.detectors.detector_for(&url, &job.settings);
        let is_long = answer.trace.body_sizes.decoded > LONG_DOCUMENT_BYTES as u64;
        let judge = || {
            let version =
                |n| self.readers.with_reader(|reader| reader.version(id, n)).ok().flatten();
            evaluate_answer(&job, &detector, version, answer, at, wait)
        };
        let mut judged = if is_long { tokio::task::block_in_place(judge) } else { judge() };
        if page.ended_with_head {
            HEAD_NOTE.clone_into(&mut judged.record.note);
        }
        self.head_stats.record_answer(&url, &job.validators, &page, judged.outcome);
        judged.outcome = blame_source_for_other_host(judged.outcome, is_other_host);
        finished.result = Some(judged);
        finished
    }
}

/// Blames the source instead of its host if another host failed.
pub(crate) fn blame_source_for_other_host(
    outcome: FetchResult,
    is_other_host: bool,
) -> FetchResult {
    match outcome {
        FetchResult::Failed { cause: FailureCause::Host, retry_after } if is_other_host => {
            FetchResult::Failed { cause: FailureCause::Source, retry_after }
        }
        other => other,
    }
}

/// True if the connection was made, but the response did not start or stalled.
fn is_slow(answer: &FetchResponse) -> bool {
    use freshet_fetch::{FetchError, TimeoutPhase};
    let error = match &answer.outcome {
        freshet_fetch::FetchOutcome::Failed(error) => error,
        _ => return false,
    };
    matches!(error, FetchError::Timeout { phase: TimeoutPhase::FirstByte | TimeoutPhase::Idle, .. })
}

/// Converts a duration to days.
pub(crate) fn duration_days(time: Duration) -> f64 {
    time.as_secs_f64() / 86_400.0
}

/// Normalizes a source URL and returns it with the host that its politeness limits apply to.
///
/// # Errors
/// Returns [`freshet_fetch::InvalidRequest`] if the URL cannot be a source.
pub fn parse_source_url(url: &str) -> Result<(String, String), freshet_fetch::InvalidRequest> {
    let request = FetchRequest::new(url)?;
    Ok((request.url().to_string(), host_name(request.url())))
}

/// Returns the host that the politeness limits of a URL apply to.
pub(crate) fn host_name(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("{}:", url.scheme()),
    }
}
