//! The price of a fetch: the minimum value at which the budget is spent.
//!
//! The most valuable source is always fetched first, so the price follows the values of the latest
//! fetches: it needs no model and adapts within a small part of a fetch cycle. The price in the
//! long run comes from a model: the price at which the believed change rates spend the budget.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::source::Source;

/// Number of sources from which the long-run price is computed.
const SAMPLE_SIZE: usize = 512;
/// Number of sources that are scanned if a spread sample contains too few live ones.
const FALLBACK_SCAN_SIZE: usize = 1 << 17;
/// Maximum log step in the search for a price, which ends the search if no price fits.
const MAX_LOG_STEP: f64 = 40.0;
/// Share of the price at which a source becomes a candidate. It ensures a choice, and a good order
/// even if the price is somewhat wrong.
pub(crate) const ENTRY_SHARE: f64 = 0.6;
/// While the price is above the long-run price, a source is reconsidered at the latest when its
/// value has grown by this factor, because the price may fall in the meantime.
const MAX_TARGET_GROWTH: f64 = 2.0;
/// Share of all sources over whose fetches the price is averaged, with bounds on their number.
const PRICE_WINDOW_SHARE: f64 = 0.01;
const MIN_PRICE_WINDOW: f64 = 16.0;
const MAX_PRICE_WINDOW: f64 = 4096.0;
/// Bounds on the log ratio with which one fetch moves the price. The value of an announced change
/// is often far above the price and says little about it.
const MAX_LOG_RISE: f64 = 0.3;
const MAX_LOG_FALL: f64 = -1.0;
/// Lower bound on the price, as a share of the long-run price.
const MIN_PRICE_SHARE: f64 = 1e-6;
/// A host is saturated if its fetches are worth this many times the price and this many of its
/// sources wait.
const SATURATION_FACTOR: f64 = 1.25;
const SATURATION_CANDIDATES: usize = 16;
/// A host that pauses for more than this share of the time until the next survey does not count.
const MAX_PAUSE_SHARE: f64 = 0.1;
/// Maximum correction of the sampled long-run price, as a logarithm.
const MAX_LOG_CORRECTION: f64 = 0.5;

/// Budget that some sources would spend per day at a price and at two neighbouring prices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Demand {
    center: f64,
    spending: [f64; 3],
}

impl Demand {
    /// Log distance of the neighbouring prices.
    const LOG_SPACING: f64 = 0.2;

    pub(crate) fn new(price: f64) -> Self {
        Self { center: price, spending: [0.0; 3] }
    }

    /// Adds the demand of one source, as a function of the price.
    pub(crate) fn add(&mut self, at: impl Fn(f64) -> f64) {
        for (spending, steps) in self.spending.iter_mut().zip([-1.0, 0.0, 1.0]) {
            *spending += at(self.center * f64::exp(steps * Self::LOG_SPACING));
        }
    }

    /// Returns the logarithm of the price at which a budget is spent, if it is close.
    fn log_price(&self, budget: f64) -> Option<f64> {
        let [low, here, high] = self.spending.map(|spending| (spending / budget).ln());
        let slope = if here > 0.0 { high - here } else { here - low } / Self::LOG_SPACING;
        let log_price = self.center.ln() - here / slope;
        (slope < 0.0 && log_price.is_finite()).then_some(log_price)
    }
}

impl Engine {
    /// Value at which a source of a host becomes a candidate.
    pub(crate) fn entry_value(&self, host: u32) -> f64 {
        self.entry_value_at(self.price).max(ENTRY_SHARE * self.hosts[host as usize].price)
    }

    /// Price of a fetch at a host.
    pub(crate) fn host_price(&self, host: u32) -> f64 {
        self.price.max(self.hosts[host as usize].price)
    }

    /// Value at which a source becomes a candidate at a price, for a host that is not saturated.
    pub(crate) fn entry_value_at(&self, price: f64) -> f64 {
        ENTRY_SHARE * if self.long_run_price > 0.0 { price.min(self.long_run_price) } else { price }
    }

    /// Value at which a source with the given value is reconsidered.
    pub(crate) fn target_value(&self, value: f64) -> f64 {
        if self.is_large_set() && self.survey_schedule.target > 0.0 {
            return self.survey_schedule.target;
        }
        let long_run_price =
            if self.long_run_price > 0.0 { self.long_run_price } else { self.price };
        // Waits for more if the price is far above the value, so that the order of due days stays
        // meaningful.
        self.price.min(long_run_price.max(MAX_TARGET_GROWTH * value)).max(self.min_target_value())
    }

    /// Updates the price with the value of a started fetch.
    pub(crate) fn record_fetch_value(&mut self, host: u32, value: f64) {
        let window =
            (PRICE_WINDOW_SHARE * self.count as f64).clamp(MIN_PRICE_WINDOW, MAX_PRICE_WINDOW);
        if self.price > 0.0 {
            let log_ratio = (value / self.price).ln().clamp(MAX_LOG_FALL, MAX_LOG_RISE);
            // A source fetched twice in a moment is worth nothing and says nothing about the price.
            let min_price = (MIN_PRICE_SHARE * self.long_run_price).max(1e-90);
            self.price = (self.price * (log_ratio / window).exp()).clamp(min_price, 1e90);
        } else {
            self.price = value;
        }
        let it = &mut self.hosts[host as usize];
        if value < SATURATION_FACTOR * self.price || it.candidates.len() < SATURATION_CANDIDATES {
            self.saturated_hosts -= u32::from(it.price > 0.0);
            it.price = 0.0;
        } else if it.price > 0.0 {
            let log_ratio = (value / it.price).ln().clamp(MAX_LOG_FALL, MAX_LOG_RISE);
            it.price *= (log_ratio / MIN_PRICE_WINDOW).exp();
        } else {
            self.saturated_hosts += 1;
            it.price = SATURATION_FACTOR * self.price;
        }
    }

    /// Drops the price of a host that is no longer saturated.
    pub(crate) fn update_host_price(&mut self, host: usize) {
        let it = &mut self.hosts[host];
        if it.price > 0.0 && it.candidates.len() < SATURATION_CANDIDATES {
            it.price = 0.0;
            self.saturated_hosts -= 1;
            self.survey_schedule.mark_due_days_outdated();
        }
    }

    /// Budget per day that a source would spend at a price.
    pub(crate) fn demand(&self, source: &Source, price: f64) -> f64 {
        let cost = f64::from(source.cost);
        let interval = self.interval(source, price);
        if interval > 0.0 { cost / interval } else { cost * self.token_bucket.daily_rate() }
    }

    /// Computes the long-run price from a sample of the sources.
    pub(crate) fn update_long_run_price(&mut self) {
        let budget = self.token_bucket.daily_rate();
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
            // Clamps overflow and underflow.
            let excess = (total * scale / budget).ln();
            if excess.is_nan() { 500.0 } else { excess.clamp(-500.0, 500.0) }
        };
        let error = if self.is_large_set() { self.survey_schedule.error } else { 0.0 };
        let start =
            [self.long_run_price, self.price].into_iter().find(|&it| it > 0.0).map_or(0.0, f64::ln)
                - error;
        let (mut at, mut here) = (start, excess(start));
        let direction = here.signum();
        let (mut other, mut there) = (at, here);
        let mut step = 0.1;
        while here.signum() == direction && step < MAX_LOG_STEP {
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
            self.long_run_price = (log_price + error).clamp(-200.0, 200.0).exp();
        }
        if self.price <= 0.0 {
            self.price = self.long_run_price;
        }
    }

    /// Corrects the bias of the usual sample with a larger one. The bias is systematic.
    pub(crate) fn correct_long_run_price(&mut self, demand: &Demand, budget: f64) {
        if let Some(log_price) = demand.log_price(budget) {
            let correction = log_price - demand.center.ln();
            self.survey_schedule.error = (self.survey_schedule.error + correction)
                .clamp(-MAX_LOG_CORRECTION, MAX_LOG_CORRECTION);
        }
    }

    /// Budget per day that would be spent in the long run at a price; `None` if it is unbounded.
    pub(crate) fn budget_at(&self, price: f64) -> Option<f64> {
        let (live, scale) = self.sample();
        if !(price > 0.0 && price.is_finite()) || live.is_empty() {
            return None;
        }
        let total: f64 = live.iter().map(|&i| self.demand(&self.sources[i], price)).sum();
        Some(total * scale)
    }

    /// True if a source contributes to the demand: it is live, and its host does not pause for much
    /// of the time until the next survey. A price that is too low is less harmful than one that is
    /// too high, because the most valuable source still comes first.
    pub(crate) fn counts_in_demand(&self, source: &Source) -> bool {
        let rest = self.hosts[source.host as usize].free_at - self.now;
        source.is_live() && rest < MAX_PAUSE_SHARE * self.survey_interval()
    }

    /// Samples live sources evenly, and returns the number of sources that each one represents.
    fn sample(&self) -> (Vec<usize>, f64) {
        let found = self.sample_matching(|source| self.counts_in_demand(source));
        if found.0.is_empty() { self.sample_matching(Source::is_live) } else { found }
    }

    fn sample_matching(&self, is_live: impl Fn(&Source) -> bool) -> (Vec<usize>, f64) {
        let all = self.sources.len();
        let is_live = |&i: &usize| is_live(&self.sources[i]);
        if all <= SAMPLE_SIZE {
            return ((0..all).filter(is_live).collect(), 1.0);
        }
        // Golden section steps do not interfere with patterns in the numbering.
        let spread = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * all as f64;
        let found: Vec<usize> =
            (1..=SAMPLE_SIZE).map(|k| spread(k) as usize).filter(is_live).collect();
        if found.len() * 8 > SAMPLE_SIZE {
            return (found, all as f64 / SAMPLE_SIZE as f64);
        }
        // If few sources are live, takes them from the beginning: a step has no time for a full
        // scan.
        let scanned = all.min(FALLBACK_SCAN_SIZE);
        let found: Vec<usize> = (0..scanned).filter(is_live).take(SAMPLE_SIZE).collect();
        let scanned =
            if found.len() < SAMPLE_SIZE { scanned } else { found.last().map_or(1, |at| at + 1) };
        (found, all as f64 / scanned as f64)
    }
}
