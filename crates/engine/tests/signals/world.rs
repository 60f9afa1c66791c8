//! Pages that change at moments of their own, and a herald that tells of them, truly or not.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use freshet_engine::{
    Action, Description, Engine, Event, Goal, Outcome, Settings, Signal, SignalReceipt,
    SignalSource,
};
use freshet_estimate::Penalty;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What the herald is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalLog {
    pub(crate) recall: f64,
    pub(crate) precision: f64,
    /// The mean of the delays.
    pub(crate) delay: f64,
}

/// Who hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearer {
    /// The engine ignores it.
    Deaf,
    /// The engine listens.
    Listening,
    /// What the herald says is read, as the engine likes, and has moments.
    Reading,
}

/// A web and what happens in it.
pub(crate) struct World {
    pub(crate) pages: u32,
    pub(crate) days: f64,
    pub(crate) budget: f64,
    pub(crate) penalty: Penalty,
    /// The day from which on it is measured.
    pub(crate) from: f64,
    pub(crate) seed: u64,
}

/// What was attained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attained {
    pub(crate) freshness: f64,
    pub(crate) harmonic: f64,
    pub(crate) fetches: u32,
    /// Reads of the herald.
    pub(crate) reads: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
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

    fn happenings(&self, told: SignalLog) -> Vec<(f64, What, u32)> {
        let mut all = Vec::new();
        for (id, rate) in self.rates().into_iter().enumerate() {
            // The changes are the same whatever is told of them.
            let mut rng = Pcg64::seed_from_u64(self.seed + 1000 + id as u64);
            let mut said = Pcg64::seed_from_u64(self.seed + 1_000_000 + id as u64);
            let mut day = wait(&mut rng, rate);
            while day < self.days {
                all.push((day, What::Change, id as u32));
                if said.random::<f64>() < told.recall {
                    let late =
                        if told.delay > 0.0 { wait(&mut said, 1.0 / told.delay) } else { 0.0 };
                    all.push((day + late, What::Signal, id as u32));
                }
                day += wait(&mut rng, rate);
            }
            let untrue = told.recall * rate * (1.0 - told.precision) / told.precision;
            if untrue > 0.0 {
                let mut day = wait(&mut said, untrue);
                while day < self.days {
                    all.push((day, What::Signal, id as u32));
                    day += wait(&mut said, untrue);
                }
            }
        }
        all.retain(|it| it.0 < self.days);
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    pub(crate) fn run(&self, told: SignalLog, hearer: Hearer) -> (Attained, Engine) {
        let goal = Goal::Keep(self.penalty);
        let settings = Settings { budget: self.budget, goal, ..Settings::default() };
        let mut engine = Engine::new(0.0, settings);
        let mut actions = Vec::new();
        engine.step(0.0, Event::Capacity(u32::MAX), &mut actions);
        let is_read = hearer == Hearer::Reading;
        let mut all: Vec<_> = (0..self.pages).map(Description::new).collect();
        let herald = SignalSource { number: 0, source: is_read.then_some(self.pages) };
        all.extend(
            herald.source.map(|id| Description { max_interval: 7.0, ..Description::new(id) }),
        );
        engine.step(0.0, Event::Described(all), &mut actions);
        let mut unread: Vec<(u32, f64)> = Vec::new();
        engine.step(0.0, Event::Heralds(vec![(herald, None)]), &mut actions);
        let new = || Page { pending: 1, under_way: 0, since: 0.0 };
        let mut pages: Vec<Page> = (0..self.pages).map(|_| new()).collect();
        let mut reads = 0;
        let mut answers: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        let happenings = self.happenings(told);
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
            let happens = happenings.get(next).map_or(f64::INFINITY, |it| it.0);
            let now = answer.min(happens).min(engine.wake()).max(engine.now());
            if now >= self.days {
                break;
            }
            let what = if happens <= now {
                next += 1;
                Some((happenings[next - 1].1, happenings[next - 1].2))
            } else if answer <= now {
                answers.pop().map(|it| (What::Answer, it.0.1))
            } else {
                None
            };
            let event = match what {
                Some((What::Change, id)) => {
                    let page = &mut pages[id as usize];
                    count(page, now, &mut fresh, &mut harmonic);
                    page.pending += 1;
                    page.under_way += 1;
                    continue;
                }
                Some((What::Signal, id)) => match hearer {
                    Hearer::Listening => Event::Heard(Signal { id, herald: 0, said: None }),
                    Hearer::Deaf => continue,
                    Hearer::Reading => {
                        unread.push((id, now));
                        continue;
                    }
                },
                Some((What::Answer, id)) if id == self.pages => {
                    let outcome =
                        if unread.is_empty() { Outcome::Unchanged } else { Outcome::Changed };
                    engine.step(now, Event::Fetched { id, outcome }, &mut actions);
                    for (id, day) in unread.drain(..) {
                        let said = Some(SignalReceipt { day, grain: 0.0 });
                        let heard = Event::Heard(Signal { id, herald: 0, said });
                        engine.step(now, heard, &mut actions);
                    }
                    reads += 1;
                    Event::Read { herald: 0, found: 0 }
                }
                Some((What::Answer, id)) => {
                    let page = &mut pages[id as usize];
                    count(page, now, &mut fresh, &mut harmonic);
                    let changed = page.pending > page.under_way;
                    page.pending = page.under_way;
                    let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
                    Event::Fetched { id, outcome }
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
            Attained { freshness: fresh / all, harmonic: harmonic / all, fetches, reads };
        (attained, engine)
    }
}
