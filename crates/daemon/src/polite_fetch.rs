//! A fetch that requests a permit at each host on its way.

use std::time::{Duration, SystemTime};

use freshet_fetch::{
    BodySink, FetchBlame, FetchRequest, FetchResponse, HookEvent, RequestHook, RobotsFile,
};
use freshet_store::RobotsRecord;
use tokio::time::{Instant, sleep};
use url::Url;

use crate::fetch_context::{FetchContext, duration_days, host_name};
use crate::host_permits::{Permit, PermitRequest, PermitReturn};

/// Longest real-time wait for a permit; the fetch occupies a fetcher meanwhile.
pub(crate) const MAX_PERMIT_WAIT: Duration = Duration::from_secs(2);
/// Longest wait if a caller waits for the result.
const MAX_ON_DEMAND_WAIT: Duration = Duration::from_secs(10);
/// Interval of asking again for a busy host.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Reason why a fetch stopped, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Postponement {
    /// Host in a cooldown.
    pub(crate) host: String,
    pub(crate) days: f64,
    /// True if it is not the source's own host.
    pub(crate) is_other_host: bool,
}

/// A fetch in progress.
pub(crate) struct PoliteFetch<'a> {
    context: &'a FetchContext,
    /// Host with a permit from the engine; empty if there is none.
    permitted_host: String,
    is_on_demand: bool,
    /// Day of the last request to that host, and true if it was for robots.txt.
    last_request: Option<(f64, bool)>,
    /// Crawl delay of that host in days, once known.
    pub(crate) crawl_delay_days: Option<f64>,
    /// Visit to another host.
    visit: Option<PermitReturn>,
    pub(crate) postponement: Option<Postponement>,
}

impl<'a> PoliteFetch<'a> {
    pub(crate) fn new(context: &'a FetchContext, own: String, is_on_demand: bool) -> Self {
        Self {
            context,
            permitted_host: own,
            is_on_demand,
            last_request: None,
            crawl_delay_days: None,
            visit: None,
            postponement: None,
        }
    }

    /// Makes the request. Returns the answer, and true if it came from another host.
    pub(crate) async fn fetch(&mut self, request: FetchRequest) -> (FetchResponse, bool) {
        self.fetch_with_hook(request, None).await
    }

    /// As [`fetch`](Self::fetch), with the body written to a sink.
    pub(crate) async fn fetch_to_sink(
        &mut self,
        request: FetchRequest,
        sink: &mut BodySink<'_>,
    ) -> (FetchResponse, bool) {
        self.fetch_with_hook(request, Some(sink)).await
    }

    async fn fetch_with_hook(
        &mut self,
        request: FetchRequest,
        sink: Option<&mut BodySink<'_>>,
    ) -> (FetchResponse, bool) {
        let (hook, mut events) = RequestHook::new();
        let request = request.with_hook(hook);
        let fetcher = &self.context.fetcher;
        let fetch = async {
            match sink {
                Some(sink) => fetcher.fetch_into(&request, sink).await,
                None => fetcher.fetch(&request).await,
            }
        };
        let mut fetch = std::pin::pin!(fetch);
        let answer = loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => self.handle_hook_event(event).await,
                answer = &mut fetch => break answer,
            }
        };
        while let Ok(event) = events.try_recv() {
            self.handle_hook_event(event).await;
        }
        let away = self.visit.is_some();
        if let Some(visit) = &mut self.visit {
            visit.failed = answer.blame() == Some(FetchBlame::Host);
        }
        self.return_permit();
        (answer, away)
    }

    async fn handle_hook_event(&mut self, event: HookEvent) {
        // A caller that dropped the receiver has given up.
        match event {
            HookEvent::MayRequest { url, crawl_delay, reply } => {
                let is_allowed = self.may_request(&url, crawl_delay.map(duration_days)).await;
                let _ = reply.send(is_allowed);
            }
            HookEvent::ResponseReceived { url, status, retry_after: wait } => {
                let now = self.context.clock.now();
                if host_name(&url) == self.permitted_host {
                    let is_robots = self.last_request.is_some_and(|(_, robots)| robots);
                    self.last_request = Some((self.context.clock.now_days(), is_robots));
                } else if let (Some(visit), Some(400..), Some(wait)) =
                    (&mut self.visit, status, wait)
                {
                    let at = Duration::from_millis(now.max(0).unsigned_abs());
                    visit.cooldown_days =
                        Some(duration_days(wait.delay_from(SystemTime::UNIX_EPOCH + at)));
                }
            }
            HookEvent::LoadRobots { url, reply } => {
                let _ = reply.send(self.cached_robots(url));
            }
            HookEvent::RobotsFetched(file) => {
                if let Some(record) = file.to_bytes() {
                    let at = self.context.clock.now();
                    self.context.permits.save_robots(RobotsRecord {
                        url: file.url.to_string(),
                        at,
                        record,
                    });
                }
            }
        }
    }

    fn cached_robots(&self, url: Url) -> Option<RobotsFile> {
        let stored =
            self.context.readers.with_reader(|reader| reader.robots(url.as_str())).ok()??;
        let age = self.context.clock.real_time_since(stored.at);
        RobotsFile::from_bytes(url, &stored.record, age)
    }

    async fn may_request(&mut self, url: &Url, crawl_delay_days: Option<f64>) -> bool {
        self.return_permit();
        let host = host_name(url);
        let is_robots = url.path() == "/robots.txt";
        if host == self.permitted_host {
            if !is_robots {
                self.crawl_delay_days = Some(crawl_delay_days.unwrap_or(0.0));
            }
            return self.wait_for_own_gap(is_robots).await;
        }
        self.wait_for_permit(host, crawl_delay_days.filter(|_| !is_robots)).await
    }

    /// The engine granted the first request; later ones keep the gap.
    async fn wait_for_own_gap(&mut self, is_robots: bool) -> bool {
        if let Some((last, after_robots)) = self.last_request {
            let gap = self.context.host_gap_days.max(self.crawl_delay_days.unwrap_or(0.0).min(1.0));
            let wait = last + gap - self.context.clock.now_days();
            let time = self.context.clock.to_real_time(wait);
            // After robots.txt alone, nothing is lost by letting others go first.
            let patience =
                if after_robots && !self.is_on_demand { Duration::ZERO } else { self.max_wait() };
            if time > patience {
                let host = self.permitted_host.clone();
                self.postponement = Some(Postponement { host, days: wait, is_other_host: false });
                return false;
            }
            sleep(self.context.clock.real_time_until(last + gap)).await;
        }
        self.last_request = Some((self.context.clock.now_days(), is_robots));
        true
    }

    async fn wait_for_permit(&mut self, host: String, crawl_delay_days: Option<f64>) -> bool {
        let FetchContext { permits, readers, clock, host_gap_days: gap, .. } = self.context;
        let end = Instant::now() + self.max_wait();
        loop {
            let last = Instant::now() >= end;
            let patience = clock.to_clock_days(end.duration_since(Instant::now()));
            let request = PermitRequest {
                host: host.clone(),
                crawl_delay_days,
                max_wait_days: patience,
                is_final: last,
            };
            match permits.request(request, readers, clock, *gap).await {
                Permit::StartsAt(day) => {
                    self.visit = Some(PermitReturn { host, cooldown_days: None, failed: false });
                    sleep(clock.real_time_until(day)).await;
                    return true;
                }
                Permit::Busy if !last => sleep(BUSY_POLL_INTERVAL).await,
                Permit::Busy => {
                    self.postponement =
                        Some(Postponement { host, days: *gap, is_other_host: true });
                    return false;
                }
                Permit::NotBefore(day) => {
                    let days = (day - clock.now_days()).max(0.0);
                    self.postponement = Some(Postponement { host, days, is_other_host: true });
                    return false;
                }
            }
        }
    }

    fn max_wait(&self) -> Duration {
        if self.is_on_demand { MAX_ON_DEMAND_WAIT } else { MAX_PERMIT_WAIT }
    }

    /// Ends the visit to another host.
    fn return_permit(&mut self) {
        if let Some(permit_return) = self.visit.take() {
            let FetchContext { permits, readers, clock, host_gap_days: gap, .. } = self.context;
            permits.return_permit(permit_return, readers, clock, *gap);
        }
    }
}

/// Returns the permit of an abandoned fetch.
impl Drop for PoliteFetch<'_> {
    fn drop(&mut self) {
        self.return_permit();
    }
}
