//! Runs the engine and records all events of one source.

use freshet_engine::{Action, Alarm, FetchReason};

use super::engine::Engine;
use super::{Event, Outcome, Policy};
use crate::ledger::Calendar;
use crate::process::Stream;
use crate::setting::Setting;
use crate::source_story::{DecisionState, Moment, MomentKind, SourceStory};
use crate::web::Web;

/// Records all events of a source. The engine behaves as it does without it.
pub(crate) struct SourceRecorder<'a> {
    inner: Engine,
    web: &'a Web,
    calendar: Calendar,
    source: u32,
    /// True changes, from the same random numbers as those of the run.
    stream: Stream,
    next: f64,
    missed: u32,
    /// Fetch in flight: start, reason, and the state before it.
    asked: Option<(f64, FetchReason, Option<DecisionState>)>,
    moments: Vec<Moment>,
    /// Calendar step at whose end the recorder checks whether anything was recorded.
    piece: usize,
}

impl<'a> SourceRecorder<'a> {
    pub(crate) fn new(setting: &Setting<'a>, variant: Option<&str>, source: u32) -> Self {
        Self {
            inner: Engine::new(setting, variant),
            web: setting.web,
            calendar: setting.calendar,
            source,
            stream: setting.web.stream(source as usize),
            next: f64::INFINITY,
            missed: 0,
            asked: None,
            moments: Vec::new(),
            piece: 1,
        }
    }

    /// The recorded story.
    pub(crate) fn close(mut self, days: f64) -> SourceStory {
        self.note(days, MomentKind::End, self.decision_state(days));
        SourceStory { moments: self.moments, end: self.inner.engine().explain(self.source) }
    }

    fn decision_state(&self, day: f64) -> Option<DecisionState> {
        self.inner.engine().explain(self.source).map(|it| DecisionState::of(&it, day))
    }

    fn note(&mut self, day: f64, what: MomentKind, before: Option<DecisionState>) {
        let rate = self.web.rate(self.source as usize, day);
        let after = self.inner.engine().explain(self.source);
        self.moments.push(Moment { day, what, before, missed: self.missed, rate, after });
    }

    /// Draws the next true change; none after the host has disappeared.
    fn draw(&mut self) {
        let source = self.source as usize;
        let next = self.web.next_change(source, &mut self.stream);
        let end = self.web.faults.end(self.web.population.host[source]);
        self.next = if next < end { next } else { f64::INFINITY };
    }

    /// Records changes, and long times without events, up to now.
    fn record_until(&mut self, now: f64) {
        while self.next <= now {
            self.missed += 1;
            let (day, announced) = (self.next, self.web.population.complete[self.source as usize]);
            self.draw();
            if !announced {
                self.note(day, MomentKind::Changed, self.decision_state(day));
            }
        }
        while self.calendar.edge(self.piece) <= now && self.piece < self.calendar.pieces() {
            let (from, to) = (self.calendar.edge(self.piece - 1), self.calendar.edge(self.piece));
            self.piece += 1;
            let quiet = self.moments.last().is_some_and(|last| last.day < from);
            let before = self.decision_state(to);
            if quiet && before.is_some() {
                self.note(to, MomentKind::Waits, before);
            }
        }
    }

    /// Records the actions of the last step.
    fn record_actions(&mut self, now: f64) {
        let host = self.web.population.host[self.source as usize];
        for at in 0..self.inner.actions().len() {
            match self.inner.actions()[at] {
                Action::Fetch { id, reason } if id == self.source => {
                    self.asked = Some((now, reason, self.decision_state(now)));
                }
                Action::SourceGone(id) if id == self.source => {
                    self.note(now, MomentKind::GivenUp, self.decision_state(now));
                }
                Action::Alarm(Alarm::HostDown(down)) if down == host => {
                    self.note(now, MomentKind::HostDown, self.decision_state(now));
                }
                Action::Alarm(Alarm::HostRecovered(back)) if back == host => {
                    self.note(now, MomentKind::HostBack, self.decision_state(now));
                }
                _ => {}
            }
        }
    }

    /// Returns what an event means for the source, or `None` if it does not concern it.
    fn classify(&mut self, now: f64, event: Event) -> Option<MomentKind> {
        match event {
            Event::Added(source) if source == self.source => {
                // Earlier changes are in the first copy.
                loop {
                    self.draw();
                    if self.next > now {
                        break;
                    }
                }
                Some(MomentKind::Described)
            }
            Event::Removed(source) if source == self.source => {
                self.next = f64::INFINITY;
                Some(MomentKind::Removed)
            }
            Event::Changed(source) if source == self.source => Some(MomentKind::Announced),
            Event::Signalled(source) if source == self.source => Some(MomentKind::Signalled),
            Event::Fetched { source, outcome } if source == self.source => {
                let (asked, reason, _) = self.asked.unwrap_or((now, FetchReason::Value, None));
                if matches!(outcome, Outcome::Changed { .. } | Outcome::Unchanged) {
                    self.missed = 0;
                }
                Some(MomentKind::Fetched { reason, asked, outcome })
            }
            Event::Budget(budget) => Some(MomentKind::Budget(budget)),
            Event::Rates => {
                let rate = |day| self.web.rate(self.source as usize, day);
                let factor = rate(now) / rate(now - 1e-3);
                (factor != 1.0).then_some(MomentKind::Rate(factor))
            }
            _ => None,
        }
    }
}

impl Policy for SourceRecorder<'_> {
    fn wake(&self) -> f64 {
        let look = match self.piece < self.calendar.pieces() {
            true => self.calendar.edge(self.piece),
            false => f64::INFINITY,
        };
        self.inner.wake().min(self.next).min(look)
    }

    fn hears(&self) -> bool {
        self.inner.hears()
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        self.record_until(now);
        if event == Event::Wake && self.inner.wake() > now {
            return;
        }
        let what = self.classify(now, event);
        let before = match what {
            Some(MomentKind::Fetched { .. }) => self.asked.take().and_then(|(.., before)| before),
            Some(_) => self.decision_state(now),
            None => None,
        };
        self.inner.step(now, event, fetches);
        if let Some(what) = what {
            self.note(now, what, before);
        }
        self.record_actions(now);
    }
}
