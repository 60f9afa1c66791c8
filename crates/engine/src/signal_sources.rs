//! Heralds, and what is remembered of each about each source that it has spoken of.

mod delay;
mod signal_history;
mod signal_trust;

use std::collections::BTreeMap;

use freshet_estimate::Trust;
use serde::{Deserialize, Serialize};

use crate::chunks::Chunks;

pub(crate) use delay::{After, Delay};
pub(crate) use signal_history::{Listening, SignalHistory, TRIAL};
pub(crate) use signal_trust::{Kept, Reader, SignalTrust};

/// Changes that are as good as the share of all sources' changes that is told of.
const ALIKE: f64 = 10.0;

/// All heralds and all ears.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SignalSources {
    voices: Vec<Option<Box<SignalTrust>>>,
    /// The heralds of the sources that are read.
    by_source: BTreeMap<u32, u32>,
    /// How often a herald was new: what was heard of one with the same number is not of it.
    generation: u32,
    ears: Chunks<SignalHistory, 256>,
    /// What is believed, at the same places: needed only when something is learnt.
    trusts: Chunks<Trust, 64>,
    /// Places whose ears are no more.
    free: Vec<u32>,
}

impl SignalSources {
    pub(crate) fn voice(&self, number: u32) -> Option<&SignalTrust> {
        self.voices.get(number as usize)?.as_deref()
    }

    pub(crate) fn voice_mut(&mut self, number: u32) -> Option<&mut SignalTrust> {
        self.voices.get_mut(number as usize)?.as_deref_mut()
    }

    /// The herald of this number, new if there was none.
    pub(crate) fn voice_or_new(&mut self, number: u32) -> &mut SignalTrust {
        let at = number as usize;
        if self.voices.len() <= at {
            self.voices.resize_with(at + 1, || None);
        }
        let generation = &mut self.generation;
        self.voices[at].get_or_insert_with(|| {
            *generation = generation.wrapping_add(1);
            Box::new(SignalTrust::new(*generation))
        })
    }

    pub(crate) fn dismiss(&mut self, number: u32) -> Option<Box<SignalTrust>> {
        self.set_source(number, None);
        self.voices.get_mut(number as usize)?.take()
    }

    /// The herald that a source is read to hear.
    pub(crate) fn read_by(&self, source: u32) -> Option<u32> {
        self.by_source.get(&source).copied()
    }

    /// A herald is heard by reading a source, or none; a source is read to hear one herald, the latest. Gives
    /// the source that was read before.
    pub(crate) fn set_source(&mut self, number: u32, source: Option<u32>) -> Option<u32> {
        let voice = self.voices.get_mut(number as usize)?.as_deref_mut()?;
        let before = std::mem::replace(&mut voice.source, source);
        if let Some(before) = before {
            self.by_source.remove(&before);
        }
        if let Some(source) = source
            && let Some(other) = self.by_source.insert(source, number)
            && other != number
            && let Some(other) = self.voice_mut(other)
        {
            other.source = None;
        }
        before
    }

    /// Ears in use.
    pub(crate) fn ears(&self) -> usize {
        self.ears.len() - self.free.len()
    }

    pub(crate) fn ear(&self, place: u32) -> Option<&SignalHistory> {
        self.ears.get(place as usize)
    }

    pub(crate) fn ear_mut(&mut self, place: u32) -> Option<&mut SignalHistory> {
        self.ears.get_mut(place as usize)
    }

    pub(crate) fn trust(&self, place: u32) -> Option<&Trust> {
        self.trusts.get(place as usize)
    }

    /// Whether the herald of an ear is still listened to.
    pub(crate) fn is_heard(&self, ear: &SignalHistory) -> bool {
        self.voice(ear.herald).is_some_and(|voice| voice.generation == ear.generation)
    }

    /// The first ear of a chain whose herald is still listened to, that is on trial no more and hears more than
    /// noise.
    pub(crate) fn first_heard(&self, mut place: Option<u32>) -> Option<&SignalHistory> {
        while let Some(ear) = place.and_then(|place| self.ear(place)) {
            if self.is_heard(ear) && !ear.is_on_trial() && !ear.is_noise() {
                return Some(ear);
            }
            place = ear.next();
        }
        None
    }

    /// Places of a chain of ears.
    pub(crate) fn chain(&self, first: Option<u32>) -> Vec<u32> {
        let mut places = Vec::new();
        let mut place = first;
        while let Some(at) = place {
            places.push(at);
            place = self.ear(at).and_then(SignalHistory::next);
        }
        places
    }

    /// A new ear, counted with its herald.
    pub(crate) fn add(&mut self, ear: SignalHistory, trust: Trust) -> Option<u32> {
        let place = if let Some(place) = self.free.pop() {
            self.ears[place as usize] = ear;
            self.trusts[place as usize] = trust;
            place
        } else {
            let place = u32::try_from(self.ears.len())
                .ok()
                .filter(|place| *place < SignalHistory::PLACES)?;
            self.ears.push(ear);
            self.trusts.push(trust);
            place
        };
        self.count(place, 1.0);
        Some(place)
    }

    /// An ear is on trial no more, or on trial.
    pub(crate) fn set_fetches(&mut self, place: u32, fetches: u8) {
        self.count(place, -1.0);
        self.ears[place as usize].fetches = fetches;
        self.count(place, 1.0);
    }

    /// Something was forgotten.
    pub(crate) fn forget(&mut self, place: u32, trust: Trust) {
        self.trusts[place as usize] = trust;
    }

    /// Something was learnt.
    pub(crate) fn set_trust(&mut self, place: u32, trust: Trust) {
        self.count(place, -1.0);
        let before = std::mem::replace(&mut self.trusts[place as usize], trust);
        let herald = self.ears[place as usize].herald as usize;
        if let Some(voice) = self.voices.get_mut(herald).and_then(Option::as_deref_mut) {
            let among = trust.among(&voice.prior());
            let ear = &mut self.ears[place as usize];
            ear.reading = voice
                .recall()
                .map_or(among.reading(), |recall| among.reading().with_recall(recall, ALIKE));
            if !ear.is_on_trial() {
                voice.learn(&before, &trust, &among);
            }
        }
        self.count(place, 1.0);
    }

    /// An ear is no more. It must be in no chain.
    pub(crate) fn drop_ear(&mut self, place: u32) {
        self.count(place, -1.0);
        self.weigh(place, 0.0);
        if let Some(ear) = self.ears.get_mut(place as usize) {
            ear.source = u32::MAX;
            self.free.push(place);
        }
    }

    /// Adds an ear to what its herald knows of all of its ears, or takes it away.
    fn count(&mut self, place: u32, sign: f64) {
        let ear = self.ears[place as usize];
        if ear.is_on_trial() {
            return;
        }
        let voice = self.voices.get_mut(ear.herald as usize).and_then(Option::as_deref_mut);
        if let Some(voice) = voice.filter(|it| it.generation == ear.generation) {
            voice.count(&ear.reading, sign);
        }
    }

    /// What a signal about the source of an ear is worth, with what its herald's others are.
    pub(crate) fn weigh(&mut self, place: u32, worth: f64) {
        let Some(ear) = self.ears.get_mut(place as usize) else { return };
        let voice = self.voices.get_mut(ear.herald as usize).and_then(Option::as_deref_mut);
        let Some(voice) = voice.filter(|it| it.generation == ear.generation) else { return };
        voice.add_mass(ear.bin, -f64::from(ear.mass));
        let rate = ear.reading.signals();
        ear.bin = SignalTrust::bin(rate);
        ear.mass = (worth * rate).clamp(0.0, 1e30) as f32;
        voice.add_mass(ear.bin, f64::from(ear.mass));
    }
}
