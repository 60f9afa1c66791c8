//! From what came to the store.

use std::collections::hash_map::Entry;
use std::time::Duration;

use freshet_engine::{Blame, Event, Outcome};
use freshet_store::{Batch, HostRecord, Spent};
use tokio::task::{Id, JoinError};
use tokio::time::Instant;

use super::Core;
use crate::clock::millis;
use crate::load::Rest;
use crate::work::Finished;
use crate::writer::{Write, Written};

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
        let source = self.flow.sources.remove(&task);
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
        let Finished { id, judged, put_off, crawl_delay, fetching, requests } = finished;
        self.count.requests += u64::from(requests);
        let host = self.engine.host(id);
        if let (Some(host), Some(days)) = (host, crawl_delay) {
            self.tell(Event::HostGap { host, days });
        }
        if put_off.is_some() {
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after: put_off };
            return self.tell(Event::Fetched { id, outcome });
        }
        self.flow.checked.remove(&id);
        self.count.fetches += 1;
        self.crew.fetched(fetching);
        let before = self.engine.learnt(id).and_then(|learnt| learnt.fetched());
        let Some(judged) = judged else {
            // Who waits for it is told with what is written next.
            self.flow.stale = true;
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after: None };
            return self.tell(Event::Fetched { id, outcome });
        };
        self.tell(Event::Fetched { id, outcome: judged.outcome });
        let mut record = judged.record;
        self.allowance.take(self.engine.now(), record.bytes);
        self.count.bytes += record.bytes;
        self.count.changes += u64::from(record.change.is_some());
        self.count.failures += u64::from(record.outcome == freshet_store::Outcome::Failed);
        if let Some(change) = &mut record.change {
            change.unchanged = before.map(millis);
        }
        if let Some(learnt) = self.engine.learnt(id) {
            record.learnt = Some(learnt.to_bytes());
            record.due = learnt.due().map(millis);
        }
        tracing::debug!(
            source = id,
            outcome = ?record.outcome,
            status = record.status,
            bytes = record.bytes,
            note = record.note,
            "fetched"
        );
        let minute = record.at - record.at.rem_euclid(MINUTE);
        let cost = self.engine.cost(id).unwrap_or(1.0);
        let batch = &mut self.flow.batch;
        match batch.ledger.last_mut().filter(|spent| spent.at == minute) {
            Some(spent) => {
                spent.fetches += cost;
                spent.bytes += record.bytes;
            }
            None => {
                let bytes = record.bytes;
                batch.ledger.push(Spent { at: minute, fetches: cost, bytes });
            }
        }
        *self.flow.unwritten.entry(id).or_default() += 1;
        batch.fetches.push(record);
        if let Some(host) = host
            && let Some(memory) = self.engine.host_memory(host)
        {
            let until = Some(memory.free()).filter(|day| day.is_finite()).map(millis);
            let record = HostRecord { host, until, record: memory.to_bytes() };
            // Of a host only the last one counts; they come one after another.
            match batch.hosts.last_mut().filter(|last| last.host == host) {
                Some(last) => *last = record,
                None => batch.hosts.push(record),
            }
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
        let mut batch = std::mem::take(&mut self.flow.batch);
        let reserve = self.reserve();
        self.flow.will_cover = self.flow.paid + reserve;
        // What was asked for and has not begun is not spent.
        let held = self.flow.outbox.iter().chain(&self.flow.early);
        let held: f64 = held.filter_map(|&id| self.engine.cost(id)).sum();
        let engine = self.engine.rest(reserve - held);
        batch.rest = Some(Rest { engine, allowance: self.allowance }.to_bytes());
        self.flow.stale = false;
        self.flow.gathered = Some(Instant::now() + GATHERED);
        self.flow.writing = Some(batch.fetches.len());
        self.flow.written = batch.fetches.iter().map(|fetch| fetch.source).collect();
        if self.writer.send(Write::Batch(Box::new(batch))).is_err() {
            tracing::error!("nothing can be written any more");
        }
    }

    pub(super) fn was_written(&mut self, written: Written) {
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
                    self.count.cursor = *cursor;
                    let cursor = *cursor;
                    self.status.send_modify(|status| status.cursor = cursor);
                }
                self.done_waiting();
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
        batch.hosts.extend(later.hosts);
        batch.ledger.extend(later.ledger);
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
                    let _ = one.send(true);
                }
            }
            !over
        });
    }
}
