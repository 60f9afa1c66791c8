//! What heralds say, and what that proves to mean.

use freshet_estimate::{Belief, Trust};

use super::Engine;
use crate::signal_source::{
    Signal, SignalHistoryMemory, SignalReceipt, SignalSource, SignalSourceMemory,
};
use crate::signal_sources::{After, SignalHistory, TRIAL};
use crate::source::{Link, Source, State};

/// Changes that a rate is known by at least, however long ago it was learnt.
const SURE: f64 = 2.0;
/// What each fetch leaves of how well an ear foretold those before it.
const KEPT: f32 = 0.9;
/// How much better another ear must foretell to be listened to instead, as a logarithm.
const BETTER: f32 = 0.5;
/// The share of what a source is worth that it is worth anyway if signals do not matter.
const NO_MORE: f64 = 0.9;
/// Heralds of one source.
const MOST: usize = 8;

impl Engine {
    pub(super) fn describe_herald(
        &mut self,
        now: f64,
        it: SignalSource,
        memory: Option<&SignalSourceMemory>,
    ) {
        if it.number >= SignalSource::NUMBERS {
            return;
        }
        let is_new = self.heralds.voice(it.number).is_none();
        let voice = self.heralds.voice_or_new(it.number);
        if let Some(memory) = memory.filter(|_| is_new) {
            voice.kept = memory.kept(now);
        }
        let before = self.heralds.set_source(it.number, it.source);
        if let Some(id) = before.filter(|_| before != it.source) {
            self.unlink(id);
            self.place_anew(now, id);
        }
        if let Some(id) = it.source {
            self.link_to_herald(id);
            self.place_anew(now, id);
        }
    }

    /// A source that is read to hear a herald is linked with it.
    pub(super) fn link_to_herald(&mut self, id: u32) {
        let may = self.sources.get(id as usize).is_some_and(|it| !it.is_observed());
        if let Some(number) = self.heralds.read_by(id).filter(|_| may) {
            self.unlink(id);
            self.sources[id as usize].set_link(Link::Herald(number));
        }
    }

    pub(super) fn dismiss(&mut self, now: f64, number: u32) {
        let source = self.heralds.voice(number).and_then(|voice| voice.source);
        self.heralds.dismiss(number);
        if let Some(id) = source {
            self.unlink(id);
            self.place_anew(now, id);
        }
    }

    /// A source has nothing to do with heralds any more. What they told of its change rate stays.
    pub(super) fn unlink(&mut self, id: u32) {
        let Some(&source) = self.sources.get(id as usize) else { return };
        if source.is_observed() {
            return;
        }
        if let Some(first) = source.ear() {
            let belief = self.belief(&source);
            for place in self.heralds.chain(Some(first)) {
                self.heralds.drop_ear(place);
            }
            self.learn_by_itself(id, belief);
        }
        self.sources[id as usize].pending = 0;
    }

    fn learn_by_itself(&mut self, id: u32, belief: Belief) {
        let source = &mut self.sources[id as usize];
        if !source.is_known() {
            let prior = self.hosts[source.host as usize].prior.belief();
            source.set_learnt(belief.shape() - prior.shape(), belief.days() - prior.days());
        }
    }

    /// What was said of a source before, to another engine.
    pub(super) fn overhear(
        &mut self,
        now: f64,
        id: u32,
        herald: u32,
        memory: &SignalHistoryMemory,
    ) {
        let is_there = self.sources.get(id as usize).is_some_and(|it| {
            it.state != State::Absent && !it.is_observed() && !matches!(it.link(), Link::Herald(_))
        });
        if !is_there || self.ear_of(id, herald).is_some() || !memory.is_sound() {
            return;
        }
        if let Some(place) = self.add_ear(id, herald, |_| memory.trust)
            && let Some(ear) = self.heralds.ear_mut(place)
        {
            memory.write(ear);
            self.heralds.set_fetches(place, memory.fetches());
            self.weigh_ear(place);
            self.listen_to_the_best(id);
            self.place_anew(now, id);
        }
    }

    /// A herald says that a source has changed.
    pub(super) fn heard(&mut self, now: f64, signal: Signal) {
        let Signal { id, herald, said } = signal;
        let Some(&source) = self.sources.get(id as usize) else { return };
        let Some(voice) = self.heralds.voice_mut(herald) else { return };
        if source.state == State::Absent {
            return;
        }
        voice.kept.signals = voice.kept.signals.saturating_add(1);
        if source.is_observed() {
            return self.signal(now, id);
        }
        if source.is_new() || matches!(source.link(), Link::Herald(_)) {
            return;
        }
        let said = said.filter(|it| it.day.is_finite() && it.grain >= 0.0 && it.grain.is_finite());
        let weight = said.map(|said| later_than(said, source.last, now));
        if weight.is_some_and(|weight| weight <= 0.0) {
            voice.kept.late = voice.kept.late.saturating_add(1);
            return;
        }
        if let Some(said) = said {
            voice.kept.delay.said(now - said.day - 0.5 * said.grain.min(now - said.day).max(0.0));
        }
        let delay = voice.kept.delay;
        let place = self.ear_of(id, herald).or_else(|| {
            let is_room = self.heralds.chain(source.ear()).len() < MOST;
            is_room.then(|| self.add_ear(id, herald, |prior| prior))?
        });
        let Some(place) = place else { return };
        let Some(ear) = self.heralds.ear_mut(place) else { return };
        let days = now - source.last;
        let weight = weight.unwrap_or_else(|| if ear.changed { delay.weight(days) } else { 1.0 });
        ear.hear(days, weight, source.state == State::Asked);
        if ear.is_news() {
            self.place_anew(now, id);
        }
    }

    /// The place of what a herald said of a source.
    fn ear_of(&self, id: u32, herald: u32) -> Option<u32> {
        let chain = self.heralds.chain(self.sources[id as usize].ear());
        chain.into_iter().find(|place| {
            let ear = self.heralds.ear(*place);
            ear.is_some_and(|ear| ear.herald == herald && self.heralds.is_heard(ear))
        })
    }

    /// A herald speaks of a source for the first time. What is believed of it is found from what is
    /// usual with this herald and what is known of the source's changes.
    fn add_ear(&mut self, id: u32, herald: u32, trust: impl Fn(Trust) -> Trust) -> Option<u32> {
        let source = self.sources[id as usize];
        let voice = self.heralds.voice(herald)?;
        let generation = voice.generation;
        let trust = trust(Trust::UNSPOKEN.with_usual(self.belief(&source).mean()));
        let reading = trust.among(&voice.prior()).reading();
        let place = self.heralds.add(SignalHistory::new(id, herald, generation, reading), trust)?;
        let ear = self.heralds.ear_mut(place)?;
        ear.set_next(source.ear());
        self.sources[id as usize].set_link(Link::Ear(place));
        self.weigh_ear(place);
        self.listen_to_the_best(id);
        Some(place)
    }

    /// What a signal about a source is worth, for who asks whether to read the herald.
    pub(super) fn weigh_ear(&mut self, place: u32) {
        let Some(&ear) = self.heralds.ear(place) else { return };
        let source = self.sources[ear.source as usize];
        let jump = self.jump(&source, &ear.reading);
        let price = self.price_at(source.host) * f64::from(source.cost);
        let gain = (f64::from(source.importance) * jump - price).max(0.0);
        // What is not listened to brings nothing.
        let gain = if ear.is_noise() { 0.0 } else { gain };
        if let Some(ear) = self.heralds.ear_mut(place) {
            ear.jump = jump.min(1e30) as f32;
        }
        self.heralds.weigh(place, gain);
    }

    /// A fetch tells how true what heralds said was.
    pub(super) fn learn_of_heralds(&mut self, id: u32, days: f64, changed: bool) {
        if days.is_nan() || days <= 0.0 {
            return;
        }
        let half_life = self.settings.half_life.unwrap_or(self.memory.half_life());
        for place in self.heralds.chain(self.sources[id as usize].ear()) {
            let ear = self.heralds.ear(place).filter(|ear| self.heralds.is_heard(ear));
            let Some((&ear, &trust)) = ear.zip(self.heralds.trust(place)) else { continue };
            let heard = ear.heard(days);
            if ear.is_on_trial() {
                let mut trust = trust.counted(heard);
                if ear.fetches + 1 == TRIAL {
                    let source = &self.sources[id as usize];
                    trust = trust.settled(self.known_belief(source).unwrap_or(self.belief(source)));
                }
                self.heralds.set_trust(place, trust);
                self.heralds.set_fetches(place, ear.fetches + 1);
                self.weigh_ear(place);
                continue;
            }
            let trust = trust.doubt(days, half_life, SURE);
            self.heralds.forget(place, trust);
            let learnt = trust.fetched(heard, changed);
            let known = self.known_belief(&self.sources[id as usize]);
            self.heralds.set_trust(place, known.map_or(learnt, |belief| learnt.settled(belief)));
            if let Some(voice) = self.heralds.voice_mut(ear.herald) {
                let kept = &mut voice.kept;
                let is_told = ear.count > 0;
                kept.tried += u64::from(is_told);
                kept.proved += u64::from(is_told && changed);
                kept.missed += u64::from(!is_told && changed);
                if ear.changed && is_told {
                    let (first, last) = (f64::from(ear.first_after), f64::from(ear.last_after));
                    let after = After { count: ear.count, first, last };
                    kept.delay.learn(&ear.reading, days, &after, changed);
                }
            }
            let same = ear.reading.no_change(heard);
            let chance = if changed { 1.0 - same } else { same };
            if let Some(ear) = self.heralds.ear_mut(place) {
                ear.score = KEPT * ear.score + chance.max(1e-6).ln() as f32;
            }
            self.weigh_ear(place);
        }
        self.listen_to_the_best(id);
    }

    /// A source listens with the ear that foretold best; ears of heralds that are no more are dropped.
    fn listen_to_the_best(&mut self, id: u32) {
        let chain = self.heralds.chain(self.sources[id as usize].ear());
        let is_heard =
            |place: &u32| self.heralds.ear(*place).is_some_and(|it| self.heralds.is_heard(it));
        let (mut kept, gone): (Vec<u32>, Vec<u32>) = chain.into_iter().partition(is_heard);
        if gone.is_empty() && kept.len() < 2 {
            return;
        }
        if kept.is_empty() {
            self.unlink(id);
            return;
        }
        let score = |place: &u32| self.heralds.ear(*place).map_or(f32::MIN, |it| it.score);
        let best = (0..kept.len()).max_by(|a, b| score(&kept[*a]).total_cmp(&score(&kept[*b])));
        if let Some(best) = best.filter(|best| score(&kept[*best]) > score(&kept[0]) + BETTER) {
            kept.swap(0, best);
        }
        for at in 0..kept.len() {
            let next = kept.get(at + 1).copied();
            if let Some(ear) = self.heralds.ear_mut(kept[at]) {
                ear.set_next(next);
            }
        }
        self.sources[id as usize].set_link(Link::Ear(kept[0]));
        gone.into_iter().for_each(|place| self.heralds.drop_ear(place));
    }

    /// A fetch begins: what is said from now on may not be in it.
    pub(super) fn begin_to_listen(&mut self, first: Option<u32>) {
        let mut place = first;
        while let Some(ear) = place.and_then(|place| self.heralds.ear_mut(place)) {
            ear.begin();
            place = ear.next();
        }
    }

    /// There is a copy of a day.
    pub(super) fn copied_with_ears(&mut self, id: u32, day: f64, changed: bool) {
        let source = self.sources[id as usize];
        let mut place = source.ear();
        while let Some(ear) = place.and_then(|place| self.heralds.ear_mut(place)) {
            ear.copied(day - source.last);
            ear.changed = changed;
            place = ear.next();
        }
    }

    /// A herald was read to its end.
    pub(super) fn read(&mut self, now: f64, herald: u32, found: u32) {
        if let Some(voice) = self.heralds.voice_mut(herald) {
            voice.read(now, found);
            if let Some(id) = voice.source {
                self.place_anew(now, id);
            }
        }
    }

    /// A source that is led to by signals is fetched.
    pub(super) fn follow(&mut self, now: f64, source: &Source, rank: f64) {
        let without = self.worth_unsaid(now, source).max(self.price_at(source.host));
        let gain = (rank - without).clamp(0.0, 1e30);
        let herald = self.heralds.first_heard(source.ear()).map(|ear| ear.herald);
        if let Some(voice) = herald.and_then(|herald| self.heralds.voice_mut(herald)) {
            voice.kept.brought += gain;
        }
    }

    /// Whether signals are why a source that is worth so much is worth its price.
    pub(super) fn is_moved(&self, now: f64, source: &Source, rank: f64) -> bool {
        let ear = self.heralds.first_heard(source.ear());
        ear.is_some_and(|ear| ear.signals > 0.0) && {
            let unsaid = self.worth_unsaid(now, source);
            unsaid < NO_MORE * rank && unsaid < self.price_at(source.host)
        }
    }

    /// Finds the place of a source again for which a fetch is worth something else now.
    fn place_anew(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        match source.state {
            State::Waiting | State::Coming if !source.is_retried() && self.price > 0.0 => {
                self.enqueue(now, id);
            }
            State::Ready => self.rank_anew(now, id),
            _ => {}
        }
    }
}

/// The chance that a change that is said to have been on a day was after another one.
fn later_than(said: SignalReceipt, day: f64, now: f64) -> f64 {
    let SignalReceipt { day: from, grain } = said;
    if grain > 0.0 {
        // Not after the moment at which it is said.
        let to = (from + grain).min(now).max(from);
        if to > from {
            ((to - day) / (to - from)).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(from > day))
        }
    } else {
        f64::from(u8::from(from > day))
    }
}
