//! IndexNow: owners of sites say which of their pages have changed. That it is they who say so is seen by a
//! key that stands on the site itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use freshet_fetch::{Outcome, Request};
use freshet_store::SignalSourceKind;
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

use crate::clock::Millis;
use crate::daemon::{DaemonError, Handle};
use crate::polite_fetch::PoliteFetch;
use crate::signal_sources::SignalReport;
use crate::work::{FetchContext, host_name};

const MINUTE: Millis = 60_000;
/// How long a key holds that was found, and for how long one that was not is not looked for again.
const FOUND: Millis = 24 * 60 * MINUTE;
const NOT_FOUND: Millis = 10 * MINUTE;
/// The same if the site did not answer, which says nothing of the key.
const NOT_SEEN: Millis = MINUTE;
/// Keys that are kept in mind: of more, the oldest go.
const KEYS: usize = 10_000;
/// Keys that are looked for in a minute, and those of one host.
const CHECKS: f64 = 30.0;
const OWN_CHECKS: u32 = 6;
/// What may be said with one key in a minute.
const WORDS: u32 = 60;
/// Those who are counted.
const COUNTED: usize = 10_000;
/// Sources that wait for a key in all.
const WAITING: usize = 100_000;
/// How long somebody who speaks waits for a key to be found.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a file with a key that are looked at.
const LONGEST: usize = 1024;

/// What an owner of a site says.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The host, with its port if that is not the usual one.
    pub host: String,
    /// What is to stand on the site.
    pub key: String,
    /// Where.
    pub place: Url,
    /// Pages of the host.
    pub urls: Vec<String>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The key is right, and so many sources were told of.
    Heard(u64),
    /// It is not known yet whether the key is right; or nothing is known of these pages, and it does not
    /// matter.
    Pending,
    /// The key is not there.
    WrongKey,
    /// Too much is said: not before so many seconds.
    TooMany(u32),
}

/// What is known of keys.
#[derive(Default)]
pub(crate) struct Keys {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: HashMap<(Url, String), KeyState>,
    /// Keys that may be looked for at once, and when that was so.
    room: Option<(f64, Millis)>,
    /// What was said with keys of hosts in a minute, and since when.
    words: Minute,
    /// Keys that were looked for on hosts.
    hosts: Minute,
    /// Sources that wait for a key.
    waiting: usize,
    checks: u64,
}

#[derive(Clone)]
enum KeyState {
    /// Whether it is there, and until when that holds.
    Is(bool, Millis),
    /// It is being looked for.
    Asked(watch::Receiver<Option<bool>>),
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keys that were looked for.
    pub(crate) fn checks(&self) -> u64 {
        self.lock().checks
    }
}

/// What each has done within a minute.
#[derive(Default)]
struct Minute(HashMap<String, (u32, Millis)>);

impl Minute {
    /// One more. Gives the seconds after which there may be more, if that is more than so many.
    fn count(&mut self, who: String, most: u32, now: Millis) -> Result<(), u32> {
        if self.0.len() >= COUNTED {
            self.0.retain(|_, (_, since)| now - *since < MINUTE);
            if self.0.len() >= COUNTED {
                self.0.clear();
            }
        }
        let (count, since) = self.0.entry(who).or_insert((0, now));
        if now - *since >= MINUTE {
            (*count, *since) = (0, now);
        }
        *count += 1;
        let left = MINUTE - (now - *since);
        if *count > most { Err(u32::try_from(left / 1000).unwrap_or(0) + 1) } else { Ok(()) }
    }
}

impl State {
    /// Whether one more key may be looked for; if not, the seconds after which one may.
    fn may_look(&mut self, host: String, now: Millis) -> Result<(), u32> {
        self.hosts.count(host, OWN_CHECKS, now)?;
        let (room, at) = self.room.unwrap_or((CHECKS, now));
        let passed = (now - at).max(0) as f64 / MINUTE as f64;
        let room = (room + passed * CHECKS).min(CHECKS);
        if room < 1.0 {
            self.room = Some((room, now));
            return Err(((1.0 - room) / CHECKS * 60.0).ceil() as u32);
        }
        self.room = Some((room - 1.0, now));
        self.checks += 1;
        Ok(())
    }

    fn keep(&mut self, key: (Url, String), known: KeyState, now: Millis) {
        if self.known.len() >= KEYS {
            self.known.retain(|_, it| !matches!(it, KeyState::Is(_, until) if *until <= now));
        }
        if self.known.len() >= KEYS {
            let ends = |known: &KeyState| match known {
                KeyState::Is(_, until) => *until,
                KeyState::Asked(_) => Millis::MAX,
            };
            let first =
                self.known.iter().min_by_key(|(_, it)| ends(it)).map(|(key, _)| key.clone());
            first.map(|first| self.known.remove(&first));
        }
        self.known.insert(key, known);
    }
}

impl Handle {
    /// Whether owners of sites may say so.
    #[must_use]
    pub fn hears_indexnow(&self) -> bool {
        self.shops().borrow().indexnow
    }

    /// Keys that were looked for since the start.
    #[must_use]
    pub fn indexnow_checks(&self) -> u64 {
        self.keys().checks()
    }

    /// An owner of a site says that pages have changed. The key is looked for on the site, unless that was
    /// done of late; nothing is asked of hosts that have no sources among these pages.
    ///
    /// # Errors
    /// If the store cannot be read or written, or the daemon has stopped.
    pub async fn announce(&self, it: Announcement) -> Result<Accepted, DaemonError> {
        let now = self.now();
        let Announcement { host, key, place, urls } = it;
        // Whoever does not know the key keeps nobody from speaking who does.
        let counted = self.keys().lock().words.count(format!("{host} {key}"), WORDS, now);
        if let Err(seconds) = counted {
            return Ok(Accepted::TooMany(seconds));
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
            return Ok(Accepted::Pending);
        }
        let mut found = match self.look(place, key, now) {
            Ok(found) => found,
            Err(seconds) => return Ok(Accepted::TooMany(seconds)),
        };
        let known = *found.borrow();
        match known {
            Some(true) => return self.tell_of(host, sources).await.map(Accepted::Heard),
            Some(false) => return Ok(Accepted::WrongKey),
            None => {}
        }
        if !self.keys().wait(sources.len()) {
            return Ok(Accepted::TooMany(60));
        }
        // Whoever asked may go: what was said is told as soon as the key is there.
        let handle = self.clone();
        let rest = tokio::spawn(async move {
            let is_there = found.wait_for(Option::is_some).await.ok().and_then(|it| *it);
            let count = sources.len();
            let announced = match is_there {
                Some(true) => handle.tell_of(host, sources).await.map(Accepted::Heard),
                _ => Ok(Accepted::WrongKey),
            };
            handle.keys().done(count);
            announced
        });
        match timeout(PATIENCE, rest).await {
            Ok(announced) => announced.map_err(|_| DaemonError::Stopped)?,
            Err(_) => Ok(Accepted::Pending),
        }
    }

    async fn tell_of(&self, host: String, mut sources: Vec<u32>) -> Result<u64, DaemonError> {
        sources.sort_unstable();
        sources.dedup();
        let herald = self.herald_named(SignalSourceKind::IndexNow, &host).await?;
        let said = sources.into_iter().map(|source| SignalReport { source, said: None }).collect();
        self.hear(herald, said).await
    }

    /// Whether a key is at a place: it is looked for unless that is known. The seconds after which it may be
    /// if there is too much to look for.
    fn look(
        &self,
        place: Url,
        key: String,
        now: Millis,
    ) -> Result<watch::Receiver<Option<bool>>, u32> {
        let keys = Arc::clone(self.keys());
        let name = (place.clone(), key.clone());
        let mut state = keys.lock();
        match state.known.get(&name) {
            Some(KeyState::Is(is_there, until)) if now < *until => {
                return Ok(watch::channel(Some(*is_there)).1);
            }
            Some(KeyState::Asked(asked)) => return Ok(asked.clone()),
            _ => {}
        }
        state.may_look(host_name(&place), now)?;
        let (tell, told) = watch::channel(None);
        state.keep(name.clone(), KeyState::Asked(told.clone()), now);
        drop(state);
        let handle = self.clone();
        tokio::spawn(async move {
            let shop = Arc::clone(&handle.shops().borrow());
            let seen = is_at(&shop, &place, &key).await;
            tracing::debug!(%place, ?seen, "looked for a key");
            let (now, is_there) = (handle.now(), seen == Some(true));
            let until = now
                + match seen {
                    Some(true) => FOUND,
                    Some(false) => NOT_FOUND,
                    None => NOT_SEEN,
                };
            handle.keys().lock().keep(name, KeyState::Is(is_there, until), now);
            tell.send_replace(Some(is_there));
        });
        Ok(told)
    }
}

impl Keys {
    /// So many sources wait for a key. Says whether there is room for them.
    fn wait(&self, count: usize) -> bool {
        let mut state = self.lock();
        let fits = state.waiting + count <= WAITING;
        state.waiting += if fits { count } else { 0 };
        fits
    }

    fn done(&self, count: usize) {
        let mut state = self.lock();
        state.waiting = state.waiting.saturating_sub(count);
    }
}

/// Whether a key stands at a place: there, and nowhere else that it leads to. `None` if nobody knows.
async fn is_at(shop: &FetchContext, place: &Url, key: &str) -> Option<bool> {
    let Ok(request) = Request::new(place.as_str()) else { return Some(false) };
    let mut errand = PoliteFetch::new(shop, String::new(), false);
    let (answer, _) = errand.run(request).await;
    let is_home = answer.trace.final_url().is_some_and(|url| host_name(url) == host_name(place));
    match answer.outcome {
        Outcome::Content(content) if is_home => {
            let body = content.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content.body);
            Some(body.len() <= LONGEST && body.trim_ascii() == key.as_bytes())
        }
        Outcome::Failed(_) => None,
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_says_too_much_waits_and_others_do_not() {
        let mut minute = Minute::default();
        let mut count = |who: &str, now| minute.count(who.to_owned(), 60, now);
        for _ in 0..60 {
            assert_eq!(count("a.example", 0), Ok(()));
        }
        assert_eq!(count("a.example", 10_000), Err(51));
        assert_eq!(count("b.example", 10_000), Ok(()));
        assert_eq!(count("a.example", MINUTE), Ok(()));
    }

    #[test]
    fn keys_are_looked_for_so_often_and_remembered_up_to_a_number() {
        let mut state = State::default();
        let mut look = |host: u32, now| state.may_look(host.to_string(), now);
        assert_eq!((0..10).filter(|_| look(0, 0).is_ok()).count(), 6);
        assert_eq!((1..100).filter(|host| look(*host, 0).is_ok()).count(), 24);
        assert_eq!(look(100, 0), Err(2));
        assert!(look(101, 2_000).is_ok() && look(102, 2_000).is_err());
        assert_eq!(state.checks, 31);
        let place = |n: usize| Url::parse(&format!("https://a.example/{n}")).unwrap();
        for n in 0..KEYS + 5 {
            state.keep((place(n), String::new()), KeyState::Is(true, n as Millis), 0);
        }
        assert_eq!(state.known.len(), KEYS);
        assert!(!state.known.contains_key(&(place(0), String::new())));
        assert!(state.known.contains_key(&(place(KEYS + 4), String::new())));
    }
}
