//! The engine: a state machine that the caller drives with events.

mod dispatch;
mod fetch_results;
mod host_requests;
mod inbox;
mod signal_learning;

use std::collections::VecDeque;
use std::hint::black_box;

use freshet_estimate::Prior;
use serde::{Deserialize, Serialize};

use crate::calendar_queue::DueQueue;
use crate::chunked_vec::ChunkedVec;
use crate::due_heap::DueHeap;
use crate::event::{Action, Event};
use crate::half_life::HalfLifeSelector;
use crate::host::Host;
use crate::ranked_heap::RankedHeap;
use crate::settings::EngineSettings;
use crate::signal_sources::SignalSources;
use crate::source::{Goal, Source, SourceDescription, SourceState};
use crate::survey::{Survey, SurveySchedule};
use crate::token_bucket::TokenBucket;

use dispatch::MAX_INTERVAL_STRETCH;
use inbox::InboxItem;

/// Learns change rates, prices fetches and decides what to fetch next. Time is in days since an
/// origin that the caller chooses, and never goes back.
///
/// ```
/// use freshet_engine::{Action, Engine, EngineSettings, Event, FetchResult, SourceDescription};
///
/// let mut engine = Engine::new(0.0, EngineSettings { budget: 24.0, ..EngineSettings::default() });
/// let mut actions = Vec::new();
/// let important = SourceDescription { importance: 5.0, ..SourceDescription::new(1) };
/// let sources = vec![SourceDescription::new(0), important];
/// engine.step(0.0, Event::SourcesDescribed(sources), &mut actions);
/// engine.step(0.0, Event::CapacityAdded(1), &mut actions);
/// while !matches!(actions.last(), Some(Action::Fetch { .. })) {
///     engine.step(engine.next_tick(), Event::Tick, &mut actions);
/// }
/// // The more important source comes first.
/// let Some(&Action::Fetch { id, .. }) = actions.last() else { unreachable!() };
/// assert_eq!(id, 1);
/// let finished = Event::FetchFinished { id, outcome: FetchResult::Unchanged };
/// engine.step(engine.now(), finished, &mut actions);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    pub(crate) settings: EngineSettings,
    pub(crate) sources: ChunkedVec<Source, 1024>,
    /// Number of existing sources.
    pub(crate) count: usize,
    /// Goals that differ from the default goal of the settings; a small list.
    pub(crate) goals: Vec<Goal>,
    pub(crate) hosts: ChunkedVec<Host, 256>,
    pub(crate) signal_sources: SignalSources,
    /// Descriptions and signals that are not processed yet.
    inbox: VecDeque<InboxItem>,
    /// A long list that has been processed and is freed step by step.
    #[serde(skip)]
    spent: Vec<SourceDescription>,
    /// Sources by the day of their next comparison or retry.
    pub(crate) queue: DueQueue,
    /// Sources by the day on which their value reaches the price.
    pub(crate) scheduled: DueQueue,
    /// Sources due on this day or later are in neither queue; the next survey finds them.
    pub(crate) horizon: f64,
    /// Hosts by the end of their pause.
    pub(crate) resting_hosts: DueHeap,
    /// Hosts that can take a request and have a candidate, by the rank of the best one.
    pub(crate) ready_hosts: RankedHeap,
    /// Candidates below the price, by the day of their next ranking.
    pub(crate) rerank_queue: DueHeap,
    /// Candidates at or above the price, in the order of their next ranking.
    pub(crate) rerank_ring: VecDeque<u32>,
    pub(crate) token_bucket: TokenBucket,
    /// Minimum value of a fetch now, and in the long run; 0 while unknown.
    pub(crate) price: f64,
    pub(crate) long_run_price: f64,
    /// Number of hosts with a price of their own.
    pub(crate) saturated_hosts: u32,
    /// Prior over the change rates of all sources.
    pub(crate) prior: Prior,
    pub(crate) half_life: HalfLifeSelector,
    pub(crate) survey: Option<Survey>,
    pub(crate) survey_schedule: SurveySchedule,
    pub(crate) next_survey_at: f64,
    /// Sources added or removed since the last survey, and whether a survey must start at once.
    turnover: usize,
    survey_requested: bool,
    /// Surveys triggered by an idle budget since the last fetch.
    idle_surveys: u32,
    /// True if spare budget may be spent on a source before it is due.
    may_spend_early: bool,
    /// Cost of the next fetch, if the budget was too low for it.
    saving_for: f64,
    /// Day on which the first scheduled source becomes a candidate; minus infinity if it is one, or
    /// if the day is unknown.
    next_candidate_at: f64,
    /// Lower bound on the cost of a fetch.
    min_cost: f64,
    /// Fetches that fetchers are ready to make.
    capacity: u32,
    pub(crate) now: f64,
}

/// Sources that become candidates, and hosts that become ready, in one step at most.
const MAX_PROMOTIONS_PER_STEP: usize = 64;
/// Share of all sources that the unspent budget could fetch, and that could have been fetched since
/// the last survey, before an idle engine reconsiders the price.
const IDLE_BUDGET_SHARE: f64 = 0.25;
/// Approximate number of sources over which freshness is averaged.
const FRESHNESS_SAMPLE_SIZE: usize = 1 << 15;

impl Engine {
    /// Creates an engine without sources.
    #[must_use]
    pub fn new(now: f64, settings: EngineSettings) -> Self {
        let settings = settings.sanitized();
        let now = if now.is_finite() { now } else { 0.0 };
        Self {
            token_bucket: TokenBucket::new(now, &settings),
            prior: settings.prior,
            settings,
            sources: ChunkedVec::default(),
            count: 0,
            goals: Vec::new(),
            hosts: ChunkedVec::default(),
            signal_sources: SignalSources::default(),
            inbox: VecDeque::new(),
            spent: Vec::new(),
            queue: DueQueue::default(),
            resting_hosts: DueHeap::default(),
            ready_hosts: RankedHeap::default(),
            scheduled: DueQueue::default(),
            horizon: now,
            rerank_queue: DueHeap::default(),
            rerank_ring: VecDeque::new(),
            price: 0.0,
            long_run_price: 0.0,
            saturated_hosts: 0,
            half_life: HalfLifeSelector::default(),
            survey: None,
            survey_schedule: SurveySchedule::default(),
            next_survey_at: f64::INFINITY,
            turnover: 0,
            survey_requested: false,
            idle_surveys: 0,
            may_spend_early: true,
            saving_for: 0.0,
            next_candidate_at: f64::NEG_INFINITY,
            min_cost: f64::INFINITY,
            capacity: 0,
            now,
        }
    }

    /// Latest day passed to [`step`](Self::step).
    #[must_use]
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Current settings.
    #[must_use]
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Price of a fetch now: the minimum value per unit of cost, in the unit of the objective.
    /// Follows the values of the latest fetches. 0 while there are no sources.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Expected price in the long run, if nothing changes.
    #[must_use]
    pub fn long_run_price(&self) -> f64 {
        self.long_run_price
    }

    /// Iterates over saturated hosts and their prices. At these hosts more sources are worth the
    /// price than the host can take.
    pub fn host_prices(&self) -> impl Iterator<Item = (u32, f64)> {
        let hosts = self.hosts.iter().enumerate().filter(|(_, host)| host.price > 0.0);
        hosts.map(|(number, host)| (number as u32, host.price))
    }

    /// True if all events have been processed.
    #[must_use]
    pub fn is_inbox_empty(&self) -> bool {
        self.inbox.is_empty()
    }

    /// Host of a source; `None` if there is no such source.
    #[must_use]
    pub fn source_host(&self, id: u32) -> Option<u32> {
        let source = self.sources.get(id as usize)?;
        (source.state != SourceState::Absent).then_some(source.host)
    }

    /// Cost of a fetch of a source; `None` if there is no such source.
    #[must_use]
    pub fn source_cost(&self, id: u32) -> Option<f64> {
        let source = self.sources.get(id as usize)?;
        (source.state != SourceState::Absent).then_some(f64::from(source.cost))
    }

    /// Estimated freshness: the probability that a copy equals its source, weighted by importance,
    /// over all sources or a large sample. `None` without sources.
    #[must_use]
    pub fn freshness(&self) -> Option<f64> {
        let step = (self.sources.len() / FRESHNESS_SAMPLE_SIZE).max(1);
        let (mut fresh, mut all) = (0.0, 0.0);
        for at in (0..self.sources.len()).step_by(step) {
            let source = &self.sources[at];
            if source.state == SourceState::Absent {
                continue;
            }
            let importance = f64::from(source.importance);
            all += importance;
            if !source.is_new() && source.pending_changes() == 0 {
                fresh += importance * self.fresh_probability(source);
            }
        }
        (all > 0.0).then(|| fresh / all)
    }

    /// Number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are no sources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Day on which the engine needs a [`Tick`](Event::Tick); infinite if it only waits for events.
    #[must_use]
    pub fn next_tick(&self) -> f64 {
        let is_busy = self.survey.is_some() || !self.inbox.is_empty() || self.survey_requested;
        if is_busy || self.has_price_fallen(self.now) {
            return self.now;
        }
        let day = if self.can_dispatch() {
            let affordable_day = self.token_bucket.next_affordable_day(self.saving_for);
            if !self.ready_hosts.is_empty() {
                // Sources that become candidates meanwhile are collected when there is budget
                // again.
                affordable_day
            } else {
                let overflow_day =
                    if self.may_spend_early { self.token_bucket.full_day() } else { f64::INFINITY };
                let scheduled = match self.scheduled.peek() {
                    Some((day, _)) => day.min(self.next_candidate_at).max(affordable_day),
                    None => f64::INFINITY,
                };
                let next = self.queue.first().min(self.resting_hosts.first());
                scheduled.min(next).min(overflow_day).min(self.idle_recheck_day())
            }
        } else {
            f64::INFINITY
        };
        day.min(self.next_survey_at).max(self.now)
    }

    /// Day on which the price is reconsidered if nothing is fetched until then. The budget suffices
    /// for a good part of all sources and none is worth the price, so the price may be too high.
    fn idle_recheck_day(&self) -> f64 {
        let has_no_waiting_source = self.queue.is_empty() && self.scheduled.is_empty();
        if !self.may_spend_early
            || has_no_waiting_source
            || self.is_large_set()
            || !self.has_no_candidate(self.now)
        {
            return f64::INFINITY;
        }
        // Backs off: if one survey does not help, the next moment will not either.
        let share = IDLE_BUDGET_SHARE * f64::from(self.idle_surveys.min(60)).exp2();
        self.token_bucket
            .next_affordable_day(IDLE_BUDGET_SHARE * self.count as f64)
            .max(self.price_recheck_day(share))
    }

    /// True if no source is a candidate.
    fn has_no_candidate(&self, now: f64) -> bool {
        self.ready_hosts.is_empty() && (self.scheduled.is_empty() || self.next_candidate_at > now)
    }

    /// True if there is capacity and a budget.
    fn can_dispatch(&self) -> bool {
        self.capacity > 0 && self.token_bucket.daily_rate() > 0.0
    }

    /// Processes an event and appends the resulting actions. A day before the latest one counts as
    /// the latest.
    pub fn step(&mut self, now: f64, event: Event, actions: &mut Vec<Action>) {
        self.now = if now.is_finite() { self.now.max(now) } else { self.now };
        let now = self.now;
        self.token_bucket.accrue(now);
        self.release_memory();
        match event {
            Event::SourcesDescribed(items) => {
                self.enqueue_item(now, InboxItem::SourcesDescribed(items, 0), actions)
            }
            Event::SourcesRestored(items) => {
                self.enqueue_item(now, InboxItem::SourcesRestored(items, 0), actions)
            }
            Event::SourcesRemoved(items) => {
                self.enqueue_item(now, InboxItem::SourcesRemoved(items, 0), actions)
            }
            Event::FetchStarted(id) => self.on_external_fetch(now, id),
            Event::HostGapChanged { host, days } => self.set_host_gap(host, days),
            Event::ChangeObserved(id) if self.inbox.is_empty() => self.on_change_observed(now, id),
            Event::ChangeObserved(id) => self.inbox.push_back(InboxItem::ChangeObserved(id)),
            Event::SignalSourcesDescribed(items) => {
                self.enqueue_item(now, InboxItem::SignalSourcesDescribed(items, 0), actions)
            }
            Event::SignalSourcesRemoved(items) => {
                self.enqueue_item(now, InboxItem::SignalSourcesRemoved(items, 0), actions)
            }
            Event::SignalHistoriesRestored(items) => {
                self.enqueue_item(now, InboxItem::SignalHistoriesRestored(items, 0), actions)
            }
            Event::SignalReceived(signal) if self.inbox.is_empty() => {
                self.on_signal_received(now, signal)
            }
            Event::SignalReceived(signal) => {
                self.inbox.push_back(InboxItem::SignalReceived(signal))
            }
            Event::SignalSourceRead { signal_source, found } => {
                self.on_signal_source_read(now, signal_source, found)
            }
            Event::FetchFinished { id, outcome } => {
                self.on_fetch_finished(now, id, outcome, now, actions)
            }
            Event::FetchReported { id, outcome, day } => {
                self.on_fetch_finished(now, id, outcome, day, actions)
            }
            Event::FetchDeferred { id, days, unsent: unasked } => {
                self.defer_fetch(now, id, days, unasked)
            }
            Event::HostRequestStarted { host, earliest: from } => {
                self.on_host_request_started(now, host, from)
            }
            Event::HostRequestFinished { host, retry_after: rest, failed } => {
                self.on_host_request_finished(now, host, rest, failed, actions);
            }
            Event::CapacityAdded(fetches) => self.capacity = self.capacity.saturating_add(fetches),
            Event::CapacityRemoved(fetches) => {
                self.capacity = self.capacity.saturating_sub(fetches)
            }
            Event::Tick => self.on_tick(now, actions),
            Event::SettingsChanged(settings) => self.apply_settings(now, settings.sanitized()),
        }
        if self.can_dispatch() {
            self.collect_due(now);
            self.dispatch(now, actions);
        }
    }

    fn apply_settings(&mut self, now: f64, settings: EngineSettings) {
        self.token_bucket.apply_settings(now, &settings);
        if settings.goal != self.settings.goal {
            // The unit of the price has changed.
            (self.price, self.long_run_price) = (0.0, 0.0);
            self.survey_schedule.without_price();
            if self.saturated_hosts > 0 {
                (0..self.hosts.len()).for_each(|host| self.hosts[host].price = 0.0);
                self.saturated_hosts = 0;
            }
        }
        if let Some(survey) = &mut self.survey {
            survey.forget_demand();
        }
        self.settings = settings;
        self.survey_requested = true;
        self.may_spend_early = true;
    }

    fn on_tick(&mut self, now: f64, actions: &mut Vec<Action>) {
        if !self.inbox.is_empty() {
            self.process_inbox(now, actions);
        } else if self.survey.is_some() {
            if self.continue_survey(now, actions) {
                self.may_spend_early = true;
            }
        } else if self.survey_requested || self.next_survey_at <= now || self.has_price_fallen(now)
        {
            let at_once = std::mem::take(&mut self.survey_requested);
            self.turnover = 0;
            self.begin_survey(now, at_once);
        }
    }

    /// Promotes due sources to candidates, a few at a time, so that no step takes long.
    fn collect_due(&mut self, now: f64) {
        for _ in 0..MAX_PROMOTIONS_PER_STEP {
            let Some((_, host)) = self.resting_hosts.pop_due(now) else { break };
            self.hosts[host as usize].is_resting = false;
            self.on_host_available(now, host);
        }
        for state in [SourceState::Waiting, SourceState::Scheduled, SourceState::Candidate] {
            if state == SourceState::Scheduled && self.is_large_set() {
                continue;
            }
            for _ in 0..MAX_PROMOTIONS_PER_STEP {
                let due = match state {
                    SourceState::Candidate => self.rerank_queue.pop_due(now),
                    _ => self.pop_from_queue(state, now),
                };
                let Some((day, id)) = due else { break };
                let source = &self.sources[id as usize];
                if source.state != state || source.due != day {
                    continue;
                }
                if state == SourceState::Candidate {
                    self.rerank(now, id);
                } else {
                    self.promote_if_due(now, id);
                }
            }
        }
        if self.idle_recheck_day() <= now {
            self.idle_surveys = self.idle_surveys.saturating_add(1);
            self.survey_requested = true;
        }
        if self.has_no_candidate(now) && self.may_spend_early && self.token_bucket.full_day() <= now
        {
            self.spend_spare_budget(now);
        }
    }

    /// Puts a waiting source into its queue, on its day.
    pub(crate) fn enqueue(&mut self, now: f64, id: u32) {
        let (state, mut day, target) = self.wait_target(now, &self.sources[id as usize]);
        self.survey_schedule.entry_value =
            self.survey_schedule.entry_value.max(self.common_entry_value());
        if state == SourceState::Scheduled {
            self.survey_schedule.target = self.survey_schedule.target.max(target);
            if day <= now && self.is_large_set() {
                day = self.turn_day(self.rank(now, &self.sources[id as usize]));
            }
        }
        // Once its day has come, the exact day no longer matters.
        let source = &mut self.sources[id as usize];
        if source.state == state && (day == source.due || day.max(source.due) <= now) {
            return;
        }
        source.state = state;
        self.push_to_queue(day, id);
    }

    /// Returns the state in which a source waits, its day, and its value on that day: the price if
    /// its value grows without limit, otherwise the value at which it is compared with others.
    fn wait_target(&self, now: f64, source: &Source) -> (SourceState, f64, f64) {
        let entry_value = self.entry_value(source.host);
        let goal = self.goal(source);
        let has_learned_schedule = matches!(goal, Goal::KeepFresh(_)) && source.importance > 0.0;
        // At a saturated host, all sources that are worth the common price are compared.
        let has_common_price = self.hosts[source.host as usize].price <= 0.0;
        if has_learned_schedule && has_common_price && !source.is_new() && !source.is_observed() {
            // Most sources were fetched just now.
            let value = if source.last < now { self.fetch_value(now, source) } else { 0.0 };
            let target = self.target_value(value);
            let day = self.due_day(now, source, target);
            if self.is_large_set() {
                // A source that never reaches the value waits for the next survey.
                let state =
                    if day < f64::INFINITY { SourceState::Scheduled } else { SourceState::Waiting };
                return (state, day, target);
            }
            let is_slow = || {
                let compared = self.due_day(now, source, entry_value);
                day - source.last > MAX_INTERVAL_STRETCH * (compared - source.last)
            };
            if day < f64::INFINITY && !(goal.levels_off() && is_slow()) {
                return (SourceState::Scheduled, day, target);
            }
        }
        (SourceState::Waiting, self.due_day(now, source, entry_value), entry_value)
    }

    /// Adds a waiting source to its queue on a day, unless the day is beyond the horizon.
    pub(crate) fn push_to_queue(&mut self, day: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        source.due = day;
        if day < self.horizon || day <= self.now {
            let state = source.state;
            self.queue_for_state(state).push(day, id);
        }
    }

    /// Removes the first source of a queue if its day is not after `until`.
    fn pop_from_queue(&mut self, state: SourceState, until: f64) -> Option<(f64, u32)> {
        let Self { queue, scheduled, sources, hosts, .. } = self;
        let queue = if state == SourceState::Scheduled { scheduled } else { queue };
        queue.pop_due(until, |id| {
            // Only loads the record into the cache.
            let host = sources.get(id as usize).and_then(|source| hosts.get(source.host as usize));
            black_box(host.map(|host| (host.price, host.candidates.len())));
        })
    }

    fn queue_for_state(&mut self, state: SourceState) -> &mut DueQueue {
        if state == SourceState::Scheduled { &mut self.scheduled } else { &mut self.queue }
    }
}
