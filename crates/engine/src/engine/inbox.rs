//! Adding, updating and removing sources, in bulk.

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::checkpoint::LearnedState;
use crate::event::{Action, Alarm};
use crate::host::Host;
use crate::signal_source::{Signal, SignalHistoryCheckpoint, SignalSource, SignalSourceCheckpoint};
use crate::source::{Goal, Source, SourceDescription, SourceFlags, SourceState};

/// An event in progress, with the index of the next element to process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum InboxItem {
    SourcesDescribed(Vec<SourceDescription>, usize),
    SourcesRestored(Vec<(SourceDescription, LearnedState)>, usize),
    SourcesRemoved(Vec<u32>, usize),
    ChangeObserved(u32),
    SignalSourcesDescribed(Vec<(SignalSource, Option<SignalSourceCheckpoint>)>, usize),
    SignalSourcesRemoved(Vec<u32>, usize),
    SignalHistoriesRestored(Vec<(u32, u32, SignalHistoryCheckpoint)>, usize),
    SignalReceived(Signal),
}

/// Elements processed per step.
const ITEMS_PER_STEP: usize = 1024;
/// A survey starts at once when one in this many sources was added or removed.
const SURVEY_TURNOVER_DIVISOR: usize = 50;
/// Maximum number of goals that differ from the settings.
const MAX_GOALS: usize = 255;

/// Processes as many elements as one step has time for. Returns true if the list is finished.
fn process_some<T>(
    items: &[T],
    next: &mut usize,
    remaining: &mut usize,
    mut process: impl FnMut(&T),
) -> bool {
    let end = items.len().min(*next + *remaining);
    items[*next..end].iter().for_each(&mut process);
    *remaining -= end - *next;
    *next = end;
    end == items.len()
}

impl Engine {
    /// Queues an item and processes the beginning of it at once.
    pub(super) fn enqueue_item(&mut self, now: f64, item: InboxItem, actions: &mut Vec<Action>) {
        self.inbox.push_back(item);
        if self.inbox.len() == 1 {
            self.process_inbox(now, actions);
        }
    }

    pub(super) fn process_inbox(&mut self, now: f64, actions: &mut Vec<Action>) {
        let mut remaining = ITEMS_PER_STEP;
        while remaining > 0
            && let Some(mut item) = self.inbox.pop_front()
        {
            let is_finished = match &mut item {
                InboxItem::SourcesDescribed(items, next) => {
                    process_some(items, next, &mut remaining, |description| {
                        self.describe_source(now, description, None, actions)
                    })
                }
                InboxItem::SourcesRestored(items, next) => {
                    process_some(items, next, &mut remaining, |(description, learned)| {
                        self.describe_source(now, description, Some(learned), actions);
                    })
                }
                InboxItem::SourcesRemoved(items, next) => {
                    process_some(items, next, &mut remaining, |id| self.remove_source(now, *id))
                }
                InboxItem::ChangeObserved(id) => {
                    remaining -= 1;
                    self.on_change_observed(now, *id);
                    true
                }
                InboxItem::SignalReceived(signal) => {
                    remaining -= 1;
                    self.on_signal_received(now, *signal);
                    true
                }
                InboxItem::SignalSourcesDescribed(items, next) => {
                    process_some(items, next, &mut remaining, |(description, checkpoint)| {
                        self.describe_signal_source(now, *description, checkpoint.as_ref());
                    })
                }
                InboxItem::SignalSourcesRemoved(items, next) => {
                    process_some(items, next, &mut remaining, |number| {
                        self.remove_signal_source(now, *number)
                    })
                }
                InboxItem::SignalHistoriesRestored(items, next) => {
                    process_some(items, next, &mut remaining, |(id, signal_source, checkpoint)| {
                        self.restore_history(now, *id, *signal_source, checkpoint);
                    })
                }
            };
            if !is_finished {
                self.inbox.push_front(item);
            } else if let InboxItem::SourcesDescribed(items, _) = item
                && items.len() > ITEMS_PER_STEP
            {
                self.spent = items;
            }
        }
    }

    /// Frees long lists step by step: freeing one at once takes as long as a thousand steps.
    pub(super) fn release_memory(&mut self) {
        self.queue.release_memory();
        self.scheduled.release_memory();
        if self.spent.is_empty() {
            return;
        }
        let remaining = self.spent.len().saturating_sub(4 * ITEMS_PER_STEP);
        self.spent.truncate(remaining);
        self.spent.shrink_to(remaining);
    }

    fn describe_source(
        &mut self,
        now: f64,
        description: &SourceDescription,
        learned: Option<&LearnedState>,
        actions: &mut Vec<Action>,
    ) {
        let goal = description.validate().ok().and_then(|()| self.goal_index(description.goal));
        let Some(goal) = goal else {
            actions.push(Action::Alarm(Alarm::DescriptionRejected(description.id)));
            return;
        };
        let id = description.id as usize;
        while self.hosts.len() <= description.host as usize {
            self.hosts.push(Host::new(self.prior));
        }
        while self.sources.len() <= id {
            self.sources.push(Source::NONE);
        }
        // The source starts over with the evidence it has.
        let Source { state: before, due, .. } = self.sources[id];
        let stays_queued =
            matches!(before, SourceState::Waiting | SourceState::Scheduled) && !description.paused;
        if !stays_queued {
            self.unqueue(description.id);
        }
        let source = &mut self.sources[id];
        if before == SourceState::Absent {
            let mut flags = SourceFlags::default();
            flags.set(SourceFlags::IN_RING, source.flags.has(SourceFlags::IN_RING));
            flags.set(SourceFlags::NEW, true);
            *source = Source { last: now, flags, ..Source::NONE };
            self.count += 1;
            if let Some(learned) = learned {
                learned.write(now, source);
            }
        }
        let restored = learned.filter(|_| before == SourceState::Absent);
        match description.belief {
            Some(belief) => {
                source.set_evidence(belief.shape(), belief.days());
            }
            None if source.has_owner_belief() => source.set_evidence(0.0, 0.0),
            None => {}
        }
        if let Some(day) = description.last_fetch.map(|day| day.min(now))
            && (source.is_new() || day > source.last)
        {
            self.record_copy_in_histories(description.id, day, false);
            self.sources[id].record_copy(day);
        }
        let source = &mut self.sources[id];
        source.importance = description.importance.clamp(0.0, 1e30) as f32;
        let paid = f64::from(source.cost);
        source.cost = description.cost.clamp(1e-30, 1e30) as f32;
        if before == SourceState::InFlight {
            // A fetch in flight costs what it costs now.
            self.token_bucket.refund(paid - f64::from(source.cost));
        }
        self.min_cost = self.min_cost.min(f64::from(source.cost));
        source.min_interval = description.min_interval as f32;
        source.max_interval = description.max_interval as f32;
        source.goal = goal;
        source.flags.set(SourceFlags::OWNER_BELIEF, description.belief.is_some());
        let observed_changed =
            before != SourceState::Absent && source.is_observed() != description.observed;
        if observed_changed {
            // Observed changes and reliability-weighted signals are counted separately.
            self.unlink_signals(description.id);
            self.sources[id].pending = 0;
        }
        let source = &mut self.sources[id];
        source.flags.set(SourceFlags::OBSERVED, description.observed);
        if before == SourceState::Absent && !description.observed {
            source.pending = 0;
        }
        if before == SourceState::Absent || observed_changed {
            self.link_to_signal_source(description.id);
        }
        let source = &mut self.sources[id];
        source.flags.set(SourceFlags::PAUSED, description.paused);
        match before {
            // The source moves to the new host when its fetch returns.
            SourceState::InFlight => (source.state, source.place) = (before, description.host),
            SourceState::Parked => source.host = description.host,
            _ if restored.is_some_and(|description| description.is_parked()) => {
                (source.host, source.state) = (description.host, SourceState::Parked);
            }
            _ => {
                source.host = description.host;
                let due = restored.map_or(due, |state| state.safe_due_day(now));
                if !stays_queued {
                    source.state =
                        if description.paused { SourceState::Paused } else { SourceState::Waiting };
                }
                if description.paused {
                    // Keeps the day of the next retry for later.
                    source.due = if source.is_retry() { due } else { f64::INFINITY };
                } else if source.is_retry() {
                    // The day of the next retry stays.
                    if stays_queued {
                        return self.note_turnover();
                    }
                    self.push_to_queue(if due < f64::INFINITY { due } else { now }, description.id);
                } else if let Some(state) =
                    restored.and_then(|description| description.waiting_state(due))
                    && self.price > 0.0
                {
                    // Reuses the stored day; the next survey checks it.
                    source.state = state;
                    self.push_to_queue(due, description.id);
                } else if self.price > 0.0 || source.is_new() {
                    self.enqueue(now, description.id);
                } else {
                    // The survey that finds the price also finds its day.
                    self.unqueue(description.id);
                }
            }
        }
        self.note_turnover();
    }

    /// Index of a goal in the list, 0 for none; `None` if the list is full.
    fn goal_index(&mut self, goal: Option<Goal>) -> Option<u8> {
        let Some(goal) = goal else { return Some(0) };
        let place = self.goals.iter().position(|&other| other == goal).unwrap_or_else(|| {
            self.goals.push(goal);
            self.goals.len() - 1
        });
        self.goals.truncate(MAX_GOALS);
        u8::try_from(place + 1).ok()
    }

    fn remove_source(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        let (state, host) = (source.state, source.host);
        if state == SourceState::Absent {
            return;
        }
        self.unqueue(id);
        if state == SourceState::InFlight {
            self.hosts[host as usize].in_flight -= 1;
            self.enqueue_host(now, host);
        }
        self.unlink_signals(id);
        self.sources[id as usize].state = SourceState::Absent;
        self.half_life.forget(id);
        self.count -= 1;
        self.note_turnover();
    }

    /// Removes a source from its queue and from the candidates.
    fn unqueue(&mut self, id: u32) {
        if self.sources[id as usize].state == SourceState::Candidate {
            self.remove_candidate(id);
        }
        let source = &mut self.sources[id as usize];
        if source.state == SourceState::Scheduled {
            source.state = SourceState::Waiting;
        }
        source.due = f64::INFINITY;
    }

    fn note_turnover(&mut self) {
        self.turnover += 1;
        self.may_spend_early = true;
        if self.turnover * SURVEY_TURNOVER_DIVISOR > self.count || self.price <= 0.0 {
            self.survey_requested = true;
        }
    }
}
