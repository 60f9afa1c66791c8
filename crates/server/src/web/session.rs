//! Who looks: a token that was shown once becomes a cookie.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use freshet_daemon::Millis;
use sha2::{Digest, Sha256};

/// The name of the cookie.
pub(super) const NAME: &str = "freshet_session";
/// How long a session lasts, in seconds: a month.
pub(super) const LASTS: i64 = 30 * 86_400;
/// Sessions at a time; beyond that the oldest end.
const MOST: usize = 10_000;

/// Sessions, by what is kept of their cookies. They end with the process.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<[u8; 32], Session>>,
}

/// A session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// The token that it was begun with: it ends with that.
    pub(crate) token: [u8; 32],
    until: Millis,
}

impl Sessions {
    /// Begins one, and gives what its cookie says.
    pub(super) fn begin(&self, token: [u8; 32], now: Millis) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let cookie = hex(&bytes);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.retain(|_, session| session.until > now);
            let first = all.iter().min_by_key(|(_, session)| session.until).map(|(key, _)| *key);
            if let Some(first) = first.filter(|_| all.len() >= MOST) {
                all.remove(&first);
            }
        }
        all.insert(kept(&cookie), Session { token, until: now + 1000 * LASTS });
        Ok(cookie)
    }

    /// The session of a cookie, if it lasts.
    pub(crate) fn find(&self, cookie: &str, now: Millis) -> Option<Session> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&kept(cookie)).copied().filter(|session| session.until > now)
    }

    /// Ends one.
    pub(super) fn end(&self, cookie: &str) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&kept(cookie));
    }
}

/// What is kept of a cookie.
fn kept(cookie: &str) -> [u8; 32] {
    Sha256::digest(cookie.as_bytes()).into()
}

/// The cookie of a session among the headers of a request.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(name, _)| *name == NAME).map(|(_, value)| value)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_its_time_and_ends_when_told() {
        let sessions = Sessions::default();
        let cookie = sessions.begin([7; 32], 0).unwrap();
        assert_eq!(sessions.find(&cookie, 1).map(|it| it.token), Some([7; 32]));
        assert!(sessions.find(&cookie, 1000 * LASTS).is_none());
        assert!(sessions.find("", 1).is_none());
        sessions.end(&cookie);
        assert!(sessions.find(&cookie, 1).is_none());
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let sessions = Sessions::default();
        let first = sessions.begin([1; 32], 0).unwrap();
        let others: Vec<_> = (1..=MOST as i64).map(|now| sessions.begin([2; 32], now)).collect();
        assert!(sessions.find(&first, 1).is_none());
        assert!(others.iter().all(|it| sessions.find(it.as_ref().unwrap(), 1).is_some()));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=b; freshet_session=xyz".parse().unwrap());
        assert_eq!(cookie(&headers), Some("xyz"));
        headers.clear();
        headers.append(COOKIE, "not_freshet_session=xyz".parse().unwrap());
        assert_eq!(cookie(&headers), None);
    }
}
