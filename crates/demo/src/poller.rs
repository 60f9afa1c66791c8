//! The other pollers: same fetcher, same detector, same budget.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use freshet_detect::{ContentSignature, Detector, Document};
use freshet_fetch::{FetchOutcome, FetchRequest, Fetcher, RetryAfter, Validators};
use tokio::task::JoinSet;

use crate::allowance::allowed;
use crate::clock::{Clock, DAY};
use crate::error::DemoError;
use crate::hosts::Hosts;
use crate::rule::{Rule, Seen};
use crate::site::Site;
use crate::terms::Terms;
use crate::truth::Client;

/// Largest number of pages that wait for their hosts.
const WAITING: usize = 256;
/// Shortest and longest time between two checks for due pages.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// Keeps copies by a rule.
pub(crate) struct Poller<R> {
    site: Arc<Site>,
    terms: Terms,
    rule: R,
    fetcher: Fetcher,
    detector: Arc<Detector>,
    port: u16,
    copies: Vec<Copy>,
    hosts: Hosts,
    waiting: VecDeque<u32>,
    made: u64,
}

/// State of a page between two fetches.
#[derive(Clone, Default)]
struct Copy {
    stored: Option<ContentSignature>,
    validators: Option<Validators>,
}

/// Result of a fetch.
struct FetchedPage {
    page: u32,
    seen: Seen,
    copy: Option<Copy>,
    /// `Retry-After` in days.
    rest: f64,
}

impl<R: Rule> Poller<R> {
    pub(crate) fn new(
        site: &Arc<Site>,
        port: u16,
        terms: Terms,
        rule: R,
    ) -> Result<Self, DemoError> {
        Ok(Self {
            terms,
            rule,
            fetcher: Fetcher::new(site.fetch_settings().try_into()?),
            detector: Arc::default(),
            port,
            copies: vec![Copy::default(); site.world.len()],
            hosts: Hosts::new(site.world.hosts().len(), terms),
            waiting: VecDeque::new(),
            made: 0,
            site: Arc::clone(site),
        })
    }

    /// Runs until it is dropped, together with its fetches in flight.
    pub(crate) async fn run(mut self) {
        let mut fetches = JoinSet::new();
        loop {
            self.send(&mut fetches);
            let look = pause(&self.terms, &self.site.clock, !self.waiting.is_empty());
            tokio::select! {
                Some(came) = fetches.join_next() => if let Ok(came) = came { self.take(came) },
                () = tokio::time::sleep(look) => {}
            }
        }
    }

    /// Starts all fetches that are allowed now.
    fn send(&mut self, fetches: &mut JoinSet<FetchedPage>) {
        let now = self.site.clock.now();
        let freshet = self.site.requests(Client::Freshet);
        let slack = self.terms.burst.max(1.0);
        let mut left = allowed(now * self.terms.budget, freshet, slack).saturating_sub(self.made);
        while left > 0 && fetches.len() < self.terms.connections as usize {
            let Some(page) = self.next(now) else { break };
            let Ok(request) = FetchRequest::new(&self.site.world.url(page, self.port)) else {
                break;
            };
            self.hosts.ask(self.site.world.host(page), now);
            let (fetcher, detector) = (self.fetcher.clone(), Arc::clone(&self.detector));
            let copy = self.copies[page as usize].clone();
            fetches.spawn(async move { fetch(&fetcher, &detector, page, request, copy).await });
            (self.made, left) = (self.made + 1, left - 1);
        }
    }

    /// Returns the first due page whose host is free.
    fn next(&mut self, now: f64) -> Option<u32> {
        let (hosts, world) = (&self.hosts, &self.site.world);
        let is_free = |page: u32| hosts.is_free(world.host(page), now);
        if let Some(at) = self.waiting.iter().position(|&page| is_free(page)) {
            return self.waiting.remove(at);
        }
        while self.waiting.len() < WAITING {
            let page = self.rule.next()?;
            if is_free(page) {
                return Some(page);
            }
            self.waiting.push_back(page);
        }
        None
    }

    fn take(&mut self, came: FetchedPage) {
        let FetchedPage { page, seen, copy, rest } = came;
        let now = self.site.clock.now();
        self.hosts.answered(self.site.world.host(page), now, rest);
        if let Some(copy) = copy {
            self.copies[page as usize] = copy;
        }
        self.rule.learn(page, now, seen);
    }
}

/// Returns the time until the next fetch can start: when the budget allows it, or, with waiting pages, when a
/// host is free.
fn pause(terms: &Terms, clock: &Clock, is_waiting: bool) -> Duration {
    let days = if is_waiting { terms.host_gap } else { 1.0 / terms.budget };
    clock.real(days).clamp(SHORTEST, LONGEST)
}

async fn fetch(
    fetcher: &Fetcher,
    detector: &Detector,
    page: u32,
    request: FetchRequest,
    old: Copy,
) -> FetchedPage {
    let request = match old.validators {
        Some(validators) => request.with_validators(validators),
        None => request,
    };
    let answer = fetcher.fetch(&request).await;
    let rest = answer.trace.retry_after.map_or(0.0, |wait| days(&wait));
    let failed = FetchedPage { page, seen: Seen::Failed, copy: None, rest };
    let validators = answer.trace.validators.filter(|it| !it.is_empty());
    match answer.outcome {
        FetchOutcome::NotModified => {
            let copy = Some(Copy { stored: old.stored, validators });
            FetchedPage { seen: Seen::Same, copy, ..failed }
        }
        FetchOutcome::Content(content) => {
            let content_type = content.media_type.as_deref();
            let document = Document { bytes: &content.body, content_type, charset: None };
            let reading = detector.extract(&document);
            let seen = match &old.stored {
                None => Seen::First,
                Some(old) if detector.compare(old, None, &reading).is_change() => Seen::Changed,
                Some(_) => Seen::Same,
            };
            let copy = Some(Copy { stored: Some(reading.signature()), validators });
            FetchedPage { seen, copy, ..failed }
        }
        _ => failed,
    }
}

/// The times of the web are in seconds of the demo, and never dates.
fn days(wait: &RetryAfter) -> f64 {
    match wait {
        RetryAfter::Delay(time) => time.as_secs_f64() / DAY,
        RetryAfter::Date(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_that_all_pages_share_is_asked_as_often_as_its_gap_allows() {
        let clock = Clock::start(DAY);
        let terms = Terms {
            budget: 100.0,
            burst: 1.0,
            host_gap: 0.002,
            host_connections: 4,
            connections: 64,
        };
        assert_eq!(pause(&terms, &clock, false), Duration::from_millis(10));
        assert_eq!(pause(&terms, &clock, true), Duration::from_millis(2));
        let slow = Terms { budget: 0.1, host_gap: 0.0, ..terms };
        assert_eq!(pause(&slow, &clock, false), LONGEST);
        assert_eq!(pause(&slow, &clock, true), SHORTEST);
    }
}
