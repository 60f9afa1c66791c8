//! The price: what a fetch must be worth so that the budget is spent, and no more.
//!
//! Whoever is fetched is the best that there is; so what the last fetches were worth is the price.
//! It follows what happens within a small part of a cycle, without a model. What it will be in the
//! long run comes from a model: the price at which the believed change rates spend the budget.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::source::Source;

/// Sources from which the price in the long run is found.
const SAMPLE: usize = 512;
/// Sources among which some are looked for if a sample finds none.
const FIRST: usize = 1 << 17;
/// The longest step in search of a price, as a logarithm: what no price brings about is not looked for
/// for ever.
const FARTHEST: f64 = 40.0;
/// The share of the price that a source must be worth to wait among the candidates: so there is
/// always a choice, and the best comes first even if the price is somewhat wrong.
pub(crate) const BAND: f64 = 0.6;
/// How much more a source will be worth, at most, when it is looked at again while the price is above
/// what it will be in the long run: it may fall in the meantime.
const STEP: f64 = 2.0;
/// The share of all sources over whose fetches the price is averaged, and at least and most so many.
const WINDOW: f64 = 0.01;
const FEWEST: f64 = 16.0;
const MOST: f64 = 4096.0;
/// How far one fetch can pull the price up, and down, as logarithms. What was announced is often worth
/// far more than the price, which says little about it.
const UP: f64 = 0.3;
const DOWN: f64 = -1.0;
/// The share of what it will be in the long run that the price is at least.
const LEAST: f64 = 1e-6;
/// How much more than the price a host's fetches must be worth for the host to count as saturated,
/// and how many of its sources must wait.
const DEARER: f64 = 1.25;
const WAITING: usize = 16;
/// The share of the time until the next survey that a host may rest and still count.
const REST: f64 = 0.1;
/// How wrong the usual sample may be thought to be, as a logarithm.
const MOST_WRONG: f64 = 0.5;

/// What some sources would spend in a day at a price and at some near it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Demand {
    around: f64,
    spent: [f64; 3],
}

impl Demand {
    /// How far the prices are apart, as a logarithm.
    const APART: f64 = 0.2;

    pub(crate) fn around(price: f64) -> Self {
        Self { around: price, spent: [0.0; 3] }
    }

    /// Adds what a source would spend at a price.
    pub(crate) fn add(&mut self, at: impl Fn(f64) -> f64) {
        for (spent, steps) in self.spent.iter_mut().zip([-1.0, 0.0, 1.0]) {
            *spent += at(self.around * f64::exp(steps * Self::APART));
        }
    }

    /// The logarithm of the price at which a budget would be spent, if there is one nearby.
    fn log_price(&self, budget: f64) -> Option<f64> {
        let [low, here, high] = self.spent.map(|spent| (spent / budget).ln());
        let slope = if here > 0.0 { high - here } else { here - low } / Self::APART;
        let log_price = self.around.ln() - here / slope;
        (slope < 0.0 && log_price.is_finite()).then_some(log_price)
    }
}

impl Engine {
    /// What a source of a host must be worth to be a candidate.
    pub(crate) fn entry(&self, host: u32) -> f64 {
        self.entry_at(self.price).max(BAND * self.hosts[host as usize].price)
    }

    /// What a fetch of a source of a host must be worth now.
    pub(crate) fn price_at(&self, host: u32) -> f64 {
        self.price.max(self.hosts[host as usize].price)
    }

    /// The same at a price, of a host that is not saturated.
    pub(crate) fn entry_at(&self, price: f64) -> f64 {
        BAND * if self.outlook > 0.0 { price.min(self.outlook) } else { price }
    }

    /// What a source that is worth so much is to be worth when it is looked at again.
    pub(crate) fn next_worth(&self, worth: f64) -> f64 {
        if self.are_many() && self.rhythm.aim > 0.0 {
            return self.rhythm.aim;
        }
        let outlook = if self.outlook > 0.0 { self.outlook } else { self.price };
        // Others wait for more if the price has fallen far below it: who comes first must still mean
        // something.
        self.price.min(outlook.max(STEP * worth)).max(self.least_aim())
    }

    /// Learns from the worth of a fetch.
    pub(crate) fn note_worth(&mut self, host: u32, worth: f64) {
        let window = (WINDOW * self.count as f64).clamp(FEWEST, MOST);
        if self.price > 0.0 {
            let pull = (worth / self.price).ln().clamp(DOWN, UP);
            // What is fetched twice in a moment is worth nothing, and tells nothing.
            let least = (LEAST * self.outlook).max(1e-90);
            self.price = (self.price * (pull / window).exp()).clamp(least, 1e90);
        } else {
            self.price = worth;
        }
        let it = &mut self.hosts[host as usize];
        if worth < DEARER * self.price || it.ready.len() < WAITING {
            self.saturated -= u32::from(it.price > 0.0);
            it.price = 0.0;
        } else if it.price > 0.0 {
            let pull = (worth / it.price).ln().clamp(DOWN, UP);
            it.price *= (pull / FEWEST).exp();
        } else {
            self.saturated += 1;
            it.price = DEARER * self.price;
        }
    }

    /// A host at which nobody waits needs no price of its own.
    pub(crate) fn reconsider_price(&mut self, host: usize) {
        let it = &mut self.hosts[host];
        if it.price > 0.0 && it.ready.len() < WAITING {
            it.price = 0.0;
            self.saturated -= 1;
            self.rhythm.unsettle();
        }
    }

    /// What a source would spend in a day at a price.
    pub(crate) fn demand(&self, source: &Source, price: f64) -> f64 {
        let cost = f64::from(source.cost);
        let interval = self.interval(source, price);
        if interval > 0.0 { cost / interval } else { cost * self.bucket.rate() }
    }

    /// The price in the long run, from a sample.
    pub(crate) fn look_ahead(&mut self) {
        let budget = self.bucket.rate();
        if self.count == 0 || budget <= 0.0 {
            return;
        }
        let (live, scale) = self.sample();
        if live.is_empty() {
            return;
        }
        // Demand falls with the price: bracket, then regula falsi on logarithms.
        let excess = |log_price: f64| {
            let price = log_price.exp();
            let total: f64 = live.iter().map(|&i| self.demand(&self.sources[i], price)).sum();
            // More than all numbers is much, and nothing is little.
            let excess = (total * scale / budget).ln();
            if excess.is_nan() { 500.0 } else { excess.clamp(-500.0, 500.0) }
        };
        let error = if self.are_many() { self.rhythm.error } else { 0.0 };
        let start =
            [self.outlook, self.price].into_iter().find(|&it| it > 0.0).map_or(0.0, f64::ln)
                - error;
        let (mut at, mut here) = (start, excess(start));
        let direction = here.signum();
        let (mut other, mut there) = (at, here);
        let mut step = 0.1;
        while here.signum() == direction && step < FARTHEST {
            (other, there) = (at, here);
            at += direction * step;
            step *= 2.0;
            here = excess(at);
        }
        for _ in 0..12 {
            if here == there || (at - other).abs() < 3e-3 {
                break;
            }
            let middle = (at * there - other * here) / (there - here);
            let value = excess(middle);
            if value.signum() == here.signum() {
                (at, here) = (middle, value);
                there *= 0.5;
            } else {
                (other, there) = (middle, value);
                here *= 0.5;
            }
        }
        let log_price =
            if here == there { at } else { (at * there - other * here) / (there - here) };
        if log_price.is_finite() {
            self.outlook = (log_price + error).clamp(-200.0, 200.0).exp();
        }
        if self.price <= 0.0 {
            self.price = self.outlook;
        }
    }

    /// Learns from a larger sample how wrong the usual one is: it is always the same.
    pub(crate) fn correct_outlook(&mut self, demand: &Demand, budget: f64) {
        if let Some(log_price) = demand.log_price(budget) {
            let wrong = log_price - demand.around.ln();
            self.rhythm.error = (self.rhythm.error + wrong).clamp(-MOST_WRONG, MOST_WRONG);
        }
    }

    /// The budget that would be spent in the long run at a price; `None` if there is no end to it.
    pub(crate) fn budget_at(&self, price: f64) -> Option<f64> {
        let (live, scale) = self.sample();
        if !(price > 0.0 && price.is_finite()) || live.is_empty() {
            return None;
        }
        let total: f64 = live.iter().map(|&i| self.demand(&self.sources[i], price)).sum();
        Some(total * scale)
    }

    /// Whether a source spends what it would: it is live, and its host does not rest for much of the time
    /// until the next survey. A price that is too low does less harm than one that is too high: whoever is
    /// worth most goes first all the same.
    pub(crate) fn is_in_reach(&self, source: &Source) -> bool {
        let rest = self.hosts[source.host as usize].free - self.now;
        source.is_live() && rest < REST * self.epoch()
    }

    /// Some live sources, spread over all, and how many there are to each of them.
    fn sample(&self) -> (Vec<usize>, f64) {
        let found = self.sample_of(|source| self.is_in_reach(source));
        if found.0.is_empty() { self.sample_of(Source::is_live) } else { found }
    }

    fn sample_of(&self, is_live: impl Fn(&Source) -> bool) -> (Vec<usize>, f64) {
        let all = self.sources.len();
        let is_live = |&i: &usize| is_live(&self.sources[i]);
        if all <= SAMPLE {
            return ((0..all).filter(is_live).collect(), 1.0);
        }
        // Steps of the golden section meet no pattern in the numbering.
        let spread = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * all as f64;
        let found: Vec<usize> = (1..=SAMPLE).map(|k| spread(k) as usize).filter(is_live).collect();
        if found.len() * 8 > SAMPLE {
            return (found, all as f64 / SAMPLE as f64);
        }
        // Where few are live, from among the first: a step has no time for more.
        let looked = all.min(FIRST);
        let found: Vec<usize> = (0..looked).filter(is_live).take(SAMPLE).collect();
        let looked =
            if found.len() < SAMPLE { looked } else { found.last().map_or(1, |at| at + 1) };
        (found, all as f64 / looked as f64)
    }
}
