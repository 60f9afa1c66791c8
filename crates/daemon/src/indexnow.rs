//! IndexNow: site owners report changed pages. A key file on the site proves that the report comes
//! from its owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use freshet_fetch::{FetchOutcome, FetchRequest};
use freshet_store::SignalSourceKind;
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

use crate::clock::Millis;
use crate::daemon::{DaemonError, DaemonHandle};
use crate::fetch_context::{FetchContext, host_name};
use crate::polite_fetch::PoliteFetch;
use crate::signal_sources::SignalReport;

const MINUTE_MS: Millis = 60_000;
/// Time for which a verified key stays valid, and for which a missing key is not checked again.
const FOUND_TTL_MS: Millis = 24 * 60 * MINUTE_MS;
const NOT_FOUND_TTL_MS: Millis = 10 * MINUTE_MS;
/// Time until the next check if the site did not answer.
const UNANSWERED_TTL_MS: Millis = MINUTE_MS;
/// Most cached keys; the oldest are evicted.
const MAX_KEYS: usize = 10_000;
/// Key checks per minute, in total and per host.
const CHECKS_PER_MINUTE: f64 = 30.0;
const HOST_CHECKS_PER_MINUTE: u32 = 6;
/// Requests per minute with one key.
const REQUESTS_PER_MINUTE: u32 = 60;
/// Most hosts and keys counted at a time.
const MAX_COUNTERS: usize = 10_000;
/// Most sources waiting for key checks.
const MAX_WAITING_SOURCES: usize = 100_000;
/// Longest wait of a request for its key check.
const KEY_CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest key file that is accepted.
const MAX_KEY_FILE_BYTES: usize = 1024;

/// An IndexNow request.
#[derive(Clone, Debug)]
pub struct IndexNowRequest {
    /// Host, with its port unless it is the default.
    pub host: String,
    /// Key that the request proves ownership with.
    pub key: String,
    /// URL of the key file.
    pub key_url: Url,
    /// Changed pages of the host.
    pub urls: Vec<String>,
}

/// Result of an IndexNow request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexNowResult {
    /// The key is valid, and this many sources were signalled.
    Accepted(u64),
    /// The key is being checked, or none of the pages is a source.
    Pending,
    /// The key file does not contain the key.
    WrongKey,
    /// Too many requests; retry after this many seconds.
    RateLimited(u32),
}

/// Cache of key checks.
#[derive(Default)]
pub(crate) struct KeyCache {
    state: Mutex<KeyCacheState>,
}

#[derive(Default)]
struct KeyCacheState {
    keys: HashMap<(Url, String), KeyState>,
    /// Key checks allowed at once, and the time of that count.
    check_allowance: Option<(f64, Millis)>,
    /// Requests per host and key in the current minute.
    requests: MinuteCounter,
    /// Key checks per host in the current minute.
    host_checks: MinuteCounter,
    /// Sources waiting for a key check.
    waiting_sources: usize,
    checks: u64,
}

#[derive(Clone)]
enum KeyState {
    /// Result of the check, and when it expires.
    Checked(bool, Millis),
    /// The check is in progress.
    Checking(watch::Receiver<Option<bool>>),
}

impl KeyCache {
    fn lock(&self) -> MutexGuard<'_, KeyCacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of key checks since the start.
    pub(crate) fn checks(&self) -> u64 {
        self.lock().checks
    }
}

/// Events per key within a minute.
#[derive(Default)]
struct MinuteCounter(HashMap<String, (u32, Millis)>);

impl MinuteCounter {
    /// Counts an event. Beyond `most` per minute, fails with the seconds to wait.
    fn count(&mut self, key: String, max: u32, now: Millis) -> Result<(), u32> {
        if self.0.len() >= MAX_COUNTERS {
            self.0.retain(|_, (_, since)| now - *since < MINUTE_MS);
            if self.0.len() >= MAX_COUNTERS {
                self.0.clear();
            }
        }
        let (count, since) = self.0.entry(key).or_insert((0, now));
        if now - *since >= MINUTE_MS {
            (*count, *since) = (0, now);
        }
        *count += 1;
        let remaining = MINUTE_MS - (now - *since);
        if *count > max { Err(u32::try_from(remaining / 1000).unwrap_or(0) + 1) } else { Ok(()) }
    }
}

impl KeyCacheState {
    /// Takes one key check from the allowance, or fails with the seconds to wait.
    fn charge_check(&mut self, host: String, now: Millis) -> Result<(), u32> {
        self.host_checks.count(host, HOST_CHECKS_PER_MINUTE, now)?;
        let (room, at) = self.check_allowance.unwrap_or((CHECKS_PER_MINUTE, now));
        let passed = (now - at).max(0) as f64 / MINUTE_MS as f64;
        let room = (room + passed * CHECKS_PER_MINUTE).min(CHECKS_PER_MINUTE);
        if room < 1.0 {
            self.check_allowance = Some((room, now));
            return Err(((1.0 - room) / CHECKS_PER_MINUTE * 60.0).ceil() as u32);
        }
        self.check_allowance = Some((room - 1.0, now));
        self.checks += 1;
        Ok(())
    }

    fn insert_key(&mut self, key: (Url, String), known: KeyState, now: Millis) {
        if self.keys.len() >= MAX_KEYS {
            self.keys.retain(|_, it| !matches!(it, KeyState::Checked(_, until) if *until <= now));
        }
        if self.keys.len() >= MAX_KEYS {
            let ends = |known: &KeyState| match known {
                KeyState::Checked(_, until) => *until,
                KeyState::Checking(_) => Millis::MAX,
            };
            let first = self.keys.iter().min_by_key(|(_, it)| ends(it)).map(|(key, _)| key.clone());
            first.map(|first| self.keys.remove(&first));
        }
        self.keys.insert(key, known);
    }
}

impl DaemonHandle {
    /// True if IndexNow requests are accepted.
    #[must_use]
    pub fn accepts_indexnow(&self) -> bool {
        self.watch_context().borrow().accept_indexnow
    }

    /// Returns the number of key checks since the start.
    #[must_use]
    pub fn indexnow_checks(&self) -> u64 {
        self.key_cache().checks()
    }

    /// Receives an IndexNow request. The key is checked on the site unless it is cached. No host is
    /// contacted unless one of the pages is a source.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read or written, or the daemon has stopped.
    pub async fn receive_indexnow(
        &self,
        it: IndexNowRequest,
    ) -> Result<IndexNowResult, DaemonError> {
        let now = self.now();
        let IndexNowRequest { host, key, key_url, urls } = it;
        // Counted by host and key, so that a wrong key cannot block the owner.
        let counted = self.key_cache().lock().requests.count(
            format!("{host} {key}"),
            REQUESTS_PER_MINUTE,
            now,
        );
        if let Err(seconds) = counted {
            return Ok(IndexNowResult::RateLimited(seconds));
        }
        let name = host.clone();
        let sources = self
            .read(move |reader| {
                if reader.find_host(&name)?.is_none() {
                    return Ok(Vec::new());
                }
                let mut sources = Vec::new();
                for url in &urls {
                    sources.extend(reader.find_source(url)?);
                }
                Ok(sources)
            })
            .await?;
        if sources.is_empty() {
            return Ok(IndexNowResult::Pending);
        }
        let mut found = match self.check_key(key_url, key, now) {
            Ok(found) => found,
            Err(seconds) => return Ok(IndexNowResult::RateLimited(seconds)),
        };
        let known = *found.borrow();
        match known {
            Some(true) => {
                return self.signal_indexnow(host, sources).await.map(IndexNowResult::Accepted);
            }
            Some(false) => return Ok(IndexNowResult::WrongKey),
            None => {}
        }
        if !self.key_cache().reserve_waiting(sources.len()) {
            return Ok(IndexNowResult::RateLimited(60));
        }
        // The caller may leave: the signals are sent when the key has been verified.
        let handle = self.clone();
        let rest = tokio::spawn(async move {
            let is_there = found.wait_for(Option::is_some).await.ok().and_then(|it| *it);
            let count = sources.len();
            let announced = match is_there {
                Some(true) => {
                    handle.signal_indexnow(host, sources).await.map(IndexNowResult::Accepted)
                }
                _ => Ok(IndexNowResult::WrongKey),
            };
            handle.key_cache().release_waiting(count);
            announced
        });
        match timeout(KEY_CHECK_TIMEOUT, rest).await {
            Ok(announced) => announced.map_err(|_| DaemonError::Stopped)?,
            Err(_) => Ok(IndexNowResult::Pending),
        }
    }

    async fn signal_indexnow(
        &self,
        host: String,
        mut sources: Vec<u32>,
    ) -> Result<u64, DaemonError> {
        sources.sort_unstable();
        sources.dedup();
        let signal_source = self.find_or_add_push_source(SignalSourceKind::IndexNow, &host).await?;
        let reports = sources
            .into_iter()
            .map(|source| SignalReport { source, changed_between: None })
            .collect();
        self.receive_signals(signal_source, reports).await
    }

    /// Returns the cached or pending result of a key check, or starts one. Fails with the seconds
    /// to wait if there are too many checks.
    fn check_key(
        &self,
        key_url: Url,
        key: String,
        now: Millis,
    ) -> Result<watch::Receiver<Option<bool>>, u32> {
        let keys = Arc::clone(self.key_cache());
        let name = (key_url.clone(), key.clone());
        let mut state = keys.lock();
        match state.keys.get(&name) {
            Some(KeyState::Checked(is_there, until)) if now < *until => {
                return Ok(watch::channel(Some(*is_there)).1);
            }
            Some(KeyState::Checking(asked)) => return Ok(asked.clone()),
            _ => {}
        }
        state.charge_check(host_name(&key_url), now)?;
        let (sender, result) = watch::channel(None);
        state.insert_key(name.clone(), KeyState::Checking(result.clone()), now);
        drop(state);
        let handle = self.clone();
        tokio::spawn(async move {
            let context = Arc::clone(&handle.watch_context().borrow());
            let seen = fetch_key(&context, &key_url, &key).await;
            tracing::debug!(%key_url, ?seen, "checked an IndexNow key");
            let (now, is_there) = (handle.now(), seen == Some(true));
            let until = now
                + match seen {
                    Some(true) => FOUND_TTL_MS,
                    Some(false) => NOT_FOUND_TTL_MS,
                    None => UNANSWERED_TTL_MS,
                };
            handle.key_cache().lock().insert_key(name, KeyState::Checked(is_there, until), now);
            sender.send_replace(Some(is_there));
        });
        Ok(result)
    }
}

impl KeyCache {
    /// Reserves room for waiting sources. Returns false if there is none.
    fn reserve_waiting(&self, count: usize) -> bool {
        let mut state = self.lock();
        let fits = state.waiting_sources + count <= MAX_WAITING_SOURCES;
        state.waiting_sources += if fits { count } else { 0 };
        fits
    }

    fn release_waiting(&self, count: usize) {
        let mut state = self.lock();
        state.waiting_sources = state.waiting_sources.saturating_sub(count);
    }
}

/// Fetches a key file. Returns true if it contains the key and came from the same host; `None` if
/// the site did not answer.
async fn fetch_key(context: &FetchContext, key_url: &Url, key: &str) -> Option<bool> {
    let Ok(request) = FetchRequest::new(key_url.as_str()) else { return Some(false) };
    let mut polite_fetch = PoliteFetch::new(context, String::new(), false);
    let (answer, _) = polite_fetch.fetch(request).await;
    let is_home = answer.trace.final_url().is_some_and(|url| host_name(url) == host_name(key_url));
    match answer.outcome {
        FetchOutcome::Content(content) if is_home => {
            let body = content.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content.body);
            Some(body.len() <= MAX_KEY_FILE_BYTES && body.trim_ascii() == key.as_bytes())
        }
        FetchOutcome::Failed(_) => None,
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limited_host_does_not_affect_others() {
        let mut minute = MinuteCounter::default();
        let mut count = |key: &str, now| minute.count(key.to_owned(), 60, now);
        for _ in 0..60 {
            assert_eq!(count("a.example", 0), Ok(()));
        }
        assert_eq!(count("a.example", 10_000), Err(51));
        assert_eq!(count("b.example", 10_000), Ok(()));
        assert_eq!(count("a.example", MINUTE_MS), Ok(()));
    }

    #[test]
    fn key_checks_are_rate_limited_and_the_cache_is_bounded() {
        let mut state = KeyCacheState::default();
        let mut look = |host: u32, now| state.charge_check(host.to_string(), now);
        assert_eq!((0..10).filter(|_| look(0, 0).is_ok()).count(), 6);
        assert_eq!((1..100).filter(|host| look(*host, 0).is_ok()).count(), 24);
        assert_eq!(look(100, 0), Err(2));
        assert!(look(101, 2_000).is_ok() && look(102, 2_000).is_err());
        assert_eq!(state.checks, 31);
        let url = |n: usize| Url::parse(&format!("https://a.example/{n}")).unwrap();
        for n in 0..MAX_KEYS + 5 {
            state.insert_key((url(n), String::new()), KeyState::Checked(true, n as Millis), 0);
        }
        assert_eq!(state.keys.len(), MAX_KEYS);
        assert!(!state.keys.contains_key(&(url(0), String::new())));
        assert!(state.keys.contains_key(&(url(MAX_KEYS + 4), String::new())));
    }
}
