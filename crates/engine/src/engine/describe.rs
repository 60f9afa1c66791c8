//! Sources come, change and go.

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::event::{Action, Alarm};
use crate::host::Host;
use crate::recall::LearnedState;
use crate::signal_source::{Signal, SignalHistoryMemory, SignalSource, SignalSourceMemory};
use crate::source::{Description, Flags, Goal, Source, State};

/// What is to be taken in, and from which place on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Bulk {
    Described(Vec<Description>, usize),
    Recalled(Vec<(Description, LearnedState)>, usize),
    Removed(Vec<u32>, usize),
    Signal(u32),
    Heralds(Vec<(SignalSource, Option<SignalSourceMemory>)>, usize),
    Dismissed(Vec<u32>, usize),
    Overheard(Vec<(u32, u32, SignalHistoryMemory)>, usize),
    Heard(Signal),
}

/// Descriptions that one step takes in.
const STRIDE: usize = 1024;
/// The share of all sources that must have come or gone for a look at all at once: one in so many.
const MANY: usize = 50;
/// Goals that differ from the settings'.
const GOALS: usize = 255;

/// Takes in what one step has time for. Says whether that was the last.
fn go_on<T>(some: &[T], next: &mut usize, left: &mut usize, mut take_in: impl FnMut(&T)) -> bool {
    let end = some.len().min(*next + *left);
    some[*next..end].iter().for_each(&mut take_in);
    *left -= end - *next;
    *next = end;
    end == some.len()
}

impl Engine {
    /// Takes in a few at once, more step by step.
    pub(super) fn take_in(&mut self, now: f64, bulk: Bulk, actions: &mut Vec<Action>) {
        self.inbox.push_back(bulk);
        if self.inbox.len() == 1 {
            self.go_on_taking_in(now, actions);
        }
    }

    pub(super) fn go_on_taking_in(&mut self, now: f64, actions: &mut Vec<Action>) {
        let mut left = STRIDE;
        while left > 0
            && let Some(mut bulk) = self.inbox.pop_front()
        {
            let over = match &mut bulk {
                Bulk::Described(some, next) => {
                    go_on(some, next, &mut left, |it| self.describe(now, it, None, actions))
                }
                Bulk::Recalled(some, next) => go_on(some, next, &mut left, |(it, learnt)| {
                    self.describe(now, it, Some(learnt), actions);
                }),
                Bulk::Removed(some, next) => {
                    go_on(some, next, &mut left, |id| self.remove(now, *id))
                }
                Bulk::Signal(id) => {
                    left -= 1;
                    self.signal(now, *id);
                    true
                }
                Bulk::Heard(signal) => {
                    left -= 1;
                    self.heard(now, *signal);
                    true
                }
                Bulk::Heralds(some, next) => go_on(some, next, &mut left, |(it, memory)| {
                    self.describe_herald(now, *it, memory.as_ref());
                }),
                Bulk::Dismissed(some, next) => {
                    go_on(some, next, &mut left, |number| self.dismiss(now, *number))
                }
                Bulk::Overheard(some, next) => {
                    go_on(some, next, &mut left, |(id, herald, memory)| {
                        self.overhear(now, *id, *herald, memory);
                    })
                }
            };
            if !over {
                self.inbox.push_front(bulk);
            } else if let Bulk::Described(some, _) = bulk
                && some.len() > STRIDE
            {
                self.spent = some;
            }
        }
    }

    /// Gives back the memory of long lists little by little: all at once takes as long as a thousand
    /// steps.
    pub(super) fn tidy(&mut self) {
        self.queue.tidy();
        self.coming.tidy();
        if self.spent.is_empty() {
            return;
        }
        let left = self.spent.len().saturating_sub(4 * STRIDE);
        self.spent.truncate(left);
        self.spent.shrink_to(left);
    }

    fn describe(
        &mut self,
        now: f64,
        it: &Description,
        learnt: Option<&LearnedState>,
        actions: &mut Vec<Action>,
    ) {
        let goal = it.check().ok().and_then(|()| self.number_of(it.goal));
        let Some(goal) = goal else {
            actions.push(Action::Alarm(Alarm::Refused(it.id)));
            return;
        };
        let id = it.id as usize;
        while self.hosts.len() <= it.host as usize {
            self.hosts.push(Host::new(self.prior));
        }
        while self.sources.len() <= id {
            self.sources.push(Source::NONE);
        }
        // It goes back to where it began, with what was learnt.
        let Source { state: before, due, .. } = self.sources[id];
        let waits = matches!(before, State::Waiting | State::Coming) && !it.paused;
        if !waits {
            self.withdraw(it.id);
        }
        let source = &mut self.sources[id];
        if before == State::Absent {
            let mut flags = Flags::default();
            flags.set(Flags::IN_RING, source.flags.has(Flags::IN_RING));
            flags.set(Flags::NEW, true);
            *source = Source { last: now, flags, ..Source::NONE };
            self.count += 1;
            if let Some(learnt) = learnt {
                learnt.write(now, source);
            }
        }
        let recalled = learnt.filter(|_| before == State::Absent);
        match it.belief {
            Some(belief) => {
                source.set_learnt(belief.shape(), belief.days());
            }
            None if source.is_known() => source.set_learnt(0.0, 0.0),
            None => {}
        }
        if let Some(day) = it.fetched.map(|day| day.min(now))
            && (source.is_new() || day > source.last)
        {
            self.copied_with_ears(it.id, day, false);
            self.sources[id].copied(day);
        }
        let source = &mut self.sources[id];
        source.importance = it.importance.clamp(0.0, 1e30) as f32;
        let paid = f64::from(source.cost);
        source.cost = it.cost.clamp(1e-30, 1e30) as f32;
        if before == State::Asked {
            // What is under way costs what it costs now.
            self.bucket.give_back(paid - f64::from(source.cost));
        }
        self.least_cost = self.least_cost.min(f64::from(source.cost));
        source.min_interval = it.min_interval as f32;
        source.max_interval = it.max_interval as f32;
        source.goal = goal;
        source.flags.set(Flags::KNOWN, it.belief.is_some());
        let is_other = before != State::Absent && source.is_observed() != it.observed;
        if is_other {
            // What was announced and what was said are two things.
            self.unlink(it.id);
            self.sources[id].pending = 0;
        }
        let source = &mut self.sources[id];
        source.flags.set(Flags::OBSERVED, it.observed);
        if before == State::Absent && !it.observed {
            source.pending = 0;
        }
        if before == State::Absent || is_other {
            self.link_to_herald(it.id);
        }
        let source = &mut self.sources[id];
        source.flags.set(Flags::PAUSED, it.paused);
        match before {
            // It comes back from where it was sent to, and moves then.
            State::Asked => (source.state, source.place) = (before, it.host),
            State::Parked => source.host = it.host,
            _ if recalled.is_some_and(|it| it.is_parked()) => {
                (source.host, source.state) = (it.host, State::Parked);
            }
            _ => {
                source.host = it.host;
                let due = recalled.map_or(due, |it| it.day(now));
                if !waits {
                    source.state = if it.paused { State::Paused } else { State::Waiting };
                }
                if it.paused {
                    // The day of its next try, for later.
                    source.due = if source.is_retried() { due } else { f64::INFINITY };
                } else if source.is_retried() {
                    // Its next try stays when it was.
                    if waits {
                        return self.turn_over();
                    }
                    self.queue_for(if due < f64::INFINITY { due } else { now }, it.id);
                } else if let Some(state) = recalled.and_then(|it| it.waits(due))
                    && self.price > 0.0
                {
                    // The day is as good as it was; the survey that follows says how good that is.
                    source.state = state;
                    self.queue_for(due, it.id);
                } else if self.price > 0.0 || source.is_new() {
                    self.enqueue(now, it.id);
                } else {
                    // Its day is found with the price.
                    self.withdraw(it.id);
                }
            }
        }
        self.turn_over();
    }

    /// Its place in the list of goals, 0 for none; `None` if there are too many.
    fn number_of(&mut self, goal: Option<Goal>) -> Option<u8> {
        let Some(goal) = goal else { return Some(0) };
        let place = self.goals.iter().position(|&other| other == goal).unwrap_or_else(|| {
            self.goals.push(goal);
            self.goals.len() - 1
        });
        self.goals.truncate(GOALS);
        u8::try_from(place + 1).ok()
    }

    fn remove(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        let (state, host) = (source.state, source.host);
        if state == State::Absent {
            return;
        }
        self.withdraw(id);
        if state == State::Asked {
            self.hosts[host as usize].asked -= 1;
            self.line_up(now, host);
        }
        self.unlink(id);
        self.sources[id as usize].state = State::Absent;
        self.memory.forget(id);
        self.count -= 1;
        self.turn_over();
    }

    /// Takes a source out of the queue and from among the candidates.
    fn withdraw(&mut self, id: u32) {
        if self.sources[id as usize].state == State::Ready {
            self.leave_ready(id);
        }
        let source = &mut self.sources[id as usize];
        if source.state == State::Coming {
            source.state = State::Waiting;
        }
        source.due = f64::INFINITY;
    }

    fn turn_over(&mut self) {
        self.turned += 1;
        self.spare = true;
        if self.turned * MANY > self.count || self.price <= 0.0 {
            self.look_again = true;
        }
    }
}
