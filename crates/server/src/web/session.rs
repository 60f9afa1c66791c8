//! Sessions: a token is exchanged for a cookie.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use freshet_daemon::Millis;
use sha2::{Digest, Sha256};

/// Name of the session cookie.
pub(super) const COOKIE_NAME: &str = "freshet_session";
/// Lifetime of a session in seconds: 30 days.
pub(super) const SESSION_SECONDS: i64 = 30 * 86_400;
/// Maximum number of sessions; the oldest end first.
const MAX_SESSIONS: usize = 10_000;

/// Sessions by the hash of their cookie. They end with the process.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<[u8; 32], Session>>,
}

/// A session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// Hash of the token it was started with; the session ends when the token is removed.
    pub(crate) token: [u8; 32],
    until: Millis,
}

impl Sessions {
    /// Starts a session and returns the value of its cookie.
    pub(super) fn start(&self, token: [u8; 32], now: Millis) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let cookie = hex(&bytes);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SESSIONS {
            all.retain(|_, session| session.until > now);
            let first = all.iter().min_by_key(|(_, session)| session.until).map(|(key, _)| *key);
            if let Some(first) = first.filter(|_| all.len() >= MAX_SESSIONS) {
                all.remove(&first);
            }
        }
        all.insert(cookie_hash(&cookie), Session { token, until: now + 1000 * SESSION_SECONDS });
        Ok(cookie)
    }

    /// Returns the session of a cookie if it has not expired.
    pub(crate) fn find(&self, cookie: &str, now: Millis) -> Option<Session> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&cookie_hash(cookie)).copied().filter(|session| session.until > now)
    }

    /// Ends a session.
    pub(super) fn end(&self, cookie: &str) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&cookie_hash(cookie));
    }
}

/// Returns the hash under which a cookie is stored.
fn cookie_hash(cookie: &str) -> [u8; 32] {
    Sha256::digest(cookie.as_bytes()).into()
}

/// Returns the session cookie of a request.
pub(crate) fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_expires_and_can_be_ended() {
        let sessions = Sessions::default();
        let cookie = sessions.start([7; 32], 0).unwrap();
        assert_eq!(sessions.find(&cookie, 1).map(|it| it.token), Some([7; 32]));
        assert!(sessions.find(&cookie, 1000 * SESSION_SECONDS).is_none());
        assert!(sessions.find("", 1).is_none());
        sessions.end(&cookie);
        assert!(sessions.find(&cookie, 1).is_none());
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let sessions = Sessions::default();
        let first = sessions.start([1; 32], 0).unwrap();
        let others: Vec<_> =
            (1..=MAX_SESSIONS as i64).map(|now| sessions.start([2; 32], now)).collect();
        assert!(sessions.find(&first, 1).is_none());
        assert!(others.iter().all(|it| sessions.find(it.as_ref().unwrap(), 1).is_some()));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=b; freshet_session=xyz".parse().unwrap());
        assert_eq!(session_cookie(&headers), Some("xyz"));
        headers.clear();
        headers.append(COOKIE, "not_freshet_session=xyz".parse().unwrap());
        assert_eq!(session_cookie(&headers), None);
    }
}
