//! What hosts allow: their robots.txt files, fetched once and kept for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::header::{HeaderMap, USER_AGENT};
use tokio::time::{Instant, timeout};
use url::{Position, Url};

use crate::connect::Stop;
use crate::error::{FetchError, Phase};
use crate::exchange::Exchange;
use crate::guard::Refusal;
use crate::headers;
use crate::outcome::Hop;
use crate::robots::{MOST_BYTES, Robots, Rules, Verdict};
use crate::settings::DAY;

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
}

/// Why a fetch is allowed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// By the rules of the file.
    Rules(Verdict),
    /// There is no file, so that all is allowed (RFC 9309 §2.3.1.3).
    NoFile,
    /// The file cannot be reached, so that nothing is allowed (§2.3.1.4).
    Unreachable(FetchError),
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
    state: State,
    at: Instant,
    until: Instant,
}

#[derive(Clone, Debug)]
enum State {
    Found(Rules),
    Absent,
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

impl Permissions {
    /// Whether a URL may be fetched. Only the guard can keep this from having an answer.
    pub(crate) async fn ask(
        &self,
        exchange: &Exchange,
        url: &Url,
        requests: &mut u32,
    ) -> Result<Permission, Refusal> {
        let file = self.file(exchange, url, requests).await?;
        let because = match &file.state {
            State::Found(rules) => {
                Because::Rules(rules.judge(&url[Position::BeforePath..Position::AfterQuery]))
            }
            State::Absent => Because::NoFile,
            State::Unreachable(_, since) if since.elapsed() > PATIENCE => Because::NoFile,
            State::Unreachable(error, _) => Because::Unreachable(error.clone()),
        };
        let allowed = match &because {
            Because::Rules(verdict) => verdict.allowed,
            Because::NoFile => true,
            Because::Unreachable(_) => false,
        };
        let age = file.at.elapsed();
        Ok(Permission { allowed, because, file, age })
    }

    async fn file(
        &self,
        exchange: &Exchange,
        url: &Url,
        requests: &mut u32,
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
        let looked = timeout(limit, look(exchange, place.clone(), requests)).await.unwrap_or(late);
        let found = match looked {
            Ok(found) => found,
            // Of the host itself. Where its file is elsewhere, only the file is out of reach.
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Failed(error)) => Found { error: Some(error), ..Found::default() },
        };
        let before = host.lock().clone();
        let file = Arc::new(found.file(exchange, place, before.as_deref()));
        *host.lock() = Some(Arc::clone(&file));
        let mut kept = self.lock();
        // Who was dropped meanwhile to make room is no longer counted.
        if kept.hosts.get(origin).is_some_and(|it| Arc::ptr_eq(it, &host)) {
            kept.weigh(file.weight(), before.map_or(0, |file| file.weight()));
        }
        drop(kept);
        Ok(file)
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

/// What a look at a host brought.
#[derive(Default)]
struct Found {
    status: Option<u16>,
    body: Option<Vec<u8>>,
    error: Option<FetchError>,
}

impl Found {
    fn file(self, exchange: &Exchange, url: Url, before: Option<&RobotsFile>) -> RobotsFile {
        let (limits, now) = (&exchange.settings.limits, Instant::now());
        let retry = now + limits.robots_retry.min(limits.robots);
        let mut file = RobotsFile {
            url,
            status: self.status,
            sitemaps: Vec::new(),
            crawl_delay: None,
            cut: false,
            state: State::Absent,
            at: now,
            until: now + limits.robots,
        };
        if let Some(error) = self.error {
            match before {
                // §2.4: a copy may be used for longer while the file cannot be reached.
                Some(before)
                    if !matches!(before.state, State::Unreachable(..))
                        && before.at.elapsed() <= PATIENCE =>
                {
                    return RobotsFile { until: retry, ..before.clone() };
                }
                Some(RobotsFile { state: State::Unreachable(_, since), .. }) => {
                    file.state = State::Unreachable(error, *since);
                }
                _ => file.state = State::Unreachable(error, now),
            }
            file.until = retry;
        } else if let Some(body) = self.body {
            let robots = Robots::parse(&body);
            let rules = robots.rules_for(exchange.settings.agent());
            file.crawl_delay = rules.crawl_delay();
            file.sitemaps = robots.sitemaps().to_vec();
            file.cut = robots.is_cut();
            file.state = State::Found(rules);
        }
        file
    }
}

/// Fetches a robots.txt file.
async fn look(exchange: &Exchange, place: Url, requests: &mut u32) -> Result<Found, Stop> {
    let mut seen: Vec<Url> = Vec::new();
    let mut url = place;
    loop {
        let mut hop = Hop::to(url.clone());
        let mut own = HeaderMap::new();
        own.insert(USER_AGENT, exchange.settings.user_agent.clone());
        exchange.settings.headers_for(&url, &mut own);
        let reply = match exchange.ask(&mut hop, false, own, requests).await {
            Err(Stop::Refused(_)) if !seen.is_empty() => {
                return Ok(Found::default());
            }
            reply => reply?,
        };
        let status = Some(reply.status);
        match reply.status {
            200..=299 => {
                let most = MOST_BYTES as u64 + 1;
                let body = exchange.read(reply, &mut hop, Some(most)).await?.body;
                return Ok(Found { status, body: Some(body), error: None });
            }
            301 | 302 | 303 | 307 | 308 => {
                let next = headers::location(&reply.headers, &url);
                exchange.drain(reply).await;
                seen.push(url);
                // §2.3.1.2: a file that redirects too often or in a circle is taken for absent.
                match next {
                    Some(next)
                        if matches!(next.scheme(), "http" | "https")
                            && !seen.contains(&next)
                            && seen.len() <= exchange.settings.limits.redirects.max(5) as usize =>
                    {
                        url = next;
                    }
                    _ => return Ok(Found { status, ..Found::default() }),
                }
            }
            // Who asks us to slow down has not said that there is no file.
            429 | 500.. => {
                let error = Some(FetchError::Status { status: reply.status });
                exchange.drain(reply).await;
                return Ok(Found { status, body: None, error });
            }
            _ => {
                exchange.drain(reply).await;
                return Ok(Found { status, ..Found::default() });
            }
        }
    }
}
