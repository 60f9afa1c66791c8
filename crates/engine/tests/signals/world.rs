//! Pages that change at random times, and a signal source that reports changes with some
//! reliability.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use freshet_engine::{
    Action, Engine, EngineSettings, Event, FetchResult, Goal, Signal, SignalSource,
    SourceDescription, StatedChangeTime,
};
use freshet_estimate::Penalty;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Reliability of the signal source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalQuality {
    pub(crate) recall: f64,
    pub(crate) precision: f64,
    /// Mean delay of a signal.
    pub(crate) delay: f64,
}

/// How the engine receives the signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalDelivery {
    /// Signals are not sent to the engine.
    None,
    /// Signals are pushed to the engine.
    Push,
    /// Signals are read when the engine decides to, and state the time of the change.
    Read,
}

/// Parameters of a simulated web.
pub(crate) struct World {
    pub(crate) pages: u32,
    pub(crate) days: f64,
    pub(crate) budget: f64,
    pub(crate) penalty: Penalty,
    /// Start of the measurement.
    pub(crate) from: f64,
    pub(crate) seed: u64,
}

/// Measured results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) freshness: f64,
    pub(crate) harmonic: f64,
    pub(crate) fetches: u32,
    /// Reads of the signal source.
    pub(crate) reads: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Change,
    Signal,
    Answer,
}

struct Page {
    pending: u32,
    under_way: u32,
    since: f64,
}

fn wait(rng: &mut Pcg64, rate: f64) -> f64 {
    -(1.0 - rng.random::<f64>()).ln() / rate
}

impl World {
    /// Change rates from once in 30 days to three a day.
    fn rates(&self) -> Vec<f64> {
        let mut rng = Pcg64::seed_from_u64(self.seed);
        (0..self.pages).map(|_| 10_f64.powf(rng.random_range(-1.5..0.5))).collect()
    }

    fn events(&self, quality: SignalQuality) -> Vec<(f64, EventKind, u32)> {
        let mut all = Vec::new();
        for (id, rate) in self.rates().into_iter().enumerate() {
            // The changes do not depend on the signals.
            let mut rng = Pcg64::seed_from_u64(self.seed + 1000 + id as u64);
            let mut signal_rng = Pcg64::seed_from_u64(self.seed + 1_000_000 + id as u64);
            let mut day = wait(&mut rng, rate);
            while day < self.days {
                all.push((day, EventKind::Change, id as u32));
                if signal_rng.random::<f64>() < quality.recall {
                    let delay = if quality.delay > 0.0 {
                        wait(&mut signal_rng, 1.0 / quality.delay)
                    } else {
                        0.0
                    };
                    all.push((day + delay, EventKind::Signal, id as u32));
                }
                day += wait(&mut rng, rate);
            }
            let false_rate = quality.recall * rate * (1.0 - quality.precision) / quality.precision;
            if false_rate > 0.0 {
                let mut day = wait(&mut signal_rng, false_rate);
                while day < self.days {
                    all.push((day, EventKind::Signal, id as u32));
                    day += wait(&mut signal_rng, false_rate);
                }
            }
        }
        all.retain(|it| it.0 < self.days);
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    pub(crate) fn run(
        &self,
        quality: SignalQuality,
        delivery: SignalDelivery,
    ) -> (Measurement, Engine) {
        let goal = Goal::KeepFresh(self.penalty);
        let settings = EngineSettings { budget: self.budget, goal, ..EngineSettings::default() };
        let mut engine = Engine::new(0.0, settings);
        let mut actions = Vec::new();
        engine.step(0.0, Event::CapacityAdded(u32::MAX), &mut actions);
        let is_read = delivery == SignalDelivery::Read;
        let mut all: Vec<_> = (0..self.pages).map(SourceDescription::new).collect();
        let signal_source = SignalSource { number: 0, source: is_read.then_some(self.pages) };
        all.extend(
            signal_source
                .source
                .map(|id| SourceDescription { max_interval: 7.0, ..SourceDescription::new(id) }),
        );
        engine.step(0.0, Event::SourcesDescribed(all), &mut actions);
        let mut unread: Vec<(u32, f64)> = Vec::new();
        engine.step(0.0, Event::SignalSourcesDescribed(vec![(signal_source, None)]), &mut actions);
        let new = || Page { pending: 1, under_way: 0, since: 0.0 };
        let mut pages: Vec<Page> = (0..self.pages).map(|_| new()).collect();
        let mut reads = 0;
        let mut answers: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        let events = self.events(quality);
        let mut next = 0;
        let (mut fresh, mut harmonic, mut fetches) = (0.0, 0.0, 0);
        let count = |page: &mut Page, now: f64, fresh: &mut f64, harmonic: &mut f64| {
            let days = now - page.since.max(self.from);
            if days > 0.0 {
                *fresh += days * f64::from(u8::from(page.pending == 0));
                *harmonic += days * (1..=page.pending).map(|k| 1.0 / f64::from(k)).sum::<f64>();
            }
            page.since = now;
        };
        loop {
            let answer = answers.peek().map_or(f64::INFINITY, |it| f64::from_bits(it.0.0));
            let next_event_day = events.get(next).map_or(f64::INFINITY, |it| it.0);
            let now = answer.min(next_event_day).min(engine.next_tick()).max(engine.now());
            if now >= self.days {
                break;
            }
            let what = if next_event_day <= now {
                next += 1;
                Some((events[next - 1].1, events[next - 1].2))
            } else if answer <= now {
                answers.pop().map(|it| (EventKind::Answer, it.0.1))
            } else {
                None
            };
            let event = match what {
                Some((EventKind::Change, id)) => {
                    let page = &mut pages[id as usize];
                    count(page, now, &mut fresh, &mut harmonic);
                    page.pending += 1;
                    page.under_way += 1;
                    continue;
                }
                Some((EventKind::Signal, id)) => match delivery {
                    SignalDelivery::Push => Event::SignalReceived(Signal {
                        source: id,
                        signal_source: 0,
                        change_time: None,
                    }),
                    SignalDelivery::None => continue,
                    SignalDelivery::Read => {
                        unread.push((id, now));
                        continue;
                    }
                },
                Some((EventKind::Answer, id)) if id == self.pages => {
                    let outcome = if unread.is_empty() {
                        FetchResult::Unchanged
                    } else {
                        FetchResult::Changed
                    };
                    engine.step(now, Event::FetchFinished { id, outcome }, &mut actions);
                    for (id, day) in unread.drain(..) {
                        let change_time = Some(StatedChangeTime { earliest: day, resolution: 0.0 });
                        let signal_received = Event::SignalReceived(Signal {
                            source: id,
                            signal_source: 0,
                            change_time,
                        });
                        engine.step(now, signal_received, &mut actions);
                    }
                    reads += 1;
                    Event::SignalSourceRead { signal_source: 0, found: 0 }
                }
                Some((EventKind::Answer, id)) => {
                    let page = &mut pages[id as usize];
                    count(page, now, &mut fresh, &mut harmonic);
                    let changed = page.pending > page.under_way;
                    page.pending = page.under_way;
                    let outcome =
                        if changed { FetchResult::Changed } else { FetchResult::Unchanged };
                    Event::FetchFinished { id, outcome }
                }
                None => Event::Tick,
            };
            engine.step(now, event, &mut actions);
            for action in actions.drain(..) {
                if let Action::Fetch { id, .. } = action {
                    if let Some(page) = pages.get_mut(id as usize) {
                        page.under_way = 0;
                    }
                    answers.push(Reverse(((now + 1e-6).to_bits(), id)));
                    fetches += 1;
                }
            }
        }
        for page in &mut pages {
            count(page, self.days, &mut fresh, &mut harmonic);
        }
        let all = f64::from(self.pages) * (self.days - self.from);
        let attained =
            Measurement { freshness: fresh / all, harmonic: harmonic / all, fetches, reads };
        (attained, engine)
    }
}
