//! Fetches made by external clients, handed out on leases.

use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::BuildHasher;
use std::time::Duration;

use freshet_engine::{Action, Engine, Event, FailureCause, FetchResult};
use freshet_store::{Batch, StoredReason};
use tokio::sync::oneshot;

use super::{EventLoop, stored_reason};
use crate::claim::{LeaseId, ReportResult};
use crate::clock::{Millis, millis_from_days};
use crate::config::ConcurrencySetting;
use crate::judged_fetch::JudgedFetch;

/// Most sources in one claim.
const MAX_CLAIM_SOURCES: u32 = 10_000;
/// Engine steps without a new source after which a claim is complete. In each step, the engine
/// examines only some sources.
const MAX_EMPTY_STEPS: u32 = 3;
/// Most sources claimed at a time.
const MAX_CLAIMED_SOURCES: usize = 1 << 20;
/// Time after the end of a lease within which a report is still accepted, unless the source has
/// been handed out again.
const LATE_REPORT_MS: Millis = 3_600_000;
/// Delay before a returned source is scheduled again, in days.
const RETURN_DELAY_DAYS: f64 = 1e-8;
/// Tolerance for client clocks that run ahead.
const MAX_CLOCK_SKEW_MS: Millis = 60_000;

/// Grant of a claim; the caller looks up the addresses.
pub(crate) struct ClaimGrant {
    pub(crate) lease: LeaseId,
    pub(crate) expires_at: Millis,
    pub(crate) sources: Vec<(u32, StoredReason)>,
    pub(crate) next_claim_at: Option<Millis>,
}

/// Evaluated report of an external client.
pub(crate) struct JudgedReport {
    pub(crate) lease: LeaseId,
    pub(crate) fetched_at: Millis,
    pub(crate) judged: JudgedFetch,
}

/// A claim that waits for its cost to be written.
struct PendingClaim {
    sources: Vec<(u32, StoredReason)>,
    lease_time: Duration,
    /// Earliest day on which more sources may be due.
    next_due_day: f64,
    reply: oneshot::Sender<ClaimGrant>,
}

struct ActiveLease {
    granted_at: Millis,
    sources: Vec<u32>,
    /// Number of sources not reported yet.
    unreported: usize,
    is_expired: bool,
}

/// All claims of external clients.
#[derive(Default)]
pub(crate) struct Claims {
    pending: VecDeque<PendingClaim>,
    leases: HashMap<LeaseId, ActiveLease>,
    /// Lease of each claimed source, until it is reported or requested again.
    held_sources: HashMap<u32, LeaseId>,
    /// Lease of each source whose lease has expired, which may still be reported.
    expired_sources: HashMap<u32, LeaseId>,
    expiries: BinaryHeap<Reverse<(Millis, LeaseId)>>,
    /// Leases not in the store yet, with their ends.
    unwritten_leases: HashMap<LeaseId, Millis>,
    /// Stored leases that are no longer needed.
    dropped_leases: Vec<u128>,
    secret: RandomState,
    leases_created: u64,
    /// Results of reports to confirm once the batch with this number is written.
    unconfirmed_reports: VecDeque<(u64, Vec<ReportResult>, oneshot::Sender<Vec<ReportResult>>)>,
    /// Number of the batch being filled.
    filling_batch: u64,
    sent_batch: u64,
}

impl Claims {
    /// Sources of claims not granted yet.
    pub(super) fn pending_sources(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().flat_map(|claim| claim.sources.iter().map(|(id, _)| *id))
    }

    /// Number of claimed sources.
    pub(super) fn claimed_count(&self) -> usize {
        self.held_sources.len()
    }

    /// Takes a source from the lease that holds it. Returns true if one did.
    pub(super) fn release(&mut self, id: u32) -> bool {
        !self.expired_sources.is_empty() && self.expired_sources.remove(&id).is_some()
            || !self.held_sources.is_empty() && self.held_sources.remove(&id).is_some()
    }

    /// Adds new and dropped leases to a batch that goes to the writer. Later reports belong to the
    /// next batch.
    pub(super) fn add_to_batch(&mut self, batch: &mut Batch) {
        let leases = &self.leases;
        let active = self.unwritten_leases.drain().filter_map(|(lease, until)| {
            let ActiveLease { granted_at, sources, .. } = leases.get(&lease)?;
            let (id, sources) = (lease.0, sources.clone());
            Some(freshet_store::Lease { id, granted_at: *granted_at, expires_at: until, sources })
        });
        batch.leases.extend(active);
        batch.dropped_leases.append(&mut self.dropped_leases);
        self.sent_batch = self.filling_batch;
        self.filling_batch += 1;
    }

    /// Confirms the reports recorded up to the batch written last.
    pub(super) fn on_batch_written(&mut self) {
        while self.unconfirmed_reports.front().is_some_and(|(batch, ..)| *batch <= self.sent_batch)
        {
            let Some((_, results, reply)) = self.unconfirmed_reports.pop_front() else { break };
            // The client may be gone.
            let _ = reply.send(results);
        }
    }

    /// Marks a lease for removal from the store.
    fn drop_lease(&mut self, lease: LeaseId) {
        if self.unwritten_leases.remove(&lease).is_none() {
            self.dropped_leases.push(lease.0);
        }
    }

    /// Restores a lease of the previous process. Returns the sources that are still in flight.
    fn restore_lease(&mut self, stored: freshet_store::Lease, now: Millis) -> Vec<u32> {
        let freshet_store::Lease { id, granted_at: since, expires_at: until, sources } = stored;
        let (lease, remaining) = (LeaseId(id), sources.len());
        if remaining == 0 || until.saturating_add(LATE_REPORT_MS) <= now {
            self.dropped_leases.push(id);
            return Vec::new();
        }
        let is_expired = until <= now;
        for &id in &sources {
            // The newest lease holds the source.
            self.release(id);
            if is_expired { &mut self.expired_sources } else { &mut self.held_sources }
                .insert(id, lease);
        }
        let end = if is_expired { until.saturating_add(LATE_REPORT_MS) } else { until };
        self.expiries.push(Reverse((end, lease)));
        let in_flight_ids = if is_expired { Vec::new() } else { sources.clone() };
        self.leases.insert(
            lease,
            ActiveLease { granted_at: since, sources, unreported: remaining, is_expired },
        );
        in_flight_ids
    }

    /// Restores the leases of the previous process. The engine is told which sources are in flight;
    /// their cost is already paid.
    pub(crate) fn restore(
        &mut self,
        stored: Vec<freshet_store::Lease>,
        engine: &mut Engine,
        now: Millis,
        day: f64,
    ) {
        for lease in stored {
            for id in self.restore_lease(lease, now) {
                let Some(cost) = engine.source_cost(id) else { continue };
                engine.step(day, Event::FetchStarted(id), &mut Vec::new());
                engine.refund_budget(cost);
            }
        }
    }

    fn new_lease_id(&mut self) -> LeaseId {
        self.leases_created += 1;
        let half = |part: u8| u128::from(self.secret.hash_one((self.leases_created, part)));
        LeaseId(half(0) << 64 | half(1))
    }
}

impl EventLoop {
    /// Selects up to `most` sources for an external client.
    pub(super) fn claim_sources(
        &mut self,
        max: u32,
        length: Duration,
        reply: oneshot::Sender<ClaimGrant>,
    ) {
        let room = MAX_CLAIMED_SOURCES.saturating_sub(
            self.in_flight.claims.claimed_count() + self.in_flight.claims.expired_sources.len(),
        );
        let max = max.min(MAX_CLAIM_SOURCES).min(u32::try_from(room).unwrap_or(u32::MAX));
        let (own, others) = (self.in_flight.tasks.len(), self.in_flight.claims.claimed_count());
        let held = self.byte_budget.blocked_until(self.engine.now(), own, others);
        let max = if held.is_some() || self.in_flight.stopping { 0 } else { max };
        let mut sources = Vec::new();
        let mut event = Event::CapacityAdded(max);
        let mut empty_steps = 0;
        loop {
            let before = sources.len();
            for action in self.step_engine(event) {
                match action {
                    // Sitemaps and feeds are fetched here, since only the daemon evaluates them.
                    Action::Fetch { id, .. }
                        if self.in_flight.signal_sources.is_document_source(id) =>
                    {
                        self.fetch_locally(id);
                    }
                    Action::Fetch { id, reason } if sources.len() < max as usize => {
                        sources.push((id, stored_reason(&self.engine, id, reason)));
                    }
                    action => self.handle_action(action),
                }
            }
            empty_steps += u32::from(sources.len() == before);
            let is_full = sources.len() == max as usize;
            if is_full
                || empty_steps == MAX_EMPTY_STEPS
                || self.engine.next_tick() > self.engine.now()
            {
                break;
            }
            event = Event::Tick;
        }
        // Without a budget no source will be due, so there is no next time.
        let is_paid = self.engine.settings().budget > 0.0;
        let next =
            held.unwrap_or_else(|| if is_paid { self.engine.next_tick() } else { f64::INFINITY });
        let remaining = max - u32::try_from(sources.len()).unwrap_or(max);
        if remaining > 0 {
            self.handle_event(Event::CapacityRemoved(remaining));
        }
        self.in_flight.claims.pending.push_back(PendingClaim {
            sources,
            lease_time: length,
            next_due_day: next,
            reply,
        });
    }

    /// Fetches a sitemap or feed in the daemon rather than handing it out. With `crew = 0` it is
    /// postponed.
    fn fetch_locally(&mut self, id: u32) {
        if self.config.fetch_concurrency == ConcurrencySetting::Fixed(0) {
            self.in_flight.decisions.remove(&id);
            return self.handle_event(Event::FetchDeferred { id, days: 1.0, unsent: true });
        }
        self.in_flight.granted_capacity += 1;
        self.in_flight.outbox.push_back(id);
    }

    /// Grants pending claims whose cost is in the store.
    pub(super) fn grant_claims(&mut self) {
        while let Some(claim) = self.in_flight.claims.pending.front() {
            let mut ids = claim.sources.iter().map(|(id, _)| *id);
            if ids.any(|id| self.in_flight.unwritten.contains_key(&id)) {
                self.write_batch();
                return;
            }
            let cost = self.next_claim_cost();
            if cost > 0.0 && self.in_flight.prepaid + cost > self.in_flight.prepaid_written {
                self.in_flight.needs_write = true;
                self.write_batch();
                return;
            }
            let Some(claim) = self.in_flight.claims.pending.pop_front() else { return };
            self.in_flight.prepaid += cost;
            self.grant_claim(claim);
        }
    }

    /// Returns the cost of the next pending claim.
    pub(super) fn next_claim_cost(&self) -> f64 {
        let claim = self.in_flight.claims.pending.front();
        let ids = claim.iter().flat_map(|claim| claim.sources.iter());
        ids.filter_map(|(id, _)| self.engine.source_cost(*id)).sum()
    }

    fn grant_claim(&mut self, claim: PendingClaim) {
        let PendingClaim { sources, lease_time, next_due_day, reply } = claim;
        let since = self.context.clock.now();
        let until =
            since.saturating_add(millis_from_days(self.context.clock.to_clock_days(lease_time)));
        let next = next_due_day.is_finite().then(|| millis_from_days(next_due_day).max(since));
        let claims = &mut self.in_flight.claims;
        let lease = claims.new_lease_id();
        let ids: Vec<u32> = sources.iter().map(|(id, _)| *id).collect();
        let granted = ClaimGrant { lease, expires_at: until, sources, next_claim_at: next };
        if reply.send(granted).is_err() {
            return self.return_sources(&ids);
        }
        if ids.is_empty() {
            return;
        }
        claims.held_sources.extend(ids.iter().map(|&id| (id, lease)));
        let remaining = ids.len();
        claims.leases.insert(
            lease,
            ActiveLease {
                granted_at: since,
                sources: ids,
                unreported: remaining,
                is_expired: false,
            },
        );
        claims.unwritten_leases.insert(lease, until);
        claims.expiries.push(Reverse((until, lease)));
        self.in_flight.needs_write = true;
    }

    fn return_sources(&mut self, ids: &[u32]) {
        for &id in ids {
            let retry_after = Some(RETURN_DELAY_DAYS);
            let outcome = FetchResult::Failed { cause: FailureCause::Us, retry_after };
            self.handle_event(Event::FetchFinished { id, outcome });
        }
    }

    /// Expires leases: sources that were not reported return to the schedule.
    pub(super) fn expire_leases(&mut self) {
        let now = self.context.clock.now();
        while let Some(&Reverse((end, lease))) = self.in_flight.claims.expiries.peek() {
            if end > now {
                break;
            }
            let claims = &mut self.in_flight.claims;
            claims.expiries.pop();
            let Some(active) = claims.leases.get_mut(&lease) else { continue };
            if active.is_expired {
                let active = claims.leases.remove(&lease);
                claims.drop_lease(lease);
                for id in active.iter().flat_map(|active| &active.sources) {
                    if claims.expired_sources.get(id) == Some(&lease) {
                        claims.expired_sources.remove(id);
                    }
                }
                continue;
            }
            active.is_expired = true;
            let mut remaining = active.sources.clone();
            remaining.retain(|id| claims.held_sources.get(id) == Some(&lease));
            if remaining.is_empty() {
                let is_kept = active.unreported > 0;
                claims.leases.remove(&lease);
                if is_kept {
                    claims.drop_lease(lease);
                }
                continue;
            }
            for id in &remaining {
                claims.held_sources.remove(id);
                claims.expired_sources.insert(*id, lease);
            }
            claims.expiries.push(Reverse((end.saturating_add(LATE_REPORT_MS), lease)));
            tracing::debug!(%lease, sources = remaining.len(), "lease expired with unreported sources");
            self.return_sources(&remaining);
        }
    }

    /// Records reports. The reply is sent when they are durable.
    pub(super) fn record_reports(
        &mut self,
        report: Vec<JudgedReport>,
        reply: oneshot::Sender<Vec<ReportResult>>,
    ) {
        let results: Vec<ReportResult> =
            report.into_iter().map(|report| self.record_report(report)).collect();
        if results.iter().any(|it| matches!(it, ReportResult::Recorded(_))) {
            let batch = self.in_flight.claims.filling_batch;
            self.in_flight.claims.unconfirmed_reports.push_back((batch, results, reply));
        } else {
            let _ = reply.send(results);
        }
    }

    fn record_report(&mut self, report: JudgedReport) -> ReportResult {
        let JudgedReport { lease, fetched_at, mut judged } = report;
        let id = judged.record.source;
        let now = self.context.clock.now();
        let claims = &mut self.in_flight.claims;
        let Some(active) = claims.leases.get_mut(&lease) else { return ReportResult::NoLease };
        let is_late = claims.expired_sources.get(&id) == Some(&lease);
        if !is_late && claims.held_sources.get(&id) != Some(&lease) {
            return ReportResult::NotHeld;
        }
        if fetched_at < active.granted_at || fetched_at > now.saturating_add(MAX_CLOCK_SKEW_MS) {
            return ReportResult::WrongTime;
        }
        active.unreported = active.unreported.saturating_sub(1);
        if active.unreported == 0 {
            claims.drop_lease(lease);
        }
        claims.release(id);
        // A client clock that runs a little ahead does not move the log ahead.
        judged.record.at = fetched_at.min(now);
        if let Some(change) = &mut judged.record.change {
            change.first_changed_at = change.first_changed_at.min(now);
        }
        self.in_flight.on_demand.remove(&id);
        let Some(cost) = self.engine.source_cost(id) else { return ReportResult::NoSource };
        if is_late {
            self.handle_event(Event::FetchStarted(id));
            // The cost was paid when the source was claimed.
            self.engine.refund_budget(cost);
        }
        let changed = judged.record.change.is_some();
        self.record_reported_fetch(id, judged);
        ReportResult::Recorded(changed)
    }
}
