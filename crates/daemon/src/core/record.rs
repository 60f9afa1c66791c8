//! From what came to the store.

use std::collections::hash_map::Entry;
use std::time::Duration;

use freshet_engine::{Blame, Event, Outcome};
use freshet_fetch::Hop;
use freshet_store::{Batch, Decision, FetchRecord, LedgerEntry, StatsBucket};
use tokio::task::{Id, JoinError};
use tokio::time::Instant;

use super::{Checked, Core, believed};
use crate::clock::{days, millis};
use crate::judge::Judged;
use crate::load::LoadedCheckpoint;
use crate::polite_fetch::Postponement;
use crate::status::Status;
use crate::work::Finished;
use crate::writer::{Write, Written, Wrote};

/// Of the ledger, in milliseconds.
const MINUTE: i64 = 60_000;
/// How long fetches are gathered after others were sent to be written, and how many are enough. Each write
/// has costs that many can share: it waits for the disk, and pages of the store go there as a whole.
const GATHERED: Duration = Duration::from_millis(25);
const ENOUGH: usize = 256;

impl Core {
    /// A fetch is over, or what worked on it is.
    pub(super) fn is_over(&mut self, over: Result<(Id, Finished), JoinError>) {
        self.flow.given = self.flow.given.saturating_sub(1);
        let task = over.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let source = self.flow.sources.remove(&task).map(|(id, _)| id);
        match over {
            Ok((_, finished)) => self.came(finished),
            Err(why) => {
                tracing::error!(source, "a fetch broke off: {why}");
                if let Some(id) = source {
                    let outcome = Outcome::Failed { blame: Blame::Us, retry_after: None };
                    self.tell(Event::Fetched { id, outcome });
                }
            }
        }
    }

    fn came(&mut self, finished: Finished) {
        let Finished { id, judged, put_off, way, crawl_delay, slow, fetching, requests, read } =
            finished;
        self.count.requests += u64::from(requests);
        let host = self.engine.host(id);
        if let (Some(host), Some(days)) = (host, crawl_delay) {
            self.tell(Event::HostGap { host, days });
        }
        if let Some(put_off) = put_off {
            return self.was_put_off(id, put_off, way, requests == 0);
        }
        self.flow.checked.remove(&id);
        self.crew.fetched(fetching);
        let Some(judged) = judged else {
            self.count.fetches += 1;
            // Who waits for it is told with what is written next.
            self.flow.stale = true;
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after: None };
            return self.tell(Event::Fetched { id, outcome });
        };
        // All that it said was heard before.
        if let Some(read) = read {
            self.read_is_over(read);
        }
        // So does one that its server cannot make; 503 is what a server says of itself.
        let is_broken = matches!(judged.record.status, 500..=502 | 504..=599);
        let outcome = self.blamed(id, judged.outcome, slow || is_broken);
        self.keep(id, Judged { outcome, ..judged });
    }

    /// Tells the engine what a fetch brought, and has it recorded.
    pub(super) fn keep(&mut self, id: u32, judged: Judged) {
        let Judged { outcome, record } = judged;
        let day = self.shop.clock.day();
        self.keep_as(Event::Fetched { id, outcome }, (id, day, outcome), record);
    }

    /// The same of a fetch that somebody else made: it was when they say.
    pub(super) fn keep_report(&mut self, id: u32, judged: Judged) {
        let Judged { outcome, record } = judged;
        let day = days(record.at);
        self.keep_as(Event::Reported { id, outcome, day }, (id, day, outcome), record);
    }

    fn keep_as(
        &mut self,
        event: Event,
        (id, day, outcome): (u32, f64, Outcome),
        mut record: FetchRecord,
    ) {
        self.count.fetches += 1;
        let host = self.engine.host(id);
        let before = self.engine.learned_state(id).and_then(|learnt| learnt.last_fetch());
        self.measure(day, outcome, &record);
        let decision = self.was_decided(id);
        self.tell(event);
        record.decision =
            decision.map(|it| Decision { rate_after: believed(&self.engine, id), ..it });
        self.allowance.take(self.engine.now(), record.bytes);
        self.count.bytes += record.bytes;
        self.count.changes += u64::from(record.change.is_some());
        self.count.failures += u64::from(record.outcome == freshet_store::StoredOutcome::Failed);
        if let Some(change) = &mut record.change {
            change.last_unchanged_at = before.map(millis);
        }
        if let Some(learnt) = self.engine.learned_state(id) {
            record.learned = Some(learnt.to_bytes());
            record.due_at = learnt.due().map(millis);
        }
        tracing::debug!(
            source = id,
            outcome = ?record.outcome,
            status = record.status,
            bytes = record.bytes,
            note = record.note,
            "fetched"
        );
        self.remember_ears(id);
        self.spend(0.0, record.bytes);
        *self.flow.unwritten.entry(id).or_default() += 1;
        self.flow.batch.fetches.push(record);
        if let Some(host) = host {
            self.remember_host(host);
        }
    }

    /// A page that takes too long, or is broken, says little of its host, unless another one is too.
    fn blamed(&mut self, id: u32, outcome: Outcome, alone: bool) -> Outcome {
        let Some(host) = self.engine.host(id) else { return outcome };
        match outcome {
            Outcome::Failed { blame: Blame::Host, retry_after } if alone => {
                let alone = self.flow.slow.get(&host).is_none_or(|&other| other == id);
                self.flow.slow.insert(host, id);
                let blame = if alone { Blame::Source } else { Blame::Host };
                Outcome::Failed { blame, retry_after }
            }
            Outcome::Failed { .. } => outcome,
            Outcome::Changed | Outcome::Unchanged | Outcome::Copied | Outcome::Gone => {
                self.flow.slow.remove(&host);
                outcome
            }
        }
    }

    /// A fetch stopped because a host is to be left alone: it goes on later.
    fn was_put_off(&mut self, id: u32, put_off: Postponement, way: Vec<Hop>, unasked: bool) {
        let days = put_off.days;
        tracing::debug!(source = id, host = put_off.host, days, "put off");
        if put_off.away {
            if unasked {
                self.flow.paid -= self.engine.cost(id).unwrap_or(0.0);
            }
            self.tell(Event::PutOff { id, days, unasked });
        } else {
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after: Some(days) };
            self.tell(Event::Fetched { id, outcome });
        }
        if way.len() > 1 {
            self.flow.ways.insert(id, (Instant::now(), way));
        }
        if let Some(host) = self.engine.host(id) {
            self.remember_host(host);
        }
        self.flow.stale = true;
        if self.flow.checked.remove(&id) {
            for one in self.flow.waiting.remove(&id).unwrap_or_default() {
                let _ = one.send(Checked::PutOff(put_off.clone()));
            }
        }
    }

    /// What a fetch that the engine has not been told of yet says of the copy before it.
    fn measure(&mut self, day: f64, brought: Outcome, record: &FetchRecord) {
        let FetchRecord { source, outcome, bytes, .. } = *record;
        let changed = match brought {
            Outcome::Changed => Some(true),
            Outcome::Unchanged => Some(false),
            Outcome::Failed { .. } | Outcome::Copied | Outcome::Gone => None,
        };
        let measured =
            changed.and_then(|changed| self.engine.measure_freshness(source, day, changed));
        let measured = measured.unwrap_or_default();
        use freshet_store::StoredOutcome as Ended;
        let answered =
            matches!(outcome, Ended::First | Ended::Changed | Ended::Unchanged | Ended::Gone);
        let pulse = self.pulse();
        pulse.add(&StatsBucket {
            fetches: u64::from(answered),
            changed: u64::from(outcome == Ended::Changed),
            failed: u64::from(outcome == Ended::Failed),
            bytes,
            held: measured.held,
            fresh: measured.fresh,
            expected: measured.expected_fresh,
            ..StatsBucket::default()
        });
    }

    /// The span of time that it is now, as far as it is not being written.
    fn pulse(&mut self) -> &mut StatsBucket {
        let empty = StatsBucket::containing(self.shop.clock.now());
        let pulses = &mut self.flow.batch.stats;
        if pulses.last().is_none_or(|last| last.at != empty.at) {
            // A span that is over is not to wait until there is something else to write.
            self.flow.stale |= !pulses.is_empty();
            pulses.push(empty);
        }
        let last = pulses.len() - 1;
        &mut pulses[last]
    }

    /// How things stand now.
    pub(super) fn take_pulse(&mut self, status: &Status) {
        let Status { sources, freshness, price, budget, .. } = *status;
        let pulse = self.pulse();
        pulse.freshness = Some(freshness).filter(|_| sources > 0);
        pulse.price = Some(price).filter(|price| *price > 0.0);
        pulse.budget = Some(budget);
    }

    fn spend(&mut self, fetches: f64, bytes: u64) {
        let now = self.shop.clock.now();
        let minute = now - now.rem_euclid(MINUTE);
        let ledger = &mut self.flow.batch.ledger;
        match ledger.last_mut().filter(|spent| spent.at == minute) {
            Some(spent) => {
                spent.fetches += fetches;
                spent.bytes += bytes;
            }
            None => ledger.push(LedgerEntry { at: minute, fetches, bytes }),
        }
    }

    /// When fetches that are over are to be written, if there are any and nothing else is being written.
    pub(super) fn write_at(&self) -> Option<Instant> {
        let fetches = self.flow.batch.fetches.len();
        if fetches == 0 || self.flow.writing.is_some() || self.flow.held {
            return None;
        }
        let is_awaited = !(self.flow.waiting.is_empty() && self.flow.early.is_empty());
        let at_once = is_awaited || fetches >= ENOUGH;
        let gathered = self.flow.gathered.filter(|_| !at_once);
        Some(gathered.unwrap_or_else(Instant::now))
    }

    /// Has written what there is to write, unless something is being written.
    pub(super) fn write(&mut self) {
        let there_is = self.flow.stale || !self.flow.batch.fetches.is_empty();
        if self.flow.writing.is_some() || self.flow.held || !there_is {
            return;
        }
        let reserve = self.reserve();
        self.flow.will_cover = self.flow.paid + reserve;
        // What is paid for ahead counts as spent: should the process be killed, nobody knows better.
        let paid = self.flow.will_cover - self.flow.ledgered;
        if paid != 0.0 {
            self.spend(paid, 0);
            self.flow.ledgered = self.flow.will_cover;
        }
        self.remember_heralds();
        let mut batch = std::mem::take(&mut self.flow.batch);
        // What was asked for and has not begun is not spent.
        let held = self.flow.outbox.iter().chain(&self.flow.early).copied();
        let held = held.chain(self.flow.claims.asked());
        let held: f64 = held.filter_map(|id| self.engine.cost(id)).sum();
        let engine = self.engine.checkpoint(reserve - held);
        batch.engine_checkpoint =
            Some(LoadedCheckpoint { engine, allowance: self.allowance }.to_bytes());
        self.flow.claims.send(&mut batch);
        self.flow.stale = false;
        self.flow.gathered = Some(Instant::now() + GATHERED);
        self.flow.writing = Some(batch.fetches.len());
        self.flow.written = batch.fetches.iter().map(|fetch| fetch.source).collect();
        if self.writer.send(Write::Batch(Box::new(batch))).is_err() {
            tracing::error!("nothing can be written any more");
        }
    }

    pub(super) fn wrote(&mut self, wrote: Wrote) {
        match wrote {
            Wrote::Batch(written) => self.was_written(written),
            Wrote::Told(cursor) => self.told(cursor),
        }
    }

    /// There are entries of the log up to a cursor.
    fn told(&mut self, cursor: i64) {
        self.count.cursor = cursor;
        self.status.send_modify(|status| status.cursor = cursor);
    }

    fn was_written(&mut self, written: Written) {
        self.flow.writing = None;
        self.crew.recorded(written.fetches, written.took);
        match written.result {
            Ok(recorded) => {
                self.flow.covered = self.flow.will_cover;
                for id in std::mem::take(&mut self.flow.written) {
                    if let Entry::Occupied(mut count) = self.flow.unwritten.entry(id) {
                        *count.get_mut() -= 1;
                        if *count.get() == 0 {
                            count.remove();
                        }
                    }
                }
                self.flow.outbox.extend(self.flow.early.drain(..));
                if self.count.trouble.take().is_some() {
                    tracing::info!("what could not be written is written now");
                }
                if let Some(cursor) = recorded.cursors.iter().flatten().next_back() {
                    self.told(*cursor);
                }
                self.done_waiting();
                self.read_on();
                self.flow.claims.was_written();
            }
            Err((error, batch)) => self.could_not_write(&error.to_string(), *batch),
        }
    }

    /// Nothing is lost: it is tried again with the next beat, and nothing new begins meanwhile.
    fn could_not_write(&mut self, why: &str, mut batch: Batch) {
        // It is tried twice a second: once is enough to know.
        if self.count.trouble.as_deref() != Some(why) {
            tracing::error!("cannot write: {why}; fetching rests until it can be");
        }
        self.count.trouble = Some(why.to_owned());
        let later = std::mem::take(&mut self.flow.batch);
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
        self.flow.batch = batch;
        self.flow.covered = f64::NEG_INFINITY;
        (self.flow.stale, self.flow.held) = (true, true);
    }

    /// Tells those who wait for a source that is recorded now.
    fn done_waiting(&mut self) {
        let unwritten = &self.flow.batch.fetches;
        let under_way = &self.flow.checked;
        self.flow.waiting.retain(|id, waiting| {
            let over = !under_way.contains(id) && unwritten.iter().all(|it| it.source != *id);
            if over {
                for one in waiting.drain(..) {
                    let _ = one.send(Checked::Recorded);
                }
            }
            !over
        });
    }
}
