//! The price: what a fetch must be worth so that the budget is spent, and no more.

use freshet_estimate::Fit;

use crate::engine::Engine;
use crate::source::{Source, State};

/// Sources from which a first price is found.
const SAMPLE: usize = 512;
/// The longest step in search of a price, as a logarithm: what no price brings about is not looked for
/// for ever.
const FARTHEST: f64 = 40.0;
/// How far from the budget, as a logarithm, a price is only mended and not looked for anew.
const NEAR: f64 = 0.5;
/// The share of an interval by which a source must be due earlier to get a new place in the queue.
const ROUGHLY: f64 = 0.001;
/// Sources that one step goes through in the course of a survey.
pub(crate) const STRIDE: usize = 2048;
/// The longest and the shortest time from survey to survey, in days.
const LONGEST: f64 = 5.0;
const SHORTEST: f64 = 1.0 / 24.0;
/// The share of sources that may be fetched from one survey to the next.
const TURNOVER: f64 = 0.1;

/// A pass over all sources in small steps: what they would spend at the price, what they are like,
/// and their places in the queue.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) next: usize,
    demand: f64,
    fit: Fit,
    hosts: Vec<Fit>,
}

impl Engine {
    /// Days from survey to survey.
    pub(crate) fn epoch(&self) -> f64 {
        let cycle = self.count as f64 / self.bucket.rate().max(1e-300);
        (TURNOVER * cycle).clamp(SHORTEST, LONGEST)
    }

    /// What a source would spend in a day at a price.
    fn demand(&self, source: &Source, price: f64) -> f64 {
        self.spending(source, self.interval(source, price))
    }

    /// What a source spends in a day at an interval.
    fn spending(&self, source: &Source, interval: f64) -> f64 {
        let cost = f64::from(source.cost);
        if interval > 0.0 { cost / interval } else { cost * self.bucket.rate() }
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, source: &Source, price: f64) -> f64 {
        let (cost, weight) = (f64::from(source.cost), f64::from(source.importance));
        if weight <= 0.0 {
            return f64::from(source.max_interval);
        }
        let price = price * cost * self.hosts[source.host as usize].surcharge / weight;
        let free = if source.observed {
            // Every k-th change; about as many as are worth the price.
            let between = 1.0 / source.belief.mean();
            between * (price / between).max(1.0)
        } else {
            source.penalty.due(source.belief, price)
        };
        free.clamp(f64::from(source.min_interval), f64::from(source.max_interval))
    }

    /// A price from a sample: as good a start as any.
    pub(crate) fn find_price(&mut self) {
        let budget = self.bucket.rate();
        if self.count == 0 || budget <= 0.0 {
            return;
        }
        let live: Vec<usize> = self.sample();
        let scale = self.count as f64 / live.len() as f64;
        let total = |price: f64| {
            let sum: f64 = live.iter().map(|&i| self.demand(&self.sources[i], price)).sum();
            sum * scale
        };
        // Demand falls with the price: bracket, then regula falsi on logarithms.
        let excess = |log_price: f64| (total(log_price.exp()).max(1e-300) / budget).ln();
        let start = if self.price > 0.0 { self.price.ln() } else { 0.0 };
        let (mut at, mut here) = (start, excess(start));
        let direction = here.signum();
        let (mut other, mut there) = (at, here);
        let mut step = 0.25;
        while here.signum() == direction && step < FARTHEST {
            (other, there) = (at, here);
            at += direction * step;
            step *= 2.0;
            here = excess(at);
        }
        for _ in 0..12 {
            if here == there || (at - other).abs() < 1e-4 {
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
            self.price = log_price.exp();
        }
    }

    /// Some live sources, spread over all.
    fn sample(&self) -> Vec<usize> {
        let stride = (self.sources.len() / SAMPLE).max(1);
        let is_live = |&i: &usize| !matches!(self.sources[i].state, State::Absent | State::Parked);
        let found: Vec<usize> = (0..self.sources.len()).step_by(stride).filter(is_live).collect();
        if found.is_empty() {
            (0..self.sources.len()).filter(is_live).take(SAMPLE).collect()
        } else {
            found
        }
    }

    /// Begins a survey.
    pub(crate) fn begin_survey(&mut self) {
        let hosts = self.hosts.iter().map(|host| Fit::new(host.prior)).collect();
        self.survey = Some(Survey { next: 0, demand: 0.0, fit: Fit::new(self.prior), hosts });
    }

    /// Goes on with the survey.
    pub(crate) fn go_on_surveying(&mut self, now: f64) {
        let Some(mut survey) = self.survey.take() else { return };
        let end = (survey.next + STRIDE).min(self.sources.len());
        for i in survey.next..end {
            let source = self.sources[i];
            if matches!(source.state, State::Absent | State::Parked) {
                continue;
            }
            let interval = self.interval(&source, self.price);
            survey.demand += self.spending(&source, interval);
            if !source.known
                && let Some(fit) = survey.hosts.get_mut(source.host as usize)
            {
                let host = self.hosts[source.host as usize].prior;
                fit.add(source.belief);
                survey.fit.add(source.belief.rebase(host, self.prior));
            }
            if source.state != State::Waiting || source.failures > 0 {
                continue;
            }
            // Who is due later now finds out when the day comes.
            let sooner = source.last + interval < source.due - ROUGHLY * interval;
            if source.observed || sooner || source.last == f64::NEG_INFINITY {
                self.enqueue(now, i as u32);
            }
        }
        survey.next = end;
        if end < self.sources.len() {
            self.survey = Some(survey);
        } else {
            self.finish_survey(&survey);
        }
    }

    /// New priors and a new price.
    fn finish_survey(&mut self, survey: &Survey) {
        let global = survey.fit.finish(freshet_estimate::Prior::BROAD, Fit::GLOBAL_STRENGTH);
        let hosts: Vec<_> =
            survey.hosts.iter().map(|fit| fit.finish(global, Fit::HOST_STRENGTH)).collect();
        for source in &mut self.sources {
            if source.state != State::Absent
                && !source.known
                && let Some(&to) = hosts.get(source.host as usize)
            {
                source.belief = source.belief.rebase(self.hosts[source.host as usize].prior, to);
            }
        }
        for (host, prior) in self.hosts.iter_mut().zip(hosts) {
            host.prior = prior;
        }
        self.prior = global;
        let budget = self.bucket.rate();
        if budget > 0.0 && survey.demand > 0.0 {
            // What waits or was left over since the last time says which way the estimates err.
            let span = budget * self.epoch();
            let waiting = self.waiting_cost() / span;
            let lost = self.bucket.take_lost() / span;
            self.bias =
                (self.bias + 0.1 * (waiting.min(2.0) - 0.1) - 0.5 * lost.min(2.0)).clamp(-1.0, 1.0);
            let model = (survey.demand / budget).ln();
            // Demand falls about with the root of the price, or faster.
            let wanted = model + self.bias;
            if wanted.abs() > NEAR {
                self.find_price();
                self.price *= self.bias.exp();
            } else {
                self.price *= wanted.exp();
            }
        }
    }

    fn waiting_cost(&self) -> f64 {
        self.ready_cost
    }
}
