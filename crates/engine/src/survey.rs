//! Surveys: passes over all sources in small steps.

use freshet_estimate::{Prior, PriorFit};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::event::{Action, Alarm};
use crate::price::{Demand, ENTRY_SHARE};
use crate::source::{Source, SourceState};

/// Sources and hosts processed per step. The priors of hosts take longer.
const SOURCES_PER_STEP: usize = 1024;
const HOSTS_PER_STEP: usize = 128;
/// Minimum days between two surveys.
const MIN_SURVEY_INTERVAL: f64 = 1.0 / 24.0;
/// Minimum days of a full cycle for the decision to reconsider the price.
const MIN_RECHECK_CYCLE: f64 = 4.0 / 86_400.0;
/// Distance of the horizon in survey intervals: the minimum, the growth factor if too few sources
/// are within it for a good choice (fewer than this number or share), and the maximum.
const MIN_HORIZON_FACTOR: f64 = 1.5;
const HORIZON_GROWTH: f64 = 4.0;
const MIN_QUEUED: usize = 256;
const MIN_QUEUED_SHARE: f64 = 0.1;
const MAX_HORIZON_FACTOR: f64 = 1e6;
/// Share of the target value at which a fallen price triggers a survey, before sources wait for
/// nearly twice the price.
const COLLAPSE_SHARE: f64 = 0.6;

/// Tuning of the frequency and accuracy of surveys.
struct SurveyTuning {
    /// Maximum days between two surveys.
    max_interval_days: f64,
    /// Share of the sources that may be fetched between two surveys, and the minimum share if the
    /// price falls.
    turnover: f64,
    min_turnover_on_fall: f64,
    /// Factor by which the value on the due day may exceed the price before the day is moved
    /// forward.
    due_tolerance: f64,
    /// Ratio of the entry value to its earlier maximum below which a regular survey checks the due
    /// days, and below which a survey starts at once.
    entry_tolerance: f64,
    urgent_drop: f64,
    /// Growth of the number of answers after which priors are fitted again.
    refit_growth: f64,
}

const SMALL_SET_TUNING: SurveyTuning = SurveyTuning {
    max_interval_days: 5.0,
    turnover: 0.2,
    min_turnover_on_fall: 0.01,
    due_tolerance: 1.03,
    entry_tolerance: 0.97,
    urgent_drop: 0.93,
    refit_growth: 0.05,
};
const LARGE_SET_TUNING: SurveyTuning = SurveyTuning {
    max_interval_days: 30.0,
    turnover: 0.3,
    min_turnover_on_fall: 0.2,
    due_tolerance: 1.15,
    entry_tolerance: 0.9,
    urgent_drop: 0.85,
    refit_growth: 0.5,
};

/// Maximum ratio of the target value of a large set to the current price. The current price
/// fluctuates; the long-run price does not.
const LARGE_SET_PRICE_RATIO: f64 = 1.1;

/// Factor by which the target value of a large set is reduced if it was too high.
const PRICE_REDUCTION: f64 = 0.5;

/// Approximate number of sources to which the global prior is fitted.
const FIT_SAMPLE_SIZE: usize = 1 << 16;
/// Approximate number of sources from which the long-run price of a large set is found.
const DEMAND_SAMPLE_SIZE: usize = 1 << 14;

/// A pass over all sources that updates due days and fits priors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Survey {
    number: u32,
    next_source: usize,
    next_host: usize,
    /// True if due days are checked.
    checks_due_days: bool,
    /// True if scheduled sources may have to move to an earlier day.
    may_be_earlier: bool,
    /// Factor by which intervals may have become shorter at most, if only the price has changed.
    interval_shrink: Option<f64>,
    /// Horizon before the survey.
    previous_horizon: f64,
    /// Fit of the global prior over the visited sources, if priors are fitted.
    fit: Option<PriorFit>,
    /// Contribution of a source without observations to a fit under a prior. Cached because many
    /// are in a row.
    #[serde(skip)]
    unobserved_contribution: Option<(Prior, PriorFit)>,
    /// Budget per day that the maximum intervals need.
    required_budget: f64,
    /// True if there are sources beyond the horizon.
    has_sources_beyond: bool,
    /// Demand at several prices, for large sets.
    demand: Option<Demand>,
}

/// State of the survey schedule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SurveySchedule {
    count: u32,
    /// Maximum entry value by which sources were queued since the last survey, and its day.
    pub(crate) entry_value: f64,
    /// Maximum value that sources have been waiting for since then.
    pub(crate) target: f64,
    day: f64,
    /// Planned days from then until the next survey.
    days: f64,
    /// Log correction of the sampled long-run price.
    pub(crate) error: f64,
    /// Distance of the horizon in survey intervals, and whether sources are beyond it.
    horizon_factor: f64,
    has_sources_beyond: bool,
    /// Answers so far, and at the last fit.
    pub(crate) answers: f64,
    answers_at_fit: f64,
    /// True if priors were fitted since some due days were computed.
    has_outdated_due_days: bool,
    /// True if the owner was alerted that the budget is too small.
    budget_alarm_raised: bool,
}

impl Survey {
    /// Drops the demand found so far after the settings changed.
    pub(crate) fn forget_demand(&mut self) {
        self.demand = None;
    }
}

impl SurveySchedule {
    /// Resumes on a day that may be before the last survey's.
    pub(crate) fn resume(&mut self, now: f64) {
        self.day = self.day.min(now);
    }

    /// Resets the values after the price became unknown or changed its unit.
    pub(crate) fn without_price(&mut self) {
        (self.entry_value, self.target) = (f64::INFINITY, 0.0);
    }

    /// Notes that some due days may be too late.
    pub(crate) fn mark_due_days_outdated(&mut self) {
        self.has_outdated_due_days = true;
    }
}

impl Engine {
    /// Days in which all sources could be fetched once.
    fn full_cycle_days(&self) -> f64 {
        self.count as f64 / self.token_bucket.daily_rate().max(1e-300)
    }

    /// Day on which the result of the last survey is outdated: a share of all sources could have
    /// been fetched since.
    pub(crate) fn price_recheck_day(&self, share: f64) -> f64 {
        self.survey_schedule.day + share * self.full_cycle_days().max(MIN_RECHECK_CYCLE)
    }

    /// Days between two surveys.
    pub(crate) fn survey_interval(&self) -> f64 {
        let SurveyTuning { turnover, max_interval_days, .. } = *self.tuning();
        (turnover * self.full_cycle_days()).clamp(MIN_SURVEY_INTERVAL, max_interval_days)
    }

    fn tuning(&self) -> &'static SurveyTuning {
        if self.is_large_set() { &LARGE_SET_TUNING } else { &SMALL_SET_TUNING }
    }

    /// Entry value of hosts that are not saturated.
    pub(crate) fn common_entry_value(&self) -> f64 {
        if self.hosts.is_empty() { 0.0 } else { self.entry_value_at(self.price) }
    }

    /// True if many sources may be worth a fetch before their due day.
    pub(crate) fn has_price_fallen(&self, now: f64) -> bool {
        let SurveyTuning { urgent_drop, min_turnover_on_fall, max_interval_days, .. } =
            *self.tuning();
        (self.common_entry_value() < urgent_drop * self.survey_schedule.entry_value
            || self.has_price_collapsed())
            && now - self.survey_schedule.day
                > (min_turnover_on_fall * self.full_cycle_days()).min(max_interval_days)
    }

    fn has_price_collapsed(&self) -> bool {
        self.price < self.min_target_value()
    }

    /// Minimum value that sources may wait for before a survey is needed.
    pub(crate) fn min_target_value(&self) -> f64 {
        COLLAPSE_SHARE * self.survey_schedule.target
    }

    /// Begins a survey, which moves the horizon. It also fits priors if there is enough new
    /// evidence, and checks due days if they may be too late or priors were fitted since the last
    /// survey. `at_once` means that it cannot wait, and postpones the fits.
    pub(crate) fn begin_survey(&mut self, now: f64, at_once: bool) {
        self.update_long_run_price();
        let entry_value = self.common_entry_value();
        let Self { price, long_run_price, .. } = *self;
        let tuning = self.tuning();
        let has_collapsed = self.has_price_collapsed();
        let is_large_set = self.is_large_set();
        let survey_interval = self.survey_interval();
        let survey_schedule = &mut self.survey_schedule;
        // An urgent survey is not slowed down by fits.
        let refit_growth = !at_once
            && survey_schedule.answers
                > (1.0 + tuning.refit_growth) * survey_schedule.answers_at_fit;
        let target = if is_large_set {
            long_run_price.min(LARGE_SET_PRICE_RATIO * price)
        } else {
            entry_value / ENTRY_SHARE
        };
        let interval_shrink = (target
            / survey_schedule.target.max(survey_schedule.entry_value / ENTRY_SHARE))
        .min(1.0);
        let may_be_earlier = survey_schedule.has_outdated_due_days
            || has_collapsed
            || tuning.due_tolerance * interval_shrink < 1.0;
        let checks_due_days = at_once
            || is_large_set
            || survey_schedule.has_outdated_due_days
            || entry_value < tuning.entry_tolerance * survey_schedule.entry_value
            || has_collapsed;
        // While due days are accurate enough, days beyond the horizon are too.
        let interval_shrink = (!survey_schedule.has_outdated_due_days)
            .then_some(if checks_due_days { interval_shrink } else { 1.0 });
        survey_schedule.count = survey_schedule.count.wrapping_add(1).max(1);
        survey_schedule.has_outdated_due_days = refit_growth;
        if refit_growth {
            survey_schedule.answers_at_fit = survey_schedule.answers.min(20.0 * self.count as f64);
            survey_schedule.answers = survey_schedule.answers_at_fit;
        }
        self.survey = Some(Survey {
            number: self.survey_schedule.count,
            next_source: 0,
            next_host: 0,
            checks_due_days,
            may_be_earlier,
            interval_shrink,
            previous_horizon: self.horizon,
            fit: refit_growth.then(|| PriorFit::new(self.prior)),
            unobserved_contribution: None,
            required_budget: 0.0,
            has_sources_beyond: false,
            demand: is_large_set.then(|| Demand::new(long_run_price)),
        });
        if checks_due_days {
            (
                self.survey_schedule.entry_value,
                self.survey_schedule.target,
                self.survey_schedule.day,
            ) = (entry_value, target, now);
            self.survey_schedule.days = survey_interval;
        }
        self.horizon = self.horizon.max(
            now + self.survey_schedule.horizon_factor.max(MIN_HORIZON_FACTOR) * survey_interval,
        );
        self.queue.begin(now, self.horizon, self.count);
        let start = if is_large_set { now - survey_interval } else { now };
        self.scheduled.begin(start, self.horizon, self.count);
    }

    /// Continues the survey. Returns true if it is complete.
    pub(crate) fn continue_survey(&mut self, now: f64, actions: &mut Vec<Action>) -> bool {
        let Some(mut survey) = self.survey.take() else { return true };
        if survey.next_source < self.sources.len() {
            let end = (survey.next_source + SOURCES_PER_STEP).min(self.sources.len());
            for id in survey.next_source..end {
                self.survey_source(now, id as u32, &mut survey);
            }
            survey.next_source = end;
        }
        if survey.next_source >= self.sources.len() {
            let end = (survey.next_host + HOSTS_PER_STEP).min(self.hosts.len());
            if let Some(fit) = &survey.fit {
                if survey.next_host == 0 {
                    self.prior = fit.newton_step(Prior::BROAD, PriorFit::GLOBAL_STRENGTH);
                }
                for host in survey.next_host..end {
                    let host = &mut self.hosts[host];
                    let fit = if host.survey == survey.number {
                        host.fit
                    } else {
                        PriorFit::new(self.prior)
                    };
                    host.prior = fit.newton_step(self.prior, PriorFit::HOST_STRENGTH);
                }
            }
            for host in survey.next_host..end {
                self.update_host_price(host);
                // New settings may allow more requests.
                self.enqueue_host(now, host as u32);
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

    fn survey_source(&mut self, now: f64, id: u32, survey: &mut Survey) {
        let source = self.sources[id as usize];
        if !source.is_live() {
            return;
        }
        let is_sampled = |sample_size: usize| {
            (id as usize).is_multiple_of((self.sources.len() / sample_size).max(1))
        };
        if is_sampled(DEMAND_SAMPLE_SIZE)
            && self.counts_in_demand(&source)
            && let Some(demand) = &mut survey.demand
        {
            demand.add(|price| self.demand(&source, price));
        }
        if source.max_interval < f32::INFINITY {
            survey.required_budget += f64::from(source.cost) / f64::from(source.max_interval);
        }
        if let Some(fit) = &mut survey.fit
            && !source.has_owner_belief()
        {
            let host = &mut self.hosts[source.host as usize];
            if host.survey != survey.number {
                (host.survey, host.fit) = (survey.number, PriorFit::new(host.prior));
            }
            let signal_belief = self
                .signal_sources
                .active_history(source.history())
                .map(|history| history.estimate.change_belief());
            if let Some(signal_belief) = signal_belief {
                host.fit.add(signal_belief);
            } else if source.days > 0.0 || source.changes > 0.0 {
                host.fit.add(source.belief_on_prior(host.prior));
            } else {
                // All unobserved sources contribute the same.
                if survey
                    .unobserved_contribution
                    .as_ref()
                    .is_none_or(|(prior, _)| *prior != host.prior)
                {
                    let mut contribution = PriorFit::new(host.prior);
                    contribution.add(source.belief_on_prior(host.prior));
                    survey.unobserved_contribution = Some((host.prior, contribution));
                }
                if let Some((_, contribution)) = &survey.unobserved_contribution {
                    host.fit.merge(contribution);
                }
            }
            if is_sampled(FIT_SAMPLE_SIZE) {
                // Sources with signals tend to change often, so they count in the prior of all.
                fit.add(signal_belief.unwrap_or_else(|| source.belief_on_prior(self.prior)));
            }
        }
        if source.state == SourceState::Candidate && survey.checks_due_days {
            let rank = self.rank(now, &source);
            self.demote_candidate(now, id, rank);
        } else if matches!(source.state, SourceState::Waiting | SourceState::Scheduled) {
            self.place_in_calendar(now, id, survey);
        }
    }

    /// Adds a waiting source to the new calendar if its day is within the horizon.
    fn place_in_calendar(&mut self, now: f64, id: u32, survey: &mut Survey) {
        let source = self.sources[id as usize];
        let day = if source.is_retry() {
            Some(source.due)
        } else if source.state == SourceState::Waiting {
            self.comparison_day(&source, survey)
        } else {
            self.scheduled_day(now, &source, survey)
        };
        if let Some(day) = day {
            self.push_to_queue(day, id);
        } else {
            self.sources[id as usize].due = f64::INFINITY;
            self.enqueue(now, id);
        }
        let day = self.sources[id as usize].due;
        survey.has_sources_beyond |= day >= self.horizon && day < f64::INFINITY;
    }

    /// Day of the next comparison of a source, if still valid.
    fn comparison_day(&self, source: &Source, survey: &Survey) -> Option<f64> {
        // A source whose day should be later is corrected on that day.
        let is_early = survey.checks_due_days
            && (source.is_observed()
                || source.is_new()
                || source.due == f64::INFINITY
                || self.fetch_value(source.due, source)
                    > SMALL_SET_TUNING.due_tolerance * self.entry_value(source.host));
        (!is_early).then_some(source.due)
    }

    /// Day on which a scheduled source reaches its target value, if still valid; a lower bound
    /// beyond the horizon.
    fn scheduled_day(&self, now: f64, source: &Source, survey: &Survey) -> Option<f64> {
        let is_convex = !self.levels_off(source);
        if source.due >= survey.previous_horizon && is_convex {
            // A price lower by some factor shortens no interval by more than that factor.
            if let Some(interval_shrink) = survey.interval_shrink {
                let earliest = source.last + f64::from(source.min_interval);
                let day =
                    interval_shrink.mul_add(source.due - source.last, source.last).max(earliest);
                if day >= self.horizon {
                    return Some(day);
                }
            }
            if source.due < self.horizon && self.is_due_day_accurate(source) {
                return Some(source.due);
            }
            let is_far = source.last + f64::from(source.max_interval) >= self.horizon
                && self.fetch_value(self.horizon, source) < self.target_value(0.0);
            return is_far.then_some(self.horizon);
        }
        if self.is_large_set() {
            if source.due <= now {
                let rank = self.rank(now, source);
                return (rank >= self.target_value(0.0)).then(|| self.turn_day(rank));
            }
            return self.is_due_day_accurate(source).then_some(source.due);
        }
        let is_late = survey.checks_due_days && survey.may_be_earlier && {
            let target = self.target_value(self.fetch_value(now, source));
            self.fetch_value(source.due, source) > self.tuning().due_tolerance * target
        };
        (!is_late).then_some(source.due)
    }

    /// True if the value of a source on its due day is close to its target value.
    fn is_due_day_accurate(&self, source: &Source) -> bool {
        let SurveyTuning { due_tolerance, .. } = *self.tuning();
        let (value, target) = (self.fetch_value(source.due, source), self.target_value(0.0));
        value < due_tolerance * target && target < due_tolerance * value
    }

    /// True if sources are fetched in the order of their due days, because comparing all of them by
    /// current value would take too long.
    pub(crate) fn is_large_set(&self) -> bool {
        self.count >= self.settings.large_set_threshold
    }

    /// Due day of a source that already exceeds the target value: before the last survey, the
    /// earlier the higher its rank.
    pub(crate) fn turn_day(&self, rank: f64) -> f64 {
        let SurveySchedule { target, day, days, .. } = self.survey_schedule;
        // A short wait far from day 0 loses all precision and counts as worth nothing yet.
        if rank > target { day - days * (1.0 - target / rank) } else { day }
    }

    /// Extends the horizon if too few sources are within it and there are more. Returns true if the
    /// number is low.
    pub(crate) fn extend_horizon(&mut self, now: f64) -> bool {
        let queued = self.queue.len() + self.scheduled.len();
        let min_queued = MIN_QUEUED.max((MIN_QUEUED_SHARE * self.count as f64) as usize);
        let horizon_factor = self.survey_schedule.horizon_factor.max(MIN_HORIZON_FACTOR);
        if queued < min_queued
            && self.survey_schedule.has_sources_beyond
            && horizon_factor < MAX_HORIZON_FACTOR
            && self.survey.is_none()
        {
            self.survey_schedule.horizon_factor = HORIZON_GROWTH * horizon_factor;
            self.survey_schedule.has_sources_beyond = false;
            self.next_survey_at = now;
        }
        queued < 4 * min_queued
    }

    /// Lowers the price of a large set if the budget overflows and no source is waiting: no source
    /// will reach the target value.
    pub(crate) fn lower_price(&mut self, now: f64) {
        let is_queue_empty = self.queue.is_empty()
            && self.scheduled.is_empty()
            && !self.survey_schedule.has_sources_beyond;
        if self.is_large_set() && is_queue_empty && self.survey.is_none() {
            self.price = (PRICE_REDUCTION * self.price).max(1e-90);
            self.next_survey_at = self
                .next_survey_at
                .min(self.survey_schedule.day + MIN_SURVEY_INTERVAL)
                .max(now.next_up());
        }
    }

    fn finish_survey(&mut self, now: f64, survey: &Survey, actions: &mut Vec<Action>) {
        self.queue.finish();
        self.scheduled.finish();
        self.survey_schedule.has_sources_beyond = survey.has_sources_beyond;
        if let Some(demand) = &survey.demand {
            let sample_share = 1.0 / (self.sources.len() / DEMAND_SAMPLE_SIZE).max(1) as f64;
            self.correct_long_run_price(demand, sample_share * self.token_bucket.daily_rate());
        }
        self.next_survey_at = (now + self.survey_interval()).min(self.horizon).max(now.next_up());
        if !self.extend_horizon(now) {
            self.survey_schedule.horizon_factor *= 0.5;
        }
        let budget = self.token_bucket.daily_rate();
        let too_small = budget > 0.0 && survey.required_budget > budget;
        if too_small && !self.survey_schedule.budget_alarm_raised {
            actions.push(Action::Alarm(Alarm::BudgetTooSmall { needed: survey.required_budget }));
        }
        self.survey_schedule.budget_alarm_raised = too_small;
        self.report_price(actions);
    }

    pub(crate) fn report_price(&self, actions: &mut Vec<Action>) {
        let Self { price, long_run_price, saturated_hosts, .. } = *self;
        actions.push(Action::PriceUpdated { price, long_run_price, saturated_hosts });
    }
}
