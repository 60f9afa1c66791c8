//! Reference model of the rules: which fetches are allowed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use freshet_engine::{
    EngineSettings, FailureCause, FetchResult, SignalSource, SourceDescription, SourcePhase,
};

use crate::budget_model::BudgetModel;

/// Descriptions processed per step.
const ITEMS_PER_STEP: usize = 1024;
const MINUTE: f64 = 1.0 / 1440.0;
/// Maximum pause that a host can request, in days.
const MAX_PAUSE: f64 = 30.0;

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) description: SourceDescription,
    /// Current host. After a move it changes when the fetch in flight returns.
    pub(crate) host: u32,
    /// Minus infinity before the first answer.
    pub(crate) last: f64,
    /// Day on which it was added.
    since: f64,
    pub(crate) pending: u32,
    /// True if a change was observed while a fetch was in flight, which may be missing from the
    /// answer.
    pub(crate) signalled: bool,
    /// First day of the next allowed fetch.
    pub(crate) blocked_until: f64,
    failures: u8,
    gone: u8,
    /// True if the last fetch failed.
    failed: bool,
    pub(crate) in_flight: bool,
    pub(crate) parked: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) in_flight: u32,
    /// Requests in flight that are not for its sources.
    external_requests: u32,
    /// First day of the next allowed request, from the gap, back-off and requested pauses.
    pub(crate) blocked_until: f64,
    /// Requested crawl delay in days.
    gap: f64,
    failures: u8,
    pub(crate) down: bool,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            in_flight: 0,
            external_requests: 0,
            blocked_until: f64::NEG_INFINITY,
            gap: 0.0,
            failures: 0,
            down: false,
        }
    }
}

/// An item that is not processed yet.
#[derive(Clone, Debug)]
pub(crate) enum InboxItem {
    Described(SourceDescription),
    Recalled(Box<Source>),
    Removed(u32),
    Signal(u32),
    SignalSourceDescribed(u32),
    SignalSourceRemoved(u32),
    SignalReceived(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) now: f64,
    pub(crate) settings: EngineSettings,
    pub(crate) budget: BudgetModel,
    pub(crate) capacity: u32,
    signal_sources: BTreeSet<u32>,
    pub(crate) sources: BTreeMap<u32, Source>,
    pub(crate) hosts: BTreeMap<u32, Host>,
    /// Hosts with smaller numbers are known, whether they have sources or not.
    known_hosts: u32,
    /// Oldest first.
    pub(crate) fetches_in_flight: Vec<u32>,
    inbox: VecDeque<InboxItem>,
    /// Descriptions that the engine must reject in this step.
    pub(crate) rejected: Vec<u32>,
}

/// Cost of a fetch.
fn cost(description: &SourceDescription) -> f64 {
    f64::from(description.cost.clamp(1e-30, 1e30) as f32)
}

/// Doubled with each failure, up to four hours, and later up to 30 days.
fn back_off(failures: u8) -> f64 {
    match failures {
        ..=8 => MINUTE * f64::from(failures.max(1) - 1).exp2(),
        9..=20 => 1.0 / 6.0,
        _ => (f64::from(failures - 20).exp2() / 6.0).min(30.0),
    }
}

impl Model {
    pub(crate) fn new(now: f64, settings: EngineSettings) -> Self {
        Self {
            now,
            settings,
            budget: BudgetModel::new(now, settings),
            capacity: 0,
            sources: BTreeMap::new(),
            hosts: BTreeMap::new(),
            known_hosts: 0,
            fetches_in_flight: Vec::new(),
            signal_sources: BTreeSet::new(),
            inbox: VecDeque::new(),
            rejected: Vec::new(),
        }
    }

    /// A day before the latest counts as the latest.
    pub(crate) fn advance(&mut self, day: f64) {
        if day.is_finite() {
            self.now = self.now.max(day);
        }
        self.budget.advance(self.now);
        self.rejected.clear();
    }

    pub(crate) fn set(&mut self, settings: EngineSettings) {
        self.settings = settings;
        self.budget.set(settings);
    }

    /// Queues items; the first are processed at once, the others tick by tick.
    pub(crate) fn enqueue(&mut self, items: impl Iterator<Item = InboxItem>) {
        let was_empty = self.inbox.is_empty();
        self.inbox.extend(items);
        if was_empty {
            self.take_in();
        }
    }

    pub(crate) fn take_in(&mut self) {
        for _ in 0..ITEMS_PER_STEP {
            match self.inbox.pop_front() {
                None => break,
                Some(InboxItem::Described(it)) => self.describe(&it),
                Some(InboxItem::Recalled(it)) => drop(self.sources.insert(it.description.id, *it)),
                Some(InboxItem::Removed(id)) => self.remove(id),
                Some(InboxItem::Signal(id)) => self.signal(id),
                Some(InboxItem::SignalSourceDescribed(number))
                    if number >= SignalSource::NUMBER_LIMIT => {}
                Some(InboxItem::SignalSourceDescribed(number)) => {
                    self.signal_sources.insert(number);
                }
                Some(InboxItem::SignalSourceRemoved(number)) => {
                    self.signal_sources.remove(&number);
                }
                Some(InboxItem::SignalReceived(id, signal_source))
                    if self.signal_sources.contains(&signal_source) =>
                {
                    self.signal(id);
                }
                Some(InboxItem::SignalReceived(..)) => {}
            }
        }
    }

    fn describe(&mut self, it: &SourceDescription) {
        if it.validate().is_err() {
            self.rejected.push(it.id);
            return;
        }
        let now = self.now;
        self.known_hosts = self.known_hosts.max(it.host + 1);
        let source = self.sources.entry(it.id).or_insert_with(|| Source {
            description: *it,
            host: it.host,
            last: f64::NEG_INFINITY,
            since: now,
            pending: 0,
            signalled: false,
            blocked_until: f64::NEG_INFINITY,
            failures: 0,
            gone: 0,
            failed: false,
            in_flight: false,
            parked: false,
        });
        let paid = cost(&source.description);
        source.description = *it;
        if source.in_flight {
            self.budget.refund(paid - cost(it));
        }
        if let Some(day) = it.last_fetch {
            source.last = source.last.max(day.min(now));
        }
        if !source.in_flight {
            source.host = it.host;
        }
    }

    fn remove(&mut self, id: u32) {
        if let Some(source) = self.sources.remove(&id)
            && source.in_flight
        {
            self.remove_in_flight(id, source.host);
        }
    }

    fn remove_in_flight(&mut self, id: u32, host: u32) {
        self.fetches_in_flight.retain(|&other| other != id);
        self.hosts.entry(host).or_default().in_flight -= 1;
    }

    fn signal(&mut self, id: u32) {
        if let Some(source) = self.sources.get_mut(&id)
            && source.description.observed
        {
            source.pending = source.pending.saturating_add(1);
            source.signalled |= source.in_flight;
        }
    }

    /// Checks that the engine may fetch a source now, and records the fetch.
    pub(crate) fn start_fetch(&mut self, id: u32) -> Result<(), String> {
        let now = self.now;
        // Days are rounded, and intervals are stored in single precision.
        let slack = |days: f64| 1e-7 * days.min(1e6) + 4e-16 * now.abs() + 1e-12;
        let source = self.sources.get_mut(&id).ok_or("there is no such source")?;
        let host = self.hosts.entry(source.host).or_default();
        // A failed fetch is repeated whatever the minimum interval.
        let shortest = if source.failed { 0.0 } else { source.description.min_interval };
        let violation = if source.in_flight {
            Some("it is in flight".to_owned())
        } else if source.description.paused {
            Some("it is paused".to_owned())
        } else if source.parked {
            Some("it is parked".to_owned())
        } else if source.blocked_until > now + slack(0.0) {
            Some(format!("it is blocked until {}", source.blocked_until))
        } else if host.blocked_until > now + slack(0.0) {
            Some(format!("its host is blocked until {}", host.blocked_until))
        } else if host.in_flight >= self.settings.host_connections {
            Some(format!("{} requests to its host are in flight", host.in_flight))
        } else if now - source.last < shortest - slack(shortest) {
            Some(format!("its minimum interval since {} is not over", source.last))
        } else if self.capacity == 0 {
            Some("no capacity".to_owned())
        } else {
            None
        };
        if let Some(violation) = violation {
            return Err(violation);
        }
        (source.in_flight, source.signalled) = (true, false);
        host.in_flight += 1;
        host.blocked_until = host.blocked_until.max(now + self.settings.host_gap.max(host.gap));
        if self.capacity != u32::MAX {
            self.capacity -= 1;
        }
        self.fetches_in_flight.push(id);
        self.budget.pay(cost(&source.description))
    }

    /// Records a fetch that was started externally.
    pub(crate) fn fetch(&mut self, id: u32) {
        let Some(source) = self.sources.get_mut(&id).filter(|source| !source.in_flight) else {
            return;
        };
        (source.in_flight, source.signalled) = (true, false);
        let host = self.hosts.entry(source.host).or_default();
        host.in_flight += 1;
        host.blocked_until =
            host.blocked_until.max(self.now + self.settings.host_gap.max(host.gap));
        self.fetches_in_flight.push(id);
        self.budget.charge_on_credit(cost(&source.description));
        source.parked = false;
    }

    /// Sets the requested crawl delay, at most one day.
    pub(crate) fn set_gap(&mut self, host: u32, days: f64) {
        if host < self.known_hosts {
            let gap = if days > 0.0 { days.min(1.0) } else { 0.0 };
            self.hosts.entry(host).or_default().gap = gap;
        }
    }

    /// True if all items have been processed.
    pub(crate) fn is_inbox_empty(&self) -> bool {
        self.inbox.is_empty()
    }

    /// Replaces the engine by one without sources. Fetches in flight are forgotten.
    pub(crate) fn reopen(&mut self) -> BTreeMap<u32, Source> {
        self.signal_sources.clear();
        self.capacity = 0;
        self.fetches_in_flight.clear();
        for source in self.sources.values() {
            self.hosts.entry(source.description.host).or_default();
        }
        for host in self.hosts.values_mut() {
            (host.in_flight, host.external_requests) = (0, 0);
            host.blocked_until =
                host.blocked_until.max(self.now + self.settings.host_gap.max(host.gap));
        }
        self.known_hosts = self.hosts.keys().next_back().map_or(0, |last| last + 1);
        let mut sources = std::mem::take(&mut self.sources);
        for source in sources.values_mut() {
            if source.in_flight {
                // A fetch started externally did not wait for its day either.
                source.blocked_until = f64::NEG_INFINITY;
            }
            source.in_flight = false;
            source.host = source.description.host;
        }
        sources
    }

    /// Records the result of a fetch.
    pub(crate) fn answer(&mut self, id: u32, outcome: FetchResult, day: f64) {
        let now = self.now;
        let Some(source) = self.sources.get_mut(&id).filter(|source| source.in_flight) else {
            return;
        };
        let in_flight = source.host;
        source.in_flight = false;
        source.failed = matches!(outcome, FetchResult::Failed { .. } | FetchResult::Gone);
        source.host = source.description.host;
        let host = self.hosts.entry(in_flight).or_default();
        let gap = self.settings.host_gap.max(host.gap);
        host.blocked_until = host.blocked_until.max(now + gap);
        match outcome {
            FetchResult::Changed | FetchResult::Unchanged | FetchResult::Uncompared => {
                let first = if source.last.is_finite() { source.last } else { source.since };
                let day = if day.is_nan() { now } else { day.max(first).min(now) };
                // A change observed meanwhile may be missing from the copy.
                (source.last, source.pending) = (day, u32::from(source.signalled));
                (source.failures, source.gone) = (0, 0);
                source.blocked_until = f64::NEG_INFINITY;
                host.failures /= 2;
            }
            FetchResult::Failed { cause, retry_after } => {
                let mut wait = retry_after.filter(|days| *days > 0.0).unwrap_or(0.0).min(30.0);
                if cause == FailureCause::Host {
                    // A failure during a back-off was in flight before it and does not count.
                    if host.blocked_until <= now + gap {
                        host.failures = (host.failures + 1).min(30);
                    }
                    wait = wait.max(back_off(host.failures));
                }
                host.blocked_until = host.blocked_until.max(now + wait);
                if cause != FailureCause::Us {
                    source.failures = (source.failures + 1).min(30);
                }
                let defer_fetch = cause == FailureCause::Us && source.failures == 0 && wait > 0.0;
                let back_off = if defer_fetch { wait } else { back_off(source.failures) };
                source.blocked_until = now + wait.max(back_off);
            }
            FetchResult::Gone => {
                host.failures /= 2;
                source.gone += 1;
                source.blocked_until = now + 7.0;
            }
        }
        self.remove_in_flight(id, in_flight);
    }

    /// Records a fetch that was deferred.
    pub(crate) fn defer_fetch(&mut self, id: u32, days: f64, unsent: bool) {
        let now = self.now;
        let Some(source) = self.sources.get_mut(&id).filter(|source| source.in_flight) else {
            return;
        };
        let in_flight = source.host;
        // It is repeated like a failed one.
        (source.in_flight, source.failed) = (false, true);
        source.host = source.description.host;
        source.blocked_until = now + if days > 0.0 { days.min(MAX_PAUSE) } else { 0.0 };
        if unsent {
            self.budget.refund(cost(&source.description));
        } else {
            let host = self.hosts.entry(in_flight).or_default();
            host.blocked_until = host.blocked_until.max(now + self.settings.host_gap.max(host.gap));
        }
        self.remove_in_flight(id, in_flight);
    }

    /// Records a request to a host that is not for its sources.
    pub(crate) fn start_host_request(&mut self, host: u32, from: f64) {
        if host >= SourceDescription::ID_LIMIT {
            return;
        }
        self.known_hosts = self.known_hosts.max(host + 1);
        let it = self.hosts.entry(host).or_default();
        (it.in_flight, it.external_requests) = (it.in_flight + 1, it.external_requests + 1);
        let from =
            if from.is_nan() { self.now } else { from.clamp(self.now, self.now + MAX_PAUSE) };
        it.blocked_until = it.blocked_until.max(from + self.settings.host_gap.max(it.gap));
    }

    /// Records the end of such a request.
    pub(crate) fn finish_host_request(
        &mut self,
        host: u32,
        retry_after: Option<f64>,
        failed: bool,
    ) {
        let Some(it) = self.hosts.get_mut(&host).filter(|it| it.external_requests > 0) else {
            return;
        };
        (it.in_flight, it.external_requests) = (it.in_flight - 1, it.external_requests - 1);
        let gap = self.settings.host_gap.max(it.gap);
        let mut wait = retry_after.filter(|days| *days > 0.0).unwrap_or(0.0).min(MAX_PAUSE);
        if failed {
            if it.blocked_until <= self.now + gap {
                it.failures = (it.failures + 1).min(30);
            }
            wait = wait.max(back_off(it.failures));
        } else {
            it.failures /= 2;
        }
        it.blocked_until = it.blocked_until.max(self.now + wait.max(gap));
    }

    /// Records that a source is gone for good, which requires four probes.
    pub(crate) fn park(&mut self, id: u32) -> Result<(), String> {
        let source = self.sources.get_mut(&id).ok_or("reported as gone, but does not exist")?;
        if source.gone < 5 {
            return Err(format!("parked after {} gone answers", source.gone));
        }
        source.parked = true;
        Ok(())
    }

    /// True if a source may be in a phase.
    pub(crate) fn may_be_in_phase(&self, id: u32, phase: SourcePhase) -> bool {
        let source = &self.sources[&id];
        match phase {
            SourcePhase::InFlight => source.in_flight,
            SourcePhase::Paused => source.description.paused && !source.in_flight && !source.parked,
            SourcePhase::Gone => source.parked && !source.in_flight,
            SourcePhase::Waiting | SourcePhase::Candidate => {
                !source.in_flight && !source.description.paused && !source.parked
            }
        }
    }
}
