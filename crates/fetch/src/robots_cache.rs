//! Cache of robots.txt files.

mod robots_fetch;
mod stored_file;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, timeout};
use url::{Position, Url};

use crate::connect::FetchStop;
use crate::error::{FetchError, TimeoutPhase};
use crate::guard::GuardRefusal;
use crate::headers::RetryAfter;
use crate::http_client::HttpClient;
use crate::request_hook::RequestContext;
use crate::robots::{RobotsRules, RobotsVerdict};
use crate::settings::DAY;
use robots_fetch::{RobotsFetch, fetch_robots};

/// Time for which an unreachable file blocks its host (RFC 9309 §2.3.1.4). Until then the last copy
/// is used, or nothing is allowed without one; afterwards the file counts as absent.
const MAX_UNREACHABLE: Duration = Duration::from_secs(30 * DAY.as_secs());
/// Maximum number of cached files, and their total size in memory.
const MAX_CACHED_FILES: usize = 65_536;
const MAX_CACHED_BYTES: usize = 64 << 20;

/// Decision of robots.txt on a fetch, and its reason.
#[derive(Clone, Debug)]
pub struct RobotsPermission {
    /// True if the fetch is allowed.
    pub allowed: bool,
    /// Reason.
    pub reason: RobotsReason,
    /// robots.txt file.
    pub file: Arc<RobotsFile>,
    /// Age of the cached copy.
    pub age: Duration,
    /// Delay that the host asked for in place of the file.
    pub retry_after: Option<RetryAfter>,
}

/// Reason for which a fetch is allowed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsReason {
    /// Rules of the file.
    Rules(RobotsVerdict),
    /// There is no file: everything is allowed (RFC 9309 §2.3.1.3).
    NoFile(RobotsAbsence),
    /// The file is unreachable: nothing is allowed (§2.3.1.4).
    Unreachable(FetchError),
}

/// Reason for which a host counts as having no robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RobotsAbsence {
    /// The host answers that there is no file, or denies access to it.
    #[error("status {status}")]
    Status {
        /// Status of the response, from 400 to 499.
        status: u16,
    },
    /// A redirect has no valid target, or is of a kind that is not followed.
    #[error("redirect ({status}) without a valid target")]
    InvalidLocation {
        /// Status of the response.
        status: u16,
    },
    /// The redirects form a loop.
    #[error("redirect loop")]
    RedirectLoop,
    /// The limit of redirects was exceeded.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// Limit.
        limit: u32,
    },
    /// The guard refuses a redirect target.
    #[error("the guard refuses its redirect target: {0}")]
    Refused(GuardRefusal),
    /// The file has been unreachable for too long.
    #[error("unreachable for 30 days: {0}")]
    Unreachable(FetchError),
}

/// robots.txt file of a host, or the reason for its absence.
#[derive(Clone, Debug)]
pub struct RobotsFile {
    /// URL of the file.
    pub url: Url,
    /// Status of the last response, if there was one.
    pub status: Option<u16>,
    /// Sitemaps that the file lists.
    pub sitemaps: Vec<String>,
    /// Crawl delay for this crawler.
    pub crawl_delay: Option<Duration>,
    /// True if the file is longer than the limit.
    pub truncated: bool,
    /// Number of bytes read; `None` if there is no file or the number was not stored.
    pub bytes_read: Option<u64>,
    state: FileState,
    retry_after: Option<RetryAfter>,
    loaded_at: Instant,
    /// Age of the file when it was loaded.
    age_when_loaded: Duration,
    expires_at: Instant,
}

#[derive(Clone, Debug)]
enum FileState {
    Found(RobotsRules),
    Absent(RobotsAbsence),
    /// With the time since which it is unreachable.
    Unreachable(FetchError, Instant),
}

/// Cache of robots.txt files, one per origin.
#[derive(Default)]
pub(crate) struct RobotsCache {
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    hosts: HashMap<String, Arc<HostEntry>>,
    /// Origins in order of insertion; the oldest is evicted first.
    order: VecDeque<String>,
    bytes: usize,
}

#[derive(Default)]
struct HostEntry {
    file: Mutex<Option<Arc<RobotsFile>>>,
    /// Held while the file is fetched, so that concurrent requests wait instead of fetching it too.
    fetch_lock: tokio::sync::Mutex<()>,
}

impl RobotsFile {
    /// Returns the rules for this crawler; `None` if there is no file or it is unreachable.
    #[must_use]
    pub fn rules(&self) -> Option<&RobotsRules> {
        match &self.state {
            FileState::Found(rules) => Some(rules),
            FileState::Absent(_) | FileState::Unreachable(..) => None,
        }
    }
}

impl RobotsPermission {
    /// Returns the error that made the file unreachable, unless it was a response of the host: the
    /// page would fail in the same way.
    pub(crate) fn failure(&self) -> Option<&FetchError> {
        match &self.reason {
            RobotsReason::Unreachable(FetchError::Status { .. }) => None,
            RobotsReason::Unreachable(error) => Some(error),
            _ => None,
        }
    }
}

impl RobotsCache {
    /// Checks whether a URL may be fetched. Only the guard can prevent an answer.
    pub(crate) async fn check(
        &self,
        client: &HttpClient,
        url: &Url,
        context: &mut RequestContext<'_>,
    ) -> Result<RobotsPermission, GuardRefusal> {
        let file = self.get_or_fetch(client, url, context).await?;
        let reason = match &file.state {
            FileState::Found(rules) => {
                RobotsReason::Rules(rules.check(&url[Position::BeforePath..Position::AfterQuery]))
            }
            FileState::Absent(absence) => RobotsReason::NoFile(absence.clone()),
            FileState::Unreachable(error, since) if since.elapsed() > MAX_UNREACHABLE => {
                RobotsReason::NoFile(RobotsAbsence::Unreachable(error.clone()))
            }
            FileState::Unreachable(error, _) => RobotsReason::Unreachable(error.clone()),
        };
        let allowed = match &reason {
            RobotsReason::Rules(verdict) => verdict.allowed,
            RobotsReason::NoFile(_) => true,
            RobotsReason::Unreachable(_) => false,
        };
        let age = file.age();
        let retry_after = file.retry_after.map(|it| it.minus_elapsed(age));
        Ok(RobotsPermission { allowed, reason, file, age, retry_after })
    }

    async fn get_or_fetch(
        &self,
        client: &HttpClient,
        url: &Url,
        context: &mut RequestContext<'_>,
    ) -> Result<Arc<RobotsFile>, GuardRefusal> {
        let origin = &url[..Position::BeforePath];
        let host = self.host_entry(origin);
        if let Some(file) = host.fresh_file() {
            return Ok(file);
        }
        let _guard = host.fetch_lock.lock().await;
        if let Some(file) = host.fresh_file() {
            return Ok(file);
        }
        // Half of the total, so that waiting requests learn of the failure before their own
        // timeout.
        let limit = client.settings.limits.total_timeout / 2;
        let timed_out = Err(FetchStop::Failed(FetchError::Timeout {
            phase: TimeoutPhase::Total,
            after: limit,
        }));
        let robots_url = url.join("/robots.txt").unwrap_or_else(|_| url.clone());
        if host.lock().is_none()
            && let Some(file) = context.load_robots(&robots_url).await
        {
            self.insert(origin, &host, &Arc::new(file));
            if let Some(file) = host.fresh_file() {
                return Ok(file);
            }
        }
        let result = timeout(limit, fetch_robots(client, robots_url.clone(), context))
            .await
            .unwrap_or(timed_out);
        let fetched = match result {
            Ok(fetched) => fetched,
            // The refusal concerns the host itself. If a redirect of the file is refused, only the
            // file is absent.
            Err(FetchStop::Refused(refusal)) => return Err(refusal),
            Err(FetchStop::Failed(error @ FetchError::Postponed { .. })) => {
                // No request was sent, so nothing is known.
                return Ok(Arc::new(
                    RobotsFetch::from_error(error).into_file(client, robots_url, None),
                ));
            }
            Err(FetchStop::Failed(error)) => RobotsFetch::from_error(error),
        };
        let previous = host.lock().clone();
        let file = Arc::new(fetched.into_file(client, robots_url, previous.as_deref()));
        self.insert(origin, &host, &file);
        context.report_robots(&file);
        Ok(file)
    }

    fn insert(&self, origin: &str, host: &Arc<HostEntry>, file: &Arc<RobotsFile>) {
        let previous = host.lock().replace(Arc::clone(file));
        let mut state = self.lock();
        // An entry that was evicted in the meantime is no longer counted.
        if state.hosts.get(origin).is_some_and(|it| Arc::ptr_eq(it, host)) {
            state.update_size(file.memory_size(), previous.map_or(0, |file| file.memory_size()));
        }
    }

    fn host_entry(&self, origin: &str) -> Arc<HostEntry> {
        let mut state = self.lock();
        if let Some(host) = state.hosts.get(origin) {
            return Arc::clone(host);
        }
        let host = Arc::new(HostEntry::default());
        state.hosts.insert(origin.to_owned(), Arc::clone(&host));
        state.order.push_back(origin.to_owned());
        state.update_size(0, 0);
        host
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    /// Updates the total size and evicts entries above the limits.
    fn update_size(&mut self, added: usize, removed: usize) {
        self.bytes = (self.bytes + added).saturating_sub(removed);
        while self.hosts.len() > 1
            && (self.hosts.len() > MAX_CACHED_FILES || self.bytes > MAX_CACHED_BYTES)
        {
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(host) = self.hosts.remove(&oldest) {
                let size = host.lock().as_ref().map_or(0, |file| file.memory_size());
                self.bytes = self.bytes.saturating_sub(size);
            }
        }
    }
}

impl HostEntry {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<RobotsFile>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh_file(&self) -> Option<Arc<RobotsFile>> {
        self.lock().as_ref().filter(|file| Instant::now() < file.expires_at).map(Arc::clone)
    }
}

impl RobotsFile {
    fn memory_size(&self) -> usize {
        let rules = if let FileState::Found(rules) = &self.state { rules.memory_size() } else { 0 };
        let sitemaps: usize = self.sitemaps.iter().map(|it| size_of::<String>() + it.len()).sum();
        size_of::<Self>() + rules + sitemaps
    }
}
