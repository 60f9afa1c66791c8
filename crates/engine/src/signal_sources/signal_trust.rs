//! State of a signal source over all its sources.

use freshet_estimate::{Belief, Penalty, SignalBelief, SignalEstimate, SignalPriorFit};
use serde::{Deserialize, Serialize};

use super::DelayEstimate;

/// Number of classes of sources by signal rate: each twice the rate of the one before.
pub(crate) const RATE_CLASSES: usize = 28;
/// Base-2 logarithm of the signals per day in the first class.
const FIRST_CLASS_LOG_RATE: f64 = -14.0;
/// Imaginary sources with which the prior of a source is fitted.
const PRIOR_STRENGTH: f64 = 2.0;
/// Bounds on the number of sources that the prior averages over.
const MIN_EFFECTIVE_SOURCES: f64 = 4.0;
const MAX_EFFECTIVE_SOURCES: f64 = 1000.0;
/// Fetches over which the shared precision is learned.
const SHARED_PRECISION_FETCHES: f64 = 4000.0;
/// Days after which a read counts half in the read rate.
const READ_RATE_HALF_LIFE: f64 = 30.0;
/// Reads of a new signal source during which it has at least the value of an ordinary source.
const TRIAL_READS: u64 = 8;

/// State of a signal source over all its sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignalTrust {
    pub(crate) generation: u32,
    /// Source that is read for its signals.
    pub(crate) source: Option<u32>,
    /// Number of histories and sums over them: changes per day with a signal and without, signals
    /// per day.
    histories: u32,
    signalled: f64,
    missed: f64,
    signals: f64,
    /// Value of the signals by rate class: the sum of signal value times rate.
    value_by_rate_class: [f64; RATE_CLASSES],
    pub(crate) stats: SignalSourceStats,
}

/// State that outlives the engine. The rest follows from the histories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SignalSourceStats {
    pub(crate) signals: u64,
    pub(crate) late: u64,
    pub(crate) tried: u64,
    pub(crate) proved: u64,
    pub(crate) missed: u64,
    pub(crate) reads: u64,
    pub(crate) sources_found: u64,
    pub(crate) brought: f64,
    pub(crate) delay: DelayEstimate,
    /// Recent reliability over all sources.
    prior_fit: SignalPriorFit,
    /// Decaying sums of reads, sources found and days, up to the last read.
    recent_reads: f64,
    recent_found: f64,
    recent_days: f64,
    pub(crate) last_read: Option<f64>,
}

impl SignalTrust {
    pub(crate) fn new(generation: u32) -> Self {
        Self {
            generation,
            source: None,
            histories: 0,
            signalled: 0.0,
            missed: 0.0,
            signals: 0.0,
            value_by_rate_class: [0.0; RATE_CLASSES],
            stats: SignalSourceStats::default(),
        }
    }

    /// Adds a history to the sums, or subtracts it.
    pub(crate) fn count(&mut self, estimate: &SignalEstimate, sign: f64) {
        self.histories = if sign > 0.0 {
            self.histories.saturating_add(1)
        } else {
            self.histories.saturating_sub(1)
        };
        let add = |sum: &mut f64, amount: f64| *sum = (*sum + sign * amount).max(0.0);
        add(&mut self.signalled, estimate.signalled_change_rate());
        add(&mut self.missed, estimate.unsignalled_belief().mean());
        add(&mut self.signals, estimate.signal_rate());
    }

    /// Updates the prior with a fetch of a source. Averages over the recent fetches of about as
    /// many sources as it has.
    pub(crate) fn observe_fetch(
        &mut self,
        before: &SignalBelief,
        after: &SignalBelief,
        posterior: &SignalBelief,
    ) {
        let recent_sources =
            f64::from(self.histories.max(1)).clamp(MIN_EFFECTIVE_SOURCES, MAX_EFFECTIVE_SOURCES);
        self.stats.prior_fit.scale_sources(1.0 - 1.0 / recent_sources);
        self.stats.prior_fit.add(posterior);
        self.stats.prior_fit.observe_fetch(before, after, SHARED_PRECISION_FETCHES);
    }

    /// Number of sources it has sent signals about.
    pub(crate) fn sources(&self) -> u32 {
        self.histories
    }

    /// Prior belief for a source without previous signals.
    pub(crate) fn prior(&self) -> SignalBelief {
        self.stats.prior_fit.prior(&SignalBelief::SCEPTICAL, PRIOR_STRENGTH)
    }

    /// Share of its signals that stand for a change; `None` without observations.
    pub(crate) fn precision(&self) -> Option<f64> {
        (self.stats.tried > 0 && self.signals > 0.0)
            .then(|| (self.signalled / self.signals).min(1.0))
    }

    /// Share of the changes that it signals.
    pub(crate) fn recall(&self) -> Option<f64> {
        let all = self.signalled + self.missed;
        (self.stats.tried > 0 && all > 0.0).then(|| self.signalled / all)
    }

    /// Class of the sources with a signal rate.
    pub(crate) fn rate_class(rate: f64) -> u8 {
        let step = (rate.max(1e-30).log2() - FIRST_CLASS_LOG_RATE).round();
        step.clamp(0.0, (RATE_CLASSES - 1) as f64) as u8
    }

    pub(crate) fn add_class_value(&mut self, rate_class: u8, class_value: f64) {
        let sum = &mut self.value_by_rate_class[usize::from(rate_class).min(RATE_CLASSES - 1)];
        *sum = (*sum + class_value).max(0.0);
    }

    /// Records a read that found a number of new sources.
    pub(crate) fn record_read(&mut self, now: f64, sources_found: u32) {
        let stats = &mut self.stats;
        stats.reads += 1;
        stats.sources_found += u64::from(sources_found);
        if let Some(last) = stats.last_read.filter(|last| *last < now) {
            let days = now - last;
            let share = (-days / READ_RATE_HALF_LIFE).exp2();
            stats.recent_reads = share * stats.recent_reads + 1.0;
            stats.recent_found = share * stats.recent_found + f64::from(sources_found);
            stats.recent_days = share * stats.recent_days + days;
        }
        stats.last_read = Some(now);
    }

    /// Recent reads per day.
    pub(crate) fn read_rate(&self) -> Option<f64> {
        let SignalSourceStats { recent_reads, recent_days, .. } = self.stats;
        (recent_days > 0.0).then(|| recent_reads / recent_days)
    }

    /// Returns the model of the value of a read.
    pub(crate) fn read_value_model(&self) -> ReadValueModel {
        let SignalSourceStats { recent_found, recent_days, reads, .. } = self.stats;
        let sources_found = if recent_days > 0.0 { recent_found / recent_days } else { 0.0 };
        ReadValueModel {
            value_by_rate_class: self.value_by_rate_class,
            sources_found,
            on_trial: reads < TRIAL_READS,
        }
    }
}

impl SignalSourceStats {
    /// Subtracts `days` from every stored day, for a clock whose zero is that much later.
    pub(crate) fn rebase_time(mut self, days: f64) -> Self {
        self.last_read = self.last_read.map(|day| day - days);
        self
    }

    /// Limits stored days to `now`.
    pub(crate) fn clamp_to(mut self, now: f64) -> Self {
        self.last_read = self.last_read.map(|day| day.min(now));
        self
    }

    /// True if all numbers are valid.
    pub(crate) fn is_valid(&self) -> bool {
        let parts = [self.recent_reads, self.recent_found, self.recent_days, self.brought];
        parts.into_iter().all(|it| it >= 0.0 && it.is_finite())
            && self.last_read.is_none_or(f64::is_finite)
            && self.delay.is_valid()
            && self.prior_fit.is_valid()
    }
}

/// Model of the value of reading a signal source, by the time since the last read.
///
/// A source with `γ` signals per day gains `S` per received signal: the value of a fetch just after
/// the signal, less its price. Signals are not received until the next read. Reading is therefore
/// worth `Σ S γ v(γ, τ)`, with `v(γ, τ)` the value of fetching a source that changes `γ` times a
/// day (docs/theory.md).
#[derive(Clone, Debug)]
pub(crate) struct ReadValueModel {
    value_by_rate_class: [f64; RATE_CLASSES],
    /// New sources found per day.
    sources_found: f64,
    pub(crate) on_trial: bool,
}

impl ReadValueModel {
    /// Value of a read after this number of days, if a new source has the given importance.
    pub(crate) fn read_value(&self, penalty: Penalty, days: f64, importance: f64) -> f64 {
        let mut value = 0.5 * importance * self.sources_found * days * days;
        for (at, class_value) in self
            .value_by_rate_class
            .iter()
            .enumerate()
            .filter(|(_, class_value)| **class_value > 0.0)
        {
            let rate = (at as f64 + FIRST_CLASS_LOG_RATE).exp2();
            if let Ok(sure) = Belief::new(1e6, 1e6 / rate) {
                value += class_value * penalty.fetch_value(sure, days);
            }
        }
        value
    }
}
