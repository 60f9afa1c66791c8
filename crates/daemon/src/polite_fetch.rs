//! A fetch on its way: it asks for a turn at each host that it comes to.

use std::time::{Duration, SystemTime};

use freshet_fetch::{Answer, Blame, BodySink, HookEvent, Request, RequestHook, RobotsFile};
use freshet_store::RobotsRecord;
use tokio::time::{Instant, sleep};
use url::Url;

use crate::permits::{Permit, PermitRequest, PermitReturn};
use crate::work::{FetchContext, host_name, said};

/// How long a fetch waits for a turn, in the world: it takes up a fetcher meanwhile.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// The same if somebody waits for it.
const MORE_PATIENCE: Duration = Duration::from_secs(10);
/// How often a host that others are at is asked for again.
const POLL: Duration = Duration::from_millis(50);

/// Why a fetch did not come to its end, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Postponement {
    /// The host that is to be left alone.
    pub(crate) host: String,
    pub(crate) days: f64,
    /// Whether it is not the source's own.
    pub(crate) away: bool,
}

/// A fetch on its way.
pub(crate) struct PoliteFetch<'a> {
    shop: &'a FetchContext,
    /// The host at which somebody has a turn for it already; empty if at none.
    own: String,
    at_once: bool,
    /// The day of the last request to it, and whether that was for robots.txt.
    asked: Option<(f64, bool)>,
    /// Days that it asks for between two fetches, if it was asked.
    pub(crate) delay: Option<f64>,
    /// Another host at which it is.
    visit: Option<PermitReturn>,
    pub(crate) put_off: Option<Postponement>,
}

impl<'a> PoliteFetch<'a> {
    pub(crate) fn new(shop: &'a FetchContext, own: String, at_once: bool) -> Self {
        Self { shop, own, at_once, asked: None, delay: None, visit: None, put_off: None }
    }

    /// Makes the fetch. Says what came, and whether it came from another host.
    pub(crate) async fn run(&mut self, request: Request) -> (Answer, bool) {
        self.run_within(request, None).await
    }

    /// The same, and the body is put aside.
    pub(crate) async fn run_aside(
        &mut self,
        request: Request,
        aside: &mut BodySink<'_>,
    ) -> (Answer, bool) {
        self.run_within(request, Some(aside)).await
    }

    async fn run_within(
        &mut self,
        request: Request,
        aside: Option<&mut BodySink<'_>>,
    ) -> (Answer, bool) {
        let (gate, mut knocks) = RequestHook::new();
        let request = request.through(gate);
        let fetcher = &self.shop.fetcher;
        let fetch = async {
            match aside {
                Some(aside) => fetcher.fetch_aside(&request, aside).await,
                None => fetcher.fetch(&request).await,
            }
        };
        let mut fetch = std::pin::pin!(fetch);
        let answer = loop {
            tokio::select! {
                biased;
                Some(knock) = knocks.recv() => self.open(knock).await,
                answer = &mut fetch => break answer,
            }
        };
        while let Ok(knock) = knocks.try_recv() {
            self.open(knock).await;
        }
        let away = self.visit.is_some();
        if let Some(visit) = &mut self.visit {
            visit.failed = answer.blame() == Some(Blame::Host);
        }
        self.leave();
        (answer, away)
    }

    async fn open(&mut self, knock: HookEvent) {
        // Who does not wait for an answer any more has given up.
        match knock {
            HookEvent::May { url, delay, answer } => {
                let may = self.may(&url, delay.map(said)).await;
                let _ = answer.send(may);
            }
            HookEvent::Answered { url, status, wait } => {
                let now = self.shop.clock.now();
                if host_name(&url) == self.own {
                    let is_robots = self.asked.is_some_and(|(_, robots)| robots);
                    self.asked = Some((self.shop.clock.day(), is_robots));
                } else if let (Some(visit), Some(400..), Some(wait)) =
                    (&mut self.visit, status, wait)
                {
                    let at = Duration::from_millis(now.max(0).unsigned_abs());
                    visit.rest = Some(said(wait.length(SystemTime::UNIX_EPOCH + at)));
                }
            }
            HookEvent::Remembers { url, answer } => {
                let _ = answer.send(self.remembered(url));
            }
            HookEvent::Found(file) => {
                if let Some(record) = file.to_bytes() {
                    let at = self.shop.clock.now();
                    self.shop.giver.found(RobotsRecord { url: file.url.to_string(), at, record });
                }
            }
        }
    }

    fn remembered(&self, url: Url) -> Option<RobotsFile> {
        let kept = self.shop.readers.with(|reader| reader.robots(url.as_str())).ok()??;
        let age = self.shop.clock.since(kept.at);
        RobotsFile::from_bytes(url, &kept.record, age)
    }

    async fn may(&mut self, url: &Url, delay: Option<f64>) -> bool {
        self.leave();
        let host = host_name(url);
        let is_robots = url.path() == "/robots.txt";
        if host == self.own {
            if !is_robots {
                self.delay = Some(delay.unwrap_or(0.0));
            }
            return self.go_on_at_home(is_robots).await;
        }
        self.go_to(host, delay.filter(|_| !is_robots)).await
    }

    /// The first request has its turn; later ones keep the gap.
    async fn go_on_at_home(&mut self, is_robots: bool) -> bool {
        if let Some((last, after_robots)) = self.asked {
            let gap = self.shop.gap.max(self.delay.unwrap_or(0.0).min(1.0));
            let wait = last + gap - self.shop.clock.day();
            let time = self.shop.clock.time_of(wait);
            // After robots.txt alone nothing is lost if others come first.
            let patience =
                if after_robots && !self.at_once { Duration::ZERO } else { self.patience() };
            if time > patience {
                let host = self.own.clone();
                self.put_off = Some(Postponement { host, days: wait, away: false });
                return false;
            }
            sleep(self.shop.clock.wait_for(last + gap)).await;
        }
        self.asked = Some((self.shop.clock.day(), is_robots));
        true
    }

    async fn go_to(&mut self, host: String, delay: Option<f64>) -> bool {
        let FetchContext { giver, readers, clock, gap, .. } = self.shop;
        let end = Instant::now() + self.patience();
        loop {
            let last = Instant::now() >= end;
            let patience = clock.days_of(end.duration_since(Instant::now()));
            let want = PermitRequest { host: host.clone(), delay, patience, last };
            match giver.want(want, readers, clock, *gap).await {
                Permit::From(day) => {
                    self.visit = Some(PermitReturn { host, rest: None, failed: false });
                    sleep(clock.wait_for(day)).await;
                    return true;
                }
                Permit::Busy if !last => sleep(POLL).await,
                Permit::Busy => {
                    self.put_off = Some(Postponement { host, days: *gap, away: true });
                    return false;
                }
                Permit::NotBefore(day) => {
                    let days = (day - clock.day()).max(0.0);
                    self.put_off = Some(Postponement { host, days, away: true });
                    return false;
                }
            }
        }
    }

    fn patience(&self) -> Duration {
        if self.at_once { MORE_PATIENCE } else { PATIENCE }
    }

    /// What was done at another host is over.
    fn leave(&mut self) {
        if let Some(left) = self.visit.take() {
            let FetchContext { giver, readers, clock, gap, .. } = self.shop;
            giver.left(left, readers, clock, *gap);
        }
    }
}

/// Also if it is given up in between.
impl Drop for PoliteFetch<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
