//! From fetch results to the store.

use std::collections::hash_map::Entry;
use std::time::Duration;

use freshet_engine::{Event, FailureCause, FetchResult};
use freshet_fetch::FetchHop;
use freshet_store::{Batch, Decision, FetchRecord, LedgerEntry, StatsBucket};
use tokio::task::{Id, JoinError};
use tokio::time::Instant;

use super::{CheckResult, EventLoop, believed_rate};
use crate::clock::{days_from_millis, millis_from_days};
use crate::engine_loader::DaemonCheckpoint;
use crate::fetch_context::FinishedFetch;
use crate::judged_fetch::JudgedFetch;
use crate::polite_fetch::Postponement;
use crate::status::DaemonStatus;
use crate::writer::{BatchWriteResult, WriteEvent, WriteOrder};

/// Granularity of the ledger.
const LEDGER_INTERVAL_MS: i64 = 60_000;
/// Results are gathered for this long after a write, or until this many have come. The costs of a
/// write, a disk sync and whole database pages, are then shared.
const GATHER_TIME: Duration = Duration::from_millis(25);
const FULL_BATCH: usize = 256;

impl EventLoop {
    /// Handles a finished or failed task.
    pub(super) fn on_task_finished(&mut self, over: Result<(Id, FinishedFetch), JoinError>) {
        self.in_flight.granted_capacity = self.in_flight.granted_capacity.saturating_sub(1);
        let task = over.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let source = self.in_flight.task_sources.remove(&task).map(|(id, _)| id);
        match over {
            Ok((_, finished)) => self.on_fetch_finished(finished),
            Err(reason) => {
                tracing::error!(source, "fetch task failed: {reason}");
                if let Some(id) = source {
                    let outcome =
                        FetchResult::Failed { cause: FailureCause::Us, retry_after: None };
                    self.handle_event(Event::FetchFinished { id, outcome });
                }
            }
        }
    }

    fn on_fetch_finished(&mut self, finished: FinishedFetch) {
        let FinishedFetch {
            id,
            result: judged,
            postponement,
            hops,
            crawl_delay_days,
            is_slow,
            fetch_time,
            requests,
            document_read,
        } = finished;
        self.counters.requests += u64::from(requests);
        let host = self.engine.source_host(id);
        if let (Some(host), Some(days)) = (host, crawl_delay_days) {
            self.handle_event(Event::HostGapChanged { host, days });
        }
        if let Some(postponement) = postponement {
            return self.on_fetch_postponed(id, postponement, hops, requests == 0);
        }
        self.in_flight.on_demand.remove(&id);
        self.concurrency.record_fetch_time(fetch_time);
        let Some(judged) = judged else {
            self.counters.fetches += 1;
            // The waiting caller is notified with the next write.
            self.in_flight.needs_write = true;
            let outcome = FetchResult::Failed { cause: FailureCause::Us, retry_after: None };
            return self.handle_event(Event::FetchFinished { id, outcome });
        };
        // All its signals have been received before.
        if let Some(read) = document_read {
            self.on_document_read(read);
        }
        // Also a page that its server cannot produce; 503 describes the server as a whole.
        let is_broken = matches!(judged.record.status, 500..=502 | 504..=599);
        let outcome = self.attribute_failure(id, judged.outcome, is_slow || is_broken);
        self.record_fetch(id, JudgedFetch { outcome, ..judged });
    }

    /// Records a finished fetch.
    pub(super) fn record_fetch(&mut self, id: u32, judged: JudgedFetch) {
        let JudgedFetch { outcome, record } = judged;
        let day = self.context.clock.now_days();
        self.record_outcome(Event::FetchFinished { id, outcome }, (id, day, outcome), record);
    }

    /// Records a fetch by an external client, at the time it reported.
    pub(super) fn record_reported_fetch(&mut self, id: u32, judged: JudgedFetch) {
        let JudgedFetch { outcome, record } = judged;
        let day = days_from_millis(record.at);
        self.record_outcome(Event::FetchReported { id, outcome, day }, (id, day, outcome), record);
    }

    fn record_outcome(
        &mut self,
        event: Event,
        (id, day, outcome): (u32, f64, FetchResult),
        mut record: FetchRecord,
    ) {
        self.counters.fetches += 1;
        let host = self.engine.source_host(id);
        let before = self.engine.learned_state(id).and_then(|learned| learned.last_fetch());
        self.record_freshness(day, outcome, &record);
        let decision = self.take_decision(id);
        self.handle_event(event);
        record.decision =
            decision.map(|it| Decision { rate_after: believed_rate(&self.engine, id), ..it });
        self.byte_budget.charge(self.engine.now(), record.bytes);
        self.counters.bytes += record.bytes;
        self.counters.changes += u64::from(record.change.is_some());
        self.counters.failures += u64::from(record.outcome == freshet_store::StoredOutcome::Failed);
        if let Some(change) = &mut record.change {
            change.last_unchanged_at = before.map(millis_from_days);
        }
        if let Some(learned) = self.engine.learned_state(id) {
            record.learned = Some(learned.to_bytes());
            record.due_at = learned.due_day().map(millis_from_days);
        }
        tracing::debug!(
            source = id,
            outcome = ?record.outcome,
            status = record.status,
            bytes = record.bytes,
            note = record.note,
            "fetched"
        );
        self.save_signal_histories(id);
        self.charge(0.0, record.bytes);
        *self.in_flight.unwritten.entry(id).or_default() += 1;
        self.in_flight.batch.fetches.push(record);
        if let Some(host) = host {
            self.save_host(host);
        }
    }

    /// Blames a slow or broken page on the source, unless another source of the host fails the same
    /// way.
    fn attribute_failure(&mut self, id: u32, outcome: FetchResult, alone: bool) -> FetchResult {
        let Some(host) = self.engine.source_host(id) else { return outcome };
        match outcome {
            FetchResult::Failed { cause: FailureCause::Host, retry_after } if alone => {
                let alone =
                    self.in_flight.last_slow_source.get(&host).is_none_or(|&other| other == id);
                self.in_flight.last_slow_source.insert(host, id);
                let blame = if alone { FailureCause::Source } else { FailureCause::Host };
                FetchResult::Failed { cause: blame, retry_after }
            }
            FetchResult::Failed { .. } => outcome,
            FetchResult::Changed
            | FetchResult::Unchanged
            | FetchResult::Uncompared
            | FetchResult::Gone => {
                self.in_flight.last_slow_source.remove(&host);
                outcome
            }
        }
    }

    /// Handles a fetch that stopped because a host is in a cooldown. It resumes later.
    fn on_fetch_postponed(
        &mut self,
        id: u32,
        postponement: Postponement,
        hops: Vec<FetchHop>,
        unasked: bool,
    ) {
        let days = postponement.days;
        tracing::debug!(source = id, host = postponement.host, days, "fetch postponed");
        if postponement.is_other_host {
            if unasked {
                self.in_flight.prepaid -= self.engine.source_cost(id).unwrap_or(0.0);
            }
            self.handle_event(Event::FetchDeferred { id, days, unsent: unasked });
        } else {
            let outcome = FetchResult::Failed { cause: FailureCause::Us, retry_after: Some(days) };
            self.handle_event(Event::FetchFinished { id, outcome });
        }
        if hops.len() > 1 {
            self.in_flight.resume_points.insert(id, (Instant::now(), hops));
        }
        if let Some(host) = self.engine.source_host(id) {
            self.save_host(host);
        }
        self.in_flight.needs_write = true;
        if self.in_flight.on_demand.remove(&id) {
            for one in self.in_flight.check_waiters.remove(&id).unwrap_or_default() {
                let _ = one.send(CheckResult::Postponed(postponement.clone()));
            }
        }
    }

    /// Records how fresh the previous copy was, before the engine learns of the result.
    fn record_freshness(&mut self, day: f64, result: FetchResult, record: &FetchRecord) {
        let FetchRecord { source, outcome, bytes, .. } = *record;
        let changed = match result {
            FetchResult::Changed => Some(true),
            FetchResult::Unchanged => Some(false),
            FetchResult::Failed { .. } | FetchResult::Uncompared | FetchResult::Gone => None,
        };
        let measured =
            changed.and_then(|changed| self.engine.measure_freshness(source, day, changed));
        let measured = measured.unwrap_or_default();
        use freshet_store::StoredOutcome as Ended;
        let answered =
            matches!(outcome, Ended::First | Ended::Changed | Ended::Unchanged | Ended::Gone);
        let pulse = self.stats_bucket();
        pulse.add(&StatsBucket {
            fetches: u64::from(answered),
            changed: u64::from(outcome == Ended::Changed),
            failed: u64::from(outcome == Ended::Failed),
            bytes,
            held_days: measured.held_days,
            fresh_days: measured.fresh_days,
            expected_fresh_days: measured.expected_fresh_days,
            ..StatsBucket::default()
        });
    }

    /// Returns the current statistics bucket of the unwritten batch.
    fn stats_bucket(&mut self) -> &mut StatsBucket {
        let empty = StatsBucket::containing(self.context.clock.now());
        let pulses = &mut self.in_flight.batch.stats;
        if pulses.last().is_none_or(|last| last.at != empty.at) {
            // A complete bucket should not wait for the next write.
            self.in_flight.needs_write |= !pulses.is_empty();
            pulses.push(empty);
        }
        let last = pulses.len() - 1;
        &mut pulses[last]
    }

    /// Samples the current status into the statistics.
    pub(super) fn sample_status(&mut self, status: &DaemonStatus) {
        let DaemonStatus { sources, freshness, price, budget, .. } = *status;
        let pulse = self.stats_bucket();
        pulse.freshness = Some(freshness).filter(|_| sources > 0);
        pulse.price = Some(price).filter(|price| *price > 0.0);
        pulse.budget = Some(budget);
    }

    fn charge(&mut self, fetches: f64, bytes: u64) {
        let now = self.context.clock.now();
        let minute = now - now.rem_euclid(LEDGER_INTERVAL_MS);
        let ledger = &mut self.in_flight.batch.ledger;
        match ledger.last_mut().filter(|spent| spent.at == minute) {
            Some(spent) => {
                spent.fetches += fetches;
                spent.bytes += bytes;
            }
            None => ledger.push(LedgerEntry { at: minute, fetches, bytes }),
        }
    }

    /// Returns when the finished fetches should be written; `None` if there are none or a write is
    /// in progress.
    pub(super) fn next_write_at(&self) -> Option<Instant> {
        let fetches = self.in_flight.batch.fetches.len();
        if fetches == 0
            || self.in_flight.fetches_being_written.is_some()
            || self.in_flight.write_failed
        {
            return None;
        }
        let is_awaited =
            !(self.in_flight.check_waiters.is_empty() && self.in_flight.awaiting_write.is_empty());
        let at_once = is_awaited || fetches >= FULL_BATCH;
        let gathered = self.in_flight.gather_until.filter(|_| !at_once);
        Some(gathered.unwrap_or_else(Instant::now))
    }

    /// Sends the batch to the writer thread, unless it is empty or a write is in progress.
    pub(super) fn write_batch(&mut self) {
        let there_is = self.in_flight.needs_write || !self.in_flight.batch.fetches.is_empty();
        if self.in_flight.fetches_being_written.is_some()
            || self.in_flight.write_failed
            || !there_is
        {
            return;
        }
        let reserve = self.prepaid_reserve();
        self.in_flight.prepaid_in_write = self.in_flight.prepaid + reserve;
        // The prepaid cost counts as spent, since a killed process leaves no better record.
        let paid = self.in_flight.prepaid_in_write - self.in_flight.ledgered;
        if paid != 0.0 {
            self.charge(paid, 0);
            self.in_flight.ledgered = self.in_flight.prepaid_in_write;
        }
        self.save_signal_sources();
        let mut batch = std::mem::take(&mut self.in_flight.batch);
        // Fetches that have not started are not spent.
        let held = self.in_flight.outbox.iter().chain(&self.in_flight.awaiting_write).copied();
        let held = held.chain(self.in_flight.claims.pending_sources());
        let held: f64 = held.filter_map(|id| self.engine.source_cost(id)).sum();
        let engine = self.engine.checkpoint(reserve - held);
        batch.engine_checkpoint =
            Some(DaemonCheckpoint { engine, byte_budget: self.byte_budget }.to_bytes());
        self.in_flight.claims.add_to_batch(&mut batch);
        self.in_flight.needs_write = false;
        self.in_flight.gather_until = Some(Instant::now() + GATHER_TIME);
        self.in_flight.fetches_being_written = Some(batch.fetches.len());
        self.in_flight.sources_being_written =
            batch.fetches.iter().map(|fetch| fetch.source).collect();
        if self.writer.send(WriteOrder::Batch(Box::new(batch))).is_err() {
            tracing::error!("the writer thread has stopped; nothing can be written");
        }
    }

    pub(super) fn on_write_event(&mut self, wrote: WriteEvent) {
        match wrote {
            WriteEvent::Batch(written) => self.on_batch_written(written),
            WriteEvent::Cursor(cursor) => self.set_cursor(cursor),
        }
    }

    /// Publishes the cursor of the newest log entry.
    fn set_cursor(&mut self, cursor: i64) {
        self.counters.cursor = cursor;
        self.status_updates.send_modify(|status| status.cursor = cursor);
    }

    fn on_batch_written(&mut self, written: BatchWriteResult) {
        self.in_flight.fetches_being_written = None;
        self.concurrency.record_write_time(written.fetches, written.duration);
        match written.result {
            Ok(recorded) => {
                self.in_flight.prepaid_written = self.in_flight.prepaid_in_write;
                for id in std::mem::take(&mut self.in_flight.sources_being_written) {
                    if let Entry::Occupied(mut count) = self.in_flight.unwritten.entry(id) {
                        *count.get_mut() -= 1;
                        if *count.get() == 0 {
                            count.remove();
                        }
                    }
                }
                self.in_flight.outbox.extend(self.in_flight.awaiting_write.drain(..));
                if self.counters.write_error.take().is_some() {
                    tracing::info!("writing works again");
                }
                if let Some(cursor) = recorded.cursors.iter().flatten().next_back() {
                    self.set_cursor(*cursor);
                }
                self.notify_check_waiters();
                self.resume_readers();
                self.in_flight.claims.on_batch_written();
            }
            Err((error, batch)) => self.on_write_failed(&error.to_string(), *batch),
        }
    }

    /// Keeps the batch for another attempt at the next tick. No new fetch starts until then.
    fn on_write_failed(&mut self, reason: &str, mut batch: Batch) {
        // A write is attempted twice a second: one log line per cause is enough.
        if self.counters.write_error.as_deref() != Some(reason) {
            tracing::error!(
                "cannot write results: {reason}; fetching is suspended until writing works"
            );
        }
        self.counters.write_error = Some(reason.to_owned());
        let later = std::mem::take(&mut self.in_flight.batch);
        batch.fetches.extend(later.fetches);
        batch.learned.extend(later.learned);
        batch.hosts.extend(later.hosts);
        batch.host_cooldowns.extend(later.host_cooldowns);
        batch.robots.extend(later.robots);
        batch.ledger.extend(later.ledger);
        batch.stats.extend(later.stats);
        batch.leases.extend(later.leases);
        batch.dropped_leases.extend(later.dropped_leases);
        batch.signal_sources.extend(later.signal_sources);
        batch.signal_entries.extend(later.signal_entries);
        batch.signal_histories.extend(later.signal_histories);
        self.in_flight.batch = batch;
        self.in_flight.prepaid_written = f64::NEG_INFINITY;
        (self.in_flight.needs_write, self.in_flight.write_failed) = (true, true);
    }

    /// Replies to callers whose source is now recorded.
    fn notify_check_waiters(&mut self) {
        let unwritten = &self.in_flight.batch.fetches;
        let under_way = &self.in_flight.on_demand;
        self.in_flight.check_waiters.retain(|id, waiting| {
            let over = !under_way.contains(id) && unwritten.iter().all(|it| it.source != *id);
            if over {
                for one in waiting.drain(..) {
                    let _ = one.send(CheckResult::Recorded);
                }
            }
            !over
        });
    }
}
