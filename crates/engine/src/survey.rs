//! A look at all sources, in small steps.

use freshet_estimate::{Fit, Prior};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::event::{Action, Alarm};
use crate::price::BAND;
use crate::source::State;

/// Sources, or hosts, that one step goes through.
const STRIDE: usize = 2048;
/// The longest and the shortest time from survey to survey, in days.
const LONGEST: f64 = 5.0;
const SHORTEST: f64 = 1.0 / 24.0;
/// The share of sources that may be fetched from one survey to the next, and at least so many if the
/// price falls.
const TURNOVER: f64 = 0.2;
const AT_LEAST: f64 = 0.01;
/// How much more than the entry a source may be worth when it is due before it is moved forward.
const ROUGHLY: f64 = 1.03;
/// How far the entry may fall before a survey is of use when its time has come.
const NEARLY: f64 = 0.97;
/// How far the entry may fall before those that are now due earlier are looked for.
const DROP: f64 = 0.93;
/// The share by which the number of answers must have grown before priors are fitted anew.
const NEWS: f64 = 0.05;
/// The same, and the times above, if there are so many sources that surveys would be a good part of
/// all work.
const MANY: usize = 1 << 17;
const ROUGHLY_OF_MANY: f64 = 1.15;
const NEWS_OF_MANY: f64 = 0.2;
const TURNOVER_OF_MANY: f64 = 0.6;
const LONGEST_OF_MANY: f64 = 30.0;
/// Sources to which the prior of all is fitted, about.
const FITTED: usize = 1 << 16;

/// A pass over all sources: their places in the queue, and what they are like.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Survey {
    number: u32,
    next_source: usize,
    next_host: usize,
    /// Whether places in the queue are looked at.
    places: bool,
    /// Whether those who wait for the price may have to do so for an earlier day.
    earlier: bool,
    /// Whether priors are fitted, with the sources that are looked at.
    fit: Option<Fit>,
    /// What longest intervals take in a day.
    needed: f64,
}

/// When surveys are made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rhythm {
    count: u32,
    /// The highest entry by which sources got their places in the queue since the last one, and its
    /// day.
    pub(crate) entry: f64,
    day: f64,
    /// Answers so far, and at the last fit.
    pub(crate) answers: f64,
    fitted: f64,
    /// Whether priors were fitted that not all places in the queue are by.
    unsettled: bool,
    /// Whether the owner knows that the budget is too small.
    warned: bool,
}

impl Rhythm {
    /// There are places in the queue that may be too late.
    pub(crate) fn unsettle(&mut self) {
        self.unsettled = true;
    }
}

impl Engine {
    /// Days in which all sources could be fetched once.
    fn cycle(&self) -> f64 {
        self.count as f64 / self.bucket.rate().max(1e-300)
    }

    /// Days from survey to survey.
    pub(crate) fn epoch(&self) -> f64 {
        if self.count < MANY {
            (TURNOVER * self.cycle()).clamp(SHORTEST, LONGEST)
        } else {
            (TURNOVER_OF_MANY * self.cycle()).clamp(SHORTEST, LONGEST_OF_MANY)
        }
    }

    /// The entry of hosts that have no price of their own.
    pub(crate) fn common_entry(&self) -> f64 {
        if self.hosts.is_empty() { 0.0 } else { self.entry_at(self.price) }
    }

    /// Whether many sources may be worth a fetch earlier than their places in the queue say.
    pub(crate) fn has_fallen(&self, now: f64) -> bool {
        self.common_entry() < DROP * self.rhythm.entry
            && now - self.rhythm.day > (AT_LEAST * self.cycle()).min(LONGEST)
    }

    /// Begins a survey if there is any use in it: if priors are to be fitted, or have been since the
    /// last one, or places in the queue may be too late. `at_once`: whatever it is good for.
    pub(crate) fn begin_survey(&mut self, now: f64, at_once: bool) {
        self.look_ahead();
        let entry = self.common_entry();
        let growth = 1.0 + if self.count < MANY { NEWS } else { NEWS_OF_MANY };
        let rhythm = &mut self.rhythm;
        // What cannot wait is not held up by what can.
        let news = !at_once && rhythm.answers > growth * rhythm.fitted;
        let earlier = rhythm.unsettled || entry < rhythm.entry;
        let places = at_once || rhythm.unsettled || entry < NEARLY * rhythm.entry;
        if !(places || news || self.saturated > 0) {
            self.next_survey = now + self.epoch();
            return;
        }
        rhythm.count = rhythm.count.wrapping_add(1).max(1);
        rhythm.unsettled = news;
        if news {
            rhythm.fitted = rhythm.answers.min(20.0 * self.count as f64);
            rhythm.answers = rhythm.fitted;
        }
        self.survey = Some(Survey {
            number: self.rhythm.count,
            next_source: 0,
            next_host: 0,
            places,
            earlier,
            fit: news.then(|| Fit::new(self.prior)),
            needed: 0.0,
        });
        if places {
            (self.rhythm.entry, self.rhythm.day) = (entry, now);
        }
    }

    /// Goes on with the survey. Says whether it is over.
    pub(crate) fn go_on_surveying(&mut self, now: f64, actions: &mut Vec<Action>) -> bool {
        let Some(mut survey) = self.survey.take() else { return true };
        if survey.next_source < self.sources.len() {
            let end = (survey.next_source + STRIDE).min(self.sources.len());
            for id in survey.next_source..end {
                self.look_at(now, id as u32, &mut survey);
            }
            survey.next_source = end;
        }
        if survey.next_source >= self.sources.len() {
            let end = (survey.next_host + STRIDE).min(self.hosts.len());
            if let Some(fit) = &survey.fit {
                if survey.next_host == 0 {
                    self.prior = fit.finish(Prior::BROAD, Fit::GLOBAL_STRENGTH);
                }
                for host in survey.next_host..end {
                    let host = &mut self.hosts[host];
                    let fit =
                        if host.survey == survey.number { host.fit } else { Fit::new(self.prior) };
                    host.prior = fit.finish(self.prior, Fit::HOST_STRENGTH);
                }
            }
            for host in survey.next_host..end {
                self.reconsider_price(host);
                // The settings may allow what they did not.
                self.line_up(now, host as u32);
            }
            survey.next_host = end;
            if end == self.hosts.len() {
                self.finish_survey(&survey, actions);
                return true;
            }
        }
        self.survey = Some(survey);
        false
    }

    fn look_at(&mut self, now: f64, id: u32, survey: &mut Survey) {
        let source = self.sources[id as usize];
        if !source.is_live() {
            return;
        }
        if source.max_interval < f32::INFINITY {
            survey.needed += f64::from(source.cost) / f64::from(source.max_interval);
        }
        if let Some(fit) = &mut survey.fit
            && !source.is_known()
        {
            let host = &mut self.hosts[source.host as usize];
            if host.survey != survey.number {
                (host.survey, host.fit) = (survey.number, Fit::new(host.prior));
            }
            host.fit.add(source.learnt_on(host.prior));
            let stride = (self.sources.len() / FITTED).max(1);
            if (id as usize).is_multiple_of(stride) {
                fit.add(source.learnt_on(self.prior));
            }
        }
        if !survey.places {
            return;
        }
        let entry = self.entry(source.host);
        match source.state {
            State::Ready => {
                let rank = self.rank(now, &source);
                self.send_back(now, id, rank);
            }
            State::Coming if survey.earlier => {
                let roughly = if self.count < MANY { ROUGHLY } else { ROUGHLY_OF_MANY };
                let late = self.worth(source.due, &source) > roughly / BAND * entry;
                if late {
                    self.enqueue(now, id);
                }
            }
            State::Waiting if !source.is_retried() => {
                // Who is due later now finds out when the day comes.
                let early = source.is_observed()
                    || source.is_new()
                    || source.due == f64::INFINITY
                    || self.worth(source.due, &source) > ROUGHLY * entry;
                if early {
                    self.enqueue(now, id);
                }
            }
            _ => {}
        }
    }

    fn finish_survey(&mut self, survey: &Survey, actions: &mut Vec<Action>) {
        let budget = self.bucket.rate();
        let too_small = budget > 0.0 && survey.needed > budget;
        if too_small && !self.rhythm.warned {
            actions.push(Action::Alarm(Alarm::BudgetTooSmall { needed: survey.needed }));
        }
        self.rhythm.warned = too_small;
        self.say_price(actions);
    }

    pub(crate) fn say_price(&self, actions: &mut Vec<Action>) {
        let Self { price, outlook, saturated, .. } = *self;
        actions.push(Action::Priced { price, outlook, saturated });
    }
}
