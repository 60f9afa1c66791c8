//! A look at all sources, in small steps.

use freshet_estimate::{Fit, Prior};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::event::{Action, Alarm};
use crate::price::{BAND, Demand};
use crate::source::{Source, State};

/// Sources that one step goes through, and hosts, whose priors take longer to find.
const STRIDE: usize = 1024;
const HOSTS: usize = 128;
/// The shortest time from survey to survey, in days.
const SHORTEST: f64 = 1.0 / 24.0;
/// Who could fetch all sources in less than these days looks at the price no more often for it.
const A_MOMENT: f64 = 4.0 / 86_400.0;
/// How far the horizon is, in times from survey to survey; so much farther if fewer sources than that
/// or than that share are within it, so that the best of them need not be good; and at most.
const REACH: f64 = 1.5;
const FARTHER: f64 = 4.0;
const ENOUGH: usize = 256;
const ENOUGH_OF_ALL: f64 = 0.1;
const FARTHEST: f64 = 1e6;
/// The price falls: nobody waits until twice as much is worth.
const COLLAPSE: f64 = 0.6;

/// How often surveys are made, and how carefully.
struct Care {
    /// The longest time from survey to survey, in days.
    longest: f64,
    /// The share of sources that may be fetched from one survey to the next, and at least so many if
    /// the price falls.
    turnover: f64,
    at_least: f64,
    /// How much more than the price a source may be worth when it is due before it is moved forward.
    roughly: f64,
    /// How far the entry may fall before a survey is of use when its time has come, and before it is
    /// made at once.
    nearly: f64,
    drop: f64,
    /// The share by which the number of answers must have grown before priors are fitted anew.
    news: f64,
}

const OF_FEW: Care = Care {
    longest: 5.0,
    turnover: 0.2,
    at_least: 0.01,
    roughly: 1.03,
    nearly: 0.97,
    drop: 0.93,
    news: 0.05,
};
const OF_MANY: Care = Care {
    longest: 30.0,
    turnover: 0.3,
    at_least: 0.2,
    roughly: 1.15,
    nearly: 0.9,
    drop: 0.85,
    news: 0.5,
};

/// How much more than the price of the day many sources may have to be worth: it is never quite the same,
/// and that in the long run is.
const CLEARLY: f64 = 1.1;

/// The share of what they had to be worth that many sources have to be if that was too much.
const LESS: f64 = 0.5;

/// Sources to which the prior of all is fitted, about.
const FITTED: usize = 1 << 16;
/// Sources of very many from which the price in the long run is found, about.
const DRAWN: usize = 1 << 14;

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
    /// How much shorter intervals may have become at most, if only the price is another one.
    shrink: Option<f64>,
    /// The horizon before it.
    from: f64,
    /// Whether priors are fitted, with the sources that are looked at.
    fit: Option<Fit>,
    /// What a source of which nothing is known adds to such a fit, under a prior: many in a row do.
    #[serde(skip)]
    untold: Option<(Prior, Fit)>,
    /// What longest intervals take in a day.
    needed: f64,
    /// Whether there are sources beyond the horizon.
    beyond: bool,
    /// What would be spent in a day at some prices, of very many.
    demand: Option<Demand>,
}

/// When surveys are made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rhythm {
    count: u32,
    /// The highest entry by which sources got their places in the queue since the last one, and its
    /// day.
    pub(crate) entry: f64,
    /// The most that sources wait to be worth since then.
    pub(crate) aim: f64,
    day: f64,
    /// Days from then until the next one, as far as was known.
    days: f64,
    /// How much higher the price in the long run is than the usual sample says, as a logarithm.
    pub(crate) error: f64,
    /// How far the horizon is, in times from survey to survey, and whether sources are beyond it.
    reach: f64,
    beyond: bool,
    /// Answers so far, and at the last fit.
    pub(crate) answers: f64,
    fitted: f64,
    /// Whether priors were fitted that not all places in the queue are by.
    unsettled: bool,
    /// Whether the owner knows that the budget is too small.
    warned: bool,
}

impl Survey {
    /// The settings are others: what would be spent is not what was found so far.
    pub(crate) fn forget_demand(&mut self) {
        self.demand = None;
    }
}

impl Rhythm {
    /// Goes on on a day, which may be before the last survey's.
    pub(crate) fn resume(&mut self, now: f64) {
        self.day = self.day.min(now);
    }

    /// The price is not known, or in another unit.
    pub(crate) fn without_price(&mut self) {
        (self.entry, self.aim) = (f64::INFINITY, 0.0);
    }

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

    /// The day from which on what the last survey found may be doubted: a share of all could have been
    /// fetched since.
    pub(crate) fn day_to_doubt(&self, share: f64) -> f64 {
        self.rhythm.day + share * self.cycle().max(A_MOMENT)
    }

    /// Days from survey to survey.
    pub(crate) fn epoch(&self) -> f64 {
        let Care { turnover, longest, .. } = *self.care();
        (turnover * self.cycle()).clamp(SHORTEST, longest)
    }

    fn care(&self) -> &'static Care {
        if self.are_many() { &OF_MANY } else { &OF_FEW }
    }

    /// The entry of hosts that have no price of their own.
    pub(crate) fn common_entry(&self) -> f64 {
        if self.hosts.is_empty() { 0.0 } else { self.entry_at(self.price) }
    }

    /// Whether many sources may be worth a fetch earlier than their places in the queue say.
    pub(crate) fn has_fallen(&self, now: f64) -> bool {
        let Care { drop, at_least, longest, .. } = *self.care();
        (self.common_entry() < drop * self.rhythm.entry || self.has_collapsed())
            && now - self.rhythm.day > (at_least * self.cycle()).min(longest)
    }

    fn has_collapsed(&self) -> bool {
        self.price < self.least_aim()
    }

    /// The least that sources wait to be worth until all of them are looked at again.
    pub(crate) fn least_aim(&self) -> f64 {
        COLLAPSE * self.rhythm.aim
    }

    /// Begins a survey, which moves the horizon; and looks at more than that if priors are to be
    /// fitted, or have been since the last one, or places in the queue may be too late. `at_once`: it
    /// cannot wait.
    pub(crate) fn begin_survey(&mut self, now: f64, at_once: bool) {
        self.look_ahead();
        let entry = self.common_entry();
        let Self { price, outlook, .. } = *self;
        let care = self.care();
        let collapsed = self.has_collapsed();
        let are_many = self.are_many();
        let epoch = self.epoch();
        let rhythm = &mut self.rhythm;
        // What cannot wait is not held up by what can.
        let news = !at_once && rhythm.answers > (1.0 + care.news) * rhythm.fitted;
        let aim = if are_many { outlook.min(CLEARLY * price) } else { entry / BAND };
        let shrink = (aim / rhythm.aim.max(rhythm.entry / BAND)).min(1.0);
        let earlier = rhythm.unsettled || collapsed || care.roughly * shrink < 1.0;
        let places = at_once
            || are_many
            || rhythm.unsettled
            || entry < care.nearly * rhythm.entry
            || collapsed;
        // As long as places are good enough, far days are too.
        let shrink = (!rhythm.unsettled).then_some(if places { shrink } else { 1.0 });
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
            shrink,
            from: self.horizon,
            fit: news.then(|| Fit::new(self.prior)),
            untold: None,
            needed: 0.0,
            beyond: false,
            demand: are_many.then(|| Demand::around(outlook)),
        });
        if places {
            (self.rhythm.entry, self.rhythm.aim, self.rhythm.day) = (entry, aim, now);
            self.rhythm.days = epoch;
        }
        self.horizon = self.horizon.max(now + self.rhythm.reach.max(REACH) * epoch);
        self.queue.begin(now, self.horizon, self.count);
        let start = if are_many { now - epoch } else { now };
        self.coming.begin(start, self.horizon, self.count);
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
            let end = (survey.next_host + HOSTS).min(self.hosts.len());
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
                self.finish_survey(now, &survey, actions);
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
        let one_of = |some: usize| (id as usize).is_multiple_of((self.sources.len() / some).max(1));
        if one_of(DRAWN)
            && self.is_in_reach(&source)
            && let Some(demand) = &mut survey.demand
        {
            demand.add(|price| self.demand(&source, price));
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
            let told = self.heralds.first_heard(source.ear()).map(|ear| ear.reading.changes());
            if let Some(told) = told {
                host.fit.add(told);
            } else if source.days > 0.0 || source.changes > 0.0 {
                host.fit.add(source.learnt_on(host.prior));
            } else {
                // All of them add the same.
                if survey.untold.as_ref().is_none_or(|(prior, _)| *prior != host.prior) {
                    let mut one = Fit::new(host.prior);
                    one.add(source.learnt_on(host.prior));
                    survey.untold = Some((host.prior, one));
                }
                if let Some((_, one)) = &survey.untold {
                    host.fit.merge(one);
                }
            }
            if one_of(FITTED) {
                // Those who listen are among the ones that change often: the prior of the others is theirs too.
                fit.add(told.unwrap_or_else(|| source.learnt_on(self.prior)));
            }
        }
        if source.state == State::Ready && survey.places {
            let rank = self.rank(now, &source);
            self.send_back(now, id, rank);
        } else if matches!(source.state, State::Waiting | State::Coming) {
            self.place(now, id, survey);
        }
    }

    /// Writes a waiting source into the new calendar if its day is not far off.
    fn place(&mut self, now: f64, id: u32, survey: &mut Survey) {
        let source = self.sources[id as usize];
        let day = if source.is_retried() {
            Some(source.due)
        } else if source.state == State::Waiting {
            self.day_to_compare(&source, survey)
        } else {
            self.day_to_come(now, &source, survey)
        };
        if let Some(day) = day {
            self.queue_for(day, id);
        } else {
            self.sources[id as usize].due = f64::INFINITY;
            self.enqueue(now, id);
        }
        let day = self.sources[id as usize].due;
        survey.beyond |= day >= self.horizon && day < f64::INFINITY;
    }

    /// The day on which a source is to be compared with others, as far as it is known already.
    fn day_to_compare(&self, source: &Source, survey: &Survey) -> Option<f64> {
        // Who is due later now finds out when the day comes.
        let is_early = survey.places
            && (source.is_observed()
                || source.is_new()
                || source.due == f64::INFINITY
                || self.worth(source.due, source) > OF_FEW.roughly * self.entry(source.host));
        (!is_early).then_some(source.due)
    }

    /// The same of one that will be worth the price; of one that is far off, no later day.
    fn day_to_come(&self, now: f64, source: &Source, survey: &Survey) -> Option<f64> {
        let is_convex = !self.levels_off(source);
        if source.due >= survey.from && is_convex {
            // A price that is lower by some share shortens no interval by more than that.
            if let Some(shrink) = survey.shrink {
                let allowed = source.last + f64::from(source.min_interval);
                let day = shrink.mul_add(source.due - source.last, source.last).max(allowed);
                if day >= self.horizon {
                    return Some(day);
                }
            }
            if source.due < self.horizon && self.is_about_right(source) {
                return Some(source.due);
            }
            let is_far = source.last + f64::from(source.max_interval) >= self.horizon
                && self.worth(self.horizon, source) < self.next_worth(0.0);
            return is_far.then_some(self.horizon);
        }
        if self.are_many() {
            if source.due <= now {
                let rank = self.rank(now, source);
                return (rank >= self.next_worth(0.0)).then(|| self.past_day(rank));
            }
            return self.is_about_right(source).then_some(source.due);
        }
        let is_late = survey.places && survey.earlier && {
            let aim = self.next_worth(self.worth(now, source));
            self.worth(source.due, source) > self.care().roughly * aim
        };
        (!is_late).then_some(source.due)
    }

    /// Whether a source is worth about what it waits for on its day.
    fn is_about_right(&self, source: &Source) -> bool {
        let Care { roughly, .. } = *self.care();
        let (worth, aim) = (self.worth(source.due, source), self.next_worth(0.0));
        worth < roughly * aim && aim < roughly * worth
    }

    /// Whether sources that come are fetched in the order of the days on which they are worth the same:
    /// to compare all of them by what they are worth now would take too long.
    pub(crate) fn are_many(&self) -> bool {
        self.count >= self.settings.many
    }

    /// The turn of a source that is worth what it waits for already: before the last survey, the more
    /// it is worth the earlier.
    pub(crate) fn past_day(&self, rank: f64) -> f64 {
        let Rhythm { aim, day, days, .. } = self.rhythm;
        // Of a short wait far from day 0 no digits are left: then it is worth nothing yet.
        if rank > aim { day - days * (1.0 - aim / rank) } else { day }
    }

    /// If too few sources are within the horizon and there are more, they are looked for. Says whether
    /// there are about too few.
    pub(crate) fn look_farther(&mut self, now: f64) -> bool {
        let within = self.queue.len() + self.coming.len();
        let enough = ENOUGH.max((ENOUGH_OF_ALL * self.count as f64) as usize);
        let reach = self.rhythm.reach.max(REACH);
        if within < enough && self.rhythm.beyond && reach < FARTHEST && self.survey.is_none() {
            self.rhythm.reach = FARTHER * reach;
            self.rhythm.beyond = false;
            self.next_survey = now;
        }
        within < 4 * enough
    }

    /// The budget runs over, and none of many waits for anything: what they would have to be worth is more
    /// than any of them will be.
    pub(crate) fn ask_less(&mut self, now: f64) {
        let nobody = self.queue.is_empty() && self.coming.is_empty() && !self.rhythm.beyond;
        if self.are_many() && nobody && self.survey.is_none() {
            self.price = (LESS * self.price).max(1e-90);
            self.next_survey = self.next_survey.min(self.rhythm.day + SHORTEST).max(now.next_up());
        }
    }

    fn finish_survey(&mut self, now: f64, survey: &Survey, actions: &mut Vec<Action>) {
        self.queue.finish();
        self.coming.finish();
        self.rhythm.beyond = survey.beyond;
        if let Some(demand) = &survey.demand {
            let drawn = 1.0 / (self.sources.len() / DRAWN).max(1) as f64;
            self.correct_outlook(demand, drawn * self.bucket.rate());
        }
        self.next_survey = (now + self.epoch()).min(self.horizon).max(now.next_up());
        if !self.look_farther(now) {
            self.rhythm.reach *= 0.5;
        }
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
