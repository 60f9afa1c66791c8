//! Signal sources, which report that sources have changed: sitemaps, feeds, hubs, owners.

use freshet_estimate::SignalBelief;
use serde::{Deserialize, Serialize};

use crate::checkpoint::{from_sealed_bytes, to_sealed_bytes};
use crate::engine::Engine;
use crate::signal_sources::{SignalHistory, SignalSourceStats, TRIAL_FETCHES};
use crate::snapshot::SnapshotError;
use crate::source::{Source, SourceState};

/// A sender of signals, which may be unreliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalSource {
    /// Number of the signal source: small and unique. Memory is used for every smaller number.
    pub number: u32,
    /// Source whose fetches deliver the signals: a sitemap or a feed. Fetching it is worth what its
    /// signals are worth to the sources they are about. `None` if the signals are pushed.
    pub source: Option<u32>,
}

impl SignalSource {
    /// Upper bound of the numbers, exclusive.
    pub const NUMBER_LIMIT: u32 = 1 << 20;
}

/// A signal: a report that a source has changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Number of the source that has changed.
    pub source: u32,
    /// Number of the sender. For a source with [observed
    /// changes](crate::SourceDescription::observed) any sender is believed; for other sources a
    /// signal counts as far as its sender has proved reliable.
    pub signal_source: u32,
    /// Time of the change, if the signal states it.
    pub change_time: Option<StatedChangeTime>,
}

/// Stated time of a change, with its resolution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedChangeTime {
    /// Earliest possible time of the change.
    pub earliest: f64,
    /// Days by which the change may be later: 1 for a date without a time.
    pub resolution: f64,
}

/// Statistics of a signal source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalSourceReport {
    /// Source that is read for its signals.
    pub source: Option<u32>,
    /// Number of sources it has sent signals about.
    pub sources: u32,
    /// Signals received.
    pub signals: u64,
    /// Signals about changes that the copy already contained.
    pub late_signals: u64,
    /// Fetches that were preceded by its signals.
    pub signalled_fetches: u64,
    /// Fetches preceded by its signals that found a change.
    pub confirmed_fetches: u64,
    /// Fetches that found a change without a signal.
    pub missed_changes: u64,
    /// Estimated share of its signals that stand for a change; `None` without observations.
    pub precision: Option<f64>,
    /// Estimated share of the changes that it signals.
    pub recall: Option<f64>,
    /// Estimated days from a change to its signal.
    pub delay: Option<f64>,
    /// Number of times it was read.
    pub reads: u64,
    /// Recent days between two reads.
    pub read_interval: Option<f64>,
    /// Budget that its reads spend per day.
    pub cost_per_day: f64,
    /// Total number of sources found through it.
    pub sources_found: u64,
    /// Value of a read now, per unit of cost.
    pub read_value: Option<f64>,
    /// Total value of the fetches caused by its signals, above the price.
    pub gained_value: f64,
}

/// Learned state of a signal source that outlives the engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalSourceCheckpoint(SignalSourceStats);

/// Learned state of a signal source about one source, with its signals since the last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalHistoryCheckpoint {
    pub(crate) signal_belief: SignalBelief,
    count: u32,
    signals: f32,
    first_signal_after: f32,
    last_signal_after: f32,
    score: f32,
    fetches: u8,
    changed: bool,
}

/// Signals that influence when a source is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendingSignals {
    /// Number of the active signal source: of several, the one that predicted the fetches best.
    pub signal_source: u32,
    /// Signals since the last fetch.
    pub count: u32,
    /// Weight of these signals. A signal about a change that the copy may contain counts less.
    pub effective_count: f64,
    /// Days of the first and the last signal, if there are any.
    pub first_and_last: Option<(f64, f64)>,
    /// Estimated share of its signals about this source that stand for a change.
    pub precision: f64,
    /// Estimated share of this source's changes that it signals.
    pub recall: f64,
    /// Probability that the copy equals the source.
    pub fresh_probability: f64,
    /// Day on which the source would be due without these signals.
    pub due_without_signals: f64,
}

impl SignalSourceCheckpoint {
    /// Serializes to about a hundred bytes.
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
    pub fn rebase_time(self, days: f64) -> Self {
        Self(self.0.rebase_time(days))
    }

    /// Returns the statistics if they are valid, otherwise empty ones.
    pub(crate) fn valid_stats(&self, now: f64) -> SignalSourceStats {
        if self.0.is_valid() { self.0.clamp_to(now) } else { SignalSourceStats::default() }
    }
}

impl SignalHistoryCheckpoint {
    /// Serializes to about three hundred bytes.
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

    fn from_history(history: &SignalHistory, signal_belief: &SignalBelief) -> Self {
        let SignalHistory {
            count,
            signals,
            first_signal_after,
            last_signal_after,
            score,
            fetches,
            changed,
            ..
        } = *history;
        let signal_belief = *signal_belief;
        Self {
            signal_belief,
            count,
            signals,
            first_signal_after,
            last_signal_after,
            score,
            fetches,
            changed,
        }
    }

    /// True if all numbers are valid.
    pub(crate) fn is_valid(&self) -> bool {
        let amounts = [self.signals, self.first_signal_after, self.last_signal_after];
        amounts.iter().all(|it| *it >= 0.0 && it.is_finite())
            && self.score <= 0.0
            && self.score.is_finite()
            && self.signal_belief.is_valid()
    }

    /// Number of observed fetches, as far as they matter.
    pub(crate) fn fetches(&self) -> u8 {
        self.fetches.min(TRIAL_FETCHES)
    }

    pub(crate) fn write(&self, history: &mut SignalHistory) {
        (history.count, history.signals) = (self.count, self.signals);
        (history.first_signal_after, history.last_signal_after) =
            (self.first_signal_after, self.last_signal_after);
        (history.score, history.changed) = (self.score, self.changed);
    }
}

impl Engine {
    /// Returns the statistics of a signal source; `None` if there is no such signal source.
    #[must_use]
    pub fn signal_source(&self, number: u32) -> Option<SignalSourceReport> {
        let trust = self.signal_sources.trust(number)?;
        let stats = &trust.stats;
        let source = trust.source.and_then(|id| self.sources.get(id as usize));
        let source = source.filter(|it| it.state != SourceState::Absent);
        let rate = trust.read_rate();
        Some(SignalSourceReport {
            source: trust.source,
            sources: trust.sources(),
            signals: stats.signals,
            late_signals: stats.late,
            signalled_fetches: stats.tried,
            confirmed_fetches: stats.proved,
            missed_changes: stats.missed,
            precision: trust.precision(),
            recall: trust.recall(),
            delay: stats.delay.mean(),
            reads: stats.reads,
            read_interval: rate.map(f64::recip).filter(|_| source.is_some()),
            cost_per_day: source.map_or(0.0, |it| f64::from(it.cost) * rate.unwrap_or(0.0)),
            sources_found: stats.sources_found,
            read_value: source.filter(|it| !it.is_new()).map(|it| self.fetch_value(self.now, it)),
            gained_value: stats.brought,
        })
    }

    /// Returns the learned state of a signal source; `None` if there is no such signal source.
    #[must_use]
    pub fn signal_source_checkpoint(&self, number: u32) -> Option<SignalSourceCheckpoint> {
        Some(SignalSourceCheckpoint(self.signal_sources.trust(number)?.stats))
    }

    /// Returns the learned states of the signal sources about a source, with their numbers.
    #[must_use]
    pub fn signal_history_checkpoints(&self, id: u32) -> Vec<(u32, SignalHistoryCheckpoint)> {
        let source = self.sources.get(id as usize).filter(|it| it.state != SourceState::Absent);
        let chain = self.signal_sources.chain_places(source.and_then(Source::history));
        let checkpoint = |place: u32| {
            let history = self
                .signal_sources
                .history(place)
                .filter(|history| self.signal_sources.is_current(history))?;
            Some((
                history.signal_source,
                SignalHistoryCheckpoint::from_history(
                    history,
                    self.signal_sources.signal_belief(place)?,
                ),
            ))
        };
        chain.into_iter().filter_map(checkpoint).collect()
    }

    /// Returns the signals about a source; `None` without an active signal source.
    #[must_use]
    pub fn pending_signals(&self, id: u32) -> Option<PendingSignals> {
        let source = self.sources.get(id as usize).filter(|it| it.state != SourceState::Absent)?;
        let history = self.signal_sources.active_history(source.history())?;
        let day = |after: f32| source.last + f64::from(after);
        Some(PendingSignals {
            signal_source: history.signal_source,
            count: history.count,
            effective_count: f64::from(history.signals),
            first_and_last: (history.count > 0)
                .then(|| (day(history.first_signal_after), day(history.last_signal_after))),
            precision: history.estimate.precision(),
            recall: history.estimate.recall(),
            fresh_probability: self.fresh_probability(source),
            due_without_signals: self.due_day_without_signals(
                self.now,
                source,
                self.host_price(source.host),
            ),
        })
    }

    /// Number of histories: pairs of a signal source and a source that it has sent signals about.
    #[must_use]
    pub fn histories(&self) -> usize {
        self.signal_sources.histories()
    }
}
