//! Learning from signals: which signal sources are reliable for which source.

use freshet_estimate::{Belief, SignalBelief};

use super::Engine;
use crate::signal_source::{
    Signal, SignalHistoryCheckpoint, SignalSource, SignalSourceCheckpoint, StatedChangeTime,
};
use crate::signal_sources::{SignalHistory, SignalTimes, TRIAL_FETCHES};
use crate::source::{Link, Source, SourceState};

/// Minimum number of changes that a rate is worth after any decay.
const MIN_EFFECTIVE_CHANGES: f64 = 2.0;
/// Factor by which each fetch decays a signal source's prediction score.
const SCORE_DECAY: f32 = 0.9;
/// Score difference, in log likelihood, at which a source switches to another signal source.
const SCORE_MARGIN: f32 = 0.5;
/// Share of the value above which the signals are not the reason for a fetch.
const LED_BY_SIGNALS_SHARE: f64 = 0.9;
/// Maximum number of signal sources per source.
const MAX_SIGNAL_SOURCES: usize = 8;

impl Engine {
    pub(super) fn describe_signal_source(
        &mut self,
        now: f64,
        it: SignalSource,
        checkpoint: Option<&SignalSourceCheckpoint>,
    ) {
        if it.number >= SignalSource::NUMBER_LIMIT {
            return;
        }
        let is_new = self.signal_sources.trust(it.number).is_none();
        let trust = self.signal_sources.trust_or_insert(it.number);
        if let Some(checkpoint) = checkpoint.filter(|_| is_new) {
            trust.stats = checkpoint.valid_stats(now);
        }
        let before = self.signal_sources.set_source(it.number, it.source);
        if let Some(id) = before.filter(|_| before != it.source) {
            self.unlink_signals(id);
            self.reevaluate(now, id);
        }
        if let Some(id) = it.source {
            self.link_to_signal_source(id);
            self.reevaluate(now, id);
        }
    }

    /// Links the source of a sitemap or feed with its signal source.
    pub(super) fn link_to_signal_source(&mut self, id: u32) {
        let is_linkable = self.sources.get(id as usize).is_some_and(|it| !it.is_observed());
        if let Some(number) = self.signal_sources.signal_source_read_by(id).filter(|_| is_linkable)
        {
            self.unlink_signals(id);
            self.sources[id as usize].set_link(Link::SignalSource(number));
        }
    }

    pub(super) fn remove_signal_source(&mut self, now: f64, number: u32) {
        let source = self.signal_sources.trust(number).and_then(|trust| trust.source);
        self.signal_sources.remove_signal_source(number);
        if let Some(id) = source {
            self.unlink_signals(id);
            self.reevaluate(now, id);
        }
    }

    /// Removes all links between a source and its signal sources. Keeps the learned change rate.
    pub(super) fn unlink_signals(&mut self, id: u32) {
        let Some(&source) = self.sources.get(id as usize) else { return };
        if source.is_observed() {
            return;
        }
        if let Some(first) = source.history() {
            let belief = self.belief(&source);
            for place in self.signal_sources.chain_places(Some(first)) {
                self.signal_sources.remove_history(place);
            }
            self.detach_belief(id, belief);
        }
        self.sources[id as usize].pending = 0;
    }

    fn detach_belief(&mut self, id: u32, belief: Belief) {
        let source = &mut self.sources[id as usize];
        if !source.has_owner_belief() {
            let prior = self.hosts[source.host as usize].prior.belief();
            source.set_evidence(belief.shape() - prior.shape(), belief.days() - prior.days());
        }
    }

    /// Restores the history of a signal source about a source from another engine.
    pub(super) fn restore_history(
        &mut self,
        now: f64,
        id: u32,
        signal_source: u32,
        checkpoint: &SignalHistoryCheckpoint,
    ) {
        let is_eligible = self.sources.get(id as usize).is_some_and(|it| {
            it.state != SourceState::Absent
                && !it.is_observed()
                && !matches!(it.link(), Link::SignalSource(_))
        });
        if !is_eligible || self.find_history(id, signal_source).is_some() || !checkpoint.is_valid()
        {
            return;
        }
        if let Some(place) = self.add_history(id, signal_source, |_| checkpoint.signal_belief)
            && let Some(history) = self.signal_sources.history_mut(place)
        {
            checkpoint.write(history);
            self.signal_sources.set_fetches(place, checkpoint.fetches());
            self.update_signal_value(place);
            self.select_best_history(id);
            self.reevaluate(now, id);
        }
    }

    /// Handles a signal that a source has changed.
    pub(super) fn on_signal_received(&mut self, now: f64, signal: Signal) {
        let Signal { source: id, signal_source, change_time } = signal;
        let Some(&source) = self.sources.get(id as usize) else { return };
        let Some(trust) = self.signal_sources.trust_mut(signal_source) else { return };
        if source.state == SourceState::Absent {
            return;
        }
        trust.stats.signals = trust.stats.signals.saturating_add(1);
        if source.is_observed() {
            return self.on_change_observed(now, id);
        }
        if source.is_new() || matches!(source.link(), Link::SignalSource(_)) {
            return;
        }
        let change_time = change_time.filter(|it| {
            it.earliest.is_finite() && it.resolution >= 0.0 && it.resolution.is_finite()
        });
        let weight =
            change_time.map(|change_time| probability_after(change_time, source.last, now));
        if weight.is_some_and(|weight| weight <= 0.0) {
            trust.stats.late = trust.stats.late.saturating_add(1);
            return;
        }
        if let Some(change_time) = change_time {
            trust.stats.delay.record_stated_delay(
                now - change_time.earliest
                    - 0.5 * change_time.resolution.min(now - change_time.earliest).max(0.0),
            );
        }
        let delay = trust.stats.delay;
        let place = self.find_history(id, signal_source).or_else(|| {
            let has_room =
                self.signal_sources.chain_places(source.history()).len() < MAX_SIGNAL_SOURCES;
            has_room.then(|| self.add_history(id, signal_source, |prior| prior))?
        });
        let Some(place) = place else { return };
        let Some(history) = self.signal_sources.history_mut(place) else { return };
        let days = now - source.last;
        let weight =
            weight.unwrap_or_else(|| if history.changed { delay.weight(days) } else { 1.0 });
        history.record_signal(days, weight, source.state == SourceState::InFlight);
        if history.is_new_information() {
            self.reevaluate(now, id);
        }
    }

    /// Returns the place of a signal source's history about a source.
    fn find_history(&self, id: u32, signal_source: u32) -> Option<u32> {
        let chain = self.signal_sources.chain_places(self.sources[id as usize].history());
        chain.into_iter().find(|place| {
            let history = self.signal_sources.history(*place);
            history.is_some_and(|history| {
                history.signal_source == signal_source && self.signal_sources.is_current(history)
            })
        })
    }

    /// Adds a history for the first signal about a source. Its belief starts from the signal
    /// source's prior and the known change rate.
    fn add_history(
        &mut self,
        id: u32,
        signal_source: u32,
        signal_belief: impl Fn(SignalBelief) -> SignalBelief,
    ) -> Option<u32> {
        let source = self.sources[id as usize];
        let trust = self.signal_sources.trust(signal_source)?;
        let generation = trust.generation;
        let signal_belief = signal_belief(
            SignalBelief::FLAT_PRECISION.with_typical_change_rate(self.belief(&source).mean()),
        );
        let estimate = signal_belief.with_precision_prior(&trust.prior()).estimate();
        let place = self
            .signal_sources
            .add(SignalHistory::new(id, signal_source, generation, estimate), signal_belief)?;
        let history = self.signal_sources.history_mut(place)?;
        history.set_next(source.history());
        self.sources[id as usize].set_link(Link::History(place));
        self.update_signal_value(place);
        self.select_best_history(id);
        Some(place)
    }

    /// Updates the value of a signal about a source, which contributes to the value of reading the
    /// signal source.
    pub(super) fn update_signal_value(&mut self, place: u32) {
        let Some(&history) = self.signal_sources.history(place) else { return };
        let source = self.sources[history.source as usize];
        let value_after_signal = self.value_after_signal(&source, &history.estimate);
        let price = self.host_price(source.host) * f64::from(source.cost);
        let gain = (f64::from(source.importance) * value_after_signal - price).max(0.0);
        // Ignored signals have no value.
        let gain = if history.is_noise() { 0.0 } else { gain };
        if let Some(history) = self.signal_sources.history_mut(place) {
            history.value_after_signal = value_after_signal.min(1e30) as f32;
        }
        self.signal_sources.set_signal_value(place, gain);
    }

    /// Updates the reliability of the signal sources with the result of a fetch.
    pub(super) fn learn_from_signals(&mut self, id: u32, days: f64, changed: bool) {
        if days.is_nan() || days <= 0.0 {
            return;
        }
        let half_life = self.settings.half_life.unwrap_or(self.half_life.half_life());
        for place in self.signal_sources.chain_places(self.sources[id as usize].history()) {
            let history = self
                .signal_sources
                .history(place)
                .filter(|history| self.signal_sources.is_current(history));
            let Some((&history, &signal_belief)) =
                history.zip(self.signal_sources.signal_belief(place))
            else {
                continue;
            };
            let since_fetch = history.since_fetch(days);
            if history.is_on_trial() {
                let mut signal_belief = signal_belief.observe_signal_count(since_fetch);
                if history.fetches + 1 == TRIAL_FETCHES {
                    let source = &self.sources[id as usize];
                    signal_belief = signal_belief.with_total_change_belief(
                        self.owner_belief(source).unwrap_or(self.belief(source)),
                    );
                }
                self.signal_sources.set_belief(place, signal_belief);
                self.signal_sources.set_fetches(place, history.fetches + 1);
                self.update_signal_value(place);
                continue;
            }
            let signal_belief =
                signal_belief.decay_confidence(days, half_life, MIN_EFFECTIVE_CHANGES);
            self.signal_sources.set_decayed_belief(place, signal_belief);
            let updated = signal_belief.observe_fetch(since_fetch, changed);
            let known = self.owner_belief(&self.sources[id as usize]);
            self.signal_sources.set_belief(
                place,
                known.map_or(updated, |belief| updated.with_total_change_belief(belief)),
            );
            if let Some(trust) = self.signal_sources.trust_mut(history.signal_source) {
                let stats = &mut trust.stats;
                let was_signalled = history.count > 0;
                stats.tried += u64::from(was_signalled);
                stats.proved += u64::from(was_signalled && changed);
                stats.missed += u64::from(!was_signalled && changed);
                if history.changed && was_signalled {
                    let (first, last) = (
                        f64::from(history.first_signal_after),
                        f64::from(history.last_signal_after),
                    );
                    let after = SignalTimes { count: history.count, first, last };
                    stats.delay.observe_fetch(&history.estimate, days, &after, changed);
                }
            }
            let no_change = history.estimate.no_change_probability(since_fetch);
            let chance = if changed { 1.0 - no_change } else { no_change };
            if let Some(history) = self.signal_sources.history_mut(place) {
                history.score = SCORE_DECAY * history.score + chance.max(1e-6).ln() as f32;
            }
            self.update_signal_value(place);
        }
        self.select_best_history(id);
    }

    /// Selects the signal source that predicted the fetches best; drops histories of removed ones.
    fn select_best_history(&mut self, id: u32) {
        let chain = self.signal_sources.chain_places(self.sources[id as usize].history());
        let is_current = |place: &u32| {
            self.signal_sources.history(*place).is_some_and(|it| self.signal_sources.is_current(it))
        };
        let (mut current, removed): (Vec<u32>, Vec<u32>) = chain.into_iter().partition(is_current);
        if removed.is_empty() && current.len() < 2 {
            return;
        }
        if current.is_empty() {
            self.unlink_signals(id);
            return;
        }
        let score =
            |place: &u32| self.signal_sources.history(*place).map_or(f32::MIN, |it| it.score);
        let best =
            (0..current.len()).max_by(|a, b| score(&current[*a]).total_cmp(&score(&current[*b])));
        if let Some(best) =
            best.filter(|best| score(&current[*best]) > score(&current[0]) + SCORE_MARGIN)
        {
            current.swap(0, best);
        }
        for at in 0..current.len() {
            let next = current.get(at + 1).copied();
            if let Some(history) = self.signal_sources.history_mut(current[at]) {
                history.set_next(next);
            }
        }
        self.sources[id as usize].set_link(Link::History(current[0]));
        removed.into_iter().for_each(|place| self.signal_sources.remove_history(place));
    }

    /// Marks the start of a fetch: later signals may refer to changes that the copy lacks.
    pub(super) fn mark_fetch_started(&mut self, first: Option<u32>) {
        let mut place = first;
        while let Some(history) = place.and_then(|place| self.signal_sources.history_mut(place)) {
            history.mark_fetch_started();
            place = history.next();
        }
    }

    /// Records a copy made on `day` in the histories of the source.
    pub(super) fn record_copy_in_histories(&mut self, id: u32, day: f64, changed: bool) {
        let source = self.sources[id as usize];
        let mut place = source.history();
        while let Some(history) = place.and_then(|place| self.signal_sources.history_mut(place)) {
            history.record_copy(day - source.last);
            history.changed = changed;
            place = history.next();
        }
    }

    /// Handles the completed read of a signal source.
    pub(super) fn on_signal_source_read(&mut self, now: f64, signal_source: u32, found: u32) {
        if let Some(trust) = self.signal_sources.trust_mut(signal_source) {
            trust.record_read(now, found);
            if let Some(id) = trust.source {
                self.reevaluate(now, id);
            }
        }
    }

    /// Credits a signal source with the value gained by a fetch that its signals caused.
    pub(super) fn record_signal_gain(&mut self, now: f64, source: &Source, rank: f64) {
        let without =
            self.fetch_value_without_signals(now, source).max(self.host_price(source.host));
        let gain = (rank - without).clamp(0.0, 1e30);
        let signal_source = self
            .signal_sources
            .active_history(source.history())
            .map(|history| history.signal_source);
        if let Some(trust) =
            signal_source.and_then(|signal_source| self.signal_sources.trust_mut(signal_source))
        {
            trust.stats.brought += gain;
        }
    }

    /// True if signals are the reason why a source with this rank is worth its price.
    pub(super) fn is_led_by_signals(&self, now: f64, source: &Source, rank: f64) -> bool {
        let history = self.signal_sources.active_history(source.history());
        history.is_some_and(|history| history.signals > 0.0) && {
            let value_without_signals = self.fetch_value_without_signals(now, source);
            value_without_signals < LED_BY_SIGNALS_SHARE * rank
                && value_without_signals < self.host_price(source.host)
        }
    }

    /// Moves a source in the queues after its value changed.
    fn reevaluate(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        match source.state {
            SourceState::Waiting | SourceState::Scheduled
                if !source.is_retry() && self.price > 0.0 =>
            {
                self.enqueue(now, id);
            }
            SourceState::Candidate => self.rerank(now, id),
            _ => {}
        }
    }
}

/// Probability that a change with a stated time was after `day`.
fn probability_after(change_time: StatedChangeTime, day: f64, now: f64) -> f64 {
    let StatedChangeTime { earliest: from, resolution } = change_time;
    if resolution > 0.0 {
        // Not after the time of the signal itself.
        let to = (from + resolution).min(now).max(from);
        if to > from {
            ((to - day) / (to - from)).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(from > day))
        }
    } else {
        f64::from(u8::from(from > day))
    }
}
