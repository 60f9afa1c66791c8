//! Cost of fetching by the index of theory §15, simulated for one source and scaled to all.

use freshet_estimate::{ChangeCountPenalty, SignalChannel};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::error::LabError;
use crate::experiments::kolobov_web::Pages;
use crate::grid::logarithmic;
use crate::index::bisect;
use crate::random::{Random, random};

/// How well changes are signalled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) recall: f64,
    pub(super) precision: f64,
}

impl Observation {
    pub(super) const PERFECT: Self = Self { recall: 1.0, precision: 1.0 };

    /// Signals for each change.
    pub(super) fn signals(self) -> f64 {
        self.recall / self.precision
    }
}

/// Days between fetches and mean harmonic number of pending changes, of a source that changes once a day
/// and matters 1, at prices. The index has the dimension of importance over change rate, so that this is
/// enough for all sources.
pub(super) struct Curve {
    /// `None` where all is seen: fetched at the k-th change, k the price rounded up.
    points: Option<Vec<Point>>,
}

/// Logarithms, between which it is close to a line.
struct Point {
    price: f64,
    days: f64,
    cost: f64,
}

/// Simulated prices. Above the last one, a source is fetched after about as many changes as the price.
const PRICES: (f64, f64, usize) = (1e-3, 300.0, 67);
/// Changes and signals at each price.
const EVENTS: usize = 60_000;
/// Signals in a row without a fetch: more do not come at these prices.
const MOST: usize = 100_000;

impl Curve {
    pub(super) fn new(observation: Observation, seed: u64) -> Result<Self, LabError> {
        if observation == Observation::PERFECT {
            return Ok(Self { points: None });
        }
        let Observation { recall, precision } = observation;
        let channel = SignalChannel::new(1.0 - recall, observation.signals(), precision)?;
        let (from, to, count) = PRICES;
        let play = |(at, price): (u64, f64)| {
            let (days, cost) = play(channel, price, &mut random(seed.wrapping_add(at)));
            Point { price: price.ln(), days: days.ln(), cost: cost.max(1e-9).ln() }
        };
        let prices = logarithmic(from, to, count);
        Ok(Self { points: Some((0..).zip(prices).map(play).collect()) })
    }

    /// Days and cost at a price.
    fn at(&self, price: f64) -> (f64, f64) {
        let Some(points) = &self.points else {
            let k = price.ceil().max(1.0);
            return (k, harmonic_less_one(k));
        };
        let z = price.ln();
        let after = points.partition_point(|it| it.price < z).clamp(1, points.len() - 1);
        let (low, high) = (&points[after - 1], &points[after]);
        let part = (z - low.price) / (high.price - low.price);
        let between = |low: f64, high: f64| (low + part * (high - low)).exp();
        (between(low.days, high.days), between(low.cost, high.cost))
    }

    /// Returns the harmonic cost per source at a budget, if the price is the one that spends it.
    pub(super) fn cost(&self, pages: &Pages, budget: f64) -> f64 {
        let each = |price: f64| {
            let both = pages.weights.iter().zip(&pages.changes);
            both.fold((0.0, 0.0), |(fetches, cost), (&weight, &changes)| {
                let (days, own) = self.at(price * changes / weight);
                (fetches + changes / days, cost + weight * own)
            })
        };
        let (low, _) = bisect(-40.0, 40.0, |z| each(z.exp()).0 > budget);
        each(low.exp()).1 / pages.len() as f64
    }
}

/// H(k) − 1, in its expansion for large k.
fn harmonic_less_one(k: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if k < 50.0 {
        (2..=k as u32).map(|n| 1.0 / f64::from(n)).sum()
    } else {
        k.ln() + EULER + 0.5 / k - 1.0 / (12.0 * k * k) - 1.0
    }
}

/// Fetches by the index at a price: days from fetch to fetch, and the mean harmonic number of the changes
/// that are pending, which the rule does not see.
fn play(channel: SignalChannel, price: f64, dice: &mut Random) -> (f64, f64) {
    let all = channel.unsignalled_rate() + channel.signal_rate();
    let mut dues: Vec<f64> = Vec::new();
    let (mut days, mut cost, mut fetches, mut events) = (0.0, 0.0, 0.0, 0);
    while events < EVENTS {
        let (mut now, mut heard, mut pending, mut harmonic) = (0.0_f64, 0, 0_u32, 0.0);
        loop {
            if dues.len() <= heard {
                dues.push(channel.interval_at_price(
                    ChangeCountPenalty::Harmonic,
                    heard as f64,
                    price,
                ));
            }
            let due = dues[heard].max(now);
            let wait: f64 = Exp1.sample(dice);
            let next = now + wait / all;
            cost += harmonic * (next.min(due) - now);
            if due <= next || heard >= MOST {
                days += due;
                break;
            }
            now = next;
            events += 1;
            let is_signal = dice.random::<f64>() * all < channel.signal_rate();
            heard += usize::from(is_signal);
            if !is_signal || dice.random::<f64>() < channel.precision() {
                pending += 1;
                harmonic += 1.0 / f64::from(pending);
            }
        }
        fetches += 1.0;
        events += 1;
    }
    (days / fetches, cost / days)
}
