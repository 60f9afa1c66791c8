//! What hosts allow: their robots.txt files, fetched once and kept for a while.

mod kept;
mod look;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, timeout};
use url::{Position, Url};

use crate::connect::Stop;
use crate::error::{FetchError, Phase};
use crate::exchange::Exchange;
use crate::guard::Refusal;
use crate::headers::Wait;
use crate::request_hook::Road;
use crate::robots::{Rules, Verdict};
use crate::settings::DAY;
use look::{Found, look};

/// A file that could not be reached for so long is taken for absent (RFC 9309 §2.3.1.4); until then
/// its last copy holds, if there is one, and otherwise nothing is allowed.
const PATIENCE: Duration = Duration::from_secs(30 * DAY.as_secs());
/// Hosts whose files are kept, and what these may take in all.
const KEPT_FILES: usize = 65_536;
const KEPT_BYTES: usize = 64 << 20;

/// Whether robots.txt allows a fetch, and why.
#[derive(Clone, Debug)]
pub struct Permission {
    /// Whether it does.
    pub allowed: bool,
    /// Why.
    pub because: Because,
    /// The file.
    pub file: Arc<RobotsFile>,
    /// How old our copy of it is.
    pub age: Duration,
    /// How long the host wants to be left alone, if it said so in place of the file.
    pub retry_after: Option<Wait>,
}

/// Why a fetch is allowed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// By the rules of the file.
    Rules(Verdict),
    /// There is no file, so that all is allowed (RFC 9309 §2.3.1.3).
    NoFile(Absence),
    /// The file cannot be reached, so that nothing is allowed (§2.3.1.4).
    Unreachable(FetchError),
}

/// Why a host is taken to have no robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Absence {
    /// It answers that there is none, or that it is not for us.
    #[error("status {status}")]
    Status {
        /// The status, of 400 to 499.
        status: u16,
    },
    /// A redirect that says not or not soundly where to, or is of a kind that nobody follows.
    #[error("a redirect ({status}) to nowhere")]
    Nowhere {
        /// The status.
        status: u16,
    },
    /// Redirects to where we have been.
    #[error("its redirects go in a circle")]
    Circle,
    /// More redirects than are followed.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// The limit.
        limit: u32,
    },
    /// A redirect to where the guard lets nobody.
    #[error("it is elsewhere, and there the guard refuses it: {0}")]
    Refused(Refusal),
    /// Nothing has been heard of it for too long.
    #[error("it has been out of reach for 30 days: {0}")]
    OutOfReach(FetchError),
}

/// A robots.txt file as it was found.
#[derive(Clone, Debug)]
pub struct RobotsFile {
    /// Where it is looked for.
    pub url: Url,
    /// The status of the last answer, if there was one.
    pub status: Option<u16>,
    /// The sitemaps that it names.
    pub sitemaps: Vec<String>,
    /// The time between two fetches that it asks of us.
    pub crawl_delay: Option<Duration>,
    /// Whether it is longer than what is read of it.
    pub cut: bool,
    /// What was read of it, in bytes; `None` if there is no file, or that was not kept.
    pub bytes: Option<u64>,
    state: State,
    retry_after: Option<Wait>,
    at: Instant,
    /// How old it was by then.
    before: Duration,
    until: Instant,
}

#[derive(Clone, Debug)]
enum State {
    Found(Rules),
    Absent(Absence),
    /// With the time since when.
    Unreachable(FetchError, Instant),
}

/// The robots.txt files of hosts.
#[derive(Default)]
pub(crate) struct Permissions {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    hosts: HashMap<String, Arc<Host>>,
    /// Who came first goes first.
    order: VecDeque<String>,
    bytes: usize,
}

#[derive(Default)]
struct Host {
    file: Mutex<Option<Arc<RobotsFile>>>,
    /// Held by whoever fetches the file, so that others wait and do not fetch it too.
    flight: tokio::sync::Mutex<()>,
}

impl RobotsFile {
    /// The rules for us; `None` if there is no file, or it cannot be reached.
    #[must_use]
    pub fn rules(&self) -> Option<&Rules> {
        match &self.state {
            State::Found(rules) => Some(rules),
            State::Absent(_) | State::Unreachable(..) => None,
        }
    }
}

impl Permission {
    /// What kept us from asking, if it was not an answer of the host: the page would not be reached
    /// either.
    pub(crate) fn failure(&self) -> Option<&FetchError> {
        match &self.because {
            Because::Unreachable(FetchError::Status { .. }) => None,
            Because::Unreachable(error) => Some(error),
            _ => None,
        }
    }
}

impl Permissions {
    /// Whether a URL may be fetched. Only the guard can keep this from having an answer.
    pub(crate) async fn ask(
        &self,
        exchange: &Exchange,
        url: &Url,
        road: &mut Road<'_>,
    ) -> Result<Permission, Refusal> {
        let file = self.file(exchange, url, road).await?;
        let because = match &file.state {
            State::Found(rules) => {
                Because::Rules(rules.judge(&url[Position::BeforePath..Position::AfterQuery]))
            }
            State::Absent(absence) => Because::NoFile(absence.clone()),
            State::Unreachable(error, since) if since.elapsed() > PATIENCE => {
                Because::NoFile(Absence::OutOfReach(error.clone()))
            }
            State::Unreachable(error, _) => Because::Unreachable(error.clone()),
        };
        let allowed = match &because {
            Because::Rules(verdict) => verdict.allowed,
            Because::NoFile(_) => true,
            Because::Unreachable(_) => false,
        };
        let age = file.age();
        let retry_after = file.retry_after.map(|wait| wait.after(age));
        Ok(Permission { allowed, because, file, age, retry_after })
    }

    async fn file(
        &self,
        exchange: &Exchange,
        url: &Url,
        road: &mut Road<'_>,
    ) -> Result<Arc<RobotsFile>, Refusal> {
        let origin = &url[..Position::BeforePath];
        let host = self.host(origin);
        if let Some(file) = host.current() {
            return Ok(file);
        }
        let _flight = host.flight.lock().await;
        if let Some(file) = host.current() {
            return Ok(file);
        }
        // Half of the time, so that whoever waits for it gets to know what came of it.
        let limit = exchange.settings.limits.total / 2;
        let late = Err(Stop::Failed(FetchError::Timeout { phase: Phase::Total, after: limit }));
        let place = url.join("/robots.txt").unwrap_or_else(|_| url.clone());
        if host.lock().is_none()
            && let Some(file) = road.remembers(&place).await
        {
            self.keep(origin, &host, &Arc::new(file));
            if let Some(file) = host.current() {
                return Ok(file);
            }
        }
        let looked = timeout(limit, look(exchange, place.clone(), road)).await.unwrap_or(late);
        let found = match looked {
            Ok(found) => found,
            // Of the host itself. Where its file is elsewhere, only the file is out of reach.
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Failed(error @ FetchError::NoTurn { .. })) => {
                // Nothing was asked, and nothing is known.
                return Ok(Arc::new(Found::failed(error).file(exchange, place, None)));
            }
            Err(Stop::Failed(error)) => Found::failed(error),
        };
        let before = host.lock().clone();
        let file = Arc::new(found.file(exchange, place, before.as_deref()));
        self.keep(origin, &host, &file);
        road.found(&file);
        Ok(file)
    }

    fn keep(&self, origin: &str, host: &Arc<Host>, file: &Arc<RobotsFile>) {
        let before = host.lock().replace(Arc::clone(file));
        let mut kept = self.lock();
        // Who was dropped meanwhile to make room is no longer counted.
        if kept.hosts.get(origin).is_some_and(|it| Arc::ptr_eq(it, host)) {
            kept.weigh(file.weight(), before.map_or(0, |file| file.weight()));
        }
    }

    fn host(&self, origin: &str) -> Arc<Host> {
        let mut kept = self.lock();
        if let Some(host) = kept.hosts.get(origin) {
            return Arc::clone(host);
        }
        let host = Arc::new(Host::default());
        kept.hosts.insert(origin.to_owned(), Arc::clone(&host));
        kept.order.push_back(origin.to_owned());
        kept.weigh(0, 0);
        host
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Takes note of what was added and dropped, and makes room.
    fn weigh(&mut self, grown: usize, shrunk: usize) {
        self.bytes = (self.bytes + grown).saturating_sub(shrunk);
        while self.hosts.len() > 1 && (self.hosts.len() > KEPT_FILES || self.bytes > KEPT_BYTES) {
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(host) = self.hosts.remove(&oldest) {
                let weight = host.lock().as_ref().map_or(0, |file| file.weight());
                self.bytes = self.bytes.saturating_sub(weight);
            }
        }
    }
}

impl Host {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<RobotsFile>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Arc<RobotsFile>> {
        self.lock().as_ref().filter(|file| Instant::now() < file.until).map(Arc::clone)
    }
}

impl RobotsFile {
    fn weight(&self) -> usize {
        let rules = if let State::Found(rules) = &self.state { rules.weight() } else { 0 };
        let sitemaps: usize = self.sitemaps.iter().map(|it| size_of::<String>() + it.len()).sum();
        size_of::<Self>() + rules + sitemaps
    }
}
