//! Checkpoints: the state of each source, of each host and of the engine that outlives a process.
//! Unlike a snapshot, which is as large as all sources, a checkpoint is written piece by piece as
//! the state changes.

use freshet_estimate::Prior;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::host::Host;
use crate::settings::EngineSettings;
use crate::snapshot::{SnapshotError, checksum};
use crate::source::{Goal, Source, SourceFlags, SourceState};

/// Learned state of a source, and the day for which it is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedState {
    last: f64,
    due_day: f64,
    changes: f32,
    days: f32,
    evidence_after: f32,
    first_signal_after: f32,
    pending: u32,
    failures: u8,
    state: SourceState,
    flags: SourceFlags,
}

/// Flags that a checkpoint keeps. The others come from the owner or are transient.
const KEPT_FLAGS: [SourceFlags; 3] = [SourceFlags::RETRIED, SourceFlags::GONE, SourceFlags::NEW];

impl LearnedState {
    /// Returns the state of a source that was never fetched and for which the owner expects
    /// `changes` changes in `days` days. The results of fetches are added to it.
    #[must_use]
    pub fn with_expected_changes(now: f64, changes: f64, days: f64) -> Self {
        let mut flags = SourceFlags::default();
        flags.set(SourceFlags::NEW, true);
        let (changes, days) = (changes as f32, days as f32);
        let (evidence_after, first_signal_after, pending, failures) = (0.0, 0.0, 0, 0);
        let (last, due, state) = (now, f64::INFINITY, SourceState::Waiting);
        Self {
            last,
            due_day: due,
            changes,
            days,
            evidence_after,
            first_signal_after,
            pending,
            failures,
            state,
            flags,
        }
    }

    /// Serializes to about forty bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        to_sealed_bytes(self)
    }

    /// Deserializes.
    ///
    /// # Errors
    /// Returns [`SnapshotError`] if the bytes are not a checkpoint, are damaged or have another
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        from_sealed_bytes(bytes)
    }

    /// Subtracts `days` from every stored day, for a clock whose zero is that much later.
    #[must_use]
    pub fn rebase_time(mut self, days: f64) -> Self {
        self.last -= days;
        self.due_day -= days;
        self
    }

    /// Time of the last answered fetch, if there was one.
    #[must_use]
    pub fn last_fetch(&self) -> Option<f64> {
        (!self.flags.has(SourceFlags::NEW)).then_some(self.last)
    }

    fn from_source(source: &Source) -> Self {
        let mut flags = SourceFlags::default();
        KEPT_FLAGS.into_iter().for_each(|flag| flags.set(flag, source.flags.has(flag)));
        let Source { last, due, changes, days, evidence_after, first_signal_after, .. } = *source;
        let pending = source.pending_changes();
        let Source { failures, state, .. } = *source;
        Self {
            last,
            due_day: due,
            changes,
            days,
            evidence_after,
            first_signal_after,
            pending,
            failures,
            state,
            flags,
        }
    }

    pub(crate) fn write(&self, now: f64, source: &mut Source) {
        source.last = self.last.min(now);
        source.set_evidence(f64::from(self.changes), f64::from(self.days));
        let after = |it: f32| if it > 0.0 { it } else { 0.0 };
        source.evidence_after = after(self.evidence_after);
        source.first_signal_after = after(self.first_signal_after);
        // Whether it counts depends on the description, which says if the changes are observed.
        source.pending = self.pending;
        source.failures = self.failures;
        KEPT_FLAGS.into_iter().for_each(|flag| source.flags.set(flag, self.flags.has(flag)));
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.state == SourceState::Parked
    }

    /// Day for which the source is scheduled, if known.
    #[must_use]
    pub fn due_day(&self) -> Option<f64> {
        self.due_day.is_finite().then_some(self.due_day)
    }

    /// The scheduled day, safe against invalid bytes.
    pub(crate) fn safe_due_day(&self, now: f64) -> f64 {
        if self.due_day.is_nan() { now } else { self.due_day }
    }

    /// Returns the state in which the source waits for a day.
    pub(crate) fn waiting_state(&self, due: f64) -> Option<SourceState> {
        let waiting_state = matches!(self.state, SourceState::Waiting | SourceState::Scheduled);
        (waiting_state && due < f64::INFINITY && !self.flags.has(SourceFlags::NEW))
            .then_some(self.state)
    }
}

/// Learned state of a host, and the end of its current pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCheckpoint {
    prior: Prior,
    free_at: f64,
    gap: f64,
    failures: u8,
    down: bool,
}

impl HostCheckpoint {
    /// Serializes to about thirty bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        to_sealed_bytes(self)
    }

    /// Deserializes.
    ///
    /// # Errors
    /// Returns [`SnapshotError`] if the bytes are not a checkpoint, are damaged or have another
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        from_sealed_bytes(bytes)
    }

    /// First day on which a request to the host is allowed.
    #[must_use]
    pub fn free_at(&self) -> f64 {
        self.free_at
    }

    /// Subtracts `days` from every stored day, for a clock whose zero is that much later.
    #[must_use]
    pub fn rebase_time(mut self, days: f64) -> Self {
        self.free_at -= days;
        self
    }
}

/// State that belongs to no source and no host.
#[derive(Serialize, Deserialize)]
struct EngineCheckpoint {
    goal: Goal,
    tokens: f64,
    price: f64,
    long_run_price: f64,
    prior: Prior,
    half_life: crate::half_life::HalfLifeCheckpoint,
    survey_schedule: crate::survey::SurveySchedule,
}

impl Engine {
    /// Returns the learned state of a source; `None` if there is no such source.
    #[must_use]
    pub fn learned_state(&self, id: u32) -> Option<LearnedState> {
        let source = self.sources.get(id as usize)?;
        (source.state != SourceState::Absent).then(|| LearnedState::from_source(source))
    }

    /// Returns the learned state of a host; `None` if there is no such host.
    #[must_use]
    pub fn host_checkpoint(&self, host: u32) -> Option<HostCheckpoint> {
        let Host { prior, free_at, gap, failures, down, .. } = *self.hosts.get(host as usize)?;
        Some(HostCheckpoint { prior, free_at, gap, failures, down })
    }

    /// Serializes the state that belongs to no source and no host: the prices, and the remaining
    /// budget less a reserve for fetches that start before the next checkpoint. About three hundred
    /// bytes.
    #[must_use]
    pub fn checkpoint(&self, reserve: f64) -> Vec<u8> {
        to_sealed_bytes(&EngineCheckpoint {
            goal: self.settings.goal,
            tokens: self.token_bucket.tokens() - reserve,
            price: self.price,
            long_run_price: self.long_run_price,
            prior: self.prior,
            half_life: self.half_life.checkpoint(),
            survey_schedule: self.survey_schedule.clone(),
        })
    }

    /// Creates an engine without sources that continues from a checkpoint. The remaining budget is
    /// kept; no budget accrues for the time in between. Restore the hosts next
    /// ([`restore_host`](Self::restore_host)), then the sources
    /// ([`SourcesRestored`](crate::Event::SourcesRestored)).
    ///
    /// # Errors
    /// Returns [`SnapshotError`] if the bytes are not from [`checkpoint`](Self::checkpoint), are
    /// damaged or have another version.
    pub fn resume(now: f64, settings: EngineSettings, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let bytes: EngineCheckpoint = from_sealed_bytes(bytes)?;
        let mut engine = Self::new(now, settings);
        engine.token_bucket.resume(bytes.tokens);
        engine.prior = bytes.prior;
        engine.half_life = bytes.half_life.into();
        engine.survey_schedule = bytes.survey_schedule;
        engine.survey_schedule.resume(now);
        if bytes.goal == engine.settings.goal && bytes.price > 0.0 && bytes.long_run_price > 0.0 {
            (engine.price, engine.long_run_price) =
                (bytes.price.min(1e90), bytes.long_run_price.min(1e90));
        } else {
            engine.survey_schedule.without_price();
        }
        Ok(engine)
    }

    /// Raises the available budget to `amount`, limited by the burst, so that fetches can start at
    /// once.
    pub fn grant_budget(&mut self, amount: f64) {
        self.token_bucket.resume(self.token_bucket.tokens().max(amount));
    }

    /// Returns `amount` to the budget, limited by the burst, for something that was charged twice.
    pub fn refund_budget(&mut self, amount: f64) {
        if amount.is_finite() && amount > 0.0 {
            self.token_bucket.refund(amount);
        }
    }

    /// Advances the clock without accruing budget, for time in which the engine did not run.
    pub fn skip_to(&mut self, now: f64) {
        if now.is_finite() {
            self.now = self.now.max(now);
            self.token_bucket.skip(now);
        }
    }

    /// Restores the state of a host that has no sources yet. The host first waits for its usual
    /// gap, because the time of the last request is unknown.
    pub fn restore_host(&mut self, number: u32, checkpoint: &HostCheckpoint) {
        if number >= crate::SourceDescription::ID_LIMIT {
            return;
        }
        while self.hosts.len() <= number as usize {
            self.hosts.push(Host::new(self.prior));
        }
        let free = if checkpoint.free_at.is_nan() { self.now } else { checkpoint.free_at };
        let host = &mut self.hosts[number as usize];
        host.prior = checkpoint.prior;
        host.gap = if checkpoint.gap > 0.0 { checkpoint.gap } else { 0.0 };
        host.free_at = free.max(self.now + self.settings.host_gap.max(host.gap));
        (host.failures, host.down) = (checkpoint.failures, checkpoint.down);
    }
}

/// Version of the byte layout.
const VERSION: u8 = 1;

pub(crate) fn to_sealed_bytes(it: &impl Serialize) -> Vec<u8> {
    // Serialization cannot fail: all types are known to the format, and the output is in memory.
    let mut bytes = postcard::to_extend(it, vec![VERSION]).unwrap_or_default();
    let sum = checksum(&bytes) as u32;
    bytes.extend(sum.to_le_bytes());
    bytes
}

pub(crate) fn from_sealed_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SnapshotError> {
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or(SnapshotError::NotASnapshot)?;
    match body.split_first() {
        Some((&VERSION, _)) if checksum(body) as u32 != u32::from_le_bytes(*sum) => {
            Err(SnapshotError::Damaged)
        }
        Some((&VERSION, bytes)) => match postcard::take_from_bytes(bytes) {
            Ok((it, [])) => Ok(it),
            _ => Err(SnapshotError::Damaged),
        },
        Some((&found, _)) => {
            Err(SnapshotError::Version { found: u32::from(found), known: u32::from(VERSION) })
        }
        None => Err(SnapshotError::NotASnapshot),
    }
}
