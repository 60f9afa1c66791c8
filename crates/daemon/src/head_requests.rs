//! HEAD before GET where it saves large bodies: at hosts that send validators but answer 200 with
//! the whole page when nothing has changed. Which hosts those are, and whether their validators are
//! reliable, is learned from fetches and kept in memory only.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_engine::FetchResult;
use freshet_fetch::{FetchError, FetchOutcome as Came, FetchRequest, FetchResponse, TimeoutPhase};
use freshet_store::{FetchJob, StoredValidators};
use url::Url;

use crate::fetch_context::{FetchContext, host_name};
use crate::judged_fetch::stored_validators;
use crate::polite_fetch::{MAX_PERMIT_WAIT, PoliteFetch};

/// Full responses with unchanged validators, and no 304 between them, after which HEAD is tried.
const MIN_FULL_RESPONSES: u32 = 3;
/// The first matching HEADs at a host are each followed by a GET to verify them, later one in
/// `VERIFY_ONE_IN`.
const FIRST_VERIFIED: u32 = 5;
const VERIFY_ONE_IN: u64 = 10;
/// Surplus of useless over useful HEADs after which HEAD is disabled.
const MAX_USELESS: u32 = 5;
/// Fetches from a host for which HEAD stays disabled after it misled or did not help.
const DISABLED_FETCHES: u32 = 1000;
/// Most hosts remembered.
const MAX_HOSTS: usize = 1 << 16;

/// Note of a fetch that ended with the HEAD.
pub(crate) const HEAD_NOTE: &str = "HEAD: validators match the copy";

/// HEAD statistics of hosts that do not answer 304.
#[derive(Default)]
pub(crate) struct HeadStats {
    hosts: Mutex<HashMap<String, HostHeadStats>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct HostHeadStats {
    /// Full responses with unchanged validators.
    full_responses: u32,
    /// Matching HEADs since HEAD was last disabled.
    matches: u32,
    useless_heads: u32,
    /// Fetches for which HEAD stays disabled.
    disabled_for: u32,
}

/// What a HEAD says about a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HeadResult {
    /// The validators are those of the copy.
    Match(StoredValidators),
    /// The validators differ or are missing.
    Mismatch(StoredValidators),
    /// There is no usable response.
    Unusable,
}

/// Response to a fetch, with or without a HEAD before it.
pub(crate) struct PageResponse {
    pub(crate) answer: FetchResponse,
    /// True if the response came from another host.
    pub(crate) is_other_host: bool,
    /// Result of the HEAD, if a GET followed it.
    pub(crate) head: Option<HeadResult>,
    /// True if the HEAD showed that nothing has changed.
    pub(crate) ended_with_head: bool,
}

impl HeadStats {
    /// Counts a fetch and returns true if a HEAD may be worthwhile.
    fn should_try(&self, host: &str) -> bool {
        let mut hosts = self.lock_hosts();
        let Some(it) = hosts.get_mut(host) else { return false };
        if it.disabled_for > 0 {
            it.disabled_for -= 1;
            return false;
        }
        it.full_responses >= MIN_FULL_RESPONSES
    }

    /// Counts a matching HEAD and returns true if a GET should verify it.
    fn needs_verification(&self, host: &str) -> bool {
        let mut hosts = self.lock_hosts();
        let Some(it) = hosts.get_mut(host) else { return true };
        it.useless_heads = it.useless_heads.saturating_sub(1);
        it.matches = it.matches.saturating_add(1);
        it.matches <= FIRST_VERIFIED || is_sampled(it.matches)
    }

    /// Disables HEAD at a host for a while.
    fn disable_host(&self, host: &str) {
        if let Some(it) = self.lock_hosts().get_mut(host) {
            it.disable();
        }
    }

    /// Learns from the response to a GET that sent the validators `stored`.
    pub(crate) fn record_answer(
        &self,
        url: &Url,
        stored: &StoredValidators,
        page: &PageResponse,
        found: FetchResult,
    ) {
        let host = host_name(url);
        let mut hosts = self.lock_hosts();
        match page.answer.outcome {
            _ if page.ended_with_head => return,
            Came::NotModified => {
                hosts.remove(&host);
                return;
            }
            Came::Content(_) => {}
            _ => return,
        }
        let received = stored_validators(&page.answer);
        let is_changed = found == FetchResult::Changed;
        let is_repeated = is_same_origin(&page.answer, url) && all_match(stored, &received);
        if is_repeated && !hosts.contains_key(&host) && hosts.len() < MAX_HOSTS {
            hosts.insert(host.clone(), HostHeadStats::default());
        }
        let Some(it) = hosts.get_mut(&host) else { return };
        if is_repeated && is_changed {
            // Relying on these validators would miss changes.
            it.disable();
        } else if is_repeated {
            it.full_responses = it.full_responses.saturating_add(1);
        }
        match &page.head {
            None => {}
            Some(HeadResult::Unusable) => it.disable(),
            Some(HeadResult::Match(head_validators) | HeadResult::Mismatch(head_validators))
                if !are_equal(head_validators, &received) =>
            {
                it.disable()
            }
            Some(HeadResult::Match(_)) => {}
            Some(HeadResult::Mismatch(_)) => {
                it.useless_heads += u32::from(!is_changed);
                if it.useless_heads >= MAX_USELESS {
                    it.disable();
                }
            }
        }
    }

    fn lock_hosts(&self) -> MutexGuard<'_, HashMap<String, HostHeadStats>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostHeadStats {
    fn disable(&mut self) {
        (self.disabled_for, self.matches, self.useless_heads) = (DISABLED_FETCHES, 0, 0);
    }
}

impl HeadResult {
    fn from_answer(answer: &FetchResponse, url: &Url, stored: &StoredValidators) -> Self {
        if !matches!(answer.outcome, Came::Content(_)) {
            return Self::Unusable;
        }
        let head_validators = stored_validators(answer);
        // As with a GET, stored validators apply to the source's own origin only.
        if is_same_origin(answer, url) && all_match(stored, &head_validators) {
            Self::Match(head_validators)
        } else {
            Self::Mismatch(head_validators)
        }
    }
}

impl FetchContext {
    /// Fetches a page. A HEAD comes first if the page is fetched for its value alone (`by_worth`)
    /// and a HEAD may save the body.
    pub(crate) async fn fetch_page(
        &self,
        polite_fetch: &mut PoliteFetch<'_>,
        job: &FetchJob,
        request: FetchRequest,
        by_worth: bool,
    ) -> PageResponse {
        let url = request.url().clone();
        let host = host_name(&url);
        let mut head = None;
        let mut before = freshet_fetch::FetchTrace::default();
        if by_worth
            && self.should_send_head(job, &host)
            && let Ok(first) = FetchRequest::new(&job.url)
        {
            let (mut answer, away) = polite_fetch.fetch(first.head_only()).await;
            if polite_fetch.postponement.is_some() || !may_send_get(&answer) {
                return PageResponse {
                    answer,
                    is_other_host: away,
                    head: None,
                    ended_with_head: false,
                };
            }
            let head_validators = HeadResult::from_answer(&answer, &url, &job.validators);
            if matches!(head_validators, HeadResult::Match(_))
                && !self.head_stats.needs_verification(&host)
            {
                answer.outcome = Came::NotModified;
                return PageResponse {
                    answer,
                    is_other_host: away,
                    head: None,
                    ended_with_head: true,
                };
            }
            (head, before) = (Some(head_validators), answer.trace);
        }
        let (mut answer, away) = polite_fetch.fetch(request).await;
        answer.trace.requests += before.requests;
        answer.trace.duration += before.duration;
        if head.is_some() && polite_fetch.postponement.is_some() {
            // With a crawl delay this long, each GET after a HEAD would be postponed, and then
            // preceded by a HEAD again.
            self.head_stats.disable_host(&host);
        }
        PageResponse { answer, is_other_host: away, head, ended_with_head: false }
    }

    fn should_send_head(&self, job: &FetchJob, host: &str) -> bool {
        let Some(over) = self.head_min_bytes else { return false };
        let StoredValidators { etag, last_modified } = &job.validators;
        if job.version == 0 || etag.is_none() && last_modified.is_none() {
            return false;
        }
        if !self.head_stats.should_try(host)
            || self.clock.to_real_time(self.host_gap_days) > MAX_PERMIT_WAIT
        {
            return false;
        }
        let versions =
            self.readers.with_reader(|reader| reader.versions(job.id)).unwrap_or_default();
        versions.first().is_some_and(|newest| newest.size > over)
    }
}

/// True if a GET may follow a HEAD at once: not if it would fail the same way, or the host asked
/// for a pause.
fn may_send_get(head: &FetchResponse) -> bool {
    if head.trace.robots.as_ref().is_some_and(|robots| !robots.allowed) {
        return false;
    }
    match &head.outcome {
        Came::Content(_) | Came::Gone | Came::NotModified => true,
        Came::Disallowed(_) | Came::Refused(_) => false,
        Came::Failed(_) if head.trace.retry_after.is_some() => false,
        Came::Failed(error) => match error {
            FetchError::Status { status } => !matches!(status, 429 | 503),
            FetchError::Timeout { phase, .. } => *phase == TimeoutPhase::FirstByte,
            FetchError::Protocol { .. }
            | FetchError::TooLarge { .. }
            | FetchError::UnsupportedCoding { .. } => true,
            _ => false,
        },
    }
}

/// True if the response came from the origin of `url`.
fn is_same_origin(answer: &FetchResponse, url: &Url) -> bool {
    answer.trace.final_url().is_some_and(|last| last.origin() == url.origin())
}

/// True if every stored validator was received again.
fn all_match(stored: &StoredValidators, received: &StoredValidators) -> bool {
    let is_there = stored.etag.is_some() || stored.last_modified.is_some();
    let etag = stored.etag.is_none() || opaque_tag(stored) == opaque_tag(received);
    let date = stored.last_modified.is_none() || stored.last_modified == received.last_modified;
    is_there && etag && date
}

fn are_equal(one: &StoredValidators, other: &StoredValidators) -> bool {
    opaque_tag(one) == opaque_tag(other) && one.last_modified == other.last_modified
}

/// Returns an entity tag without its weakness flag.
fn opaque_tag(it: &StoredValidators) -> Option<&str> {
    it.etag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag))
}

/// True for one count in [`VERIFY_ONE_IN`], scattered so that pages fetched in turn are all
/// verified.
fn is_sampled(count: u32) -> bool {
    let mut bits = u64::from(count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 32;
    bits = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (bits >> 32).is_multiple_of(VERIFY_ONE_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validators(etag: Option<&str>, date: Option<&str>) -> StoredValidators {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        StoredValidators { etag: owned(etag), last_modified: owned(date) }
    }

    #[test]
    fn pages_fetched_in_turn_are_all_verified() {
        for pages in 1..=50 {
            for page in 0..pages {
                let checks =
                    (page..10_000).step_by(pages).filter(|n| is_sampled(*n as u32)).count();
                let fair = 1000.0 / pages as f64;
                let invalid = (checks as f64 - fair).abs() / fair.sqrt();
                assert!(checks > 0 && invalid < 5.0, "{checks} of page {page} of {pages}");
            }
        }
    }

    #[test]
    fn a_disabled_host_is_verified_again_after_a_thousand_fetches() {
        let heads = HeadStats::default();
        let known = HostHeadStats {
            full_responses: MIN_FULL_RESPONSES,
            matches: 100,
            ..HostHeadStats::default()
        };
        heads.lock_hosts().insert("a".to_owned(), known);
        assert!(heads.should_try("a") && !heads.should_try("b"));
        heads.disable_host("a");
        assert_eq!((0..2000).filter(|_| heads.should_try("a")).count(), 1000);
        assert!((0..5).all(|_| heads.needs_verification("a")));
        assert!((0..10).any(|_| !heads.needs_verification("a")));
    }

    #[test]
    fn validators_match_if_every_stored_one_is_received() {
        let stored = validators(Some("\"a\""), Some("Mon, 01 Jan 2024 00:00:00 GMT"));
        let date = stored.last_modified.as_deref();
        assert!(all_match(&stored, &stored));
        assert!(all_match(&stored, &validators(Some("W/\"a\""), date)));
        assert!(!all_match(&stored, &validators(Some("\"b\""), date)));
        assert!(!all_match(&stored, &validators(Some("\"a\""), None)));
        assert!(!all_match(&stored, &validators(None, date)));
        assert!(
            all_match(&validators(None, date), &stored)
                && all_match(&validators(Some("\"a\""), None), &stored)
        );
        assert!(
            !all_match(&validators(None, None), &validators(None, None)),
            "nothing says nothing"
        );
    }
}
