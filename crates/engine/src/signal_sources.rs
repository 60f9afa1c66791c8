//! Signal sources and their histories about sources.

mod delay;
mod signal_history;
mod signal_trust;

use std::collections::BTreeMap;

use freshet_estimate::SignalBelief;
use serde::{Deserialize, Serialize};

use crate::chunked_vec::ChunkedVec;

pub(crate) use delay::{DelayEstimate, SignalTimes};
pub(crate) use signal_history::{ActiveSignals, SignalHistory, TRIAL_FETCHES};
pub(crate) use signal_trust::{ReadValueModel, SignalSourceStats, SignalTrust};

/// Weight of the recall over all sources of a signal source, in observed changes.
const SHARED_RECALL_WEIGHT: f64 = 10.0;

/// All signal sources and all histories.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SignalSources {
    trusts: Vec<Option<Box<SignalTrust>>>,
    /// Signal source by the source that is read for it.
    by_source: BTreeMap<u32, u32>,
    /// Number of signal sources added so far. Distinguishes reuses of the same number.
    generation: u32,
    histories: ChunkedVec<SignalHistory, 256>,
    /// Beliefs, at the places of the histories. Only needed for learning.
    beliefs: ChunkedVec<SignalBelief, 64>,
    /// Unused places.
    free: Vec<u32>,
}

impl SignalSources {
    pub(crate) fn trust(&self, number: u32) -> Option<&SignalTrust> {
        self.trusts.get(number as usize)?.as_deref()
    }

    pub(crate) fn trust_mut(&mut self, number: u32) -> Option<&mut SignalTrust> {
        self.trusts.get_mut(number as usize)?.as_deref_mut()
    }

    /// Returns the signal source with this number, added if necessary.
    pub(crate) fn trust_or_insert(&mut self, number: u32) -> &mut SignalTrust {
        let at = number as usize;
        if self.trusts.len() <= at {
            self.trusts.resize_with(at + 1, || None);
        }
        let generation = &mut self.generation;
        self.trusts[at].get_or_insert_with(|| {
            *generation = generation.wrapping_add(1);
            Box::new(SignalTrust::new(*generation))
        })
    }

    pub(crate) fn remove_signal_source(&mut self, number: u32) -> Option<Box<SignalTrust>> {
        self.set_source(number, None);
        self.trusts.get_mut(number as usize)?.take()
    }

    /// Signal source that a source is read for.
    pub(crate) fn signal_source_read_by(&self, source: u32) -> Option<u32> {
        self.by_source.get(&source).copied()
    }

    /// Sets the source that is read for a signal source, if any. A source is read for one signal
    /// source, the latest. Returns the previous source.
    pub(crate) fn set_source(&mut self, number: u32, source: Option<u32>) -> Option<u32> {
        let trust = self.trusts.get_mut(number as usize)?.as_deref_mut()?;
        let before = std::mem::replace(&mut trust.source, source);
        if let Some(before) = before {
            self.by_source.remove(&before);
        }
        if let Some(source) = source
            && let Some(other) = self.by_source.insert(source, number)
            && other != number
            && let Some(other) = self.trust_mut(other)
        {
            other.source = None;
        }
        before
    }

    /// Number of histories in use.
    pub(crate) fn histories(&self) -> usize {
        self.histories.len() - self.free.len()
    }

    pub(crate) fn history(&self, place: u32) -> Option<&SignalHistory> {
        self.histories.get(place as usize)
    }

    pub(crate) fn history_mut(&mut self, place: u32) -> Option<&mut SignalHistory> {
        self.histories.get_mut(place as usize)
    }

    pub(crate) fn signal_belief(&self, place: u32) -> Option<&SignalBelief> {
        self.beliefs.get(place as usize)
    }

    /// True if the signal source of a history still exists.
    pub(crate) fn is_current(&self, history: &SignalHistory) -> bool {
        self.trust(history.signal_source)
            .is_some_and(|trust| trust.generation == history.generation)
    }

    /// First history of a chain whose signal source exists, that is past its trial and not noise.
    pub(crate) fn active_history(&self, mut place: Option<u32>) -> Option<&SignalHistory> {
        while let Some(history) = place.and_then(|place| self.history(place)) {
            if self.is_current(history) && !history.is_on_trial() && !history.is_noise() {
                return Some(history);
            }
            place = history.next();
        }
        None
    }

    /// Places of a chain of histories.
    pub(crate) fn chain_places(&self, first: Option<u32>) -> Vec<u32> {
        let mut places = Vec::new();
        let mut place = first;
        while let Some(at) = place {
            places.push(at);
            place = self.history(at).and_then(SignalHistory::next);
        }
        places
    }

    /// Adds a history and counts it for its signal source.
    pub(crate) fn add(
        &mut self,
        history: SignalHistory,
        signal_belief: SignalBelief,
    ) -> Option<u32> {
        let place = if let Some(place) = self.free.pop() {
            self.histories[place as usize] = history;
            self.beliefs[place as usize] = signal_belief;
            place
        } else {
            let place = u32::try_from(self.histories.len())
                .ok()
                .filter(|place| *place < SignalHistory::PLACE_LIMIT)?;
            self.histories.push(history);
            self.beliefs.push(signal_belief);
            place
        };
        self.update_sums(place, 1.0);
        Some(place)
    }

    /// Sets the number of observed fetches, which may end the trial.
    pub(crate) fn set_fetches(&mut self, place: u32, fetches: u8) {
        self.update_sums(place, -1.0);
        self.histories[place as usize].fetches = fetches;
        self.update_sums(place, 1.0);
    }

    /// Stores a belief after decay, without new evidence.
    pub(crate) fn set_decayed_belief(&mut self, place: u32, signal_belief: SignalBelief) {
        self.beliefs[place as usize] = signal_belief;
    }

    /// Stores a belief after new evidence and updates the estimate.
    pub(crate) fn set_belief(&mut self, place: u32, signal_belief: SignalBelief) {
        self.update_sums(place, -1.0);
        let before = std::mem::replace(&mut self.beliefs[place as usize], signal_belief);
        let signal_source = self.histories[place as usize].signal_source as usize;
        if let Some(trust) = self.trusts.get_mut(signal_source).and_then(Option::as_deref_mut) {
            let posterior = signal_belief.with_precision_prior(&trust.prior());
            let history = &mut self.histories[place as usize];
            history.estimate = trust.recall().map_or(posterior.estimate(), |recall| {
                posterior.estimate().with_recall(recall, SHARED_RECALL_WEIGHT)
            });
            if !history.is_on_trial() {
                trust.observe_fetch(&before, &signal_belief, &posterior);
            }
        }
        self.update_sums(place, 1.0);
    }

    /// Removes a history, which must not be in any chain.
    pub(crate) fn remove_history(&mut self, place: u32) {
        self.update_sums(place, -1.0);
        self.set_signal_value(place, 0.0);
        if let Some(history) = self.histories.get_mut(place as usize) {
            history.source = u32::MAX;
            self.free.push(place);
        }
    }

    /// Adds a history to the sums of its signal source, or subtracts it.
    fn update_sums(&mut self, place: u32, sign: f64) {
        let history = self.histories[place as usize];
        if history.is_on_trial() {
            return;
        }
        let trust =
            self.trusts.get_mut(history.signal_source as usize).and_then(Option::as_deref_mut);
        if let Some(trust) = trust.filter(|it| it.generation == history.generation) {
            trust.count(&history.estimate, sign);
        }
    }

    /// Sets the value of a signal about a history's source within its signal source.
    pub(crate) fn set_signal_value(&mut self, place: u32, value: f64) {
        let Some(history) = self.histories.get_mut(place as usize) else { return };
        let trust =
            self.trusts.get_mut(history.signal_source as usize).and_then(Option::as_deref_mut);
        let Some(trust) = trust.filter(|it| it.generation == history.generation) else { return };
        trust.add_class_value(history.rate_class, -f64::from(history.read_value_share));
        let rate = history.estimate.signal_rate();
        history.rate_class = SignalTrust::rate_class(rate);
        history.read_value_share = (value * rate).clamp(0.0, 1e30) as f32;
        trust.add_class_value(history.rate_class, f64::from(history.read_value_share));
    }
}
