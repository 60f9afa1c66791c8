//! HEAD before GET, where that saves large bodies: at hosts that send validators and answer 200 with the
//! whole page although it is still the one that the validators are of. Which hosts these are, and whether
//! their validators can be believed, is learnt from fetches and forgotten with the process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_engine::Outcome;
use freshet_fetch::{Answer, FetchError, Outcome as Came, Phase, Request};
use freshet_store::{FetchJob, StoredValidators};
use url::Url;

use crate::judge::validators;
use crate::polite_fetch::{PATIENCE, PoliteFetch};
use crate::work::{FetchContext, host_name};

/// Pages that must come as a whole with our own validators, and no 304 between them.
const TRIALS: u32 = 3;
/// Of a host, HEADs that say "the same" are followed by a GET so often at first, and then one in `ONE_IN`.
const FIRST: u32 = 5;
const ONE_IN: u64 = 10;
/// HEADs of no use, less those of use, after which it is not worth it.
const USELESS: u32 = 5;
/// Fetches from a host without a HEAD after one that misled.
const REST: u32 = 1000;
/// Hosts that are remembered.
const MOST: usize = 1 << 16;

/// What is written of a fetch that ended with the HEAD.
pub(crate) const NOTE: &str = "HEAD: its validators are those of the copy";

/// What is known of hosts that do not answer 304.
#[derive(Default)]
pub(crate) struct Heads {
    hosts: Mutex<HashMap<String, Host>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// Pages that came as a whole with our own validators.
    ignored: u32,
    /// HEADs that said "the same", since it was last left out.
    same: u32,
    useless: u32,
    /// Fetches for which it is left out.
    rest: u32,
}

/// What a HEAD said of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HeadResult {
    /// It is the one that the copy is of.
    Same(StoredValidators),
    /// It is another, or nobody knows.
    Other(StoredValidators),
    /// There was no answer to go by.
    Nothing,
}

/// What came of a fetch, with a HEAD before it or without.
pub(crate) struct Asked {
    pub(crate) answer: Answer,
    /// Whether it came from another host.
    pub(crate) away: bool,
    /// What the HEAD before the GET said, if there were both.
    pub(crate) head: Option<HeadResult>,
    /// Whether it ended with the HEAD: nothing has changed.
    pub(crate) by_head: bool,
}

impl Heads {
    /// Counts a fetch. Says whether a HEAD before it may be worth it.
    fn begin(&self, host: &str) -> bool {
        let mut hosts = self.hosts();
        let Some(it) = hosts.get_mut(host) else { return false };
        if it.rest > 0 {
            it.rest -= 1;
            return false;
        }
        it.ignored >= TRIALS
    }

    /// A HEAD said "the same". Says whether a GET is to follow all the same.
    fn is_checked(&self, host: &str) -> bool {
        let mut hosts = self.hosts();
        let Some(it) = hosts.get_mut(host) else { return true };
        it.useless = it.useless.saturating_sub(1);
        it.same = it.same.saturating_add(1);
        it.same <= FIRST || is_picked(it.same)
    }

    /// Leaves HEAD out at a host for a while.
    fn leave_out(&self, host: &str) {
        if let Some(it) = self.hosts().get_mut(host) {
            it.leave_out();
        }
    }

    /// Learns from an answer to a GET that showed `had`, after a HEAD or without one.
    pub(crate) fn learn(&self, url: &Url, had: &StoredValidators, asked: &Asked, found: Outcome) {
        let host = host_name(url);
        let mut hosts = self.hosts();
        match asked.answer.outcome {
            _ if asked.by_head => return,
            Came::NotModified => {
                hosts.remove(&host);
                return;
            }
            Came::Content(_) => {}
            _ => return,
        }
        let got = validators(&asked.answer);
        let is_changed = found == Outcome::Changed;
        let is_repeated = is_here(&asked.answer, url) && are_same(had, &got);
        if is_repeated && !hosts.contains_key(&host) && hosts.len() < MOST {
            hosts.insert(host.clone(), Host::default());
        }
        let Some(it) = hosts.get_mut(&host) else { return };
        if is_repeated && is_changed {
            // Whoever goes by them misses changes.
            it.leave_out();
        } else if is_repeated {
            it.ignored = it.ignored.saturating_add(1);
        }
        match &asked.head {
            None => {}
            Some(HeadResult::Nothing) => it.leave_out(),
            Some(HeadResult::Same(said) | HeadResult::Other(said)) if !are_equal(said, &got) => {
                it.leave_out()
            }
            Some(HeadResult::Same(_)) => {}
            Some(HeadResult::Other(_)) => {
                it.useless += u32::from(!is_changed);
                if it.useless >= USELESS {
                    it.leave_out();
                }
            }
        }
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    fn leave_out(&mut self) {
        (self.rest, self.same, self.useless) = (REST, 0, 0);
    }
}

impl HeadResult {
    fn of(answer: &Answer, url: &Url, had: &StoredValidators) -> Self {
        if !matches!(answer.outcome, Came::Content(_)) {
            return Self::Nothing;
        }
        let said = validators(answer);
        // As with a GET: our validators are for pages of the source's own origin.
        if is_here(answer, url) && are_same(had, &said) {
            Self::Same(said)
        } else {
            Self::Other(said)
        }
    }
}

impl FetchContext {
    /// Asks for a page: by HEAD first if it is `by_worth` alone that it is asked for, and a HEAD may save
    /// the body.
    pub(crate) async fn ask(
        &self,
        errand: &mut PoliteFetch<'_>,
        job: &FetchJob,
        request: Request,
        by_worth: bool,
    ) -> Asked {
        let url = request.url().clone();
        let host = host_name(&url);
        let mut head = None;
        let mut before = freshet_fetch::Trace::default();
        if by_worth
            && self.is_worth_a_head(job, &host)
            && let Ok(first) = Request::new(&job.url)
        {
            let (mut answer, away) = errand.run(first.head()).await;
            if errand.put_off.is_some() || !may_go_on(&answer) {
                return Asked { answer, away, head: None, by_head: false };
            }
            let said = HeadResult::of(&answer, &url, &job.validators);
            if matches!(said, HeadResult::Same(_)) && !self.heads.is_checked(&host) {
                answer.outcome = Came::NotModified;
                return Asked { answer, away, head: None, by_head: true };
            }
            (head, before) = (Some(said), answer.trace);
        }
        let (mut answer, away) = errand.run(request).await;
        answer.trace.requests += before.requests;
        answer.trace.total += before.total;
        if head.is_some() && errand.put_off.is_some() {
            // The GET would have to wait each time, and then a HEAD come before it again.
            self.heads.leave_out(&host);
        }
        Asked { answer, away, head, by_head: false }
    }

    fn is_worth_a_head(&self, job: &FetchJob, host: &str) -> bool {
        let Some(over) = self.head_over else { return false };
        let StoredValidators { etag, last_modified } = &job.validators;
        if job.version == 0 || etag.is_none() && last_modified.is_none() {
            return false;
        }
        if !self.heads.begin(host) || self.clock.time_of(self.gap) > PATIENCE {
            return false;
        }
        let versions = self.readers.with(|reader| reader.versions(job.id)).unwrap_or_default();
        versions.first().is_some_and(|newest| newest.size > over)
    }
}

/// Whether a GET may follow a HEAD at once: not if it would fare the same, or the host wants to be left
/// alone.
fn may_go_on(head: &Answer) -> bool {
    if head.trace.robots.as_ref().is_some_and(|robots| !robots.allowed) {
        return false;
    }
    match &head.outcome {
        Came::Content(_) | Came::Gone | Came::NotModified => true,
        Came::Disallowed(_) | Came::Refused(_) => false,
        Came::Failed(_) if head.trace.retry_after.is_some() => false,
        Came::Failed(error) => match error {
            FetchError::Status { status } => !matches!(status, 429 | 503),
            FetchError::Timeout { phase, .. } => *phase == Phase::FirstByte,
            FetchError::Protocol { .. }
            | FetchError::TooLarge { .. }
            | FetchError::UnknownEncoding { .. } => true,
            _ => false,
        },
    }
}

/// Whether an answer is of the origin that was asked.
fn is_here(answer: &Answer, url: &Url) -> bool {
    answer.trace.final_url().is_some_and(|last| last.origin() == url.origin())
}

/// Whether all that we had is there again.
fn are_same(had: &StoredValidators, got: &StoredValidators) -> bool {
    let is_there = had.etag.is_some() || had.last_modified.is_some();
    let etag = had.etag.is_none() || tag(had) == tag(got);
    let date = had.last_modified.is_none() || had.last_modified == got.last_modified;
    is_there && etag && date
}

fn are_equal(one: &StoredValidators, other: &StoredValidators) -> bool {
    tag(one) == tag(other) && one.last_modified == other.last_modified
}

/// A tag without its strength, which says nothing of whether two of them are of one page.
fn tag(it: &StoredValidators) -> Option<&str> {
    it.etag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag))
}

/// One in some, scattered: pages that are fetched in turn all get theirs.
fn is_picked(count: u32) -> bool {
    let mut bits = u64::from(count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 32;
    bits = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (bits >> 32).is_multiple_of(ONE_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(etag: Option<&str>, date: Option<&str>) -> StoredValidators {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        StoredValidators { etag: owned(etag), last_modified: owned(date) }
    }

    #[test]
    fn pages_that_are_fetched_in_turn_are_all_checked() {
        for pages in 1..=50 {
            for page in 0..pages {
                let checks = (page..10_000).step_by(pages).filter(|n| is_picked(*n as u32)).count();
                let fair = 1000.0 / pages as f64;
                let odd = (checks as f64 - fair).abs() / fair.sqrt();
                assert!(checks > 0 && odd < 5.0, "{checks} of page {page} of {pages}");
            }
        }
    }

    #[test]
    fn a_host_is_left_out_for_a_thousand_fetches_and_then_checked_anew() {
        let heads = Heads::default();
        let known = Host { ignored: TRIALS, same: 100, ..Host::default() };
        heads.hosts().insert("a".to_owned(), known);
        assert!(heads.begin("a") && !heads.begin("b"));
        heads.leave_out("a");
        assert_eq!((0..2000).filter(|_| heads.begin("a")).count(), 1000);
        assert!((0..5).all(|_| heads.is_checked("a")));
        assert!((0..10).any(|_| !heads.is_checked("a")));
    }

    #[test]
    fn validators_are_the_same_if_all_of_ours_are_there_again() {
        let had = of(Some("\"a\""), Some("Mon, 01 Jan 2024 00:00:00 GMT"));
        let date = had.last_modified.as_deref();
        assert!(are_same(&had, &had));
        assert!(are_same(&had, &of(Some("W/\"a\""), date)));
        assert!(!are_same(&had, &of(Some("\"b\""), date)));
        assert!(!are_same(&had, &of(Some("\"a\""), None)));
        assert!(!are_same(&had, &of(None, date)));
        assert!(are_same(&of(None, date), &had) && are_same(&of(Some("\"a\""), None), &had));
        assert!(!are_same(&of(None, None), &of(None, None)), "nothing says nothing");
    }
}
