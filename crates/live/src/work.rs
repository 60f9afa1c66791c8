//! One fetch: from a source's number to what came of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use freshet_fetch::{Fetcher, Request};
use freshet_store::{Reader, StoreError};

use crate::clock::Clock;
use crate::detectors::Detectors;
use crate::judge::{Judged, judge};

/// Documents longer than this are read beside the others.
const LONG: usize = 1 << 18;

/// What all fetches share.
pub(crate) struct Shop {
    pub(crate) fetcher: Fetcher,
    pub(crate) detectors: Detectors,
    pub(crate) readers: Readers,
    pub(crate) clock: Arc<Clock>,
    /// Days between two requests to one host.
    pub(crate) gap: f64,
}

/// What came of a fetch.
pub(crate) struct Finished {
    pub(crate) id: u32,
    /// `None` if the source is not there any more, or cannot be asked for.
    pub(crate) judged: Option<Judged>,
    /// Days for which the fetch is put off: the host was asked for robots.txt just now.
    pub(crate) put_off: Option<f64>,
    /// Days between two fetches that the host asks for, if it says so.
    pub(crate) crawl_delay: Option<f64>,
    /// How long the request took, and how long reading the document did.
    pub(crate) fetching: Duration,
    pub(crate) requests: u32,
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

impl Shop {
    /// Fetches a source and judges what comes. If somebody waits for it (`at_once`), it is not put off
    /// after robots.txt, but made when the host may be asked again.
    pub(crate) async fn work(&self, id: u32, at_once: bool) -> Finished {
        let mut finished = Finished {
            id,
            judged: None,
            put_off: None,
            crawl_delay: None,
            fetching: Duration::ZERO,
            requests: 0,
        };
        let job = match self.readers.with(|reader| reader.job(id)) {
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
            url,
            is_start: true,
            etag: job.validators.etag.clone(),
            last_modified: job.validators.last_modified.clone(),
        });
        self.ask_robots(&request, &mut finished).await;
        if let Some(days) = finished.put_off {
            if !at_once {
                return finished;
            }
            finished.put_off = None;
            tokio::time::sleep(self.clock.time_of(days)).await;
        }
        let answer = self.fetcher.fetch(&request).await;
        finished.fetching = answer.trace.total;
        finished.requests += answer.trace.requests;
        let at = self.clock.now();
        let wait = answer.trace.retry_after.map(|wait| {
            let wall = SystemTime::UNIX_EPOCH + Duration::from_millis(at.max(0).unsigned_abs());
            said(wait.length(wall))
        });
        let detector = self.detectors.of(request.url(), &job.settings);
        let is_long = answer.trace.sizes.body > LONG as u64;
        let judge = || {
            let version = |n| self.readers.with(|reader| reader.version(id, n)).ok().flatten();
            judge(&job, &detector, version, &answer, at, wait)
        };
        finished.judged = Some(if is_long { tokio::task::block_in_place(judge) } else { judge() });
        finished
    }

    /// Asks for robots.txt first, if it is not known. After it the host is left alone as after any
    /// request: the fetch is put off.
    async fn ask_robots(&self, request: &Request, finished: &mut Finished) {
        if !self.fetcher.settings().obeys_robots() {
            return;
        }
        let Ok(permission) = self.fetcher.permission(request).await else { return };
        let delay = permission.file.crawl_delay;
        finished.crawl_delay = Some(delay.map_or(0.0, said));
        let gap = self.gap.max(finished.crawl_delay.unwrap_or(0.0).min(1.0));
        let since = self.clock.days_of(permission.age);
        if permission.allowed && since < gap {
            finished.requests += 1;
            finished.put_off = Some(gap - since);
        }
    }
}

/// Days of what a host says.
fn said(time: Duration) -> f64 {
    time.as_secs_f64() / 86_400.0
}

/// Whether a URL can be a source, and the host whose politeness it shares.
///
/// # Errors
/// Why it cannot.
pub fn host_of(url: &str) -> Result<(String, String), freshet_fetch::InvalidRequest> {
    let request = Request::new(url)?;
    let url = request.url();
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("{}:", url.scheme()),
    };
    Ok((url.to_string(), host))
}
